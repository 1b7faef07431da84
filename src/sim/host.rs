//! A process of a simulated world: the stores all processes share, its own name, and virtual time.

use imbl::OrdMap;
use uuid::Uuid;

use super::clock::VirtualClock;
use super::cluster::fleet::Fleet;
use super::cluster::objects::Objects;
use super::cluster::port::SimCluster;
use super::journal::SimJournal;
use super::line::Line;
use super::shared::Shared;
use super::stores::{SimPresence, SimResults, SimVault};
use super::trail::Trail;
use crate::control::host::Host;
use crate::control::ports::Herald;
use crate::domain::observed::Node;

/// The outside that all processes of a simulation share. Clones are the same outside.
#[derive(Debug, Clone)]
pub struct Outside {
    /// The log of changes, and the signs of life of the seat beside it.
    pub journal: SimJournal,
    /// Last polls.
    pub presence: SimPresence,
    /// Apply results.
    pub results: SimResults,
    /// Contents.
    pub vault: SimVault,
    /// Nodes of the cluster by name; none = no cluster is connected.
    pub nodes: Shared<OrdMap<String, Node>>,
    /// The cluster of the Kura servers.
    pub cluster: Shared<Objects>,
    /// Tells when something is seen of it that was not before; a world in which nobody does is looked at by ticks alone.
    pub herald: Herald,
    /// Time.
    pub clock: VirtualClock,
}

impl Outside {
    /// Empty stores around a clock.
    pub fn new(clock: VirtualClock) -> Self {
        let nodes: Shared<OrdMap<String, Node>> = Shared::default();
        let fleet = Fleet { nodes: nodes.clone(), ..Fleet::default() };
        Self {
            journal: SimJournal::new(clock.clone()),
            presence: SimPresence::default(),
            results: SimResults::default(),
            vault: SimVault::default(),
            nodes,
            cluster: Shared::new(Objects { fleet, ..Objects::default() }),
            herald: Herald::default(),
            clock,
        }
    }
}

/// What one process has of its own: a wall clock, and lines that can be cut.
#[derive(Debug, Clone)]
pub struct Means {
    /// Virtual time on a wall of its own.
    pub clock: VirtualClock,
    /// To the journal and the heartbeat beside it.
    pub to_journal: Line,
    /// To the cluster.
    pub to_cluster: Line,
    /// From agents to it.
    pub from_agents: Line,
    /// To the endpoints of other processes.
    pub to_servers: Line,
    /// It has an endpoint for agents, or stands beside a process that has.
    pub serves_agents: bool,
    /// Where it stands on its way through its ports.
    pub trail: Trail,
}

impl Means {
    /// Nothing is cut, and the wall clock is right.
    pub fn of(outside: &Outside) -> Self {
        Self::ticking_by(outside.clock.on_another_wall())
    }

    /// Nothing is cut, and time is told by this clock.
    pub fn ticking_by(clock: VirtualClock) -> Self {
        let trail = Trail::default();
        Self {
            clock,
            to_journal: Line::of(trail.clone()),
            to_cluster: Line::of(trail.clone()),
            from_agents: Line::default(),
            to_servers: Line::default(),
            serves_agents: true,
            trail,
        }
    }
}

/// One process on it.
#[derive(Debug, Clone)]
pub struct SimHost {
    outside: Outside,
    means: Means,
    journal: SimJournal,
    cluster: SimCluster,
    presence: SimPresence,
    results: SimResults,
    vault: SimVault,
    process: String,
    drawn: Shared<u64>,
}

impl SimHost {
    /// The process called `process`.
    pub fn new(outside: Outside, process: &str) -> Self {
        let means = Means::of(&outside);
        Self::with(outside, means, process)
    }

    /// The process called `process`, with means that outlive it.
    pub fn with(outside: Outside, means: Means, process: &str) -> Self {
        let journal = outside.journal.over(means.to_journal.clone());
        let (objects, line) = (outside.cluster.clone(), means.to_cluster.clone());
        let cluster = SimCluster::new(objects, outside.journal.clone(), means.clock.clone(), line, process);
        Self {
            journal,
            cluster: cluster.heard_by(outside.herald.clone()),
            presence: outside.presence.asked_by(means.trail.clone()),
            results: outside.results.asked_by(means.trail.clone()),
            vault: outside.vault.asked_by(means.trail.clone()),
            outside,
            means,
            process: process.to_owned(),
            drawn: Shared::new(0),
        }
    }
}

impl Host for SimHost {
    type Journal = SimJournal;
    type Heartbeats = SimJournal;
    type Presence = SimPresence;
    type Results = SimResults;
    type Vault = SimVault;
    type Cluster = SimCluster;
    type Clock = VirtualClock;

    fn journal(&self) -> &SimJournal {
        &self.journal
    }

    fn heartbeats(&self) -> &SimJournal {
        &self.journal
    }

    fn presence(&self) -> &SimPresence {
        &self.presence
    }

    fn results(&self) -> &SimResults {
        &self.results
    }

    fn vault(&self) -> &SimVault {
        &self.vault
    }

    fn cluster(&self) -> &SimCluster {
        &self.cluster
    }

    fn clock(&self) -> &VirtualClock {
        &self.means.clock
    }

    /// A cluster that cannot be reached shows nothing.
    fn nodes(&self) -> OrdMap<String, Node> {
        match self.means.to_cluster.is_cut(self.means.clock.instant()) {
            true => OrdMap::new(),
            false => self.outside.nodes.with(|nodes| nodes.clone()),
        }
    }

    fn serves_agents(&self) -> bool {
        self.means.serves_agents
    }

    /// The next one of this process: the same in every run.
    fn fresh(&self) -> Uuid {
        let nth = self.drawn.with(|drawn| {
            *drawn += 1;
            *drawn
        });
        Uuid::new_v5(&Uuid::NAMESPACE_URL, format!("kura:fresh:{}:{nth}", self.process).as_bytes())
    }

    fn process(&self) -> &str {
        &self.process
    }
}
