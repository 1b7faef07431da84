//! What routes read from a request: ids in the path, the query, the body. Strict, and with our own words for what is wrong.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Query as Pairs, Request};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_LENGTH;
use axum::http::request::Parts;
use uuid::Uuid;

use super::caller::Caller;
use super::failure::Failure;
use crate::wire::body::BODY_MAX;
use crate::wire::problem::{Problem, ProblemKind};

/// Until a body is there in full.
pub const BODY_LIMIT: Duration = Duration::from_secs(30);

/// Things a list returns where nothing else is asked for.
pub const PAGE_DEFAULT: usize = 100;

/// Things a list returns at most.
pub const PAGE_MAX: usize = 1_000;

/// The uuid in a path.
pub(super) struct Id(pub(super) Uuid);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        // Strangers are not told which paths there are.
        Caller::from_request_parts(parts, state).await?;
        let path = Path::<Uuid>::from_request_parts(parts, state).await;
        path.map(|Path(id)| Self(id)).map_err(|_| {
            let message = format!("there is nothing at {}: it holds no uuid", parts.uri.path());
            Failure(Problem::new(ProblemKind::NotFound, "no_route", message))
        })
    }
}

/// The name in a path, as it is after its escapes were undone.
pub(super) struct Word(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Word {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        Caller::from_request_parts(parts, state).await?;
        let path = Path::<String>::from_request_parts(parts, state).await;
        path.map(|Path(word)| Self(word)).map_err(|_| {
            let problem = Problem::new(ProblemKind::Malformed, "bad_name", "the name in the path is no text");
            Failure(problem.field("name").hint("escape it as UTF-8, such as %C3%A9"))
        })
    }
}

/// The one value of a header; 422 where it is there twice, since nobody can tell which one is meant.
pub(super) fn single(headers: &HeaderMap, name: &str) -> Result<Option<String>, Problem> {
    let mut values = headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    match (values.next(), values.next()) {
        (value, None) => Ok(value),
        (_, Some(_)) => {
            let message = format!("the header {name} is there more than once");
            Err(Problem::new(ProblemKind::Malformed, "header_twice", message).field(name))
        }
    }
}

/// A whole body, within its limits.
pub(super) struct Body(pub(super) Bytes);

impl<S: Send + Sync> FromRequest<S> for Body {
    type Rejection = Failure;

    async fn from_request(request: Request, _: &S) -> Result<Self, Failure> {
        if announced(request.headers()).is_some_and(|length| length > BODY_MAX) {
            return Err(too_large());
        }
        let read = tokio::time::timeout(BODY_LIMIT, axum::body::to_bytes(request.into_body(), BODY_MAX)).await;
        match read {
            Ok(Ok(bytes)) => Ok(Self(bytes)),
            Ok(Err(error)) if is_too_large(&error) => Err(too_large()),
            Ok(Err(_)) => Err(broken("the body broke off")),
            Err(_) => Err(broken("the body did not arrive in time")),
        }
    }
}

fn announced(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn is_too_large(error: &axum::Error) -> bool {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = cause {
        if error.to_string().contains("length limit exceeded") {
            return true;
        }
        cause = error.source();
    }
    false
}

fn too_large() -> Failure {
    Failure(Problem::new(ProblemKind::TooLarge, "too_large", format!("the body is larger than {BODY_MAX} bytes")))
}

fn broken(message: &str) -> Failure {
    Failure(Problem::new(ProblemKind::Malformed, "broken_body", message))
}

/// The query of a request. Every field has to be asked for, then `end` refuses the rest.
pub(super) struct Query(Vec<(String, String)>);

impl<S: Send + Sync> FromRequestParts<S> for Query {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let read: Result<Pairs<Vec<(String, String)>>, QueryRejection> = Pairs::from_request_parts(parts, state).await;
        let malformed = |rejection: QueryRejection| {
            Failure(Problem::new(ProblemKind::Malformed, "malformed", rejection.body_text()))
        };
        read.map(|Pairs(pairs)| Self(pairs)).map_err(malformed)
    }
}

impl Query {
    /// Takes a field out; 422 where it is there twice.
    pub(super) fn take(&mut self, name: &str) -> Result<Option<String>, Problem> {
        let Some(place) = self.0.iter().position(|(field, _)| field == name) else { return Ok(None) };
        let (_, value) = self.0.remove(place);
        match self.0.iter().any(|(field, _)| field == name) {
            true => Err(malformed(name, "is given twice")),
            false => Ok(Some(value)),
        }
    }

    /// Takes a whole number out.
    pub(super) fn number(&mut self, name: &str) -> Result<Option<u64>, Problem> {
        let parse = |text: String| text.parse().map_err(|_| malformed(name, "is no whole number"));
        self.take(name)?.map(parse).transpose()
    }

    /// Takes a whole number out that is at most `max`.
    pub(super) fn up_to(&mut self, name: &str, max: usize) -> Result<Option<usize>, Problem> {
        match self.number(name)?.map(usize::try_from) {
            None => Ok(None),
            Some(Ok(number)) if number <= max => Ok(Some(number)),
            Some(_) => Err(malformed(name, &format!("must be at most {max}"))),
        }
    }

    /// Takes a uuid out.
    pub(super) fn uuid(&mut self, name: &str) -> Result<Option<Uuid>, Problem> {
        let parse = |text: String| text.parse().map_err(|_| malformed(name, "is no uuid"));
        self.take(name)?.map(parse).transpose()
    }

    /// Takes a yes or no out; no where it is left out.
    pub(super) fn flag(&mut self, name: &str) -> Result<bool, Problem> {
        match self.take(name)?.as_deref() {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(malformed(name, "must be true or false")),
        }
    }

    /// Takes `limit` out: 1..=`PAGE_MAX`, `PAGE_DEFAULT` where it is left out.
    pub(super) fn limit(&mut self) -> Result<usize, Problem> {
        let limit = self.number("limit")?.map_or(PAGE_DEFAULT, |n| usize::try_from(n).unwrap_or(usize::MAX));
        match limit {
            1..=PAGE_MAX => Ok(limit),
            _ => Err(malformed("limit", &format!("must be 1 to {PAGE_MAX}"))),
        }
    }

    /// Refuses what nobody asked for: a misspelt or unsupported field must not be passed over in silence.
    pub(super) fn end(self) -> Result<(), Problem> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(malformed(name, "is not known here")),
        }
    }
}

fn malformed(name: &str, what: &str) -> Problem {
    let name: String = name.chars().filter(|c| !c.is_control()).take(100).collect();
    Problem::new(ProblemKind::Malformed, "bad_query", format!("the query field {name} {what}")).field(name)
}

/// A request that must not have a query.
pub(super) struct NoQuery;

impl<S: Send + Sync> FromRequestParts<S> for NoQuery {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        Query::from_request_parts(parts, state).await?.end()?;
        Ok(Self)
    }
}

/// A page of a list.
pub(super) struct Page {
    pub(super) limit: usize,
    pub(super) after: Option<Uuid>,
}

impl<S: Send + Sync> FromRequestParts<S> for Page {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let mut query = Query::from_request_parts(parts, state).await?;
        let page = Self { limit: query.limit()?, after: query.uuid("after")? };
        query.end()?;
        Ok(page)
    }
}

impl Page {
    /// The part of `items`, which come by their uuids, that was asked for: those after `after`, also where that one is
    /// gone since.
    pub(super) fn by_uuid<T>(&self, items: impl Iterator<Item = T>, uuid: impl Fn(&T) -> Uuid) -> Vec<T> {
        items.filter(|item| self.after.is_none_or(|after| uuid(item) > after)).take(self.limit).collect()
    }

    /// The part of `items` that was asked for: those after the one with the uuid `after`, in their own order. For what
    /// is never removed.
    pub(super) fn of<T>(&self, items: impl Iterator<Item = T>, uuid: impl Fn(&T) -> Uuid) -> Vec<T> {
        let Some(after) = self.after else { return items.take(self.limit).collect() };
        items.skip_while(|item| uuid(item) != after).skip(1).take(self.limit).collect()
    }
}
