//! Discovery: two requests for everything (aggregated discovery, on by default since Kubernetes 1.27).

use http::Method;
use serde_json::Value;

use super::answer::Answer;
use super::request::Call;
use crate::cluster::{ClusterError, GroupKind, Served, ServedKind};

const ACCEPT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                      application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

pub(super) fn calls() -> Vec<Call> {
    ["/api", "/apis"].into_iter().map(|path| Call::new(Method::GET, path).accept(ACCEPT)).collect()
}

pub(super) fn read(answers: Vec<Result<Result<Answer, String>, ClusterError>>) -> Result<Served, ClusterError> {
    let mut served = Served::default();
    for answer in answers {
        let answer = answer?.map_err(ClusterError::Transient)?;
        take(&answer.read(&GroupKind::new("", "APIGroupDiscoveryList"))?, &mut served)?;
    }
    Ok(served)
}

fn take(list: &Value, served: &mut Served) -> Result<(), ClusterError> {
    let text = |value: &Value, field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    if text(list, "kind") != "APIGroupDiscoveryList" {
        let problem = "the API server has no aggregated discovery; Kubernetes 1.27 or newer is needed";
        return Err(ClusterError::Denied(problem.to_owned()));
    }
    let items = |value: &Value, field: &str| value.get(field).and_then(Value::as_array).cloned().unwrap_or_default();
    for group in items(list, "items") {
        let name = group.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
        for version in items(&group, "versions") {
            if text(&version, "freshness") == "Stale" {
                served.unknown_groups.insert(name.into());
            }
            for resource in items(&version, "resources") {
                let Some(kind) = resource.pointer("/responseKind/kind").and_then(Value::as_str) else { continue };
                let verbs = items(&resource, "verbs");
                let can = |verb: &str| verbs.iter().any(|v| v == verb);
                if !can("get") {
                    continue;
                }
                served.kinds.entry(GroupKind::new(name, kind)).or_default().push(ServedKind {
                    version: text(&version, "version").into(),
                    plural: text(&resource, "resource").into(),
                    namespaced: text(&resource, "scope") == "Namespaced",
                    listable: can("list") && can("watch"),
                });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn kinds_versions_and_groups_that_do_not_answer() {
        let resource = |plural: &str, kind: &str, scope: &str, verbs: &[&str]| json!({"resource": plural, "responseKind": {"kind": kind}, "scope": scope, "verbs": verbs});
        let all = &["get", "list", "watch", "patch"];
        let list = json!({"kind": "APIGroupDiscoveryList", "items": [
            {"metadata": {"name": "apps"}, "versions": [{"version": "v1", "freshness": "Current", "resources": [
                resource("deployments", "Deployment", "Namespaced", all)]}]},
            {"metadata": {"name": "example.com"}, "versions": [
                {"version": "v2", "resources": [resource("widgets", "Widget", "Cluster", all)]},
                {"version": "v1", "resources": [resource("widgets", "Widget", "Cluster", all)]}]},
            {"metadata": {"name": "metrics.k8s.io"}, "versions": [{"version": "v1beta1", "freshness": "Stale"}]},
            {"metadata": {"name": "authorization.k8s.io"}, "versions": [{"version": "v1", "resources": [
                resource("subjectaccessreviews", "SubjectAccessReview", "Cluster", &["create"])]}]},
        ]});
        let mut served = Served::default();
        take(&list, &mut served).expect("discovery");
        let kind = |group: &str, kind: &str, version| {
            served
                .kind(&GroupKind::new(group, kind), version)
                .map(|k| (k.version.to_string(), k.plural.to_string(), k.namespaced))
        };
        let found = |version: &str, plural: &str, namespaced| Some((version.to_owned(), plural.to_owned(), namespaced));
        assert_eq!(kind("apps", "Deployment", None), found("v1", "deployments", true));
        assert_eq!(kind("example.com", "Widget", None), found("v2", "widgets", false));
        assert_eq!(kind("example.com", "Widget", Some("v1")), found("v1", "widgets", false));
        assert_eq!(kind("authorization.k8s.io", "SubjectAccessReview", None), None);
        assert!(served.unknown_groups.contains("metrics.k8s.io"));
        assert!(take(&json!({"kind": "APIGroupList"}), &mut served).is_err());
    }
}
