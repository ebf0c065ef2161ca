//! What makes two objects the same for an API server: everything but the version.

use std::fmt;

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::parse::ObjKey;
use serde_json::Value;

/// An API group and a kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupKind {
    /// The group; `""` is the core group.
    pub group: SmolStr,
    /// The kind.
    pub kind: SmolStr,
}

impl GroupKind {
    /// From both parts.
    #[must_use]
    pub fn new(group: &str, kind: &str) -> Self {
        Self { group: group.into(), kind: kind.into() }
    }

    /// Whether it is this group and kind.
    #[must_use]
    pub fn is(&self, group: &str, kind: &str) -> bool {
        self.group == group && self.kind == kind
    }
}

impl fmt::Display for GroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.group.is_empty() { write!(f, "{}", self.kind) } else { write!(f, "{}/{}", self.group, self.kind) }
    }
}

/// One object of a cluster. Written `group/Kind/namespace/name`, with empty parts where there is none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Its group and kind.
    pub kind: GroupKind,
    /// Its namespace; `""` for a cluster-scoped one.
    pub namespace: SmolStr,
    /// Its name.
    pub name: SmolStr,
}

impl Key {
    /// From its parts.
    #[must_use]
    pub fn new(group: &str, kind: &str, namespace: &str, name: &str) -> Self {
        Self { kind: GroupKind::new(group, kind), namespace: namespace.into(), name: name.into() }
    }

    /// The key of an object as the server writes it; `None` where kind or name is missing.
    #[must_use]
    pub fn of(object: &Value) -> Option<Self> {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(SmolStr::from);
        let group = match object.get("apiVersion").and_then(Value::as_str)?.split_once('/') {
            Some((group, _)) => group.into(),
            None => SmolStr::default(),
        };
        let metadata = object.get("metadata")?;
        Some(Self {
            kind: GroupKind { group, kind: text(object.get("kind"))? },
            namespace: text(metadata.get("namespace")).unwrap_or_default(),
            name: text(metadata.get("name"))?,
        })
    }

    /// The key of an object whose kind is known, as items of lists and owners' pods are; `None` where it has no name.
    #[must_use]
    pub fn of_kind(group: &str, kind: &str, object: &Value) -> Option<Self> {
        let metadata = object.get("metadata")?;
        let text = |field: &str| metadata.get(field).and_then(Value::as_str);
        Some(Self::new(group, kind, text("namespace").unwrap_or_default(), text("name")?))
    }

    /// From the text that `Display` writes; `None` where it is no such text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('/');
        let (group, kind, namespace, name) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        (parts.next().is_none() && !kind.is_empty() && !name.is_empty())
            .then(|| Self::new(group, kind, namespace, name))
    }
}

impl From<&ObjKey> for Key {
    fn from(key: &ObjKey) -> Self {
        Self {
            kind: GroupKind { group: key.group.clone(), kind: key.kind.clone() },
            namespace: key.namespace.clone().unwrap_or_default(),
            name: key.name.clone(),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.kind.group, self.kind.kind, self.namespace, self.name)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_read_what_they_write() {
        for text in ["apps/Deployment/shop/web", "/Namespace//shop", "rbac.authorization.k8s.io/Role/a/system:x"] {
            assert_eq!(Key::parse(text).map(|k| k.to_string()).as_deref(), Some(text));
        }
        for text in ["", "a/b/c", "a/b/c/d/e", "apps//shop/web", "apps/Deployment/shop/"] {
            assert_eq!(Key::parse(text), None, "{text}");
        }
        let object = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "n"}});
        assert_eq!(Key::of(&object), Some(Key::new("", "Secret", "n", "s")));
        assert_eq!(Key::of(&json!({"apiVersion": "v1", "kind": "Secret", "metadata": {}})), None);
    }
}
