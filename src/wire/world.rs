//! The world of an account as a replica loads it.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::process::SeatBody;
use super::stream::Trouble;
use crate::domain::change::Entry;
use crate::domain::ids::{AccountId, Revision};
use crate::domain::observed::Observed;
use crate::domain::world::World;

/// Where it is loaded; `?tail=N` adds the last N changes, at most `TAIL_MAX`.
pub const PATH: &str = "/api/world";

/// Changes a load may bring along.
pub const TAIL_MAX: usize = 1_000;

/// What the bearer of a token may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RoleWord {
    /// Look.
    Viewer,
    /// Act.
    Operator,
    /// Act, and configure the account.
    Owner,
}

/// Whose world it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccountName {
    /// Identity.
    pub uuid: AccountId,
    /// For people.
    pub name: String,
}

/// Everything a replica begins with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorldBody {
    /// The revision the world is at; ask for the changes after it.
    pub revision: Revision,
    /// Facts.
    #[schemars(with = "serde_json::Value")]
    pub world: World,
    /// Presence and telemetry.
    #[schemars(with = "serde_json::Value")]
    pub observed: Observed,
    /// The edition of what is seen of the cluster; null = the control plane tells nothing of it.
    #[serde(default)]
    pub cluster_edition: Option<String>,
    /// The last changes up to `revision`, oldest first.
    #[serde(default)]
    #[schemars(with = "Vec<serde_json::Value>")]
    pub tail: Vec<Entry>,
    /// Who ticks.
    pub seat: SeatBody,
    /// How the server's journal stands; null = well.
    #[serde(default)]
    pub journal: Option<Trouble>,
    /// Whose world.
    pub account: AccountName,
    /// What the bearer may do.
    pub role: RoleWord,
    /// What the bearer is called in the journal.
    pub bearer: String,
    /// The server's clock.
    pub now: Timestamp,
}
