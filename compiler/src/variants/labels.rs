//! Labels whose values come from variables, and may be valid in some clusters only.

use std::sync::Arc;

use serde_json::Value;

use super::issues::Issue;
use crate::base::name::{NameRule, check};
use crate::diag::{Place, codes};
use crate::model::{App, Object, OverrideRule};
use crate::overrides::{Operation, Subject, Variables, label_problems, substitute};

/// What the `labels` of these rules get wrong with the variables of a cluster. Labels of the object itself shape nothing,
/// so that objects with other labels are not built before they are rendered: whether the values are valid is said here,
/// for every cluster.
pub(super) fn of_rules(app: &App, rules: &[&Arc<OverrideRule>], vars: &Variables) -> Vec<Issue> {
    let mut issues = Vec::new();
    for rule in rules {
        for (operation, span) in &rule.operations {
            let Operation::Labels(labels) = operation else { continue };
            for (key, text) in labels {
                // lowering has checked the others; what cannot be filled in is said when the rule is run
                let filled = text.as_ref().filter(|text| text.contains("${"));
                let Some(Ok(value)) = filled.map(|text| substitute::in_text(text, vars)) else { continue };
                let Err(expected) = check(NameRule::LabelValue, &value) else { continue };
                let text = format!("label `{key}` would have no valid label value: {expected}");
                let hit = app.objects.iter().enumerate().filter(|(_, object)| rule.target.matches(object));
                issues.extend(hit.map(|(object, _)| Issue {
                    code: codes::fields::INVALID_LABEL,
                    place: Place::Span(rule.file, *span),
                    text: text.clone(),
                    help: None,
                    object,
                }));
            }
        }
    }
    issues
}

/// What an object gets wrong in its labels when its own variables are filled in.
pub(super) fn of_manifest(
    (index, object): (usize, &Object),
    subject: &Subject,
    before: &Value,
    filled: &Value,
) -> impl Iterator<Item = Issue> {
    let place = Place::Span(object.file, object.facts.name_span);
    let problems = label_problems(filled, subject).into_iter();
    // what has no variable in it was judged as it is written
    let new = problems.filter(|problem| {
        let written = before.pointer(&problem.path.to_string()).and_then(Value::as_str);
        written.is_some_and(|text| text.contains("${"))
    });
    new.map(move |problem| Issue {
        code: codes::manifests::INVALID_OBJECT_NAME,
        place: place.clone(),
        text: problem.to_string(),
        help: None,
        object: index,
    })
}
