//! Records of the change stream. A change carries its revision as id; what is only seen carries none.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::process::SeatBody;
use crate::domain::change::Entry;
use crate::domain::ids::MachineId;
use crate::domain::observed::{RefusedStart, Telemetry};

/// Where it is followed; `?after=R`, or the header `Last-Event-ID`.
pub const PATH: &str = "/api/changes";

/// Name of a record that is an entry of the journal; its id is the revision.
pub const CHANGE: &str = "change";

/// Name of a record about what is seen and not kept; it has no id.
pub const PRESENCE: &str = "presence";

/// What goes through a stream that is otherwise quiet, this often, in seconds.
pub const HEARTBEAT_SECONDS: u64 = 15;

/// A stream over which nothing came for this long, in seconds, is lost.
pub const SILENCE_SECONDS: u64 = 40;

/// Why the server's journal does not answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Trouble {
    /// Since when.
    pub since: Timestamp,
    /// One sentence.
    pub why: String,
}

/// What is seen and not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PresenceBody {
    /// True = `last_poll` is everybody's; false = it is what is new.
    #[serde(default)]
    pub everybody: bool,
    /// Last polls.
    #[serde(default)]
    pub last_poll: BTreeMap<MachineId, Timestamp>,
    /// Since when polls are received.
    pub listening_since: Timestamp,
    /// The results store.
    pub telemetry: Telemetry,
    /// When a tick was last decided, as far as the server knows.
    #[serde(default)]
    pub last_tick: Option<Timestamp>,
    /// The last start that a protected rollout turned away.
    #[serde(default)]
    pub refused_start: Option<RefusedStart>,
    /// The server's clocks drifted apart (R168).
    #[serde(default)]
    pub clock_suspect: bool,
    /// Who ticks.
    pub seat: SeatBody,
    /// How the server's journal stands; null = well.
    #[serde(default)]
    pub journal: Option<Trouble>,
    /// The server's clock.
    pub now: Timestamp,
}

/// The frame of a change, ready to be sent.
pub fn change_frame(entry: &Entry) -> Result<String, serde_json::Error> {
    Ok(format!("id: {}\nevent: {CHANGE}\ndata: {}\n\n", entry.revision, serde_json::to_string(entry)?))
}

/// The frame of what is seen, ready to be sent.
pub fn presence_frame(presence: &PresenceBody) -> Result<String, serde_json::Error> {
    Ok(format!("event: {PRESENCE}\ndata: {}\n\n", serde_json::to_string(presence)?))
}

/// A frame that says no more than that the stream is alive.
pub const HEARTBEAT_FRAME: &str = ": heartbeat\n\n";
