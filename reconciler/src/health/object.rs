//! Reading an object's fields: absent is one thing, wrong is another.

use serde_json::Value;

use super::Health;

/// A word and a reason.
pub(super) type Verdict = (Health, String);

/// A field that holds what no API server stores there; the text names it.
#[derive(Debug)]
pub(super) struct Malformed(pub(super) String);

/// An object as JSON.
#[derive(Debug)]
pub(super) struct Object<'a>(pub(super) &'a Value);

/// One of `status.conditions`.
#[derive(Debug)]
pub(super) struct Condition<'a> {
    pub(super) kind: &'a str,
    pub(super) status: &'a str,
    pub(super) reason: &'a str,
    pub(super) message: &'a str,
}

impl Condition<'_> {
    pub(super) fn is(&self, kind: &str, status: &str) -> bool {
        self.kind == kind && self.status == status
    }

    /// What it says: its message, else its reason, else its type.
    pub(super) fn says(&self) -> String {
        let said = [self.message, self.reason].into_iter().find(|text| !text.is_empty());
        format!("{} is {}: {}", self.kind, self.status, said.unwrap_or("no reason given"))
    }
}

impl<'a> Object<'a> {
    /// The value at a path; `null` is absent, as for the API server.
    pub(super) fn at(&self, path: &[&str]) -> Option<&'a Value> {
        path.iter().try_fold(self.0, |value, key| value.get(key)).filter(|value| !value.is_null())
    }

    pub(super) fn whole(&self, path: &[&str]) -> Result<Option<i64>, Malformed> {
        let Some(value) = self.at(path) else { return Ok(None) };
        value.as_i64().map(Some).ok_or_else(|| wrong(path, "a whole number"))
    }

    /// A count; absent is `default`.
    pub(super) fn count(&self, path: &[&str], default: i64) -> Result<i64, Malformed> {
        Ok(self.whole(path)?.unwrap_or(default))
    }

    /// A text; absent is empty.
    pub(super) fn text(&self, path: &[&str]) -> Result<&'a str, Malformed> {
        let Some(value) = self.at(path) else { return Ok("") };
        value.as_str().ok_or_else(|| wrong(path, "a text"))
    }

    pub(super) fn list(&self, path: &[&str]) -> Result<&'a [Value], Malformed> {
        let Some(value) = self.at(path) else { return Ok(&[]) };
        value.as_array().map(Vec::as_slice).ok_or_else(|| wrong(path, "a list"))
    }

    pub(super) fn conditions(&self) -> Result<Vec<Condition<'a>>, Malformed> {
        let path = ["status", "conditions"];
        let text = |value: &'a Value, key: &str| match value.get(key) {
            None | Some(Value::Null) => Ok(""),
            Some(Value::String(text)) => Ok(text.as_str()),
            Some(_) => Err(wrong(&path, "a list of conditions with texts")),
        };
        let read = |value: &'a Value| {
            Ok(Condition {
                kind: text(value, "type")?,
                status: text(value, "status")?,
                reason: text(value, "reason")?,
                message: text(value, "message")?,
            })
        };
        self.list(&path)?.iter().map(read).collect()
    }

    /// The API group; empty for the core group.
    pub(super) fn group(&self) -> &'a str {
        let version = self.at(&["apiVersion"]).and_then(Value::as_str).unwrap_or_default();
        version.split_once('/').map_or("", |(group, _)| group)
    }

    pub(super) fn kind(&self) -> &'a str {
        self.at(&["kind"]).and_then(Value::as_str).unwrap_or_default()
    }
}

fn wrong(path: &[&str], expected: &str) -> Malformed {
    Malformed(format!("`.{}` is not {expected}", path.join(".")))
}

pub(super) fn current(why: impl Into<String>) -> Result<Verdict, Malformed> {
    Ok((Health::Current, why.into()))
}

pub(super) fn in_progress(why: impl Into<String>) -> Result<Verdict, Malformed> {
    Ok((Health::InProgress, why.into()))
}

pub(super) fn failed(why: impl Into<String>) -> Result<Verdict, Malformed> {
    Ok((Health::Failed, why.into()))
}
