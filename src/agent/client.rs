//! The agent's end of the HTTP API.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Method, RequestBuilder, Response, Url};
use serde::Serialize;

use crate::domain::ids::MachineId;
use crate::domain::input::Edition;
use crate::domain::span::Seconds;
use crate::wire::agent::{APPLY_RESULTS_PATH, ASSIGNMENT_PATH, MACHINE_HEADER, PollAnswer, REBUILT_PATH, have_text};
use crate::wire::problem::ProblemBody;

use super::heard::{Mail, Setback};
use super::token::{TokenError, TokenSource};

/// How long a connection that nobody uses is kept: less than a control plane keeps it.
const IDLE_LIMIT: Duration = Duration::from_secs(20);

/// Until a connection stands.
pub const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// Until an answer is here, beyond the time a poll may be held.
pub const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// The longest answer that is read, in bytes; contents are the bulk of it.
pub const ANSWER_MAX: usize = 16 * 1024 * 1024;

/// The longest explanation of an error that is passed on, in bytes.
const EXPLANATION_MAX: usize = 1_024;

/// Why a request came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// No connection, or it broke.
    #[error("the control plane cannot be reached: {0}")]
    Unreachable(String),
    /// There is no token to send.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// 401, 403.
    #[error("the control plane does not accept the token (HTTP {status}): {said}")]
    Denied {
        /// HTTP status.
        status: u16,
        /// Its words.
        said: String,
    },
    /// 429, 503, or anything else that says when to come back.
    #[error("the control plane asks to come back later (HTTP {status}): {said}")]
    Later {
        /// HTTP status.
        status: u16,
        /// Its words.
        said: String,
        /// When.
        after: Option<Seconds>,
    },
    /// Any other 4xx.
    #[error("the control plane refuses the request (HTTP {status}): {said}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// Its words.
        said: String,
    },
    /// An answer that makes no sense, or a failure over there.
    #[error("{0}")]
    Broken(String),
}

impl Fault {
    /// What it means for the next attempt.
    pub fn setback(&self) -> Setback {
        match self {
            Self::Later { after: Some(after), .. } => Setback::Wait(*after),
            Self::Unreachable(_) | Self::Later { .. } | Self::Broken(_) => Setback::Away,
            Self::Token(_) | Self::Denied { .. } | Self::Refused { .. } => Setback::Denied,
        }
    }

    /// What a person can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unreachable(_) => "check --api and the network; for a private certificate authority give --ca-file",
            Self::Token(_) => "put the agent's token where --token-file, --token-command or the environment says",
            Self::Denied { .. } => "give this machine a token of role agent that is bound to it or to its account",
            Self::Refused { .. } => "check --api and --machine: is this machine known to that control plane?",
            Self::Later { .. } | Self::Broken(_) => "look at the log of the control plane",
        }
    }
}

/// Talks to one control plane for one machine.
#[derive(Debug)]
pub struct Client {
    http: reqwest::Client,
    api: Url,
    machine: MachineId,
    tokens: TokenSource,
}

impl Client {
    /// `api` is the address without `/api`, `authorities` certificates in PEM to trust instead of the system's. The
    /// error is a sentence.
    pub fn new(api: &str, machine: MachineId, tokens: TokenSource, authorities: Option<&[u8]>) -> Result<Self, String> {
        let mut address = Url::parse(api).map_err(|error| format!("{api} is not an address: {error}"))?;
        if !matches!(address.scheme(), "http" | "https") || address.host_str().is_none() {
            return Err(format!("{api} is not an address that begins with http:// or https://"));
        }
        if !address.path().ends_with('/') {
            address.set_path(&format!("{}/", address.path()));
        }
        let mut builder = reqwest::Client::builder()
            .connect_timeout(CONNECT_LIMIT)
            .pool_idle_timeout(IDLE_LIMIT)
            .redirect(Policy::none())
            .tcp_nodelay(true)
            .user_agent(concat!("kura-console-agent/", env!("CARGO_PKG_VERSION")));
        if let Some(pem) = authorities {
            builder = builder.tls_certs_only(certificates(pem)?);
        } else if address.scheme() == "http" {
            // Nothing to verify: a system without certificates will do.
            builder = builder.tls_certs_only([]);
        }
        let http = builder.build().map_err(|error| format!("the HTTP client cannot be set up: {}", chain(&error)))?;
        Ok(Self { http, api: address, machine, tokens })
    }

    /// True if the token would travel readable to another computer.
    pub fn is_exposed(&self) -> bool {
        let host = self.api.host_str().unwrap_or_default();
        let here = host == "localhost" || host == "[::1]" || host.starts_with("127.");
        self.api.scheme() == "http" && !here
    }

    /// The poll (R18).
    pub async fn ask(&self, have: Option<Edition>, wait: Seconds) -> Result<PollAnswer, Fault> {
        let have = have.map(|edition| format!("&have={}", have_text(edition))).unwrap_or_default();
        let request = self.request(Method::GET, ASSIGNMENT_PATH, &format!("wait={}{have}", wait.0))?;
        let answer = self.exchange(request.timeout(ANSWER_LIMIT + Duration::from_secs(wait.0))).await?;
        let body = read(answer).await?;
        serde_json::from_slice(&body)
            .map_err(|error| Fault::Broken(format!("the answer of the control plane makes no sense: {error}")))
    }

    /// Sends a report or a rebuild; `Ok` means that it is kept over there.
    pub async fn send(&self, mail: &Mail) -> Result<(), Fault> {
        match mail {
            Mail::Report(body) => self.post(APPLY_RESULTS_PATH, body).await,
            Mail::Rebuilt(body) => self.post(REBUILT_PATH, body).await,
        }
    }

    async fn post<B: Serialize>(&self, path: &str, body: &B) -> Result<(), Fault> {
        let body = serde_json::to_vec(body).map_err(|error| Fault::Broken(error.to_string()))?;
        let request = self.request(Method::POST, path, "")?.header(CONTENT_TYPE, "application/json").body(body);
        self.exchange(request.timeout(ANSWER_LIMIT)).await.map(drop)
    }

    fn request(&self, method: Method, path: &str, query: &str) -> Result<RequestBuilder, Fault> {
        let path = path.trim_start_matches('/');
        let mut url = self.api.join(path).map_err(|error| Fault::Broken(error.to_string()))?;
        url.set_query(Some(query).filter(|query| !query.is_empty()));
        Ok(self.http.request(method, url))
    }

    /// Only what succeeded comes back as an answer.
    async fn exchange(&self, request: RequestBuilder) -> Result<Response, Fault> {
        let answer = request.headers(self.headers().await?).send().await.map_err(unreachable)?;
        let status = answer.status();
        if status.is_success() {
            return Ok(answer);
        }
        if status.as_u16() == 401 {
            self.tokens.refused().await;
        }
        Err(fault(answer).await)
    }

    async fn headers(&self) -> Result<HeaderMap, Fault> {
        let token = self.tokens.token().await?;
        let unfit = || TokenError::NotAToken("the token source".to_owned());
        let mut bearer = HeaderValue::from_str(&format!("Bearer {}", token.expose())).map_err(|_| unfit())?;
        bearer.set_sensitive(true);
        let machine = HeaderValue::from_str(&self.machine.to_string()).map_err(|_| unfit())?;
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, bearer);
        headers.insert(MACHINE_HEADER, machine);
        Ok(headers)
    }
}

fn certificates(pem: &[u8]) -> Result<Vec<Certificate>, String> {
    let found = Certificate::from_pem_bundle(pem).map_err(|error| format!("no certificates: {}", chain(&error)))?;
    if found.is_empty() { Err("there is no certificate in PEM form in it".to_owned()) } else { Ok(found) }
}

async fn fault(answer: Response) -> Fault {
    let status = answer.status().as_u16();
    let header = |name| answer.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let after = header(RETRY_AFTER).and_then(|text| text.trim().parse().ok()).map(Seconds);
    if let (300..=399, Some(elsewhere)) = (status, header(LOCATION)) {
        return Fault::Broken(format!(
            "the control plane redirects to {elsewhere}, which is not followed: check --api"
        ));
    }
    let said = explanation(&read(answer).await.unwrap_or_default());
    match status {
        401 | 403 => Fault::Denied { status, said },
        429 | 503 => Fault::Later { status, said, after },
        400..=499 => Fault::Refused { status, said },
        _ => Fault::Broken(format!("the control plane failed (HTTP {status}): {said}")),
    }
}

/// The sentence of a problem, or the beginning of whatever was sent instead.
fn explanation(body: &[u8]) -> String {
    let said = serde_json::from_slice::<ProblemBody>(body).map(|problem| problem.detail).unwrap_or_default();
    let said = if said.is_empty() { String::from_utf8_lossy(body).trim().to_owned() } else { said };
    let said = if said.is_empty() { "no explanation".to_owned() } else { said };
    said[..said.floor_char_boundary(EXPLANATION_MAX)].replace(char::is_control, " ")
}

async fn read(mut answer: Response) -> Result<Vec<u8>, Fault> {
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(unreachable)? {
        if body.len() + chunk.len() > ANSWER_MAX {
            return Err(Fault::Broken(format!("the answer of the control plane is longer than {ANSWER_MAX} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

#[allow(clippy::needless_pass_by_value)]
fn unreachable(error: reqwest::Error) -> Fault {
    Fault::Unreachable(chain(&error.without_url()))
}

/// What the TLS library calls an answer that is not TLS.
const NOT_TLS: &str = "InvalidContentType";

/// An error with what is behind it: the outermost one rarely says what to look for.
fn chain(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        words = format!("{words}: {inner}");
        source = inner.source();
    }
    if words.contains(NOT_TLS) { "it does not speak TLS: is it http:// instead of https://?".to_owned() } else { words }
}
