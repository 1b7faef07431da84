//! What the screen is made from: one account at one moment, in types of the console's own.
//!
//! The terminal half converts the link's picture into this, so that the pure half knows neither links nor sockets.

use std::sync::Arc;

use imbl::Vector;
use jiff::Timestamp;

use super::past::Past;
use crate::domain::change::Entry;
use crate::domain::fallback::Fallback;
use crate::domain::glimpse::Glimpse;
use crate::domain::ids::Epoch;
use crate::domain::kura::ends::OwnEnd;
use crate::domain::observed::Observed;
use crate::domain::release::Outcome;
use crate::domain::span::Seconds;
use crate::domain::world::World;

/// From this age on a source is stale: its age is shown and verbs other than stopping are refused.
pub const STALE_AFTER: Seconds = Seconds(30);

/// From this age on the age of the last tick is shown (R53, R171).
pub const TICK_LATE_AFTER: Seconds = Seconds(90);

/// What a simulated world in this process is called where others have an address.
pub const DEMO: &str = "demo";

/// How the source of the picture stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Freshness {
    /// The first answer is still out.
    Connecting,
    /// Something, if only a heartbeat, arrived at this moment.
    Live(Timestamp),
    /// Nothing arrives any more; the last picture stays.
    Lost {
        /// Since when.
        since: Timestamp,
        /// Why, in one sentence.
        why: String,
        /// When the next try begins.
        retry_at: Option<Timestamp>,
    },
    /// It answers, and the answer is no.
    Refused {
        /// Why, in one sentence.
        why: String,
        /// What to do.
        hint: String,
    },
}

impl Freshness {
    /// How old the picture is at `now`; none where there never was one or it is refused.
    pub fn age(&self, now: Timestamp) -> Option<Seconds> {
        match self {
            Self::Live(at) => Some(Seconds::between(*at, now)),
            Self::Lost { since, .. } => Some(Seconds::between(*since, now)),
            Self::Connecting | Self::Refused { .. } => None,
        }
    }

    /// True where a decision may rely on the picture: it lives, and not longer ago than `STALE_AFTER`.
    pub fn is_fresh(&self, now: Timestamp) -> bool {
        matches!(self, Self::Live(at) if Seconds::between(*at, now) <= STALE_AFTER)
    }
}

/// What the person at the keys may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Look.
    Viewer,
    /// Act.
    Operator,
    /// Act, and configure the account.
    Owner,
}

impl Access {
    /// One word for the header.
    pub fn word(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Owner => "owner",
        }
    }
}

/// Who ticks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seat {
    /// The process that holds the reconciler's seat.
    pub holder: Option<String>,
    /// Its epoch.
    pub epoch: Epoch,
    /// When the last tick was decided; none = no tick yet.
    pub last_tick: Option<Timestamp>,
}

/// One account at one moment. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Facts.
    pub world: Arc<World>,
    /// Presence, telemetry, nodes.
    pub observed: Arc<Observed>,
    /// The last changes, oldest first.
    pub tail: Vector<Arc<Entry>>,
    /// What people did before those; the console adds it itself.
    pub past: Past,
    /// Who ticks.
    pub seat: Seat,
    /// How fresh all of it is.
    pub api: Freshness,
    /// Whom the link talks to: a URL or `demo`.
    pub endpoint: String,
    /// The account's name.
    pub account: String,
    /// What the reader may do.
    pub access: Access,
    /// Set where the world is only sketched, from a status: what is not known of it.
    pub glimpse: Option<Arc<Glimpse>>,
    /// The cluster this console looks at by itself; none where it looks at none.
    pub own: Option<Arc<OwnEnd>>,
    /// How this console stands to carrying on by itself; none where there is nothing to carry on for.
    pub fallback: Option<Arc<Fallback>>,
}

impl Snapshot {
    /// The moment the picture shows at `now`. While nothing arrives it stands still: what is not known cannot age.
    pub fn moment(&self, now: Timestamp) -> Timestamp {
        match &self.api {
            Freshness::Live(at) => now.min(STALE_AFTER.after(*at)),
            Freshness::Lost { since, .. } => now.min(*since),
            Freshness::Connecting | Freshness::Refused { .. } => now,
        }
    }

    /// The moment at which the cluster is shown: seen from here, it goes on while the control plane is silent.
    pub fn seen_at(&self, now: Timestamp) -> Timestamp {
        if self.own.as_ref().is_some_and(|own| own.is_shown) { now } else { self.moment(now) }
    }

    /// Who lives in the seat. The journal keeps a name until the next one takes it; who looks at the seat from here knows
    /// when it is free.
    pub fn holder(&self) -> Option<&str> {
        let seen = self.fallback.as_ref().and_then(|fallback| fallback.rung.seat());
        self.seat.holder.as_deref().filter(|_| !seen.is_some_and(|seat| seat.is_free))
    }

    /// Why every verb is off: the control plane's cluster is not the one this console looks at (A19).
    pub fn divided(&self) -> Option<String> {
        let theirs = self.observed.cluster.as_ref().and_then(|sight| sight.identity.as_ref());
        self.own.as_ref()?.divided_from(theirs)
    }

    /// True where there is nothing to show yet.
    pub fn is_blank(&self) -> bool {
        self.world.revision == 0
    }
}

/// One failing state of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FailedState {
    /// Its id in the release.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it said.
    pub comment: String,
}

/// One run as its agent reported it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunResult {
    /// How it ended.
    pub outcome: Outcome,
    /// By the agent's clock.
    pub started_at: Timestamp,
    /// By the agent's clock.
    pub finished_at: Timestamp,
    /// By the control plane's clock.
    pub received_at: Timestamp,
    /// States that changed something.
    pub changed_count: u64,
    /// States that failed.
    pub failed_states: Vec<FailedState>,
    /// The end of its log.
    pub log_tail: String,
}
