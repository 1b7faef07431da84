//! A plot: everything that will happen from outside in one generated world, fixed before it begins.
//!
//! Because nothing in it depends on how the world goes, a prefix of a plot gives the same history up to its end.

use std::fmt;

use super::super::agents::behaviour::Behaviour;
use super::super::journal::JournalFault;
use super::super::line::Weather;
use super::super::post::Faults;
use super::super::trail::Doom;
use super::kura::acts::ClusterAct;
use super::profile::{Families, Profile};
use super::rolls::acts::{Decision, FleetAct, Nodes};
use crate::domain::ids::MachineId;
use crate::domain::input::{Order, Verb};
use crate::domain::span::Seconds;

/// Processes a world has at the most.
pub const PROCESSES: usize = 4;

/// What a process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cast {
    /// A console stands for the seat only while it finds no server that answers.
    pub console: Option<Grace>,
    /// Agents reach it.
    pub agents: bool,
    /// How much too fast its clock runs, in millionths.
    pub ppm: i64,
}

/// For so long a console waits for its control plane before it stands for the seat by itself; none = for a person.
pub type Grace = Option<Seconds>;

impl Cast {
    /// A server with a good clock.
    pub const SERVER: Self = Self { console: None, agents: true, ppm: 0 };

    /// The beginning of its name.
    pub fn word(&self) -> &'static str {
        if self.console.is_some() { "console" } else { "server" }
    }
}

/// What a line of a process leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The journal.
    Journal,
    /// The cluster.
    Cluster,
    /// The agents, who come over it.
    Agents,
    /// The servers a console is attached to.
    Servers,
}

impl End {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Journal, Self::Cluster, Self::Agents, Self::Servers];
}

/// One thing that happens from outside.
#[derive(Debug, Clone)]
pub enum Act {
    /// A person gives an order; whoever gave a key asks again where the answer is not known.
    Order(Order),
    /// A person halts whatever runs at that moment.
    Halt(Order),
    /// A machine that joined gets its agent.
    Behave(MachineId, Box<Behaviour>),
    /// An agent goes silent.
    Silence(MachineId),
    /// It is back.
    BringBack(MachineId),
    /// A machine gets a new system.
    Rebuild(MachineId),
    /// The results store comes up or goes down.
    Telemetry {
        /// It answers.
        up: bool,
    },
    /// A variable goes missing for a machine.
    Lose(MachineId),
    /// It is there again.
    Find(MachineId),
    /// The next append goes wrong.
    Journal(JournalFault),
    /// A process dies after so many more steps of anybody.
    Crash {
        /// Which of the processes.
        process: usize,
        /// At whichever await it is by then.
        steps: u64,
    },
    /// A process starts, if it does not live.
    Start(usize),
    /// A process takes no step any more.
    Freeze(usize),
    /// It goes on.
    Thaw(usize),
    /// A process cannot reach the journal for a while.
    Cut {
        /// Which of the processes.
        process: usize,
        /// For so long.
        span: Seconds,
    },
    /// The wall clock of a process jumps, in seconds (R168).
    Jump {
        /// Which of the processes.
        process: usize,
        /// Forward, or back.
        by: i64,
    },
    /// The wall clock of a process is right again.
    SetRight(usize),
    /// A process cannot reach the cluster for a while.
    Part {
        /// Which of the processes.
        process: usize,
        /// For so long.
        span: Seconds,
    },
    /// Calls of a process over one of its lines fare like this for a while.
    Weather {
        /// Which of the processes.
        process: usize,
        /// Which line.
        end: End,
        /// How they fare.
        weather: Weather,
        /// For so long.
        span: Seconds,
    },
    /// The journal has no room for a while.
    Full(Seconds),
    /// A process dies or freezes at one of its next calls.
    Strike(usize, Doom),
    /// A process is asked to stop, and gives back what it has.
    Stop(usize),
    /// A person takes the seat at a process, if it finds no server.
    Take(usize),
    /// Something happens to the cluster of the Kura servers.
    Cluster(Box<ClusterAct>),
    /// Something happens to the fleet that rolls go through.
    Fleet(Box<FleetAct>),
    /// A person decides about the roll of a target that goes on at that moment.
    Decide(String, Decision, Order),
}

/// An act at its time, in words.
#[derive(Debug, Clone)]
pub struct Happening {
    /// After the beginning.
    pub at: Seconds,
    /// What happens.
    pub act: Act,
    /// For people.
    pub words: String,
}

impl fmt::Display for Happening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}: {}", self.at, self.words)
    }
}

/// One generated world.
#[derive(Debug, Clone)]
pub struct Plot {
    /// Of which family it is.
    pub profile: Profile,
    /// What it was made from, and what decides who goes first.
    pub seed: u64,
    /// Builds the fleet, in order, before anything else happens.
    pub fleet: Vec<Verb>,
    /// The agents of the first machines.
    pub agents: Vec<(MachineId, Behaviour)>,
    /// Nodes that rolls go through, where there are any.
    pub nodes: Option<Nodes>,
    /// What is in it.
    pub families: Families,
    /// Processes at the beginning.
    pub cast: Vec<Cast>,
    /// How the agents' post fares until the faults stop.
    pub post: Faults,
    /// What happens, by time.
    pub script: Vec<Happening>,
    /// When the faults stop and an operator puts everything right.
    pub healed_at: Seconds,
}
