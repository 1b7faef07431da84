//! The picture: what a reader holds of one account at one moment, and how fresh it is.

use std::sync::Arc;

use jiff::Timestamp;

use crate::domain::change::Entry;
use crate::domain::fallback::Fallback;
use crate::domain::glimpse::Glimpse;
use crate::domain::kura::ends::OwnEnd;
use crate::domain::observed::Observed;
use crate::domain::world::World;

/// How a source stands right now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Freshness {
    /// The first answer is still out.
    Connecting,
    /// Live as of this moment: something, if only a heartbeat, arrived then.
    Live(Timestamp),
    /// Nothing arrives any more.
    Lost {
        /// Since when.
        since: Timestamp,
        /// Why, in one sentence for people.
        why: String,
        /// When the next try begins.
        retry_at: Option<Timestamp>,
    },
    /// It answers, and the answer is no: wrong token or too little right.
    Refused {
        /// One sentence for people.
        why: String,
        /// What to do.
        hint: String,
    },
}

/// What a reader may do, as its token says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Look.
    Viewer,
    /// Act.
    Operator,
    /// Act, and configure the account.
    Owner,
}

/// What the seat's holder looks like from here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeatView {
    /// The process that ticks.
    pub holder: Option<String>,
    /// Its epoch.
    pub epoch: u64,
    /// When the last tick was decided; none = no tick yet.
    pub last_tick: Option<Timestamp>,
}

/// One account at one moment. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Picture {
    /// Facts.
    pub world: Arc<World>,
    /// Presence, telemetry, nodes.
    pub observed: Arc<Observed>,
    /// The last changes, oldest first, at most `TAIL_KEPT`.
    pub tail: imbl::Vector<Arc<Entry>>,
    /// Who ticks.
    pub seat: SeatView,
    /// How fresh all of it is.
    pub api: Freshness,
    /// Whom the link talks to: a URL or `demo`.
    pub endpoint: String,
    /// The account's name.
    pub account: String,
    /// What the reader may do.
    pub role: Role,
    /// Set where the world is only sketched, from a status: what is not known of it.
    pub glimpse: Option<Arc<Glimpse>>,
    /// The cluster the console looks at by itself; none where it looks at none.
    pub own: Option<Arc<OwnEnd>>,
    /// How the console stands to carrying on by itself; none where there is nothing to carry on for.
    pub fallback: Option<Arc<Fallback>>,
}

/// Changes a picture carries for the log on screen.
pub const TAIL_KEPT: usize = 1_000;
