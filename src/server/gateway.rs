//! What stands in the cluster and is taken away by a person only (K42-K45), and which cluster that is.

use axum::http::StatusCode;

use super::admit::Reader;
use super::build::Builder;
use super::errand::{Errand, body};
use super::extract::{Query, Word};
use super::failure::{Answer, Failure};
use crate::control::host::Host;
use crate::domain::input::Verb;
use crate::domain::kura::orphans::{Orphan, orphans as found};
use crate::domain::kura::refusal::KuraRefusal;
use crate::domain::kura::seen::{cluster, fresh, read};
use crate::domain::kura::verb::KuraVerb;
use crate::domain::refusal::Refusal;
use crate::wire::body::parse;
use crate::wire::kura::gateway::GatewayBody;
use crate::wire::kura::request::{AcceptClusterBody, RemovalBody, StripBody, typed};

impl From<KuraRefusal> for Failure {
    fn from(refusal: KuraRefusal) -> Self {
        Refusal::from(refusal).into()
    }
}

/// `GET /api/kura/gateways/?limit=&after=NAME`, by name; 409 where none can be seen, which is not the same as none.
pub(super) async fn list<H: Host, B: Builder>(reader: Reader<H, B>, mut query: Query) -> Answer {
    let (limit, after) = (query.limit()?, query.take("after")?.unwrap_or_default());
    query.end()?;
    let look = reader.look();
    let sight = cluster(&look.observed)?;
    read("gateways", &sight.gateways, look.now)?;
    Ok(body(StatusCode::OK, &GatewayBody::page(&look.world, sight, &after, limit, look.now)))
}

/// `GET /api/kura/orphans/?limit=&after=NAME`, by name; 409 where instances are not seen as they are now (K45).
pub(super) async fn orphans<H: Host, B: Builder>(reader: Reader<H, B>, mut query: Query) -> Answer {
    let (limit, after) = (query.limit()?, query.take("after")?.unwrap_or_default());
    query.end()?;
    let look = reader.look();
    let sight = cluster(&look.observed)?;
    fresh("instances", &sight.instances, look.now)?;
    let mut all = found(&look.kura, sight, look.now);
    all.sort_by(|one, other| one.name.cmp(&other.name));
    let later = all.into_iter().filter(|orphan| after.is_empty() || orphan.name > after);
    Ok(body(StatusCode::OK, &later.take(limit).collect::<Vec<Orphan>>()))
}

/// `POST /api/kura/gateways/{name}/delete` (K42).
pub(super) async fn delete<H: Host, B: Builder>(Word(name): Word, errand: Errand<H, B>) -> Answer {
    let wanted: RemovalBody = parse(&errand.bytes)?;
    typed(&name, &wanted.name)?;
    errand.give(wanted.reason, Verb::Kura(KuraVerb::DeleteGateway { name })).await
}

/// `POST /api/kura/gateways/{name}/strip-finalizer` (K44).
pub(super) async fn strip_finalizer<H: Host, B: Builder>(Word(name): Word, errand: Errand<H, B>) -> Answer {
    let wanted: StripBody = parse(&errand.bytes)?;
    typed(&name, &wanted.name)?;
    errand.give(wanted.reason, Verb::Kura(KuraVerb::StripFinalizer { name, finalizer: wanted.finalizer })).await
}

/// `POST /api/kura/orphans/{name}/delete` (K45).
pub(super) async fn delete_orphan<H: Host, B: Builder>(Word(name): Word, errand: Errand<H, B>) -> Answer {
    let wanted: RemovalBody = parse(&errand.bytes)?;
    typed(&name, &wanted.name)?;
    errand.give(wanted.reason, Verb::Kura(KuraVerb::DeleteOrphan { name })).await
}

/// `POST /api/kura/cluster/accept`: everything is in the cluster that is seen now.
pub(super) async fn accept_cluster<H: Host, B: Builder>(errand: Errand<H, B>) -> Answer {
    let wanted: AcceptClusterBody = parse(&errand.bytes)?;
    errand.give(wanted.reason, Verb::Kura(KuraVerb::AcceptCluster { uid: wanted.uid })).await
}
