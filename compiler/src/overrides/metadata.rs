//! Labels, selectors and keys of annotations after operations: what the API server would refuse of them.
//!
//! Of the object itself, of its pod template, and of its own selector (`spec.selector`). Operations are checked by what
//! they leave behind, because a value may come from a variable or from any operation. No problem holds a value.

use serde_json::{Map, Value};

use super::{OpError, Subject};
use crate::base::name::{NameRule, check};
use crate::base::{Path, Seg, SmolStr};
use crate::kinds::native::pod_template_path;

/// A label, or the key of an annotation, that the API server would refuse.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LabelProblem {
    /// The label or annotation.
    pub path: Path,
    /// What of it is wrong: `label key`, `label value` or `annotation key`.
    pub what: &'static str,
    /// What is expected instead.
    pub expected: String,
}

impl std::fmt::Display for LabelProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} would have no valid {}: {}", self.path.dotted(), self.what, self.expected)
    }
}

/// What is wrong with the labels of an object. A value that is no text is a wrong type, which is said elsewhere.
#[must_use]
pub fn label_problems(object: &Value, subject: &Subject) -> Vec<LabelProblem> {
    let mut problems = Vec::new();
    let template = subject.native.and_then(pod_template_path).filter(|keys| !keys.is_empty());
    for keys in [Some::<&[&str]>(&[]), template].into_iter().flatten() {
        for (field, value_rule, key_name) in
            [("labels", Some(NameRule::LabelValue), "label key"), ("annotations", None, "annotation key")]
        {
            members(object, &[keys, &["metadata", field]].concat(), value_rule, key_name, &mut problems);
        }
    }
    if subject.native.is_some() {
        // a map of labels for Services and ReplicationControllers; in those of other kinds it is `matchLabels` that is one
        let selector: &[&str] = match object.pointer("/spec/selector/matchLabels") {
            Some(_) => &["spec", "selector", "matchLabels"],
            None => &["spec", "selector"],
        };
        members(object, selector, Some(NameRule::LabelValue), "label key", &mut problems);
    }
    problems
}

fn members(
    object: &Value,
    keys: &[&str],
    value_rule: Option<NameRule>,
    key_name: &'static str,
    problems: &mut Vec<LabelProblem>,
) {
    let found = keys.iter().try_fold(object, |value, key| value.get(key));
    let Some(map): Option<&Map<String, Value>> = found.and_then(Value::as_object) else { return };
    for (key, text) in map.iter().filter_map(|(key, value)| Some((key, value.as_str()?))) {
        let value_rule = value_rule.map(|rule| (rule, text, "label value"));
        for (rule, text, what) in [(NameRule::QualifiedName, key.as_str(), key_name)].into_iter().chain(value_rule) {
            if let Err(expected) = check(rule, text) {
                let path = Path::of_keys(keys.iter().copied()).join(Seg::Key(SmolStr::new(key)));
                problems.push(LabelProblem { path, what, expected });
            }
        }
    }
}

/// Checks the labels of an object after an operation. `known` are the problems that it had before.
///
/// # Errors
/// [`OpError::Label`] with the first problem that is new.
pub fn check_labels_after(object: &Value, subject: &Subject, known: &[LabelProblem]) -> Result<(), OpError> {
    match label_problems(object, subject).into_iter().find(|problem| !known.contains(problem)) {
        None => Ok(()),
        Some(problem) => Err(OpError::Label(problem)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kinds::native::lookup;

    #[test]
    fn labels_that_the_api_server_refuses() {
        let deployment = Subject::native(lookup("apps", "v1", "Deployment").unwrap());
        let service = Subject::native(lookup("", "v1", "Service").unwrap());
        let custom = Subject::custom(Vec::new());
        let long = "x".repeat(64);
        type Expected = &'static [(&'static str, &'static str)];
        let facts: Vec<(&Subject, Value, Expected)> = vec![
            (&deployment, json!({}), &[]),
            (&deployment, json!({"metadata": {"labels": {"a": "b", "c": "", "d": 3, "e": null}}}), &[]),
            (&deployment, json!({"metadata": {"labels": {"a": "b c"}}}), &[("/metadata/labels/a", "label value")]),
            (&deployment, json!({"metadata": {"labels": {"a": long}}}), &[("/metadata/labels/a", "label value")]),
            (&deployment, json!({"metadata": {"labels": {"a b": "c"}}}), &[("/metadata/labels/a b", "label key")]),
            (&deployment, json!({"metadata": {"annotations": {"a": "b c"}}}), &[]),
            (
                &deployment,
                json!({"metadata": {"annotations": {"a b": ""}}}),
                &[("/metadata/annotations/a b", "annotation key")],
            ),
            (
                &deployment,
                json!({"spec": {
                    "selector": {"matchLabels": {"a": "b/c"}},
                    "template": {"metadata": {"labels": {"a": "b/c"}, "annotations": {"/": ""}}}
                }}),
                &[
                    ("/spec/template/metadata/labels/a", "label value"),
                    ("/spec/template/metadata/annotations/~1", "annotation key"),
                    ("/spec/selector/matchLabels/a", "label value"),
                ],
            ),
            (&service, json!({"spec": {"selector": {"a": "-"}}}), &[("/spec/selector/a", "label value")]),
            (&custom, json!({"spec": {"selector": {"a": "-"}}}), &[]),
            (&custom, json!({"metadata": {"labels": {"a": "-"}}}), &[("/metadata/labels/a", "label value")]),
        ];
        for (subject, object, expected) in facts {
            let found = label_problems(&object, subject);
            let found: Vec<(String, &str)> = found.iter().map(|p| (p.path.to_string(), p.what)).collect();
            let expected: Vec<(String, &str)> =
                expected.iter().map(|(path, what)| ((*path).to_owned(), *what)).collect();
            assert_eq!(found, expected, "{object}");
        }
    }

    #[test]
    fn only_what_is_new_is_refused_and_no_value_is_shown() {
        let subject = Subject::custom(Vec::new());
        let object = json!({"metadata": {"labels": {"a": "hunter 2"}}});
        let error = check_labels_after(&object, &subject, &[]).unwrap_err().to_string();
        assert!(error.starts_with("metadata.labels.a would have no valid label value: "), "{error}");
        assert!(!error.contains("hunter"), "{error}");
        assert_eq!(check_labels_after(&object, &subject, &label_problems(&object, &subject)), Ok(()));
    }
}
