//! Enumerations in messages: the first few, and how many more.

/// How many names a message shows.
const SHOWN: usize = 3;

/// `App `a``, ``Apps `a`, `b``` or ``Apps `a`, `b`, `c` and 4 more``. The plural of `noun` is with an `s`.
pub(crate) fn some_of<S: AsRef<str>>(noun: &str, names: &[S]) -> String {
    let plural = if names.len() == 1 { "" } else { "s" };
    format!("{noun}{plural} {}", first_of(names))
}

/// As [`some_of`], without a noun.
pub(crate) fn first_of<S: AsRef<str>>(names: &[S]) -> String {
    let quoted: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{}`", name.as_ref())).collect();
    listed(&quoted, names.len())
}

/// The first of `count` things, in words of their own, and how many more.
pub(crate) fn listed<S: AsRef<str>>(first: &[S], count: usize) -> String {
    let shown: Vec<&str> = first.iter().take(SHOWN).map(AsRef::as_ref).collect();
    let text = shown.join(", ");
    if count > shown.len() { format!("{text} and {} more", count - shown.len()) } else { text }
}

/// Nothing for one, ` and 2 more` for three.
pub(crate) fn and_more(count: usize) -> String {
    if count > 1 { format!(" and {} more", count - 1) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_few_are_named() {
        for (names, expected) in [
            (&["a"][..], "App `a`"),
            (&["a", "b"], "Apps `a`, `b`"),
            (&["a", "b", "c"], "Apps `a`, `b`, `c`"),
            (&["a", "b", "c", "d", "e"], "Apps `a`, `b`, `c` and 2 more"),
        ] {
            assert_eq!(some_of("App", names), expected);
        }
        assert_eq!([and_more(1), and_more(3)], ["", " and 2 more"]);
    }
}
