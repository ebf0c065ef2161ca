//! Plain HTTP to one API server, as its administrator: enough to get ready, to set a scene and to look at it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use ureq::Agent;
use ureq::http::{Method, Request, header};
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// How long a request may take unless [`Client::within`] says otherwise.
const WITHIN: Duration = Duration::from_secs(10);
/// A list of some thousand objects is a few MiB.
const BODY_LIMIT_BYTES: u64 = 256 << 20;

/// A client of one API server. A path begins with `/`, for example `/apis/apps/v1/namespaces/default/deployments`.
#[derive(Debug, Clone)]
pub struct Client {
    agent: Agent,
    tls: TlsConfig,
    base: String,
    token: String,
}

impl Client {
    /// A client that trusts one authority (DER) and shows one token.
    pub(super) fn new(base: String, authority: &[u8], token: String) -> Client {
        let roots = vec![Certificate::from_der(authority).to_owned()];
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::Specific(Arc::new(roots)))
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .build();
        Client { agent: agent(&tls, WITHIN), tls, base, token }
    }

    /// The same, with another limit for the time of a request.
    #[must_use]
    pub fn within(&self, limit: Duration) -> Client {
        Client { agent: agent(&self.tls, limit), ..self.clone() }
    }

    /// # Errors
    /// [`RequestError`], also for 404.
    pub fn get(&self, path: &str) -> Result<Value, RequestError> {
        self.send(Method::GET, path, None)
    }

    /// An object, or none when the server says 404.
    ///
    /// # Errors
    /// [`RequestError`] for anything else.
    pub fn find(&self, path: &str) -> Result<Option<Value>, RequestError> {
        match self.get(path) {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.code() == Some(404) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Creates an object in the collection at `path`.
    ///
    /// # Errors
    /// [`RequestError`]; 409 when it exists.
    pub fn create(&self, path: &str, object: &Value) -> Result<Value, RequestError> {
        self.send(Method::POST, path, Some(("application/json", object)))
    }

    /// Changes an object by a JSON merge patch.
    ///
    /// # Errors
    /// [`RequestError`].
    pub fn merge(&self, path: &str, patch: &Value) -> Result<Value, RequestError> {
        self.send(Method::PATCH, path, Some(("application/merge-patch+json", patch)))
    }

    /// Applies an object server-side, as `manager`, without force.
    ///
    /// # Errors
    /// [`RequestError`]; 409 when another manager owns a field with another value.
    pub fn apply(&self, path: &str, manager: &str, object: &Value) -> Result<Value, RequestError> {
        let path = format!("{path}?fieldManager={manager}");
        self.send(Method::PATCH, &path, Some(("application/apply-patch+yaml", object)))
    }

    /// Deletes an object, and what it owns after it.
    ///
    /// # Errors
    /// [`RequestError`].
    pub fn delete(&self, path: &str) -> Result<Value, RequestError> {
        self.send(Method::DELETE, &format!("{path}?propagationPolicy=Background"), None)
    }

    /// Whether the server says that it is ready.
    pub(super) fn ready(&self) -> Result<(), String> {
        self.send(Method::GET, "/readyz", None).map(|_| ()).map_err(|error| error.to_string())
    }

    fn send(&self, method: Method, path: &str, body: Option<(&str, &Value)>) -> Result<Value, RequestError> {
        let name = format!("{method} {path}");
        let failed = |source| RequestError::Failed { request: name.clone(), source: Box::new(source) };
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token))
            .header(header::ACCEPT, "application/json");
        if let Some((kind, _)) = body {
            request = request.header(header::CONTENT_TYPE, kind);
        }
        let answer = match body {
            Some((_, value)) => self.agent.run(request.body(value.to_string()).map_err(|e| failed(e.into()))?),
            None => self.agent.run(request.body(()).map_err(|e| failed(e.into()))?),
        };
        let mut answer = answer.map_err(failed)?;
        let text = answer.body_mut().with_config().limit(BODY_LIMIT_BYTES).read_to_string().map_err(failed)?;
        // `/readyz` answers in plain text
        let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
        if answer.status().is_success() {
            return Ok(value);
        }
        let message = value["message"].as_str().or(value.as_str()).unwrap_or_default().to_owned();
        Err(RequestError::Refused { request: name, code: answer.status().as_u16(), message })
    }
}

fn agent(tls: &TlsConfig, limit: Duration) -> Agent {
    Agent::config_builder()
        .tls_config(tls.clone())
        .timeout_global(Some(limit))
        .http_status_as_error(false)
        .proxy(None)
        // a kept connection to a server that was killed meanwhile fails the next request for nothing
        .max_idle_connections(0)
        .build()
        .new_agent()
}

/// Why a request brought no object.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The server answered with an error.
    #[error("{request}: {code} {message}")]
    Refused {
        /// Method and path.
        request: String,
        /// The HTTP status.
        code: u16,
        /// What the server said.
        message: String,
    },
    /// There was no answer: no connection, or too late.
    #[error("{request}: {source}")]
    Failed {
        /// Method and path.
        request: String,
        /// Why not.
        source: Box<ureq::Error>,
    },
}

impl RequestError {
    /// The HTTP status, when the server answered.
    pub fn code(&self) -> Option<u16> {
        match self {
            RequestError::Refused { code, .. } => Some(*code),
            RequestError::Failed { .. } => None,
        }
    }
}
