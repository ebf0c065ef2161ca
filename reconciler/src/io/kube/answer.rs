//! Answers: objects, or a `Status` that says what is wrong.
//!
//! Invariant: a server's words about a Secret are not passed on, because they may quote it.

use http::HeaderMap;
use serde_json::Value;

use crate::cluster::{ClusterError, FieldConflict, GroupKind, WriteError, Written};

/// An answer, read.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    status: u16,
    /// `null` where the body is no JSON.
    body: Value,
    /// The server's time, in seconds since 1970.
    pub(super) date_secs: Option<i64>,
    retry_after_secs: Option<u32>,
}

impl Answer {
    pub(super) fn new(status: u16, headers: &HeaderMap, body: &[u8]) -> Self {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        Self {
            status,
            body: serde_json::from_slice(body).unwrap_or_default(),
            date_secs: header("date").and_then(http_date_secs),
            retry_after_secs: header("retry-after").and_then(|text| text.trim().parse().ok()),
        }
    }

    fn is_success(&self) -> bool {
        (200..300).contains(&self.status) && !self.body.is_null()
    }

    fn text(&self, pointer: &str) -> &str {
        self.body.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    /// A 404 that is about an object, and not about its kind.
    pub(super) fn is_object_missing(&self) -> bool {
        self.status == 404 && !self.text("/details/name").is_empty()
    }

    /// What the server says is wrong.
    fn message(&self, kind: &GroupKind) -> String {
        let message = self.text("/message");
        if message.is_empty() {
            return format!("{kind}: the API server answers {}", self.status);
        }
        let names_only = matches!(self.status, 401 | 403 | 404 | 409 | 429 | 503);
        if kind.is("", "Secret") && !names_only {
            let fields: Vec<&str> = self.causes().filter_map(|cause| cause["field"].as_str()).collect();
            let at = if fields.is_empty() { String::new() } else { format!(" at {}", fields.join(", ")) };
            return format!("the API server refuses the Secret{at} ({}); its words may quote it", self.status);
        }
        message.to_owned()
    }

    fn causes(&self) -> impl Iterator<Item = &Value> {
        self.body.pointer("/details/causes").and_then(Value::as_array).into_iter().flatten()
    }

    /// The body of a read.
    pub(super) fn read(self, kind: &GroupKind) -> Result<Value, ClusterError> {
        if self.is_success() {
            return Ok(self.body);
        }
        let message = self.message(kind);
        Err(match self.status {
            404 => ClusterError::NotServed(kind.clone()),
            401 | 403 | 405 | 406 => ClusterError::Denied(message),
            _ => ClusterError::Transient(message),
        })
    }

    /// What came of a write, `deletes` or other.
    pub(super) fn written(self, kind: &GroupKind, deletes: bool) -> Written {
        if self.is_success() {
            let left = if deletes { left_of(self.body) } else { Some(self.body) };
            return Ok(left.map(std::sync::Arc::new));
        }
        let message = self.message(kind);
        Err(match (self.status, self.text("/reason")) {
            (404, _) if self.text("/details/kind").is_empty() => WriteError::NotServed(kind.clone()),
            (404, _) => WriteError::NotFound,
            (409, "AlreadyExists") => WriteError::Exists,
            (409, _) => {
                let conflicts: Vec<FieldConflict> = self.causes().filter_map(conflict).collect();
                if conflicts.is_empty() { WriteError::Stale(message) } else { WriteError::Conflict(conflicts) }
            }
            (403, _) if self.causes().any(|cause| cause["reason"] == "NamespaceTerminating") => {
                WriteError::Transient { message, retry_after_secs: None }
            }
            (401 | 403 | 405 | 406 | 413, _) => WriteError::Denied(message),
            (400 | 415 | 422, _) => {
                let says = self.text("/message");
                let immutable =
                    ["immutable", "may not be changed", "fields other than"].iter().any(|w| says.contains(w));
                WriteError::Invalid { message, immutable }
            }
            // Server-side apply answers 500 to fields that the schema does not have.
            (500, _)
                if ["typed patch object", "convert new object"].iter().any(|w| self.text("/message").contains(w)) =>
            {
                WriteError::Invalid { message, immutable: false }
            }
            _ => WriteError::Transient { message, retry_after_secs: self.retry_after_secs },
        })
    }
}

/// What a deletion leaves; `None` when it is over. Some kinds answer with the object that was: it is still there only
/// while something keeps it.
fn left_of(body: Value) -> Option<Value> {
    let metadata = &body["metadata"];
    let deleting = metadata.get("deletionTimestamp").is_some();
    let kept = |list: &Value| list.as_array().is_some_and(|items| !items.is_empty());
    let lingers = kept(&metadata["finalizers"])
        || kept(&body["spec"]["finalizers"])
        || metadata["deletionGracePeriodSeconds"].as_u64().is_some_and(|secs| secs > 0);
    (deleting && lingers).then_some(body)
}

/// A cause of a conflict: `conflict with "kubectl-edit" using apps/v1 at 2026-…`. Only managers that update carry `using`
/// (apimachinery, `managedfields/internal/conflict.go`).
fn conflict(cause: &Value) -> Option<FieldConflict> {
    if cause["reason"] != "FieldManagerConflict" {
        return None;
    }
    let message = cause["message"].as_str().unwrap_or_default();
    let manager = message.strip_prefix("conflict with ").unwrap_or(message).to_owned();
    let applies = !manager.contains(" using ");
    Some(FieldConflict { manager, applies, field: cause["field"].as_str().unwrap_or_default().to_owned() })
}

/// `Mon, 30 Nov 2026 11:10:44 GMT` (RFC 9110, IMF-fixdate) in seconds since 1970.
fn http_date_secs(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (_, rest) = text.split_once(", ")?;
    let mut parts = rest.split(' ');
    let day: i64 = parts.next()?.parse().ok()?;
    let month = parts.next()?;
    let month = i64::try_from(MONTHS.iter().position(|name| *name == month)?).ok()? + 1;
    let year: i64 = parts.next()?.parse().ok().filter(|year| (1970..10_000).contains(year))?;
    let mut clock = parts.next()?.split(':').map(|part| part.parse::<i64>().ok());
    let (hours, minutes, secs) = (clock.next()??, clock.next()??, clock.next()??);
    // Days since 1970-03-01 of a year that begins in March, so that the leap day is its last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    Some(days * 86_400 + hours * 3_600 + minutes * 60 + secs)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer(status: u16, body: &Value) -> Answer {
        Answer::new(status, &HeaderMap::new(), body.to_string().as_bytes())
    }

    #[test]
    fn dates() {
        for (text, secs) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Mon, 30 Nov 2026 11:10:44 GMT", Some(1_796_037_044)),
            ("Thu, 29 Feb 2024 23:59:59 GMT", Some(1_709_251_199)),
            ("yesterday", None),
            ("Mon, 30 Nov 99999999999999999999 11:10:44 GMT", None),
        ] {
            assert_eq!(http_date_secs(text), secs, "{text}");
        }
    }

    #[test]
    fn errors_of_writes() {
        let status = |code: u16, reason: &str, message: &str, details: Value| {
            answer(code, &json!({"kind": "Status", "reason": reason, "message": message, "details": details}))
        };
        let kind = GroupKind::new("apps", "Deployment");
        let cause =
            |message: &str| json!({"reason": "FieldManagerConflict", "message": message, "field": ".spec.replicas"});
        let conflict = |manager: &str, applies| {
            WriteError::Conflict(vec![FieldConflict {
                manager: manager.to_owned(),
                applies,
                field: ".spec.replicas".to_owned(),
            }])
        };
        let transient = |message: &str| WriteError::Transient { message: message.to_owned(), retry_after_secs: None };
        let invalid = |message: &str, immutable| WriteError::Invalid { message: message.to_owned(), immutable };
        for (answer, expected) in [
            (
                status(
                    409,
                    "Conflict",
                    "c",
                    json!({"causes": [cause("conflict with \"kubectl-edit\" using apps/v1 at T")]}),
                ),
                conflict("\"kubectl-edit\" using apps/v1 at T", false),
            ),
            (
                status(409, "Conflict", "c", json!({"causes": [cause("conflict with \"argocd\"")]})),
                conflict("\"argocd\"", true),
            ),
            (status(409, "Conflict", "modified", json!({})), WriteError::Stale("modified".to_owned())),
            (status(409, "AlreadyExists", "x", json!({})), WriteError::Exists),
            (status(404, "NotFound", "x", json!({"name": "n", "kind": "namespaces"})), WriteError::NotFound),
            (status(404, "NotFound", "x", json!({})), WriteError::NotServed(kind.clone())),
            (answer(404, &json!("404 page not found")), WriteError::NotServed(kind.clone())),
            (status(403, "Forbidden", "no", json!({})), WriteError::Denied("no".to_owned())),
            (
                status(403, "Forbidden", "going", json!({"causes": [{"reason": "NamespaceTerminating"}]})),
                transient("going"),
            ),
            (
                status(422, "Invalid", "spec.selector: field is immutable", json!({})),
                invalid("spec.selector: field is immutable", true),
            ),
            (status(422, "Invalid", "spec.replicas: must be 0", json!({})), invalid("spec.replicas: must be 0", false)),
            (
                status(500, "", "failed to create typed patch object", json!({})),
                invalid("failed to create typed patch object", false),
            ),
            (status(429, "TooManyRequests", "slow", json!({})), transient("slow")),
            (answer(502, &json!(null)), transient("apps/Deployment: the API server answers 502")),
        ] {
            assert_eq!(answer.written(&kind, false), Err(expected));
        }
    }

    #[test]
    fn words_about_a_secret_are_not_passed_on() {
        let body = json!({
            "reason": "Invalid", "message": "data[pw]: Invalid value: \"swordfish\"",
            "details": {"causes": [{"field": "data[pw]"}]},
        });
        let said = answer(422, &body).written(&GroupKind::new("", "Secret"), false).expect_err("refused").to_string();
        assert_eq!(said, "invalid: the API server refuses the Secret at data[pw] (422); its words may quote it");
    }

    #[test]
    fn what_a_deletion_leaves() {
        for (body, there) in [
            (json!({"kind": "Status", "status": "Success"}), false),
            (json!({"kind": "Service", "metadata": {"deletionTimestamp": "T"}}), false),
            (json!({"kind": "Pod", "metadata": {"deletionTimestamp": "T", "deletionGracePeriodSeconds": 30}}), true),
            (
                json!({"kind": "PersistentVolumeClaim", "metadata": {"deletionTimestamp": "T", "finalizers": ["x"]}}),
                true,
            ),
            (
                json!({"kind": "Namespace", "metadata": {"deletionTimestamp": "T"}, "spec": {"finalizers": ["kubernetes"]}}),
                true,
            ),
            (json!({"kind": "Service", "metadata": {}}), false),
        ] {
            assert_eq!(left_of(body.clone()).is_some(), there, "{body}");
        }
    }
}
