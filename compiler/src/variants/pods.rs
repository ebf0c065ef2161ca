//! Pods of workloads, read after overrides.

use std::sync::Arc;

use serde_json::Value;

use super::issues::Issue;
use crate::base::{Path, Seg, SmolStr};
use crate::diag::{Origin, Place, codes};
use crate::kinds::pod::{self, PodFacts};
use crate::model::{Object, WorkloadKind};

/// What a pod of the workload asks for. What Kubernetes would refuse is reported, once for each place.
pub(super) fn read(
    kind: WorkloadKind,
    object: &Object,
    index: usize,
    value: &Value,
    issues: &mut Vec<Issue>,
) -> Option<Arc<PodFacts>> {
    let keys = kind.pod_spec_keys();
    let spec = keys.iter().try_fold(value, |v, key| v.get(key));
    let Some(spec) = spec.filter(|s| s.is_object()) else {
        let path = Path::of_keys(keys.iter().copied());
        issues.push(Issue {
            code: codes::manifests::INVALID_POD,
            place: Place::Span(object.file, object.facts.kind_span),
            text: format!("there is no pod spec at `{}`", path.dotted()),
            help: None,
            object: index,
        });
        return None;
    };
    let reading = pod::read(spec);
    for error in &reading.errors {
        let mut path = Path::of_keys(keys.iter().copied());
        path.0.extend(Path::parse(&error.pointer()).unwrap_or_default().0);
        let text = format!("`{}`: {}", path.dotted(), error.message);
        let mut full = Path::default();
        if let Some(item) = object.item {
            full.0.push(Seg::Key("items".into()));
            full.0.push(Seg::Index(item as usize));
        }
        full.0.extend(path.0);
        let place = Place::Object(Origin { file: object.file, doc: object.doc, path: full });
        issues.push(Issue { code: codes::manifests::INVALID_POD, place, text, help: None, object: index });
    }
    let mut facts = reading.facts;
    if kind == WorkloadKind::StatefulSet {
        facts.pvc_claims.extend(claim_templates(value));
    }
    Some(Arc::new(facts))
}

/// The claims that a StatefulSet makes for each of its pods (`spec.volumeClaimTemplates`): the data lies in the cluster
/// as surely as behind a claim that the pod names itself.
fn claim_templates(value: &Value) -> impl Iterator<Item = SmolStr> {
    let templates = value.pointer("/spec/volumeClaimTemplates").and_then(Value::as_array);
    let names = templates.into_iter().flatten().filter_map(|claim| claim.pointer("/metadata/name")?.as_str());
    names.map(SmolStr::new)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn claims_that_a_stateful_set_makes() {
        let facts = [
            (json!({}), vec![]),
            (json!({"volumeClaimTemplates": null}), vec![]),
            (json!({"volumeClaimTemplates": "data"}), vec![]),
            (json!({"volumeClaimTemplates": [{"metadata": {"name": "data"}}, {"spec": {}}]}), vec!["data"]),
        ];
        for (spec, expected) in facts {
            let object = json!({ "spec": spec });
            assert_eq!(claim_templates(&object).collect::<Vec<_>>(), expected, "{object}");
        }
    }
}
