//! One shape for everything that goes wrong at an edge: problem+json over HTTP, a layer on screen, an exit code in a shell.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::UNKNOWN_OUTCOME;
use super::plan::MovedBody;
use crate::domain::refusal::{Refusal, RefusalKind};

/// When to come again after a 429 or 503, in seconds.
const COME_AGAIN: u64 = 1;

/// Code of the problem that says: the clock of the server is ahead, and a person has to look at it.
pub const CLOCK_AHEAD: &str = "clock_ahead";

/// Code of the problem that says: there was such a thing, and its entries went with a compaction.
pub const ARCHIVED: &str = "archived";

/// Exit code of an order that may have been done.
const UNKNOWN_EXIT: u8 = 6;

/// Families of problems; each has one HTTP status and one exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    /// 400: contradicts itself, the resulting state, or an immutable field.
    Invalid,
    /// 401: no token, or an unknown one.
    Unauthenticated,
    /// 403: the token may not do this.
    Forbidden,
    /// 404.
    NotFound,
    /// 405: the path exists, the method does not.
    WrongMethod,
    /// 409: not in this state.
    Conflict,
    /// 410: it was there once and is not kept any more.
    Gone,
    /// 412: it was planned on a revision that is no longer what it was.
    Moved,
    /// 413: too large.
    TooLarge,
    /// 422: the body has the wrong shape.
    Malformed,
    /// 429: too many.
    TooMany,
    /// 503: something behind us does not answer.
    Unavailable,
    /// 500: our own fault.
    Internal,
    /// No status: the far end could not be reached.
    Unreachable,
    /// No status: wrong flags, files or configuration on this side.
    Usage,
}

impl ProblemKind {
    /// HTTP status; 0 for problems that never travel.
    pub fn status(self) -> u16 {
        match self {
            Self::Invalid => 400,
            Self::Unauthenticated => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::WrongMethod => 405,
            Self::Conflict => 409,
            Self::Gone => 410,
            Self::Moved => 412,
            Self::TooLarge => 413,
            Self::Malformed => 422,
            Self::TooMany => 429,
            Self::Unavailable => 503,
            Self::Internal => 500,
            Self::Unreachable | Self::Usage => 0,
        }
    }

    /// The kind an HTTP status stands for.
    pub fn of_status(status: u16) -> Self {
        match status {
            400 => Self::Invalid,
            401 => Self::Unauthenticated,
            403 => Self::Forbidden,
            404 => Self::NotFound,
            405 => Self::WrongMethod,
            410 => Self::Gone,
            409 => Self::Conflict,
            412 => Self::Moved,
            413 => Self::TooLarge,
            422 => Self::Malformed,
            429 => Self::TooMany,
            502..=504 => Self::Unavailable,
            _ => Self::Internal,
        }
    }

    /// Exit code: 1 refused, 2 usage, 3 unreachable, 4 conflict, 5 moved.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Usage | Self::Malformed => 2,
            Self::Unreachable | Self::Unavailable => 3,
            Self::Conflict => 4,
            Self::Moved => 5,
            _ => 1,
        }
    }

    /// A few words for a headline.
    pub fn title(self) -> &'static str {
        match self {
            Self::Invalid => "Invalid request",
            Self::Unauthenticated => "Not signed in",
            Self::Forbidden => "Not allowed",
            Self::NotFound => "Not found",
            Self::WrongMethod => "Wrong method",
            Self::Conflict => "Conflict",
            Self::Gone => "No longer kept",
            Self::Moved => "Changed meanwhile",
            Self::TooLarge => "Too large",
            Self::Malformed => "Malformed request",
            Self::TooMany => "Too many requests",
            Self::Unavailable => "Unavailable",
            Self::Internal => "Internal error",
            Self::Unreachable => "Unreachable",
            Self::Usage => "Cannot run like this",
        }
    }
}

/// What went wrong, why, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Its family.
    pub kind: ProblemKind,
    /// A stable word for programs.
    pub code: String,
    /// One sentence: what went wrong.
    pub message: String,
    /// The field of the request that is to blame, as a path.
    pub field: Option<String>,
    /// What to do, most useful first.
    pub hints: Vec<String>,
    /// What changed since the revision it was planned on.
    pub moved: Box<[MovedBody]>,
}

impl Problem {
    /// A problem without hints.
    pub fn new(kind: ProblemKind, code: &str, message: impl Into<String>) -> Self {
        Self {
            kind,
            code: code.to_owned(),
            message: message.into(),
            field: None,
            hints: Vec::new(),
            moved: Box::default(),
        }
    }

    /// The same with one more hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The same, naming a field.
    #[must_use]
    pub fn field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// The exit code of its kind, and one of its own where nobody knows whether something was done.
    pub fn exit_code(&self) -> u8 {
        if self.code == UNKNOWN_OUTCOME { UNKNOWN_EXIT } else { self.kind.exit_code() }
    }

    /// When to come again, in seconds, where that may help. A clock that runs ahead is not right again by itself.
    pub fn retry_after(&self) -> Option<u64> {
        let passes = matches!(self.kind, ProblemKind::Unavailable | ProblemKind::TooMany) && self.code != CLOCK_AHEAD;
        passes.then_some(COME_AGAIN)
    }

    /// The body that travels.
    pub fn body(&self) -> ProblemBody {
        ProblemBody {
            kind: "about:blank".to_owned(),
            title: self.kind.title().to_owned(),
            status: self.kind.status(),
            detail: self.message.clone(),
            code: self.code.clone(),
            field: self.field.clone(),
            hints: self.hints.clone(),
            moved: self.moved.to_vec(),
            request_id: None,
        }
    }
}

impl From<ProblemBody> for Problem {
    /// Of a failure over there it says where to look for more.
    fn from(body: ProblemBody) -> Self {
        let kind = ProblemKind::of_status(body.status);
        let problem = Self {
            kind,
            code: body.code,
            message: body.detail,
            field: body.field,
            hints: body.hints,
            moved: body.moved.into(),
        };
        match body.request_id.filter(|_| kind == ProblemKind::Internal) {
            Some(id) => problem.hint(format!("the log of the control plane has it as request {id}")),
            None => problem,
        }
    }
}

impl From<&Refusal> for Problem {
    fn from(refusal: &Refusal) -> Self {
        let kind = match refusal.kind() {
            RefusalKind::Invalid => ProblemKind::Invalid,
            RefusalKind::Missing => ProblemKind::NotFound,
            RefusalKind::Conflict => ProblemKind::Conflict,
        };
        Self {
            kind,
            code: refusal.code().to_owned(),
            message: refusal.to_string(),
            field: refusal.field().map(str::to_owned),
            hints: refusal.hints(),
            moved: Box::default(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

/// `application/problem+json`. `detail` is always a string.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProblemBody {
    /// RFC 9457 `type`; always `about:blank`, `code` is the one to switch on.
    #[serde(rename = "type", default)]
    pub kind: String,
    /// Headline.
    #[serde(default)]
    pub title: String,
    /// HTTP status.
    #[serde(default)]
    pub status: u16,
    /// One sentence.
    #[serde(default)]
    pub detail: String,
    /// A stable word for programs.
    #[serde(default)]
    pub code: String,
    /// The field to blame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What to do.
    #[serde(default)]
    pub hints: Vec<String>,
    /// 412: what changed since the revision it was planned on, oldest change first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<MovedBody>,
    /// What the log of the control plane calls the request, as `X-Request-Id` says as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}
