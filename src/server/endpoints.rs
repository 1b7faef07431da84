//! Every endpoint in one table: what it is for, who may, what it takes, what it answers. The router is compared with it,
//! the roles are tried against it, and the OpenAPI document is made from it.

use super::caller::Need;
use super::schema::{self, Shape};
use crate::domain::kura::orphans::Orphan;
use crate::wire::account::{AccountBody, AccountConfig, AccountPatch};
use crate::wire::agent::{Filed, PollAnswer, RebuiltBody, ReportBody};
use crate::wire::audit::AuditRow;
use crate::wire::environment::{EnvironmentBody, EnvironmentNew, EnvironmentPatch};
use crate::wire::explain::{ExplainBody, ExplanationBody};
use crate::wire::kura::deployment::DeploymentBody;
use crate::wire::kura::gateway::{self, GatewayBody};
use crate::wire::kura::manifest::ManifestBody;
use crate::wire::kura::request::{
    self, AcceptClusterBody, DeploymentNew, RemovalBody, ServerNew, ServerPatch, StripBody, TagNew,
};
use crate::wire::kura::server::ServerBody;
use crate::wire::kura::tag::TagBody;
use crate::wire::machine::{MachineBody, MachineNew, MachinePatch};
use crate::wire::process::{ReadyBody, SeatBody, VersionBody};
use crate::wire::reason::ReasonBody;
use crate::wire::release::{BuildBody, ReleaseBody, ReleaseDetail};
use crate::wire::result::ResultBody;
use crate::wire::ring::{RingBody, RingSet};
use crate::wire::roll::node::NodeBody;
use crate::wire::roll::request::{GateBody, RollNew};
use crate::wire::roll::shown::RollBody;
use crate::wire::rollout::{RolloutBody, StartBody};
use crate::wire::secret::{SecretBody, SecretSet};
use crate::wire::status::StatusBody;
use crate::wire::world::WorldBody;

/// Who is let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everybody, without a token.
    Open,
    /// Whoever has a token.
    Known,
    /// Readers, as far as their role goes.
    Reader(Need),
    /// Agents.
    Agent,
}

/// A body, as JSON unless it says otherwise.
#[derive(Debug, Clone, Copy)]
pub enum Content {
    /// None at all.
    Nothing,
    /// JSON.
    Json(Shape),
    /// A text of this media type.
    Text(&'static str),
}

/// One method of one path.
#[derive(Debug, Clone, Copy)]
pub struct Endpoint {
    /// In capitals.
    pub method: &'static str,
    /// Its pattern, with `{uuid}` and the like.
    pub path: &'static str,
    /// Who is let in.
    pub access: Access,
    /// One sentence without a full stop.
    pub summary: &'static str,
    /// Fields of the query, with their meaning.
    pub query: Query,
    /// The body it takes, and whether it must be there.
    pub body: Option<(Shape, bool)>,
    /// What it answers where nothing went wrong.
    pub answers: &'static [(u16, Content)],
    /// It is a verb: it can be planned, done once under a key, and made to depend on a revision.
    pub is_verb: bool,
}

/// Fields of a query, with their meaning.
pub type Query = &'static [(&'static str, &'static str)];

const NONE: Query = &[];
const PAGE: Query =
    &[("limit", "1 to 1000 things, 100 where it is left out"), ("after", "uuid of the last thing of the page before")];
const NAMES: Query =
    &[("limit", "1 to 1000 names, 100 where it is left out"), ("after", "last name of the page before")];
const SERVERS: Query =
    &[("limit", "1 to 1000 servers, 100 where it is left out"), ("after", "id of the last server of the page before")];
const TAGS: Query = &[("limit", "1 to 1000 tags, 100 where it is left out"), ("after", "last tag of the page before")];
const LIMIT: Query = &[("limit", "1 to 1000 rows, 100 where it is left out")];
const RESULTS: Query =
    &[("machine_uuid", "of this machine only"), ("limit", "1 to 1000 results, 100 where it is left out")];
const POLL: Query = &[
    ("wait", "seconds to be held while nothing is new, at most 25"),
    ("have", "RELEASE:GENERATION of what the agent runs or has"),
];
const DEPLOYMENTS: Query = &[
    ("limit", "1 to 1000 rows, 100 where it is left out"),
    ("after", "id of the last row of the page before"),
    (
        "before",
        "older ones than the control plane has at hand, opened in front of this revision, as the Link header has it",
    ),
];
const ROLL: Query = &[("whole", "with every probe, also those the control plane has not at hand any more")];
const TAIL: Query = &[("tail", "so many of the last changes come along, at most 1000")];
const LINKS: Query = &[
    ("limit", "1 to 1000 rows, 100 where it is left out"),
    ("after", "revision of the last row of the page before"),
    ("before", "the last rows in front of this revision instead, oldest first as well; not together with `after`"),
];
const AFTER: Query = &[
    ("after", "revision of the last change that is known"),
    ("cluster", "edition of what is known of the cluster, empty for none; left out, nothing of it is told"),
];

const LOOK: Access = Access::Reader(Need::Look);
const ACT: Access = Access::Reader(Need::Act);
const OWN: Access = Access::Reader(Need::Own);

/// What is answered: a status and a type, several of them, or nothing.
macro_rules! answers {
    ($($status:literal $body:ty),+) => { &[$(($status, Content::Json(schema::of::<$body>))),+] };
    ($status:literal) => { &[($status, Content::Nothing)] };
    ($status:literal text $kind:literal) => { &[($status, Content::Text($kind))] };
}

/// What is asked with a GET.
macro_rules! get {
    ($path:literal, $access:expr, $summary:literal, $query:expr, $($answers:tt)+) => {
        Endpoint {
            method: "GET",
            path: $path,
            access: $access,
            summary: $summary,
            query: $query,
            body: None,
            answers: answers!($($answers)+),
            is_verb: false,
        }
    };
}

/// What is told or asked with a body that changes no fact by itself.
macro_rules! tell {
    ($path:literal, $access:expr, $summary:literal, $body:ty, $must:literal, $($answers:tt)+) => {
        Endpoint {
            method: "POST",
            path: $path,
            access: $access,
            summary: $summary,
            query: NONE,
            body: Some((schema::of::<$body>, $must)),
            answers: answers!($($answers)+),
            is_verb: false,
        }
    };
}

/// A verb, with the body that must be there.
macro_rules! verb {
    ($method:literal $path:literal, $access:expr, $summary:literal, $body:ty, $($answers:tt)+) => {
        verb!(@ $method $path, $access, $summary, $body, true, $($answers)+)
    };
    (@ $method:literal $path:literal, $access:expr, $summary:literal, $body:ty, $must:literal, $($answers:tt)+) => {
        Endpoint {
            method: $method,
            path: $path,
            access: $access,
            summary: $summary,
            query: NONE,
            body: Some((schema::of::<$body>, $must)),
            answers: answers!($($answers)+),
            is_verb: true,
        }
    };
}

/// A verb that needs no more than its path.
macro_rules! bare {
    ($method:literal $path:literal, $summary:literal, $($answers:tt)+) => {
        verb!(@ $method $path, ACT, $summary, ReasonBody, false, $($answers)+)
    };
}

/// All of them, in the order of the documentation.
pub const ENDPOINTS: &[Endpoint] = &[
    get!("/api/config/account", LOOK, "The account and its switches", NONE, 200 AccountBody),
    verb!("PATCH" "/api/config/account", ACT, "Flip the switches of the account", AccountPatch, 200 AccountBody),
    verb!("POST" "/api/account/config", OWN, "Configure the account", AccountConfig, 200 AccountBody),
    get!("/api/config/environments/", LOOK, "Environments, by uuid", PAGE, 200 Vec<EnvironmentBody>),
    verb!("POST" "/api/config/environments/", ACT, "Make an environment", EnvironmentNew, 201 EnvironmentBody),
    verb!("PATCH" "/api/config/environments/{uuid}", ACT, "Change an environment", EnvironmentPatch, 200 EnvironmentBody),
    bare!("POST" "/api/config/environments/{uuid}/pause", "Hold an environment; slots and queue stay", 200 EnvironmentBody),
    bare!("POST" "/api/config/environments/{uuid}/unpause", "End the hold of an environment", 200 EnvironmentBody),
    get!("/api/config/rings/", LOOK, "Rings, by uuid", PAGE, 200 Vec<RingBody>),
    verb!("POST" "/api/config/rings/", ACT, "Make a ring", RingSet, 201 RingBody),
    verb!("PATCH" "/api/config/rings/{uuid}", ACT, "Change the brakes of a ring", RingSet, 200 RingBody),
    bare!("POST" "/api/config/rings/{uuid}/pause", "Hold a ring; slots and queue stay", 200 RingBody),
    bare!("POST" "/api/config/rings/{uuid}/unpause", "End the hold of a ring", 200 RingBody),
    verb!("POST" "/api/config/releases/build-from-git", ACT, "Build a release from the repository", BuildBody, 201 ReleaseBody),
    get!("/api/config/releases/", LOOK, "Releases, newest first", PAGE, 200 Vec<ReleaseBody>),
    get!("/api/config/releases/{uuid}", LOOK, "A release", NONE, 200 ReleaseDetail),
    bare!("POST" "/api/config/releases/{uuid}/yank", "Withdraw a release for good; the rollout that runs it halts", 200 ReleaseBody),
    get!("/api/config/rollouts/", LOOK, "Rollouts, newest first", PAGE, 200 Vec<RolloutBody>),
    verb!("POST" "/api/config/rollouts/", ACT, "Start a release (201), or reset the rollout that runs it (200)", StartBody, 201 RolloutBody, 200 RolloutBody),
    get!("/api/config/rollouts/{uuid}", LOOK, "A rollout", NONE, 200 RolloutBody),
    get!("/api/config/rollouts/{uuid}/status", LOOK, "Who holds, waits and settles, and why the cursor does not move", LIMIT, 200 StatusBody),
    get!("/api/config/rollouts/{uuid}/apply-results", LOOK, "What agents reported, newest first", RESULTS, 200 Vec<ResultBody>),
    bare!("POST" "/api/config/rollouts/{uuid}/halt", "Stop a rollout; the runs of its holders are cancelled", 200 RolloutBody),
    get!("/api/secrets/", LOOK, "Names of the secrets; nobody reads a value", NAMES, 200 Vec<SecretBody>),
    verb!("PUT" "/api/secrets/{name}", OWN, "Set a secret", SecretSet, 200 SecretBody),
    get!("/api/provisioning/machines/", LOOK, "Machines, by uuid", PAGE, 200 Vec<MachineBody>),
    verb!("POST" "/api/provisioning/machines/", ACT, "Let a machine join", MachineNew, 201 MachineBody),
    get!("/api/provisioning/machines/{uuid}", LOOK, "A machine", NONE, 200 MachineBody),
    verb!("PATCH" "/api/provisioning/machines/{uuid}", ACT, "Change the place of a machine; null unassigns", MachinePatch, 200 MachineBody),
    bare!("DELETE" "/api/provisioning/machines/{uuid}", "Take a machine away for good", 204),
    bare!("POST" "/api/provisioning/machines/{uuid}/config-pause", "Skip a machine: its slot is given back and the next one starts", 200 MachineBody),
    bare!("POST" "/api/provisioning/machines/{uuid}/config-unpause", "Let a skipped machine join again", 200 MachineBody),
    get!("/api/kura/servers/", LOOK, "Kura servers, by id, each with all an operator must see of it", SERVERS, 200 Vec<ServerBody>),
    verb!("POST" "/api/kura/servers/", ACT, "Add a server; the scheduler brings it to the newest tag", ServerNew, 201 ServerBody),
    get!("/api/kura/servers/{id}", LOOK, "A server", NONE, 200 ServerBody),
    verb!("PATCH" "/api/kura/servers/{id}", ACT, "Configure a server otherwise, or say that a move begins or ends", ServerPatch, 200 ServerBody),
    bare!("DELETE" "/api/kura/servers/{id}", "Take a server down with everything only it used", 200 ServerBody),
    get!("/api/kura/servers/{id}/deployments", LOOK, "Deployments of a server, newest first; the Link header leads to older ones", DEPLOYMENTS, 200 Vec<DeploymentBody>),
    verb!("POST" "/api/kura/servers/{id}/deployments", ACT, "Bring a server to a tag", DeploymentNew, 201 DeploymentBody),
    bare!("POST" "/api/kura/servers/{id}/force-reapply", "Apply what is rendered once more, whatever is open or agrees", 201 DeploymentBody),
    get!("/api/kura/servers/{id}/manifest", LOOK, "What is rendered for a server, what was applied, what is there, and what differs", NONE, 200 ManifestBody),
    get!("/api/kura/runtime-tags/", LOOK, "Released runtime tags, the newest version first", TAGS, 200 Vec<TagBody>),
    verb!("POST" "/api/kura/runtime-tags/", ACT, "Release a runtime tag; the scheduler does the rest", TagNew, 201 TagBody),
    get!("/api/kura/gateways/", LOOK, "Gateways of the cluster, by name: who uses them, what a stuck one waits for", NAMES, 200 Vec<GatewayBody>),
    verb!("POST" "/api/kura/gateways/{name}/delete", ACT, "Delete a gateway nobody uses; its name is typed once more", RemovalBody, 204),
    verb!("POST" "/api/kura/gateways/{name}/strip-finalizer", ACT, "Take a finalizer off a gateway or an instance that is stuck in its deletion", StripBody, 204),
    get!("/api/kura/orphans/", LOOK, "Instances without a server and servers without an instance, by name", NAMES, 200 Vec<Orphan>),
    verb!("POST" "/api/kura/orphans/{name}/delete", ACT, "Delete an instance that no server claims; its name is typed once more", RemovalBody, 204),
    verb!("POST" "/api/kura/cluster/accept", ACT, "Have everything in the cluster that is seen now, which is another one than before", AcceptClusterBody, 204),
    get!("/api/rolls/", LOOK, "Fleet rolls, newest first; the Link header leads to older ones", PAGE, 200 Vec<RollBody>),
    verb!("POST" "/api/rolls/", ACT, "Roll an image through a fleet of nodes", RollNew, 201 RollBody),
    get!("/api/rolls/{uuid}", LOOK, "A roll: its gate, its place in the fleet, steps, probes, order", ROLL, 200 RollBody),
    verb!("POST" "/api/rolls/{uuid}/gates/{gate}/approve", ACT, "Open a gate, for the revision and the wait it was shown with", GateBody, 200 RollBody),
    verb!("POST" "/api/rolls/{uuid}/gates/{gate}/deny", ACT, "Keep a gate shut; the roll ends and staged images stay", GateBody, 200 RollBody),
    bare!("POST" "/api/rolls/{uuid}/abort", "Stop a roll: no node is touched any more", 200 RollBody),
    get!("/api/nodes/", LOOK, "Nodes by name: whose cordon it is, the verdict on the runtime, who hosts the registry", NAMES, 200 Vec<NodeBody>),
    bare!("POST" "/api/nodes/{name}/probe", "Probe the runtime of a node now", 204),
    bare!("POST" "/api/nodes/{name}/uncordon", "Give a node back that a roll which has ended left cordoned", 204),
    tell!("/api/explain", LOOK, "What something waits for, on whom, since when", ExplainBody, true, 200 ExplanationBody),
    get!("/api/agent/assignment", Access::Agent, "The poll: a sign of life, and the moment a slot is granted", POLL, 200 PollAnswer),
    tell!("/api/agent/apply-results", Access::Agent, "How a run ended", ReportBody, true, 200 Filed),
    tell!("/api/agent/rebuilt", Access::Agent, "The machine was reimaged", RebuiltBody, false, 200 Filed),
    get!("/api/world", LOOK, "The world of the account at a revision, for replicas", TAIL, 200 WorldBody),
    get!("/api/changes", LOOK, "The changes after a revision, as they come", AFTER, 200 text "text/event-stream"),
    bare!("POST" "/api/clock/accept", "Say that the clock is right", 200 SeatBody),
    get!("/api/audit", LOOK, "Who did what, when and why, done or refused, oldest first; a chain of hashes", LINKS, 200 Vec<AuditRow>),
    get!("/api/seat", LOOK, "Who ticks", NONE, 200 SeatBody),
    bare!("POST" "/api/seat/leave", "Make this process give the seat back", 200 SeatBody),
    get!("/api/version", Access::Known, "What answers here", NONE, 200 VersionBody),
    get!("/api/openapi.json", Access::Open, "This document", NONE, 200 serde_json::Value),
    get!("/healthz", Access::Open, "The process answers", NONE, 200 text "text/plain"),
    get!("/readyz", Access::Open, "The journals can be reached and whoever holds a seat ticks (200), or not (503)", NONE, 200 ReadyBody, 503 ReadyBody),
    get!("/metrics", Access::Open, "Metrics", NONE, 200 text "application/openmetrics-text"),
];

/// What is read back from the journal may be gone with a compaction; what pages stand behind may never have been.
const PAST: [&str; 3] = ["/api/rolls/", "/api/rolls/{uuid}", "/api/kura/servers/{id}/deployments"];

impl Endpoint {
    /// Statuses of the problems it may answer with, in order.
    pub fn problems(&self) -> Vec<u16> {
        // A token that is shown where none is needed has to be known nevertheless.
        let mut statuses = vec![401, 500];
        if self.access != Access::Open {
            statuses.extend([403, 429, 503]);
        }
        if self.path.contains('{') || self.body.is_some() || PAST.contains(&self.path) {
            statuses.push(404);
        }
        if self.access != Access::Open || !self.query.is_empty() {
            statuses.push(422);
        }
        if self.body.is_some() {
            statuses.push(413);
        }
        if self.is_verb {
            statuses.extend([400, 409, 412]);
        }
        match self.access {
            Access::Agent => statuses.extend([400, 404]),
            _ if self.path == crate::wire::stream::PATH => statuses.push(410),
            _ if self.method == "GET" && PAST.contains(&self.path) => statuses.push(410),
            // An empty list would say that there is none, where none can be seen.
            _ if [gateway::PATH, request::ORPHANS_PATH].contains(&self.path) => statuses.push(409),
            _ => {}
        }
        statuses.retain(|status| self.answers.iter().all(|(answered, _)| answered != status));
        statuses.sort_unstable();
        statuses.dedup();
        statuses
    }
}
