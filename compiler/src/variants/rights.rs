//! What a team may not do, where that shows only after overrides.

use super::issues::Issue;
use crate::base::Path;
use crate::diag::{Origin, Place, codes};
use crate::kinds::pod::PodFacts;
use crate::model::{Object, Team, WorkloadKind};

/// The priority class that pods name, where the team has a list of those it may name and this is none of them.
pub(super) fn priority_class(
    team: &Team,
    (index, object): (usize, &Object),
    kind: WorkloadKind,
    pod: &PodFacts,
) -> Option<Issue> {
    let class = pod.priority_class_name.as_ref().filter(|class| !class.is_empty())?;
    if team.priority_classes.is_empty() || team.priority_classes.contains(class) {
        return None;
    }
    let mut path = Path::default();
    if let Some(item) = object.item {
        path = path.join("items".into()).join((item as usize).into());
    }
    let path =
        kind.pod_spec_keys().iter().chain(&["priorityClassName"]).fold(path, |path, key| path.join((*key).into()));
    let allowed: Vec<String> = team.priority_classes.iter().map(|class| format!("`{class}`")).collect();
    let place = match kind {
        WorkloadKind::Custom(_) => Place::Span(object.file, object.facts.name_span),
        _ => Place::Object(Origin { file: object.file, doc: object.doc, path }),
    };
    Some(Issue {
        code: codes::rights::PRIORITY_NOT_ALLOWED,
        place,
        text: format!("team `{}` may not use priority class `{class}`, which its pods name", team.name),
        help: Some(format!("`priorityClassNames` in the platform's file of the team lists {}", allowed.join(", "))),
        object: index,
    })
}
