//! The world, for replicas to begin with.

use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

use super::admit::Reader;
use super::build::Builder;
use super::caller::role_word;
use super::extract::Query;
use super::failure::{Answer, Failure};
use super::feed::{seat_body, trouble};
use crate::control::host::Host;
use crate::control::ports::Clock;
use crate::domain::observed::Observed;
use crate::domain::world::World;
use crate::wire::problem::{Problem, ProblemKind};
use crate::wire::sight::ClusterPicture;
use crate::wire::world::{AccountName, TAIL_MAX, WorldBody};

/// `GET /api/world?tail=`.
pub(super) async fn load<H: Host, B: Builder>(reader: Reader<H, B>, mut query: Query) -> Answer {
    let tail = query.up_to("tail", TAIL_MAX)?.unwrap_or(0);
    query.end()?;
    let internal = |message: String| Failure(Problem::new(ProblemKind::Internal, "world", message));
    let permit = reader.shared.worlds.acquire().await.map_err(|_| internal("the process is stopping".to_owned()))?;
    let body = world_body(&reader, tail);
    // A world of a large fleet takes a while to write out, and must not hold up who asks for little.
    let text = tokio::task::spawn_blocking(move || serde_json::to_vec(&body)).await;
    drop(permit);
    let text = text.map_err(|error| internal(error.to_string()))?.map_err(|error| internal(error.to_string()))?;
    Ok((StatusCode::OK, [(CONTENT_TYPE, "application/json")], text).into_response())
}

fn world_body<H: Host, B>(reader: &Reader<H, B>, tail: usize) -> WorldBody {
    let account = &reader.account;
    // One look, so that the world, its tail and its seat are of one moment.
    let published = account.service.door.published().borrow().clone();
    let kept = published.tail.len().saturating_sub(tail);
    let (edition, ClusterPicture { sight, nodes }) = account.feed.cluster.now();
    WorldBody {
        revision: published.world.revision,
        observed: Observed { cluster: sight, nodes, ..account.service.observer.observe(&published.world) },
        cluster_edition: Some(edition),
        tail: published.tail.iter().skip(kept).map(|entry| entry.as_ref().clone()).collect(),
        seat: seat_body(&published),
        journal: trouble(&published),
        world: World::clone(&published.world),
        account: AccountName { uuid: account.service.account(), name: account.name.clone() },
        role: role_word(reader.role),
        bearer: reader.caller.name.to_string(),
        now: account.service.host().clock().now(),
    }
}
