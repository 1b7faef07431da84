//! Servers as shown: one row that says everything an operator must see (§8).

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::deployment::DeploymentBody;
use crate::domain::ids::ServerId;
use crate::domain::kura::advice::{Advice, of_server};
use crate::domain::kura::chain::{ChainLink, chain};
use crate::domain::kura::deployment::Wait;
use crate::domain::kura::drift::{carries, is_edited};
use crate::domain::kura::ends::aimed;
use crate::domain::kura::incidents::{HeldUpdate, PinnedPod, Workload, workload};
use crate::domain::kura::server::{ForeignEdit, MovePhase, Pin, Server, ServerSpec, ServerStatus};
use crate::domain::kura::sight::{NO_CLUSTER, PodDeleter, Sight};
use crate::domain::kura::ways::Ways;
use crate::domain::kura::workload::PausedBy;
use crate::domain::observed::Observed;
use crate::domain::span::Seconds;
use crate::domain::world::World;

/// Where they are listed; one of them is below it.
pub const PATH: &str = "/api/kura/servers/";

/// A field that another manager owns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForeignBody {
    /// Its path.
    pub field: String,
    /// Who, how often.
    #[serde(flatten)]
    pub edit: ForeignEdit,
    /// Nothing is applied by itself any more because of it (K28).
    pub stopped: bool,
}

/// A write that did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TroubleBody {
    /// The object.
    pub object: String,
    /// What is wrong.
    pub trouble: String,
}

/// A server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerBody {
    /// Identity.
    pub id: ServerId,
    /// What people call it: its tenant in its region.
    pub name: String,
    /// Kura's customer, by handle.
    pub tenant: String,
    /// The same, by id.
    pub tenant_id: String,
    /// Where it serves.
    pub region: String,
    /// The cluster it runs in.
    pub cluster_id: String,
    /// Its instance.
    pub instance_name: String,
    /// A projection.
    pub status: ServerStatus,
    /// Where it serves, once it did.
    pub url: Option<String>,
    /// The tag it served last.
    pub current_image_tag: Option<String>,
    /// The tag its controller reports.
    pub observed_image_tag: Option<String>,
    /// The tag it is brought to.
    pub target_image_tag: Option<String>,
    /// Whether it moves.
    pub move_phase: MovePhase,
    /// A person holds it at an older tag.
    pub pin: Option<Pin>,
    /// What is configured.
    pub spec: ServerSpec,
    /// The open deployment, else the last one.
    pub deployment: Option<DeploymentBody>,
    /// What the open deployment waits for.
    pub wait: Option<Wait>,
    /// How long it has waited for that.
    pub wait_age_seconds: Option<Seconds>,
    /// The live object does not carry what is rendered; null = that cannot be told.
    pub drift: Option<bool>,
    /// Revision of what is rendered.
    pub revision_rendered: Option<String>,
    /// Revision on the live object.
    pub revision_live: Option<String>,
    /// Ready pods.
    pub ready: Option<u32>,
    /// Wanted pods.
    pub replicas: u32,
    /// Pods on another image.
    pub pods_on_old_image: Vec<String>,
    /// Superseded rows since the last success (K20).
    pub consecutive_superseded: usize,
    /// Releases flow, this server does not follow (K20).
    pub left_behind: bool,
    /// Who holds its update back.
    pub update_paused: Option<PausedBy>,
    /// Since when, where the cluster says so.
    pub update_paused_since: Option<Timestamp>,
    /// Pods tied to a node where they cannot run (I6).
    pub pinned: Vec<PinnedPod>,
    /// A bootstrap that reports progress (I11).
    pub progressing: Option<String>,
    /// Since its controller last reconciled it.
    pub controller_heartbeat_age_seconds: Option<Seconds>,
    /// Who deletes its not-Ready pods (K48).
    pub not_ready_deletion: Option<PodDeleter>,
    /// Fields other managers write (K28).
    pub foreign: Vec<ForeignBody>,
    /// Writes that did not succeed.
    pub troubles: Vec<TroubleBody>,
    /// What cannot be read of the cluster, with its age (K27).
    pub observation: Vec<TroubleBody>,
    /// The chain to the public endpoint.
    pub chain: Vec<ChainLink>,
    /// Finalizers its deletion waits for.
    pub finalizers: Vec<String>,
    /// What can be done.
    pub advice: Vec<Advice>,
}

impl ServerBody {
    /// The body of one.
    pub fn of(world: &World, observed: &Observed, server: &Server, now: Timestamp) -> Self {
        let nothing = Sight::default();
        let ways = Ways::of(observed.cluster.as_ref().unwrap_or(&nothing));
        Self::found(world, observed, &ways, server, now)
    }

    /// The bodies of some, of which each finds its own among what was looked through once.
    pub fn all<'a>(
        world: &World,
        observed: &Observed,
        servers: impl IntoIterator<Item = &'a Server>,
        now: Timestamp,
    ) -> Vec<Self> {
        let nothing = Sight::default();
        let ways = Ways::of(observed.cluster.as_ref().unwrap_or(&nothing));
        servers.into_iter().map(|server| Self::found(world, observed, &ways, server, now)).collect()
    }

    fn found(world: &World, observed: &Observed, ways: &Ways<'_>, server: &Server, now: Timestamp) -> Self {
        let sight = ways.sight;
        let live = sight.instances.get(&server.instance_name);
        let imprint = server.wanted_tag().map(|tag| server.imprint(tag));
        let work = workload(server, sight, now);
        let wait = server.open().and_then(|row| row.wait.clone());
        let is_seen = sight.instances.is_fresh(now);
        let both = server.wanted_tag().zip(live).filter(|_| is_seen);
        let edited = both.is_some_and(|(tag, live)| is_edited(server, tag, live));
        Self {
            deployment: server.open().or(server.deployments.last()).map(|row| DeploymentBody::of(server.id, row)),
            wait_age_seconds: wait.as_ref().map(|wait| Seconds::between(wait.since, now)),
            drift: imprint.as_ref().filter(|_| is_seen).map(|imprint| live.is_none_or(|live| !carries(imprint, live))),
            revision_rendered: imprint.map(|imprint| imprint.revision.clone()),
            revision_live: live.and_then(|live| live.revision.clone()),
            ready: sight.pods.contact.read_at().map(|_| work.ready),
            controller_heartbeat_age_seconds: live
                .and_then(|live| live.last_reconciled_at)
                .map(|at| Seconds::between(at, now)),
            not_ready_deletion: observed.cluster.as_ref().map(|sight| sight.deleter),
            observation: observation(observed, now),
            chain: server.wanted_tag().map(|tag| chain(server, tag, ways, now)).unwrap_or_default(),
            finalizers: live
                .filter(|live| live.stamp.is_leaving())
                .map_or(Vec::new(), |live| live.stamp.finalizers.clone()),
            advice: aim(of_server(server, &work, edited), sight),
            wait,
            ..Self::facts(world, server, work)
        }
    }

    /// What needs no look at the cluster.
    fn facts(world: &World, server: &Server, work: Workload) -> Self {
        let target = server.pin.as_ref().map(|pin| pin.tag.as_str()).or(world.kura.target());
        let held = |read: fn(&HeldUpdate) -> Option<Timestamp>| work.held.as_ref().and_then(read);
        Self {
            id: server.id,
            name: server.name(),
            tenant: server.tenant.clone(),
            tenant_id: server.tenant_id.clone(),
            region: server.region.clone(),
            cluster_id: server.cluster_id.clone(),
            instance_name: server.instance_name.clone(),
            status: server.status,
            url: server.url.clone(),
            current_image_tag: server.current_image_tag.clone(),
            observed_image_tag: server.observed_image_tag.clone(),
            target_image_tag: target.map(str::to_owned),
            move_phase: server.move_phase,
            pin: server.pin.clone(),
            spec: (*server.spec).clone(),
            deployment: None,
            wait: None,
            wait_age_seconds: None,
            drift: None,
            revision_rendered: None,
            revision_live: None,
            ready: None,
            replicas: work.replicas,
            pods_on_old_image: work.on_old_image.clone(),
            consecutive_superseded: server.consecutive_superseded(),
            left_behind: server.is_left_behind(),
            update_paused: work.held.as_ref().map(|held| held.by),
            update_paused_since: held(|held| held.since),
            pinned: work.pinned,
            progressing: work.progressing,
            controller_heartbeat_age_seconds: None,
            not_ready_deletion: None,
            foreign: foreign(server),
            troubles: troubles(server),
            observation: Vec::new(),
            chain: Vec::new(),
            finalizers: Vec::new(),
            advice: Vec::new(),
        }
    }
}

fn foreign(server: &Server) -> Vec<ForeignBody> {
    let stopped = server.tug_of_war().map(|(field, _)| field);
    let body = |(field, edit): (&String, &ForeignEdit)| ForeignBody {
        field: field.clone(),
        edit: edit.clone(),
        stopped: stopped == Some(field),
    };
    server.foreign.iter().map(body).collect()
}

fn troubles(server: &Server) -> Vec<TroubleBody> {
    let body = |(object, trouble): (&String, &String)| TroubleBody { object: object.clone(), trouble: trouble.clone() };
    server.troubles.iter().map(body).collect()
}

fn observation(observed: &Observed, now: Timestamp) -> Vec<TroubleBody> {
    let Some(sight) = observed.cluster.as_ref() else {
        return vec![TroubleBody { object: "cluster".to_owned(), trouble: NO_CLUSTER.to_owned() }];
    };
    sight.troubles(now).into_iter().map(|(kind, trouble)| TroubleBody { object: kind.to_owned(), trouble }).collect()
}

/// Commands mean the cluster they are about (A19).
pub(super) fn aim(all: impl IntoIterator<Item = Advice>, sight: &Sight) -> Vec<Advice> {
    let aim = |advice: Advice| match (&sight.identity, &advice.command) {
        (Some(identity), Some(command)) => Advice { command: Some(aimed(command, identity)), ..advice },
        _ => advice,
    };
    all.into_iter().map(aim).collect()
}
