//! `GET /up`, over whatever leads to the endpoint (K32).

use http::header::{CONNECTION, HOST, USER_AGENT};
use http::{HeaderValue, Request};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::domain::kura::traffic::Up;

/// What is asked for.
const PATH: &str = "/up";

/// Who asks.
const ASKER: &str = concat!("kura-console/", env!("CARGO_PKG_VERSION"), " (probe)");

/// Asks once. A redirect is an answer like any other: it is not 2xx, and it is not followed. The body is not read.
pub(super) async fn ask<S>(stream: S, authority: &str) -> Up
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let failed = |why: String| Up::Failed { why };
    let Ok(host) = HeaderValue::from_str(authority) else {
        return failed("that is no name that can be asked".to_owned());
    };
    let request = Request::get(PATH).header(HOST, host).header(USER_AGENT, ASKER).header(CONNECTION, "close");
    let Ok(request) = request.body(String::new()) else {
        return failed("that cannot be asked".to_owned());
    };
    let (mut sender, connection) = match http1::handshake(TokioIo::new(stream)).await {
        Ok(pair) => pair,
        Err(error) => return failed(error.to_string()),
    };
    let mut answer = std::pin::pin!(sender.send_request(request));
    // The connection is driven only for as long as the answer is waited for. It may end in the moment the answer is there.
    let answer = tokio::select! {
        biased;
        answer = &mut answer => answer,
        ended = connection => match ended {
            Ok(()) => answer.await,
            Err(error) => Err(error),
        },
    };
    match answer {
        Ok(answer) => Up::Status { status: answer.status().as_u16() },
        Err(error) => failed(sentence(&error)),
    }
}

/// Without anything that differs from one try to the next.
fn sentence(error: &hyper::Error) -> String {
    let text = if error.is_parse() { "what came back is no HTTP" } else { "the connection broke before an answer" };
    text.to_owned()
}
