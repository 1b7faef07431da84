//! What a process says about itself: its seat, its version, whether it is ready.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::ids::Epoch;
use crate::domain::world::SeatRecord;

/// Where the version is told.
pub const VERSION_PATH: &str = "/api/version";

/// Who ticks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SeatBody {
    /// The process that took the seat last; null = nobody ever did.
    pub holder: Option<String>,
    /// How often it changed hands.
    pub epoch: Epoch,
    /// When it was taken.
    #[serde(default)]
    pub since: Option<Timestamp>,
    /// When the answering process decided its last tick; null = it did not tick yet, or another process does.
    pub last_tick: Option<Timestamp>,
}

impl SeatBody {
    /// The seat as one process sees it; `last_tick` is its own.
    pub fn of(seat: &SeatRecord, last_tick: Option<Timestamp>) -> Self {
        Self { holder: seat.holder.clone(), epoch: seat.epoch, since: seat.since, last_tick }
    }
}

/// What answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VersionBody {
    /// Of the program.
    pub version: String,
    /// `memory`, `sqlite`, ...
    pub journal_kind: String,
    /// UID of the cluster it looks at; null = none is connected.
    pub cluster_uid: Option<String>,
    /// What it can do beyond the oldest one.
    pub features: Vec<String>,
}

/// What this program can do, for `features`.
pub const FEATURES: [&str; 7] = ["world", "changes", "explain", "idempotency-key", "dry-run", "if-match", "openapi"];

/// Whether a process should get requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadyBody {
    /// All of the below is well.
    pub ready: bool,
    /// One per account.
    pub accounts: Vec<AccountReady>,
}

/// How one account stands in this process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccountReady {
    /// Its name.
    pub account: String,
    /// `live`, `loading`, or what is wrong with it.
    pub journal: String,
    /// This process ticks.
    pub holds_seat: bool,
    /// Since its last tick, or since it took the seat; null where another process ticks.
    pub tick_age_seconds: Option<u64>,
    /// The tick is late.
    pub tick_is_late: bool,
}
