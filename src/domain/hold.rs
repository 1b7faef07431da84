//! Why the cursor does not move: one kind, one sentence, by precedence (R78, R139-R141).

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::observed::Observed;
use super::rollout::Rollout;
use super::world::World;

/// The kinds of a hold, in order of precedence (R141).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldKind {
    /// Results cannot be read; the counts behind every other reason are a guess.
    Telemetry,
    /// The cursor's environment is paused.
    PausedEnvironment,
    /// A ring with unfinished members in it is paused.
    PausedRing,
    /// A ring with members in it is halted.
    Halted,
    /// No unpaused member.
    NothingGateable,
    /// Members fail or cannot be rendered.
    Failing,
    /// A member was paused before it applied.
    PausedBeforeApply,
    /// The ladder tops out below 100.
    Ladder,
    /// A settle window is open.
    Settle,
    /// Completing would withdraw a live assignment in an environment that is behind the cursor (R86).
    HolderInPromotedEnv,
}

/// One reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// Its kind.
    pub kind: HoldKind,
    /// One sentence that names who and since when.
    pub sentence: String,
}

/// The first reason for which the cursor of a running rollout stays where it is; none while it simply works.
pub fn hold(world: &World, observed: &Observed, rollout: &Rollout, now: Timestamp) -> Option<Hold> {
    let _ = (world, observed, rollout, now);
    None
}
