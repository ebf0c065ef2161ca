//! What was asked of an API server, from its audit log (`audit.yaml`).

use std::collections::BTreeSet;

use serde_json::Value;

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// As RBAC has it: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`.
    pub verb: String,
    /// In the plural, with the subresource if there is one: `deployments`, `pods/status`; empty for `/version` and the like.
    pub resource: String,
    /// The namespace; may be empty.
    pub namespace: String,
    /// The object; empty for lists and watches.
    pub name: String,
    /// Path and query.
    pub uri: String,
    /// The program, up to the first `/` or blank.
    pub agent: String,
    /// The HTTP status.
    pub code: u64,
}

impl Request {
    /// Whether it changes something if it succeeds.
    pub fn is_write(&self) -> bool {
        matches!(self.verb.as_str(), "create" | "update" | "patch" | "delete" | "deletecollection")
            && !self.uri.contains("dryRun=All")
    }
}

/// Reads a log. A watch is in it twice, when it begins and when it ends; a line that is being written is left out.
pub(super) fn read(log: &str) -> Vec<Request> {
    let mut seen = BTreeSet::new();
    let events = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let events = events.filter(|event| event["auditID"].as_str().is_some_and(|id| seen.insert(id.to_owned())));
    events.map(|event| request(&event)).collect()
}

fn request(event: &Value) -> Request {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let object = &event["objectRef"];
    let mut resource = text(&object["resource"]);
    if let Some(sub) = object["subresource"].as_str() {
        resource = format!("{resource}/{sub}");
    }
    let agent = text(&event["userAgent"]);
    Request {
        verb: text(&event["verb"]),
        resource,
        namespace: text(&object["namespace"]),
        name: text(&object["name"]),
        uri: text(&event["requestURI"]),
        agent: agent.split(['/', ' ']).next().unwrap_or_default().to_owned(),
        code: event["responseStatus"]["code"].as_u64().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_once() {
        let line = |id: &str, stage: &str| {
            format!(
                r#"{{"stage":"{stage}","auditID":"{id}","verb":"patch","userAgent":"kubectl/v1 x","requestURI":"/a?dryRun=All","objectRef":{{"resource":"pods","subresource":"status","namespace":"n","name":"p"}},"responseStatus":{{"code":200}}}}"#
            )
        };
        let log =
            [line("1", "ResponseStarted"), line("1", "ResponseComplete"), line("2", "ResponseComplete")].join("\n");
        let found = read(&format!("{log}\n{{\"stage\":"));
        assert_eq!(found.len(), 2);
        assert_eq!(
            (found[0].verb.as_str(), found[0].resource.as_str(), found[0].agent.as_str()),
            ("patch", "pods/status", "kubectl")
        );
        assert_eq!((found[0].code, found[0].is_write()), (200, false), "a dry run writes nothing");
    }
}
