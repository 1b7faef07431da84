//! One control plane over HTTP. Every wait has a limit, and no error shows the token.

use std::error::Error;
use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap, HeaderValue, LINK};
use reqwest::redirect::Policy;
use reqwest::{RequestBuilder, Response, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::endpoint::Endpoint;
use super::token::Token;
use crate::domain::ids::Revision;
use crate::wire::call::{
    Call, KEY_HEADER, Method, PLANNED_HEADER, REASON_HEADER, REPLAYED_HEADER, REVISION_HEADER, planned_text,
};
use crate::wire::problem::{Problem, ProblemBody, ProblemKind};

/// How long a connection that nobody uses is kept: less than the control plane keeps it, so that no order is sent over
/// one that is just being closed.
pub const IDLE_LIMIT: Duration = Duration::from_secs(20);

/// Until a connection stands.
pub const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// Until an answer is there in full, streams excepted.
pub const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// Until the head of a stream is there.
pub const STREAM_LIMIT: Duration = Duration::from_secs(15);

/// The largest answer that is read, in bytes: a world of 200,000 machines fits.
pub const ANSWER_MAX: usize = 512 * 1024 * 1024;

/// Why a request came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It never left this host.
    Unsent(Problem),
    /// It left, and no answer of the control plane came back.
    Lost(Problem),
    /// The control plane answered, with a problem.
    Answered(Problem),
}

impl Failure {
    /// What went wrong, whoever says so.
    pub fn into_problem(self) -> Problem {
        match self {
            Self::Unsent(problem) | Self::Lost(problem) | Self::Answered(problem) => problem,
        }
    }
}

/// The answer to an order that was carried out, or planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// HTTP status, one of success.
    pub status: u16,
    /// The revision it was made from, where it says so.
    pub revision: Option<Revision>,
    /// The order was carried out before, under the same key, and not again.
    pub replayed: bool,
    /// As it came.
    pub body: Vec<u8>,
}

/// A control plane and the token it is shown. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    endpoint: Endpoint,
    bearer: HeaderValue,
}

impl Client {
    /// Sets the client up; nothing is sent yet.
    pub fn new(endpoint: Endpoint, token: &Token) -> Result<Self, Problem> {
        // A second time it is refused, and the first one stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .connect_timeout(CONNECT_LIMIT)
            .pool_idle_timeout(IDLE_LIMIT)
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            .tcp_nodelay(true)
            .user_agent(concat!("kura-console/", env!("CARGO_PKG_VERSION")));
        if endpoint.is_local() {
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(|error| {
            Problem::new(ProblemKind::Usage, "client", format!("the HTTP client cannot be set up: {}", chain(&error)))
        })?;
        let mut bearer = HeaderValue::from_str(&token.bearer())
            .map_err(|_| Problem::new(ProblemKind::Usage, "token", "the token cannot be sent in a header"))?;
        bearer.set_sensitive(true);
        Ok(Self { http, endpoint, bearer })
    }

    /// Where it talks to.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Reads a body.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        self.get_dated(path).await.map(|(body, _)| body)
    }

    /// Reads a body, and when it was sent by the clock of the far end, to the second; none where it does not say.
    pub async fn get_dated<T: DeserializeOwned>(&self, path: &str) -> Result<(T, Option<Timestamp>), Failure> {
        self.read(self.http.get(self.endpoint.url(path))).await
    }

    /// Reads a page of a list, when it was sent, and where the next one is.
    pub async fn get_page(&self, path: &str) -> Result<(Vec<Value>, Option<Timestamp>, Option<String>), Failure> {
        let request = self.authorized(self.http.get(self.endpoint.url(path)));
        let answer = self.answered(request.timeout(ANSWER_LIMIT).send().await).await?;
        let (at, next) = (dated(answer.headers()), linked(answer.headers()));
        let page = self.whole(answer).await?;
        let page = serde_json::from_slice(&page).map_err(|error| Failure::Lost(self.unreadable(&error.to_string())))?;
        Ok((page, at, next))
    }

    /// Asks a question that changes nothing and is too long for a path.
    pub async fn ask<T: DeserializeOwned>(
        &self,
        path: &str,
        question: &Value,
    ) -> Result<(T, Option<Timestamp>), Failure> {
        self.read(self.http.post(self.endpoint.url(path)).json(question)).await
    }

    async fn read<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<(T, Option<Timestamp>), Failure> {
        let answer = self.answered(self.authorized(request).timeout(ANSWER_LIMIT).send().await).await?;
        let at = dated(answer.headers());
        let body = self.whole(answer).await?;
        let body = serde_json::from_slice(&body).map_err(|error| Failure::Lost(self.unreadable(&error.to_string())))?;
        Ok((body, at))
    }

    /// Sends an order, once.
    pub async fn call(
        &self,
        call: &Call,
        key: Option<&str>,
        reason: Option<&str>,
        planned_at: Option<Revision>,
    ) -> Result<Sent, Failure> {
        let url = self.endpoint.url(&call.path);
        let request = match call.method {
            Method::Post => self.http.post(url).json(&call.body),
            Method::Patch => self.http.patch(url).json(&call.body),
            Method::Put => self.http.put(url).json(&call.body),
            Method::Delete => match reason.and_then(|text| HeaderValue::from_bytes(text.as_bytes()).ok()) {
                Some(reason) => self.http.delete(url).header(REASON_HEADER, reason),
                None => self.http.delete(url),
            },
        };
        let request = match key {
            Some(key) => request.header(KEY_HEADER, key),
            None => request,
        };
        let request = match planned_at {
            Some(revision) => request.header(PLANNED_HEADER, planned_text(revision)),
            None => request,
        };
        let answer = self.answered(self.authorized(request).timeout(ANSWER_LIMIT).send().await).await?;
        let status = answer.status().as_u16();
        let revision = answer.headers().get(REVISION_HEADER).and_then(|value| value.to_str().ok()?.parse().ok());
        let replayed = answer.headers().contains_key(REPLAYED_HEADER);
        Ok(Sent { status, revision, replayed, body: self.whole(answer).await? })
    }

    /// Opens a stream; its bytes come as they are sent.
    pub async fn stream(&self, path: &str) -> Result<Response, Failure> {
        let request = self.authorized(self.http.get(self.endpoint.url(path))).header(ACCEPT, "text/event-stream");
        let opened = tokio::time::timeout(STREAM_LIMIT, request.send()).await;
        let opened = opened.map_err(|_| Failure::Lost(self.silent("it did not open the change stream in time")))?;
        self.answered(opened).await
    }

    fn authorized(&self, request: RequestBuilder) -> RequestBuilder {
        request.header(AUTHORIZATION, self.bearer.clone())
    }

    /// Tells an answer from a failure. An answer that is no success is a problem, in the far end's own words if it
    /// has any.
    async fn answered(&self, sent: Result<Response, reqwest::Error>) -> Result<Response, Failure> {
        let answer = sent.map_err(|error| match error.is_connect() || error.is_builder() {
            true => Failure::Unsent(self.silent(&chain(&error.without_url()))),
            false => Failure::Lost(self.silent(&chain(&error.without_url()))),
        })?;
        let status = answer.status();
        if status.is_success() {
            return Ok(answer);
        }
        let is_problem = answer
            .headers()
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"application/problem+json"));
        let body = if is_problem { self.whole(answer).await? } else { Vec::new() };
        match serde_json::from_slice::<ProblemBody>(&body) {
            Ok(body) => Err(Failure::Answered(ProblemBody { status: status.as_u16(), ..body }.into())),
            Err(_) => Err(self.foreign(status)),
        }
    }

    /// An answer that is not in the words of a control plane: a proxy, or something else on that port.
    fn foreign(&self, status: StatusCode) -> Failure {
        let kind = ProblemKind::of_status(status.as_u16());
        let message = format!("{} answered with HTTP {status}, and not as a control plane does", self.endpoint);
        let problem = Problem::new(kind, "foreign_answer", message).hint("check the address of the API");
        match status.is_client_error() {
            true => Failure::Answered(problem),
            false => Failure::Lost(problem),
        }
    }

    /// The whole body, within `ANSWER_MAX`.
    async fn whole(&self, mut answer: Response) -> Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        loop {
            let chunk = answer.chunk().await;
            let chunk = chunk.map_err(|error| Failure::Lost(self.silent(&chain(&error.without_url()))))?;
            let Some(chunk) = chunk else { return Ok(body) };
            if body.len() + chunk.len() > ANSWER_MAX {
                return Err(Failure::Lost(self.unreadable("it is too large")));
            }
            body.extend_from_slice(&chunk);
        }
    }

    fn silent(&self, why: &str) -> Problem {
        Problem::new(ProblemKind::Unreachable, "unreachable", format!("{} cannot be reached: {why}", self.endpoint))
            .hint("check the address, the network and that the control plane runs")
    }

    fn unreadable(&self, why: &str) -> Problem {
        let message = format!("the answer of {} cannot be read: {why}", self.endpoint);
        Problem::new(ProblemKind::Unreachable, "unreadable", message).hint("check the address and the two versions")
    }
}

/// When an answer was sent, as HTTP writes it.
fn dated(headers: &HeaderMap) -> Option<Timestamp> {
    let date = headers.get(DATE)?.to_str().ok()?;
    DateTimeParser::new().parse_timestamp(date).ok()
}

/// The path of the next page (RFC 8288), as a control plane writes it: below its own address and nowhere else.
fn linked(headers: &HeaderMap) -> Option<String> {
    let link = headers.get(LINK)?.to_str().ok()?;
    let (path, rest) = link.strip_prefix('<')?.split_once('>')?;
    (path.starts_with("/api/") && rest.contains("rel=\"next\"")).then(|| path.to_owned())
}

/// What the TLS library calls an answer that is not TLS.
const NOT_TLS: &str = "InvalidContentType";

/// The innermost cause says most: `Connection refused` rather than `error sending request`.
fn chain(error: &dyn Error) -> String {
    let mut innermost: &dyn Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    let said = innermost.to_string();
    if said.contains(NOT_TLS) { "it does not speak TLS: is it http:// instead of https://?".to_owned() } else { said }
}
