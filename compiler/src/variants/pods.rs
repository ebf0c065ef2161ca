//! Pods of workloads, read after overrides.

use std::sync::Arc;

use serde_json::Value;

use crate::base::{Path, Seg};
use crate::diag::{Diagnostic, Diagnostics, Origin, Place, codes};
use crate::kinds::pod::{self, PodFacts};
use crate::model::{Object, WorkloadKind};

/// What a pod of the workload asks for. What Kubernetes would refuse is reported, once for each place.
pub(super) fn read(
    kind: WorkloadKind,
    object: &Object,
    value: &Value,
    cluster: Option<&str>,
    diagnostics: &mut Diagnostics,
) -> Option<Arc<PodFacts>> {
    let keys = kind.pod_spec_keys();
    let spec = keys.iter().try_fold(value, |v, key| v.get(key));
    let Some(spec) = spec.filter(|s| s.is_object()) else {
        let path = Path::of_keys(keys.iter().copied());
        let message = format!("{} has no pod spec at `{}`", object.key, path.dotted());
        diagnostics.push(Diagnostic::new(
            codes::manifests::INVALID_POD,
            Place::Span(object.file, object.facts.kind_span),
            message,
        ));
        return None;
    };
    let reading = pod::read(spec);
    for error in &reading.errors {
        let mut path = Path::of_keys(keys.iter().copied());
        path.0.extend(Path::parse(&error.pointer()).unwrap_or_default().0);
        let where_ = cluster.map(|name| format!(", after overrides for cluster `{name}`")).unwrap_or_default();
        let message = format!("{}: `{}` {}{where_}", object.key, path.dotted(), error.message);
        let mut full = Path::default();
        if let Some(item) = object.item {
            full.0.push(Seg::Key("items".into()));
            full.0.push(Seg::Index(item as usize));
        }
        full.0.extend(path.0);
        let place = Place::Object(Origin { file: object.file, doc: object.doc, path: full });
        diagnostics.push(Diagnostic::new(codes::manifests::INVALID_POD, place, message));
    }
    Some(Arc::new(reading.facts))
}
