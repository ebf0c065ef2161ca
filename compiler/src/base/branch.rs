//! Names of Git branches.

/// Checks the short name of a branch, as `git check-ref-format --branch` does (Git 2.39), and that it is neither `HEAD` nor
/// `@`, which stand for what is checked out.
///
/// # Errors
/// What is expected instead, as a clause that follows "expected".
pub fn check_branch(name: &str) -> Result<(), String> {
    let odd = |c: char| c.is_ascii_control() || " ~^:?*[\\".contains(c);
    let part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    let sound = !matches!(name, "@" | "HEAD")
        && !name.starts_with('-')
        && !name.ends_with('.')
        && !name.contains(odd)
        && !name.contains("..")
        && !name.contains("@{")
        && name.split('/').all(part);
    if sound { Ok(()) } else { Err("a branch of Git by its short name (like 'live' or 'fleet/live')".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::check_branch;

    #[test]
    fn branches_are_what_git_takes() {
        for good in ["live", "fleet/live", "a.b", "v1@2", "x-", "ünïcode", "a/b/c", "lock", "refs/heads/x"] {
            assert_eq!(check_branch(good), Ok(()), "{good}");
        }
        for bad in [
            "", "/", "a/", "/a", "a//b", ".a", "a/.b", "a.lock", "a.lock/b", "a..b", "a.", "a b", "a~1", "a^", "a:b",
            "a?", "a*", "a[b", "a\\b", "a@{1}", "@", "HEAD", "-a", "a\tb", "a\u{7f}",
        ] {
            assert!(check_branch(bad).is_err(), "{bad}");
        }
    }
}
