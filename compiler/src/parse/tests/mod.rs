mod agreement;
mod mistakes;
mod not_yet;
mod rich;
mod secrets;

use crate::diag::Finding;
use crate::yaml::{Limits, Node, compose};

/// What a reader makes of the one document of a text.
fn with_root<T>(text: &str, read: impl FnOnce(&Node<'_>) -> T) -> T {
    let (documents, errors) = compose(text, &Limits::default());
    assert_eq!(errors, [], "{text}");
    read(documents[0].root.as_ref().unwrap())
}

/// Findings as `FW1020 line:column..column message; help`, with the text they are under.
fn told(text: &str, findings: &[Finding]) -> Vec<String> {
    findings
        .iter()
        .map(|f| {
            let help = f.help.as_ref().map(|h| format!("; {h}")).unwrap_or_default();
            format!("{} `{}` {}{help}", f.code, &text[f.span.range()], f.message)
        })
        .collect()
}
