//! Pods of workloads, read after overrides.

use std::sync::Arc;

use serde_json::Value;

use super::issues::Issue;
use crate::base::{Path, Seg, SmolStr};
use crate::diag::{Code, Origin, Place, codes};
use crate::kinds::counted;
use crate::kinds::custom::CustomKind;
use crate::kinds::pod::{self, PodError, PodFacts};
use crate::model::{Object, WorkloadKind};

/// What a pod of the workload asks for. What Kubernetes would refuse is reported, once for each place.
pub(super) fn read(
    kind: WorkloadKind,
    object: &Object,
    index: usize,
    value: &Value,
    issues: &mut Vec<Issue>,
) -> Option<Arc<PodFacts>> {
    if let Some(custom) = &object.custom {
        return read_custom(custom, object, index, value, issues);
    }
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
    let at = Path::of_keys(keys.iter().copied());
    issues.extend(reading.errors.iter().map(|error| issue(error, &at, object, index)));
    let mut facts = reading.facts;
    facts.claims = counted::of_pod(value, spec);
    if kind == WorkloadKind::StatefulSet {
        facts.pvc_claims.extend(claim_templates(value));
    }
    Some(Arc::new(facts))
}

/// What a pod of a custom resource asks for. Its operator may fill in what Kubernetes would refuse to see missing: only
/// amounts that cannot be read are reported, because they would count as nothing.
fn read_custom(
    custom: &CustomKind,
    object: &Object,
    index: usize,
    value: &Value,
    issues: &mut Vec<Issue>,
) -> Option<Arc<PodFacts>> {
    let (at, spec) = custom.pod_spec(value)?;
    let reading = pod::read(spec);
    let amounts = reading.errors.iter().filter(|error| error.pointer().contains("/resources/"));
    issues.extend(amounts.map(|error| issue(error, &at, object, index)));
    let mut facts = reading.facts;
    facts.claims = counted::of_pod(value, spec);
    facts.pvc_claims.extend(claim_templates(value));
    Some(Arc::new(facts))
}

/// A field of a pod spec that Kubernetes would refuse.
fn issue(error: &PodError, at: &Path, object: &Object, index: usize) -> Issue {
    let mut path = at.clone();
    path.0.extend(Path::parse(&error.pointer()).unwrap_or_default().0);
    of_field(codes::manifests::INVALID_POD, path, &error.message, (object, index))
}

/// What is wrong with a field of an object.
pub(super) fn of_field(code: Code, path: Path, wrong: &str, (object, index): (&Object, usize)) -> Issue {
    let text = format!("`{}`: {wrong}", path.dotted());
    let mut full = Path::default();
    if let Some(item) = object.item {
        full.0.push(Seg::Key("items".into()));
        full.0.push(Seg::Index(item as usize));
    }
    full.0.extend(path.0);
    let place = Place::Object(Origin { file: object.file, doc: object.doc, path: full });
    Issue { code, place, text, help: None, object: index }
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
