//! Kubeconfig files, as JSON, which is YAML.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::error::RigError;

/// What a kubeconfig says of one cluster.
#[derive(Debug, Clone)]
pub(super) struct Context {
    /// Of the context, the cluster and the user.
    pub name: String,
    pub server: String,
    /// The file with the authority's certificate.
    pub authority: PathBuf,
    pub token: String,
}

/// Writes a kubeconfig; the first context is the current one.
pub(super) fn write(path: &Path, contexts: impl Iterator<Item = Context>) -> Result<(), RigError> {
    let contexts: Vec<Context> = contexts.collect();
    let text = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": contexts.first().map_or("", |context| context.name.as_str()),
        "clusters": contexts.iter().map(|c| json!({
            "name": c.name,
            "cluster": {"server": c.server, "certificate-authority": c.authority},
        })).collect::<Vec<_>>(),
        "users": contexts.iter().map(|c| json!({"name": c.name, "user": {"token": c.token}})).collect::<Vec<_>>(),
        "contexts": contexts.iter().map(|c| json!({
            "name": c.name,
            "context": {"cluster": c.name, "user": c.name},
        })).collect::<Vec<_>>(),
    });
    std::fs::write(path, format!("{text:#}\n")).map_err(RigError::io(format!("writing {}", path.display())))
}
