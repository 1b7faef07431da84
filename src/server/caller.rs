//! Who asks: a bearer token turned into a name, an account and what may be done in it.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;

use super::extract::single;
use super::failure::Failure;
use super::tokens::{Fingerprint, TokenRole, Tokens, fingerprint};
use crate::control::picture::Role;
use crate::domain::ids::{AccountId, MachineId};
use crate::wire::agent::MACHINE_HEADER;
use crate::wire::problem::{Problem, ProblemKind};
use crate::wire::world::RoleWord;

/// What a token grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grant {
    /// To read, and perhaps to act.
    Reader(Role),
    /// To speak for a machine: for this one only, or for the one it names.
    Agent {
        /// The machine the token is bound to.
        bound: Option<MachineId>,
        /// The machine the request names.
        named: Option<MachineId>,
    },
}

/// What a route asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// To read.
    Look,
    /// To act.
    Act,
    /// To configure the account.
    Own,
}

/// Somebody with a token that is known.
#[derive(Debug, Clone)]
pub struct Caller {
    /// What the journal calls them.
    pub name: Arc<str>,
    /// Where they belong.
    pub account: AccountId,
    /// What they may do.
    pub grant: Grant,
    /// What is kept of the token they showed.
    pub token: Fingerprint,
}

impl Caller {
    /// Reads the headers of a request. None = nobody says who they are; 401 = nobody we know; 403 = a machine that is
    /// not theirs.
    pub(super) fn of(headers: &HeaderMap, tokens: &Tokens) -> Result<Option<Self>, Problem> {
        let Some(shown) = headers.get(AUTHORIZATION) else { return Ok(None) };
        let token = shown.to_str().ok().and_then(bearer);
        let (token, entry) = token.and_then(|token| Some((token, tokens.find(token)?))).ok_or_else(unknown)?;
        let grant = match entry.role {
            TokenRole::Viewer => Grant::Reader(Role::Viewer),
            TokenRole::Operator => Grant::Reader(Role::Operator),
            TokenRole::Owner => Grant::Reader(Role::Owner),
            TokenRole::Agent => Grant::Agent { bound: entry.machine, named: named_machine(headers)? },
        };
        Ok(Some(Self {
            name: entry.name.as_str().into(),
            account: AccountId::named(&entry.account),
            grant,
            token: fingerprint(token),
        }))
    }

    /// What a reader may do; 403 where it is too little, or where an agent asks.
    pub fn reader(&self, need: Need) -> Result<Role, Problem> {
        match (self.grant, need) {
            (Grant::Agent { .. }, _) => Err(forbidden("an agent's token only polls and reports", need)),
            (Grant::Reader(Role::Viewer), Need::Act | Need::Own) => Err(forbidden("a viewer's token only reads", need)),
            (Grant::Reader(Role::Operator), Need::Own) => Err(forbidden("only an owner configures the account", need)),
            (Grant::Reader(role), _) => Ok(role),
        }
    }

    /// The machine an agent speaks for; 403 where it is none, or not its own.
    pub fn machine(&self) -> Result<MachineId, Problem> {
        let refused = |message: &str| Err(Problem::new(ProblemKind::Forbidden, "forbidden", message));
        match self.grant {
            Grant::Reader(_) => refused("only an agent's token polls and reports"),
            Grant::Agent { bound: Some(bound), named: Some(named) } if bound != named => {
                refused("this token is bound to another machine")
            }
            Grant::Agent { bound: Some(machine), .. } | Grant::Agent { named: Some(machine), .. } => Ok(machine),
            Grant::Agent { bound: None, named: None } => {
                Err(Problem::new(ProblemKind::Invalid, "no_machine_named", "this token is not bound to a machine")
                    .field(MACHINE_HEADER)
                    .hint("send the machine's uuid in X-Machine"))
            }
        }
    }
}

/// The word for a role.
pub(super) fn role_word(role: Role) -> RoleWord {
    match role {
        Role::Viewer => RoleWord::Viewer,
        Role::Operator => RoleWord::Operator,
        Role::Owner => RoleWord::Owner,
    }
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn named_machine(headers: &HeaderMap) -> Result<Option<MachineId>, Problem> {
    let Some(value) = single(headers, MACHINE_HEADER)? else { return Ok(None) };
    let machine = value.trim().parse().ok();
    let malformed = || Problem::new(ProblemKind::Malformed, "malformed", "X-Machine is no uuid").field(MACHINE_HEADER);
    machine.map(|id| Some(MachineId(id))).ok_or_else(malformed)
}

fn unknown() -> Problem {
    Problem::new(ProblemKind::Unauthenticated, "unknown_token", "this token is not known here")
        .hint("check that it is whole, and that the tokens file of this control plane lists its SHA-256")
}

fn forbidden(message: &str, need: Need) -> Problem {
    let hint = match need {
        Need::Look => "use a viewer, operator or owner token",
        Need::Act => "use an operator or owner token",
        Need::Own => "use an owner token",
    };
    Problem::new(ProblemKind::Forbidden, "forbidden", message).hint(hint)
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        parts.extensions.get::<Self>().cloned().ok_or_else(|| {
            Failure(
                Problem::new(ProblemKind::Unauthenticated, "no_token", "this needs a token")
                    .hint("send it as: Authorization: Bearer TOKEN"),
            )
        })
    }
}
