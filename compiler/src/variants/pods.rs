//! Pods of workloads, read after overrides.

use std::sync::Arc;

use serde_json::Value;

use super::issues::Issue;
use crate::base::{Path, Seg};
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
    Some(Arc::new(reading.facts))
}
