//! Which files never have a line of theirs shown.

use fleetwright_compiler::yaml::{self, Limits, Node, Yaml};

/// Whether a file may hold a secret: something in it says `kind: Secret` (an object, an item of a list, the target of an
/// override), `kind: SecretList` or `stringData`, in upper or lower case. A file that cannot be read whole is judged by its
/// words.
pub fn may_hold_secrets(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    if lower.contains("stringdata") {
        return true;
    }
    let (documents, _) = yaml::compose(text, &Limits::default());
    let is_whole = !documents.is_empty() && documents.iter().all(|document| document.root.is_some());
    if !is_whole {
        return lower.contains("secret");
    }
    documents.iter().filter_map(|document| document.root.as_ref()).any(names_secret)
}

fn is_secret(kind: &str) -> bool {
    ["Secret", "SecretList"].iter().any(|secret| secret.eq_ignore_ascii_case(kind))
}

/// Recursion is bounded by the depth that `compose` allows.
fn names_secret(node: &Node<'_>) -> bool {
    match &node.value {
        Yaml::Map(entries) => entries
            .iter()
            .any(|(key, value)| (key.text == "kind" && value.as_str().is_some_and(is_secret)) || names_secret(value)),
        Yaml::Seq(items) => items.iter().any(names_secret),
        Yaml::Null | Yaml::Bool(_) | Yaml::Int(_) | Yaml::UInt(_) | Yaml::Float(_) | Yaml::Str(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_not_shown() {
        for (text, hidden) in [
            ("kind: ConfigMap\ndata: {a: b}", false),
            ("kind: ConfigMap\n---\nkind: Secret\ndata: {a: Yg==}", true),
            ("kind: \"S\\u0065cret\"\ndata: {a: Yg==}", true),
            ("kind: List\nitems: [{kind: Secret, data: {a: Yg==}}]", true),
            ("kind: SecretList\nitems: [{data: {a: Yg==}}]", true),
            ("kind: secret\ndata: {a: Yg==}", true),
            ("kind: ConfigMap\nstringdata: {a: b}", true),
            ("kind: App\nspec: {overrides: [{target: {kind: Secret}, patch: {data: {a: Yg==}}}]}", true),
            ("kind: App\nspec: {overrides: [{patch: {stringData: {a: b}}}]}", true),
            // the name alone says nothing
            ("kind: ConfigMap\nmetadata: {name: Secret}", false),
            ("kind: ExternalSecret\nspec: {}", false),
            // not readable: by its words
            ("kind: Secret\ndata: {a: Yg==", true),
            ("kind: ConfigMap\n---\nkind: Secret\n\tdata: x", true),
            ("kind: secret\ndata: {a: Yg==", true),
            ("kind: ConfigMap\ndata: {a: b", false),
            ("", false),
        ] {
            assert_eq!(may_hold_secrets(text), hidden, "{text}");
        }
    }
}
