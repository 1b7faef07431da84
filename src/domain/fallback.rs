//! The fallback of a console: over what it could carry on without its control plane, on which rung of the ladder it
//! stands, and what its own reconciler would do first.

use std::fmt;

use jiff::Timestamp;

use super::change::Entry;
use super::decide::decide;
use super::ids::{Epoch, RolloutId};
use super::input::Input;
use super::kura::step::Step;
use super::observed::Observed;
use super::world::World;

/// How a console stands to carrying on by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fallback {
    /// The journal it would carry on over, as people call it; none where no journal was named.
    pub over: Option<String>,
    /// Why it could not carry on, as far as is known; none where it could.
    pub trouble: Option<String>,
    /// It was looked whether it could: before that nobody knows.
    pub is_looked_at: bool,
    /// Whether agents are heard here while the control plane is gone.
    pub agents: AgentRoutes,
    /// Where it stands.
    pub rung: Rung,
    /// Since when the control plane is silent, and why; none while it answers.
    pub silence: Option<Silence>,
    /// When it stands for the seat without being told to; none where a person has to.
    pub auto_at: Option<Timestamp>,
}

/// The agents' routes of a console; without them no agent is heard, so no stall timer ages and nothing promotes (R54).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum AgentRoutes {
    /// Nobody asked for them.
    #[default]
    Nowhere,
    /// Served at this address.
    At(String),
    /// Asked for, and they cannot be served: why.
    Refused(String),
}

impl AgentRoutes {
    /// Agents are heard.
    pub fn are_served(&self) -> bool {
        matches!(self, Self::At(_))
    }
}

/// A control plane that does not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Silence {
    /// Since when, by the console's clock.
    pub since: Timestamp,
    /// In one sentence.
    pub why: String,
    /// When it is tried again.
    pub retry_at: Option<Timestamp>,
}

/// The rungs, from the bottom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rung {
    /// The control plane answers.
    Attached,
    /// It does not, and the journal is not read from here: the last picture stays.
    Lost,
    /// The journal is read from here, and the seat is left alone.
    StandingBy(SeatSeen),
    /// It was told to take the seat, and does so once nobody lives in it.
    Waiting(SeatSeen),
    /// The seat is here: this console ticks.
    Seated(Epoch),
    /// The control plane is back: the seat is on its way to it.
    HandingBack(Epoch),
}

/// The seat, as it looks from here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeatSeen {
    /// Who took it last; none = nobody ever did.
    pub holder: Option<String>,
    /// In which epoch.
    pub epoch: Epoch,
    /// Since when it shows no sign of life, as seen from here; none = not looked at yet.
    pub quiet_since: Option<Timestamp>,
    /// Nobody lives in it.
    pub is_free: bool,
    /// Why its signs of life cannot be read, so that nobody is taken for dead; none where they can.
    pub unread: Option<String>,
    /// Why it could not be taken when it was tried last; none where nobody tried.
    pub untaken: Option<String>,
}

impl fmt::Display for SeatSeen {
    /// Without ages, which are counted by whoever shows it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.holder, self.is_free, &self.unread) {
            (_, _, Some(why)) => write!(f, "the seat cannot be looked at: {why}"),
            (None, ..) => f.write_str("nobody ever had the seat"),
            (Some(holder), true, _) => write!(f, "the seat is free; {holder} had it, epoch {}", self.epoch),
            (Some(holder), false, _) => write!(f, "{holder} has the seat, epoch {}", self.epoch),
        }
    }
}

impl Rung {
    /// The seat as it is seen on this rung; none where it is not looked at.
    pub fn seat(&self) -> Option<&SeatSeen> {
        match self {
            Self::StandingBy(seat) | Self::Waiting(seat) => Some(seat),
            _ => None,
        }
    }

    /// The epoch this console ticks in.
    pub fn epoch(&self) -> Option<Epoch> {
        match self {
            Self::Seated(epoch) | Self::HandingBack(epoch) => Some(*epoch),
            _ => None,
        }
    }

    /// The journal is read from here.
    pub fn is_embedded(&self) -> bool {
        matches!(self, Self::StandingBy(_) | Self::Waiting(_) | Self::Seated(_))
    }
}

/// What a first tick would lead to: decided on a world that is thrown away.
#[derive(Debug, Clone, PartialEq)]
pub struct FirstTick {
    /// The world afterwards: names of what it makes are in it.
    pub after: World,
    /// Facts it would append behind the taking of the seat.
    pub entries: Vec<Entry>,
    /// Writes to the cluster it would begin with.
    pub steps: Vec<Step>,
}

/// Rehearses taking the seat and the tick that follows it. `agents` = whether the taker serves the agents' routes.
pub fn first_tick(world: &World, observed: &Observed, taker: &str, agents: bool, now: Timestamp) -> FirstTick {
    let mut after = world.clone();
    let seat = Input::TakeSeat { holder: taker.to_owned(), agents };
    fold(&mut after, observed, &seat, now);
    let tick = Input::Tick { fresh: RolloutId::named("rehearsal") };
    let (entries, steps) = fold(&mut after, observed, &tick, now);
    FirstTick { after, entries, steps }
}

fn fold(world: &mut World, observed: &Observed, input: &Input, now: Timestamp) -> (Vec<Entry>, Vec<Step>) {
    let verdict = decide(world, observed, input, now);
    let entries = input.author(world, "").entries(world, &verdict.changes, now);
    for entry in &entries {
        world.apply(entry);
    }
    (entries, verdict.steps)
}
