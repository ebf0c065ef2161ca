//! What somebody types, before anything is done with it: an option that is given twice means neither, and texts that are
//! recorded (who orders, who decides, and why) stand in commits, in `state/` and on terminals, so they are one line of what can
//! be seen.

use std::collections::BTreeSet;

use fleetwright_compiler::base::SmolStr;
use fleetwright_reconciler::decide::Identity;

use crate::exit::Failure;
use crate::output::printable;

/// The most characters of a name or a reason.
const MOST: usize = 200;

/// Who orders something: Git writes it as `Name <address>`.
///
/// # Errors
/// When it is no name; the text says what was expected.
pub fn person(text: &str) -> Result<String, String> {
    let name = line(text, "a name, such as `Ann Lee`")?;
    if name.contains(['<', '>']) {
        return Err("expected a name without `<` and `>`: the address is that of `user.email` of Git".to_owned());
    }
    if !name.contains(char::is_alphanumeric) {
        return Err("expected a name with a letter or a digit in it".to_owned());
    }
    Ok(name)
}

/// Why something is ordered.
///
/// # Errors
/// When it says nothing, or more than a line.
pub fn reason(text: &str) -> Result<String, String> {
    line(text, "a reason in a few words")
}

/// What a decider is called.
///
/// # Errors
/// When no decider can be called so.
pub fn holder(text: &str) -> Result<SmolStr, String> {
    Identity::check_holder(text).map(|()| text.into()).map_err(str::to_owned)
}

/// Refuses an option that may be given several times and says the same twice: one of the two was meant to be another.
///
/// # Errors
/// When it does.
pub fn given_once(option: &str, values: &[impl AsRef<str>]) -> Result<(), Failure> {
    let mut seen = BTreeSet::new();
    match values.iter().map(AsRef::as_ref).find(|value| !seen.insert(*value)) {
        None => Ok(()),
        Some(value) => Err(Failure::Usage(format!("`{option} {value}` is given twice: leave one of them out"))),
    }
}

/// Two options that are about one thing.
pub fn twice(before: &str, after: &str, what: &str) -> Failure {
    let both = if before == after { format!("{before} is given twice") } else { format!("{before} and {after}") };
    Failure::Usage(format!("{both}: each states {what}; leave one of them out"))
}

/// One line, without white space around it.
fn line(text: &str, expected: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err(format!("it is empty; expected {expected}"));
    }
    if text.contains(['\n', '\t']) || printable(text) != text {
        return Err(format!(
            "it has line breaks, tabs or other characters that cannot be seen; expected {expected}, on one line"
        ));
    }
    match text.chars().count() {
        count if count > MOST => Err(format!("it has {count} characters; expected at most {MOST}")),
        _ => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_and_why_are_one_line_that_can_be_seen() {
        let long = "x".repeat(MOST + 1);
        for (text, as_person, as_reason) in [
            ("Ann Lee", Ok("Ann Lee"), Ok("Ann Lee")),
            ("  Ann ", Ok("Ann"), Ok("Ann")),
            ("李", Ok("李"), Ok("李")),
            ("", Err("is empty"), Err("is empty")),
            (" \t ", Err("is empty"), Err("is empty")),
            ("Ann\nFleetwright-Cause: Pin", Err("line breaks"), Err("line breaks")),
            ("Ann\tLee", Err("tabs"), Err("tabs")),
            ("Ann\u{1b}[31m", Err("cannot be seen"), Err("cannot be seen")),
            ("Ann\u{202e}eeL", Err("cannot be seen"), Err("cannot be seen")),
            ("Ann <ann@example.com>", Err("`<` and `>`"), Ok("Ann <ann@example.com>")),
            // Git takes such characters off the ends of a name, and then nothing is left
            (".,;", Err("a letter or a digit"), Ok(".,;")),
            (&long, Err("at most 200"), Err("at most 200")),
        ] {
            for (got, expected) in [(person(text), as_person), (reason(text), as_reason)] {
                match (&got, expected) {
                    (Ok(got), Ok(expected)) => assert_eq!(got, expected, "{text:?}"),
                    (Err(got), Err(expected)) => assert!(got.contains(expected), "{text:?}: {got}"),
                    _ => panic!("{text:?}: {got:?}"),
                }
            }
        }
    }

    #[test]
    fn a_decider_is_one_word() {
        for (text, is_one) in [("hub", true), ("ci/advance", true), ("", false), ("a b", false), ("a\n", false)] {
            assert_eq!(holder(text).is_ok(), is_one, "{text:?}");
        }
    }
}
