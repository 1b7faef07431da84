//! The world, for replicas to begin with.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

use super::build::Builder;
use super::caller::{Caller, Need, role_word};
use super::extract::Query;
use super::failure::{Answer, Failure};
use super::feed::{seat_body, trouble};
use super::shared::{Shared, Tenant};
use crate::control::host::Host;
use crate::control::picture::Role;
use crate::control::ports::Clock;
use crate::domain::world::World;
use crate::wire::problem::{Problem, ProblemKind};
use crate::wire::world::{AccountName, TAIL_MAX, WorldBody};

/// `GET /api/world?tail=`.
pub(super) async fn load<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    mut query: Query,
) -> Answer {
    let (tenant, role) = shared.admit(&caller, Need::Look)?;
    let tail = query.number("tail")?.map_or(0, |n| usize::try_from(n).unwrap_or(usize::MAX)).min(TAIL_MAX);
    query.end()?;
    let internal = |message: String| Failure(Problem::new(ProblemKind::Internal, "world", message));
    let permit = shared.worlds.acquire().await.map_err(|_| internal("the process is stopping".to_owned()))?;
    let body = world_body(tenant, &caller, role, tail);
    // A world of a large fleet takes a while to write out, and must not hold up who asks for little.
    let text = tokio::task::spawn_blocking(move || serde_json::to_vec(&body)).await;
    drop(permit);
    let text = text.map_err(|error| internal(error.to_string()))?.map_err(|error| internal(error.to_string()))?;
    Ok((StatusCode::OK, [(CONTENT_TYPE, "application/json")], text).into_response())
}

fn world_body<H: Host>(tenant: &Tenant<H>, caller: &Caller, role: Role, tail: usize) -> WorldBody {
    // One look, so that the world, its tail and its seat are of one moment.
    let published = tenant.service.door.published().borrow().clone();
    let kept = published.tail.len().saturating_sub(tail);
    WorldBody {
        revision: published.world.revision,
        observed: tenant.service.observer.observe(),
        tail: published.tail.iter().skip(kept).cloned().collect(),
        seat: seat_body(&published),
        journal: trouble(&published),
        world: World::clone(&published.world),
        account: AccountName { uuid: tenant.service.account(), name: tenant.name.clone() },
        role: role_word(role),
        bearer: caller.name.to_string(),
        now: tenant.service.host().clock().now(),
    }
}
