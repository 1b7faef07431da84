//! What people do about Kura servers.

use std::sync::Arc;

use super::super::super::ids::ServerId;
use super::super::super::input::Order;
use super::super::super::kura::change::KuraChange;
use super::super::super::kura::deployment::Closing;
use super::super::super::kura::estate::SERVERS_MAX;
use super::super::super::kura::limits::{self, TAG_MAX};
use super::super::super::kura::refusal::KuraRefusal;
use super::super::super::kura::server::{MovePhase, Server, ServerSpec, ServerStatus, instance_name};
use super::super::super::kura::verb::KuraVerb;
use super::super::super::observed::Observed;
use super::super::super::verdict::Reply;
use super::super::draft::Draft;
use super::{deploy, home, removal};

/// Longest tag, handle, region or cluster.
const TEXT_MAX: usize = 63;

pub(in super::super) fn verb(draft: &mut Draft<'_>, observed: &Observed, order: &Order, verb: &KuraVerb) -> Reply {
    let done = match verb {
        KuraVerb::ReleaseTag { tag } => release(draft, tag),
        KuraVerb::AddServer { .. } => add(draft, verb),
        KuraVerb::ConfigureServer { server, spec } => configure(draft, *server, spec),
        KuraVerb::MoveServer { server, phase } => move_server(draft, *server, *phase),
        KuraVerb::Deploy { server, tag, force } => deploy::deploy(draft, order, *server, tag, *force),
        KuraVerb::ForceReapply { server } => deploy::force_reapply(draft, order, *server),
        KuraVerb::DestroyServer { server } => destroy(draft, *server),
        KuraVerb::DeleteGateway { name } => removal::delete_gateway(draft, observed, order, name),
        KuraVerb::StripFinalizer { name, finalizer } => {
            removal::strip_finalizer(draft, observed, order, name, finalizer.as_deref())
        }
        KuraVerb::DeleteOrphan { name } => removal::delete_orphan(draft, observed, order, name),
        KuraVerb::AcceptCluster { uid } => home::accept(draft, observed, order, uid),
    };
    done.unwrap_or_else(|refusal| Reply::Refused(refusal.into()))
}

/// What a verb comes to.
pub(super) type Done = Result<Reply, KuraRefusal>;

/// A server that can still be acted on.
pub(super) fn staying(draft: &Draft<'_>, id: ServerId) -> Result<Server, KuraRefusal> {
    let server = draft.world().kura.servers.get(&id).cloned().ok_or(KuraRefusal::NoServer(id))?;
    match server.status.is_leaving() {
        true => Err(KuraRefusal::Leaving { server: server.name(), status: server.status.word() }),
        false => Ok(server),
    }
}

/// Released twice is released once.
fn release(draft: &mut Draft<'_>, tag: &str) -> Done {
    check("tag", tag, TAG_MAX)?;
    if draft.world().kura.tags.iter().all(|known| known.tag != tag) {
        draft.tell(KuraChange::TagReleased { tag: tag.to_owned() });
    }
    Ok(Reply::Done)
}

fn add(draft: &mut Draft<'_>, verb: &KuraVerb) -> Done {
    let KuraVerb::AddServer { id, tenant, tenant_id, region, cluster_id, spec } = verb else { return Ok(Reply::Done) };
    let (tenant_id, cluster_id) = (tenant_id.as_ref().unwrap_or(tenant), cluster_id.as_ref().unwrap_or(region));
    let texts = [("tenant", tenant), ("tenant_id", tenant_id), ("region", region), ("cluster_id", cluster_id)];
    texts.iter().try_for_each(|(field, text)| check(field, text, TEXT_MAX))?;
    in_range(spec)?;
    let estate = &draft.world().kura;
    if estate.servers.len() >= SERVERS_MAX {
        return Err(KuraRefusal::Full { what: "servers", limit: SERVERS_MAX });
    }
    let instance = instance_name(tenant, cluster_id);
    let twin = estate.servers.values().filter(|known| known.status != ServerStatus::Destroyed).find(|known| {
        (&known.tenant, &known.region) == (tenant, region) || known.instance_name == instance || known.id == *id
    });
    if let Some(twin) = twin {
        return Err(KuraRefusal::Duplicate { server: twin.name() });
    }
    let server = Server {
        tenant_id: tenant_id.clone(),
        cluster_id: cluster_id.clone(),
        instance_name: instance,
        spec: Arc::new((**spec).clone()),
        ..Server::new(*id, tenant, region, draft.now)
    };
    draft.tell(KuraChange::ServerAdded { server: Box::new(server) });
    Ok(Reply::Server(*id))
}

fn configure(draft: &mut Draft<'_>, id: ServerId, spec: &ServerSpec) -> Done {
    let server = staying(draft, id)?;
    in_range(spec)?;
    if *server.spec != *spec {
        draft.tell(KuraChange::SpecChanged { server: id, spec: Box::new(spec.clone()) });
    }
    Ok(Reply::Done)
}

fn move_server(draft: &mut Draft<'_>, id: ServerId, phase: MovePhase) -> Done {
    let server = staying(draft, id)?;
    if server.move_phase != phase {
        draft.tell(KuraChange::Moved { server: id, phase });
    }
    Ok(Reply::Done)
}

/// Marks the server and withdraws what is open; the pass takes it down (K51).
fn destroy(draft: &mut Draft<'_>, id: ServerId) -> Done {
    let server = draft.world().kura.servers.get(&id).cloned().ok_or(KuraRefusal::NoServer(id))?;
    if server.status.is_leaving() {
        return Ok(Reply::Done);
    }
    if let Some(open) = server.open() {
        let deployment = open.id;
        draft.tell(KuraChange::DeploymentClosed { server: id, deployment, closing: Closing::Cancelled });
    }
    draft.tell(KuraChange::StatusChanged { server: id, status: ServerStatus::Destroying });
    Ok(Reply::Done)
}

/// Every field of a configuration is what it may be.
fn in_range(spec: &ServerSpec) -> Result<(), KuraRefusal> {
    limits::check(spec).map_err(|(field, problem)| KuraRefusal::BadText { field, problem })
}

/// It can stand in a label, a path and on a screen.
fn check(field: &'static str, text: &str, max: usize) -> Result<(), KuraRefusal> {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let ends = |c: char| c.is_ascii_alphanumeric();
    let whole = text.chars().all(inner) && text.starts_with(ends) && text.ends_with(ends);
    match text.len() {
        0 => Err(KuraRefusal::BadText { field, problem: "is empty".to_owned() }),
        long if long > max => Err(KuraRefusal::BadText { field, problem: format!("is longer than {max} characters") }),
        _ if !whole => Err(KuraRefusal::BadText { field, problem: format!("{text:?} has a character it cannot have") }),
        _ => Ok(()),
    }
}
