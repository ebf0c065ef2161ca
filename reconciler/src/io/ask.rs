//! Asks another process of ours something over plain HTTP: what `serve` serves.

use http::uri::{Scheme, Uri};
use http::{Method, Request};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::kube::KubeRuntime;

/// Largest answer: a status of tens of thousands of apps.
const MOST_BYTES: usize = 256 << 20;

/// How long an answer may take.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(10);

/// What is at a path of a server; `None` where it knows no such thing.
///
/// # Errors
/// When it does not answer, in words.
pub fn get(runtime: &KubeRuntime, server: &str, path: &str) -> Result<Option<String>, String> {
    ask(runtime, server, Method::GET, path, 200)
}

/// Posts to a path of a server; `None` where it knows no such thing.
///
/// # Errors
/// As [`get`].
pub fn post(runtime: &KubeRuntime, server: &str, path: &str) -> Result<Option<String>, String> {
    ask(runtime, server, Method::POST, path, 202)
}

fn ask(
    runtime: &KubeRuntime,
    server: &str,
    method: Method,
    path: &str,
    accepted: u16,
) -> Result<Option<String>, String> {
    // What is not of this form may hold credentials, and is not repeated.
    let form = "the address of the server: expected http://HOST:PORT, and nothing else";
    let uri: Uri = server.parse().map_err(|_| form.to_owned())?;
    let bare = uri.authority().is_some_and(|authority| !authority.as_str().contains('@'))
        && uri.path_and_query().is_none_or(|rest| rest.as_str() == "/");
    if !bare {
        return Err(form.to_owned());
    }
    let (Some(host), true) = (uri.host(), uri.scheme().is_none_or(|scheme| *scheme == Scheme::HTTP)) else {
        return Err(format!(
            "`{server}`: expected http://HOST:PORT; from further away, `kubectl port-forward` brings it here"
        ));
    };
    let address = (host.trim_matches(['[', ']']).to_owned(), uri.port_u16().unwrap_or(80));
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", host)
        .body(Empty::<Bytes>::new())
        .map_err(|e| e.to_string())?;
    let exchange = async {
        let stream = TcpStream::connect(address).await.map_err(|e| e.to_string())?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|e| e.to_string())?;
        tokio::spawn(connection);
        let answer = sender.send_request(request).await.map_err(|e| e.to_string())?;
        let status = answer.status().as_u16();
        let body = Limited::new(answer.into_body(), MOST_BYTES).collect().await.map_err(|e| e.to_string())?;
        Ok::<_, String>((status, String::from_utf8_lossy(&body.to_bytes()).into_owned()))
    };
    match runtime.block_on(async { tokio::time::timeout(TIMEOUT, exchange).await }) {
        Ok(Ok((status, body))) if status == accepted => Ok(Some(body)),
        Ok(Ok((404, _))) => Ok(None),
        Ok(Ok((status, body))) => Err(format!("{server} answers {status}: {}", words(&body))),
        Ok(Err(error)) => Err(format!("{server} does not answer: {error}")),
        Err(_) => Err(format!("{server} does not answer within {} s", TIMEOUT.as_secs())),
    }
}

/// The beginning of what a server says, without what could play tricks on a terminal.
fn words(body: &str) -> String {
    body.trim().chars().take(200).map(|c| if c.is_control() { ' ' } else { c }).collect()
}
