//! Requests: paths, queries and bodies of the Kubernetes API.

use std::time::Duration;

use http::{Method, Request};
use http_body_util::BodyExt as _;
use kube::client::Body;
use serde_json::{Value, json};

use super::answer::Answer;
use crate::cluster::{
    Apply, ClusterError, GroupKind, Key, MANAGER, Propagation, Served, ServedKind, ServiceAccount, Write, WriteError,
};

/// `Accept` of an answer that holds `metadata` alone.
const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
/// The same of a list.
const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// One request.
#[derive(Clone, Debug)]
pub(super) struct Call {
    method: Method,
    path: String,
    query: Vec<(&'static str, String)>,
    accept: &'static str,
    body: Option<(&'static str, Vec<u8>)>,
    service_account: Option<ServiceAccount>,
}

impl Call {
    pub(super) fn new(method: Method, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            query: Vec::new(),
            accept: "application/json",
            body: None,
            service_account: None,
        }
    }

    /// What tells whether a cluster answers, and which one it is.
    pub(super) fn probe() -> Self {
        Self::new(Method::GET, "/api/v1/namespaces/kube-system").metadata_only()
    }

    pub(super) fn accept(mut self, accept: &'static str) -> Self {
        self.accept = accept;
        self
    }

    pub(super) fn metadata_only(self) -> Self {
        self.accept(METADATA)
    }

    pub(super) fn metadata_list(self) -> Self {
        self.accept(METADATA_LIST)
    }

    pub(super) fn query(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.query.push((name, value.into()));
        self
    }

    fn body(mut self, content_type: &'static str, body: &Value) -> Self {
        self.body = Some((content_type, serde_json::to_vec(body).unwrap_or_default()));
        self
    }

    fn on_behalf(mut self, account: Option<&ServiceAccount>) -> Self {
        self.service_account = account.cloned();
        self
    }

    /// The request as it goes out.
    pub(super) fn request(&self) -> Result<Request<Body>, String> {
        let mut uri = self.path.clone();
        for (index, (name, value)) in self.query.iter().enumerate() {
            uri.push(if index == 0 { '?' } else { '&' });
            uri.push_str(name);
            uri.push('=');
            encode(value, &mut uri);
        }
        let mut request = Request::builder().method(self.method.clone()).uri(uri).header("Accept", self.accept);
        if let Some(account) = &self.service_account {
            let (namespace, name) = (&account.namespace, &account.name);
            // Without groups the API server gives it those of a service account; naming them would need rights on groups.
            request = request.header("Impersonate-User", format!("system:serviceaccount:{namespace}:{name}"));
        }
        let body = match &self.body {
            Some((content_type, body)) => {
                request = request.header("Content-Type", *content_type);
                Body::from(body.clone())
            }
            None => Body::empty(),
        };
        request.body(body).map_err(|error| format!("the request is not valid: {error}"))
    }

    /// Sends it and reads the whole answer. An error is about the connection; what the server says is an answer.
    pub(super) async fn send(self, client: &kube::Client, timeout: Duration) -> Result<Answer, String> {
        let what = format!("{} {}", self.method, self.path);
        let request = self.request()?;
        let exchange = async {
            let response = client.send(request).await.map_err(|error| said(&what, &error))?;
            let (parts, body) = response.into_parts();
            let body = body.collect().await.map_err(|error| said(&what, &error))?.to_bytes();
            Ok(Answer::new(parts.status.as_u16(), &parts.headers, &body))
        };
        match tokio::time::timeout(timeout, exchange).await {
            Ok(answer) => answer,
            Err(_) => Err(format!("{what}: no answer within {} s", timeout.as_secs())),
        }
    }
}

/// An error with its causes: the outer ones of HTTP clients say little.
pub(super) fn said(what: &str, error: &dyn std::error::Error) -> String {
    let mut text = format!("{what}: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    text
}

/// Percent-encoding of everything that is not unreserved (RFC 3986).
fn encode(text: &str, out: &mut String) {
    use std::fmt::Write as _;
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
}

/// The path of a kind's collection, of all namespaces where none is given.
pub(super) fn collection(group: &str, kind: &ServedKind, namespace: Option<&str>) -> String {
    let mut path = if group.is_empty() { "/api/".to_owned() } else { format!("/apis/{group}/") };
    path.push_str(&kind.version);
    if let Some(namespace) = namespace.filter(|_| kind.namespaced) {
        path.push_str("/namespaces/");
        encode(namespace, &mut path);
    }
    path.push('/');
    path.push_str(&kind.plural);
    path
}

fn object_path(served: &Served, key: &Key, version: Option<&str>) -> Option<String> {
    let mut path = of_collection(served, key, version)?;
    path.push('/');
    encode(&key.name, &mut path);
    Some(path)
}

fn of_collection(served: &Served, key: &Key, version: Option<&str>) -> Option<String> {
    let kind = served.kind(&key.kind, version)?;
    Some(collection(&key.kind.group, kind, Some(&key.namespace).filter(|n| !n.is_empty()).map(|n| n.as_str())))
}

pub(super) fn get(served: &Served, key: &Key) -> Result<Call, ClusterError> {
    let path = object_path(served, key, None).ok_or_else(|| ClusterError::NotServed(key.kind.clone()))?;
    Ok(Call::new(Method::GET, path))
}

/// The kind a write is about.
pub(super) fn kind_of(write: &Write) -> GroupKind {
    let of = |object: &Value| Key::of(object).map_or_else(|| GroupKind::new("", ""), |key| key.kind);
    match write {
        Write::Apply(apply) => of(&apply.object),
        Write::Create { object } | Write::Replace { object } => of(object),
        Write::ManagedFields { key, .. } | Write::Delete { key, .. } => key.kind.clone(),
    }
}

/// The request of a write.
pub(super) fn write(served: &Served, write: &Write) -> Result<Call, WriteError> {
    match write {
        Write::Apply(apply) => self::apply(served, apply),
        Write::Create { object } => {
            let (key, version) = identity(object)?;
            let path = of_collection(served, &key, version).ok_or(WriteError::NotServed(key.kind))?;
            Ok(Call::new(Method::POST, path).query("fieldManager", MANAGER).body("application/json", object))
        }
        Write::Replace { object } => {
            let (key, version) = identity(object)?;
            let path = object_path(served, &key, version).ok_or(WriteError::NotServed(key.kind))?;
            Ok(Call::new(Method::PUT, path).query("fieldManager", MANAGER).body("application/json", object))
        }
        Write::ManagedFields { key, resource_version, managed_fields } => {
            let path = object_path(served, key, None).ok_or_else(|| WriteError::NotServed(key.kind.clone()))?;
            // The resourceVersion in the patch is a precondition: another one is a conflict (as csaupgrade does it).
            let patch = json!([
                {"op": "replace", "path": "/metadata/managedFields", "value": managed_fields},
                {"op": "replace", "path": "/metadata/resourceVersion", "value": resource_version.as_str()},
            ]);
            Ok(Call::new(Method::PATCH, path).body("application/json-patch+json", &patch))
        }
        Write::Delete { key, uid, resource_version, propagation, service_account } => {
            let path = object_path(served, key, None).ok_or_else(|| WriteError::NotServed(key.kind.clone()))?;
            let mut preconditions = json!({"uid": uid.as_str()});
            if let Some(version) = resource_version {
                preconditions["resourceVersion"] = version.as_str().into();
            }
            let policy = match propagation {
                Propagation::Background => "Background",
                Propagation::Foreground => "Foreground",
            };
            let options = json!({
                "apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions, "propagationPolicy": policy,
            });
            let call = Call::new(Method::DELETE, path).body("application/json", &options);
            Ok(call.on_behalf(service_account.as_ref()))
        }
    }
}

fn apply(served: &Served, apply: &Apply) -> Result<Call, WriteError> {
    let (key, version) = identity(&apply.object)?;
    let path = object_path(served, &key, version).ok_or(WriteError::NotServed(key.kind))?;
    let mut call = Call::new(Method::PATCH, path)
        .query("fieldManager", apply.manager)
        .query("force", if apply.force { "true" } else { "false" });
    if apply.dry_run {
        call = call.query("dryRun", "All");
    }
    // JSON is YAML, and needs no quoting rules.
    Ok(call.body("application/apply-patch+yaml", &apply.object).on_behalf(apply.service_account.as_ref()))
}

fn identity(object: &Value) -> Result<(Key, Option<&str>), WriteError> {
    let missing = || WriteError::Invalid {
        message: "an object needs apiVersion, kind and metadata.name".to_owned(),
        immutable: false,
    };
    let key = Key::of(object).ok_or_else(missing)?;
    let version = object.get("apiVersion").and_then(Value::as_str).and_then(|text| text.rsplit('/').next());
    Ok((key, version))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn served() -> Served {
        let mut served = Served::default();
        let mut add = |group: &str, kind: &str, version: &str, plural: &str, namespaced| {
            let kind = (
                GroupKind::new(group, kind),
                vec![ServedKind { version: version.into(), plural: plural.into(), namespaced, listable: true }],
            );
            served.kinds.insert(kind.0, kind.1);
        };
        add("", "Secret", "v1", "secrets", true);
        add("rbac.authorization.k8s.io", "ClusterRole", "v1", "clusterroles", false);
        served
    }

    fn line(call: &Call) -> String {
        let request = call.request().expect("a request");
        format!("{} {}", request.method(), request.uri())
    }

    #[test]
    fn paths_queries_and_bodies() {
        let secret =
            Arc::new(json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "n"}}));
        let role = Key::new("rbac.authorization.k8s.io", "ClusterRole", "", "system:a%b");
        let account = ServiceAccount { namespace: "team".into(), name: "deployer".into() };
        let apply = Apply {
            object: Arc::clone(&secret),
            manager: MANAGER,
            force: false,
            dry_run: true,
            service_account: Some(account),
        };
        let served = served();
        let call = |w: &Write| write(&served, w).expect("a call");
        let apply = call(&Write::Apply(apply));
        assert_eq!(
            line(&apply),
            "PATCH /api/v1/namespaces/n/secrets/s?fieldManager=fleetwright&force=false&dryRun=All"
        );
        let headers = apply.request().expect("a request").headers().clone();
        assert_eq!(headers["content-type"], "application/apply-patch+yaml");
        assert_eq!(headers["impersonate-user"], "system:serviceaccount:team:deployer");
        // the server adds the groups of a service account; naming them would need rights on groups
        assert_eq!(headers.get_all("impersonate-group").iter().count(), 0);
        for (write, expected) in [
            (
                Write::Create { object: Arc::clone(&secret) },
                "POST /api/v1/namespaces/n/secrets?fieldManager=fleetwright",
            ),
            (Write::Replace { object: secret }, "PUT /api/v1/namespaces/n/secrets/s?fieldManager=fleetwright"),
        ] {
            assert_eq!(line(&call(&write)), expected);
        }
        let delete = call(&Write::Delete {
            key: role.clone(),
            uid: "u".into(),
            resource_version: None,
            propagation: Propagation::Background,
            service_account: None,
        });
        assert_eq!(line(&delete), "DELETE /apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Aa%25b");
        let body: Value = serde_json::from_slice(&delete.body.expect("a body").1).expect("JSON");
        assert_eq!((&body["preconditions"], &body["propagationPolicy"]), (&json!({"uid": "u"}), &json!("Background")));
        assert_eq!(
            line(&get(&served, &role).expect("a call")),
            "GET /apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Aa%25b"
        );
        assert!(get(&served, &Key::new("x", "Y", "", "z")).is_err());
    }
}
