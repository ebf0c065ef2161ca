//! A small HTTP server for what a process says about itself. Every answer comes from memory, at once.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use http::{Method, Request, Response};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;

use super::kube::KubeRuntime;

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// Its media type.
    pub content_type: &'static str,
    /// Its text.
    pub body: String,
}

impl Answer {
    /// Plain text.
    #[must_use]
    pub fn text(status: u16, body: impl Into<String>) -> Self {
        Self { status, content_type: "text/plain; charset=utf-8", body: body.into() }
    }
}

/// Says what there is at a path; `true`: it was posted to.
pub type Respond = dyn Fn(&str, bool) -> Answer + Send + Sync;

/// Listens, and answers until the process ends. Returns where: port 0 is a free one.
///
/// # Errors
/// When the address cannot be listened on.
pub fn serve(runtime: &KubeRuntime, listen: SocketAddr, respond: Arc<Respond>) -> std::io::Result<SocketAddr> {
    let listener = runtime.block_on(TcpListener::bind(listen))?;
    let bound = listener.local_addr()?;
    runtime.spawn(async move {
        loop {
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                // Too many open files, say: it passes, and must not spin meanwhile.
                Err(_) => {
                    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                    continue;
                }
            };
            let respond = Arc::clone(&respond);
            tokio::spawn(async move {
                let service = service_fn(move |request| answer(request, Arc::clone(&respond)));
                let mut server = http1::Builder::new();
                // Nobody keeps a connection by being slow.
                server.timer(TokioTimer::new()).header_read_timeout(std::time::Duration::from_secs(10));
                // A client that goes away is its own business.
                let _ = server.serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
    Ok(bound)
}

async fn answer(request: Request<Incoming>, respond: Arc<Respond>) -> Result<Response<Full<Bytes>>, Infallible> {
    let answer = match *request.method() {
        Method::GET | Method::HEAD => respond(request.uri().path(), false),
        Method::POST => respond(request.uri().path(), true),
        _ => Answer::text(405, "GET or POST\n"),
    };
    let response = Response::builder()
        .status(answer.status)
        .header("content-type", answer.content_type)
        .body(Full::new(Bytes::from(answer.body)));
    Ok(response.unwrap_or_else(|_| Response::new(Full::default())))
}

/// Calls something when the process is asked to end (SIGTERM, SIGINT).
///
/// # Errors
/// When signals cannot be received.
pub fn on_shutdown(runtime: &KubeRuntime, then: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminate, mut interrupt) = runtime.block_on(async {
        Ok::<_, std::io::Error>((signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?))
    })?;
    runtime.spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        then();
    });
    Ok(())
}
