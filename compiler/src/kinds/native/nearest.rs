//! The name a person most likely meant.

/// The candidate closest to `wrong`, when one is close enough to be a slip: at most a third of its characters
/// inserted, dropped, changed or swapped with a neighbour; upper and lower case count as equal. Of equally close ones,
/// the first.
#[must_use]
pub fn nearest<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// Longer names are not slips of the keyboard, and the distance is quadratic.
    const LONGEST_CHARS: usize = 128;
    let wrong: Vec<char> = wrong.chars().take(LONGEST_CHARS + 1).flat_map(char::to_lowercase).collect();
    if wrong.is_empty() || wrong.len() > LONGEST_CHARS {
        return None;
    }
    let allowed = wrong.len() / 3;
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let chars: Vec<char> = candidate.chars().take(LONGEST_CHARS + 1).flat_map(char::to_lowercase).collect();
        if chars.len().abs_diff(wrong.len()) > allowed {
            continue;
        }
        let found = distance(&wrong, &chars);
        if found <= allowed && best.is_none_or(|(least, _)| found < least) {
            best = Some((found, candidate));
        }
    }
    best.map(|(_, name)| name)
}

/// Optimal string alignment: insertions, deletions, changes, and swaps of neighbours.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i + 1);
        for (j, cb) in b.iter().enumerate() {
            let at = |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX - 1);
            let mut cost = (at(&last, j) + usize::from(ca != cb)).min(at(&last, j + 1) + 1).min(at(&row, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(cb) && b.get(j - 1) == Some(ca);
            if swapped {
                cost = cost.min(at(&before_last, j - 1) + 1);
            }
            row.push(cost);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(a.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips() {
        let fields = ["args", "command", "containers", "image", "imagePullPolicy", "name", "initContainers"];
        let facts = [
            ("container", Some("containers")),
            ("imagepullpolicy", Some("imagePullPolicy")),
            ("iamge", Some("image")),
            ("cmd", None),
            ("nmae", Some("name")),
            ("replicas", None),
            ("", None),
            ("arg", Some("args")),
            ("a", None),
        ];
        for (wrong, right) in facts {
            assert_eq!(nearest(wrong, fields), right, "{wrong}");
        }
        assert_eq!(nearest(&"x".repeat(1000), fields), None);
        assert_eq!(nearest("abc", ["abd", "abe"]), Some("abd"), "the first of equally close ones");
    }
}
