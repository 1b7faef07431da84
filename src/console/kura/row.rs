//! One server as an operator must see it, in one row (§8).

use jiff::Timestamp;

use crate::domain::ids::ServerId;
use crate::domain::kura::deployment::{DeploymentStatus, Wait};
use crate::domain::kura::incidents::{HeldUpdate, PinnedPod, Workload};
use crate::domain::kura::server::{MovePhase, Server, ServerStatus};
use crate::domain::span::Seconds;

/// A controller that was not heard of for this long is called silent.
pub const BEAT_LATE_AFTER: Seconds = Seconds(300);

/// How the live object stands to what is rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Drift {
    /// It carries what is rendered.
    None,
    /// Its revision agrees and a field does not: somebody edited it, and nothing is applied by itself (K24).
    Edited,
    /// It carries another image or revision: the next pass applies (K34).
    Drifted,
    /// It is not there: the next pass applies (K26).
    Missing,
}

/// The open deployment of a server, else its last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Where it leads.
    pub tag: String,
    /// Where it is.
    pub status: DeploymentStatus,
    /// Since when it is open, or when it ended.
    pub at: Timestamp,
    /// Why it failed.
    pub error: Option<String>,
}

/// One server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerRow {
    /// Identity.
    pub id: ServerId,
    /// For people: tenant and region.
    pub name: String,
    /// Kura's customer.
    pub tenant: String,
    /// Where it serves.
    pub region: String,
    /// Where it is.
    pub status: ServerStatus,
    /// The tag it served last.
    pub current: Option<String>,
    /// The tag it is led to.
    pub target: Option<String>,
    /// A person holds it at an older tag (K25).
    pub pinned_by: Option<String>,
    /// Whether it is being moved.
    pub moving: MovePhase,
    /// Its open deployment, else its last one.
    pub attempt: Option<Attempt>,
    /// What the open deployment waits for.
    pub wait: Option<Wait>,
    /// How the live object stands to what is rendered; none = that cannot be told.
    pub drift: Option<Drift>,
    /// Its workload; none = that was never read.
    pub work: Option<Workload>,
    /// Pods that are wanted.
    pub replicas: u32,
    /// Superseded rows since the last success (K20).
    pub superseded: usize,
    /// Releases flow, it does not follow (K20).
    pub left_behind: bool,
    /// The manager that writes a field back, and the field (K28).
    pub tug: Option<(String, String)>,
    /// Objects that cannot be written, with what the cluster says.
    pub troubles: Vec<(String, String)>,
    /// Finalizers that the deletion of its instance waits for.
    pub finalizers: Vec<String>,
    /// What its instance is called.
    pub instance: String,
    /// When its controller last looked at it.
    pub beat: Option<Timestamp>,
    /// The dead node that has all of its pods (I8).
    pub dead_node: Option<String>,
}

impl ServerRow {
    /// What needs no look at the cluster.
    pub(super) fn of(server: &Server, target: Option<&str>) -> Self {
        let row = server.open().or(server.deployments.last());
        let attempt = row.map(|row| Attempt {
            tag: row.image_tag.clone(),
            status: row.status,
            at: row.finished_at.unwrap_or(row.inserted_at),
            error: row.error.clone(),
        });
        let target = server.pin.as_ref().map(|pin| pin.tag.as_str()).or(target);
        Self {
            id: server.id,
            name: server.name(),
            tenant: server.tenant.clone(),
            region: server.region.clone(),
            status: server.status,
            current: server.current_image_tag.clone(),
            target: target.map(str::to_owned),
            pinned_by: server.pin.as_ref().map(|pin| pin.by.clone()),
            moving: server.move_phase,
            attempt,
            wait: server.open().and_then(|row| row.wait.clone()),
            drift: None,
            work: None,
            replicas: server.spec.replicas,
            superseded: server.consecutive_superseded(),
            left_behind: server.is_left_behind(),
            tug: server.tug_of_war().map(|(field, edit)| (edit.manager.clone(), field.clone())),
            troubles: server.troubles.iter().map(|(object, why)| (object.clone(), why.clone())).collect(),
            finalizers: Vec::new(),
            instance: server.instance_name.clone(),
            beat: None,
            dead_node: None,
        }
    }

    /// A deployment is pending or running.
    pub fn open(&self) -> Option<&Attempt> {
        self.attempt.as_ref().filter(|attempt| attempt.status.is_open())
    }

    /// Pods that do not run the wanted tag.
    pub fn on_old_image(&self) -> usize {
        self.work.as_ref().map_or(0, |work| work.on_old_image.len())
    }

    /// Who holds its update back.
    pub fn held(&self) -> Option<&HeldUpdate> {
        self.work.as_ref()?.held.as_ref()
    }

    /// Pods that cannot leave a node.
    pub fn pinned(&self) -> &[PinnedPod] {
        self.work.as_ref().map_or(&[], |work| &work.pinned)
    }

    /// How far its bootstrap is, while that moves.
    pub fn progressing(&self) -> Option<&str> {
        self.work.as_ref()?.progressing.as_deref()
    }

    /// Ready pods; none = not known.
    pub fn ready(&self) -> Option<u32> {
        self.work.as_ref().map(|work| work.ready)
    }

    /// Everything about it is as it should be.
    pub fn is_well(&self) -> bool {
        self.status == ServerStatus::Active
            && self.open().is_none()
            && self.tug.is_none()
            && self.troubles.is_empty()
            && self.dead_node.is_none()
            && self.drift.is_none_or(|drift| drift == Drift::None)
            && self.ready().is_none_or(|ready| ready >= self.replicas)
    }
}
