//! The list of checks, in the order of the runbook.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{account, path, published, rings, vip, window};
use crate::domain::ids::ReleaseId;
use crate::domain::observed::Observed;
use crate::domain::world::World;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// As the runbook wants it.
    Pass,
    /// It works, and surprises people.
    Warn,
    /// The window would not do what it is for.
    Fail,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// A stable word for programs.
    pub id: &'static str,
    /// How it came out.
    pub grade: Grade,
    /// One sentence: what was found.
    pub sentence: String,
    /// What to do where it did not pass.
    pub hint: Option<String>,
}

impl Check {
    pub(super) fn pass(id: &'static str, sentence: impl Into<String>) -> Self {
        Self { id, grade: Grade::Pass, sentence: sentence.into(), hint: None }
    }

    pub(super) fn warn(id: &'static str, sentence: impl Into<String>, hint: &str) -> Self {
        Self { id, grade: Grade::Warn, sentence: sentence.into(), hint: Some(hint.to_owned()) }
    }

    pub(super) fn fail(id: &'static str, sentence: impl Into<String>, hint: &str) -> Self {
        Self { id, grade: Grade::Fail, sentence: sentence.into(), hint: Some(hint.to_owned()) }
    }
}

/// What is about to be started.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'a> {
    /// The release.
    pub release: ReleaseId,
    /// Whether the start will ask for protection (R103).
    pub protected: bool,
    /// Names of the secrets that exist; none where they cannot be listed from here.
    pub secrets: Option<&'a [String]>,
}

/// Runs every check (R167).
pub fn preflight(world: &World, observed: &Observed, plan: &Plan<'_>, now: Timestamp) -> Vec<Check> {
    let mut checks = vec![
        account::ticks(observed, now),
        account::unattended(world),
        account::nothing_runs(world),
        account::protected(plan),
        account::release(world, plan),
    ];
    checks.extend(rings::all(world, plan));
    checks.extend(path::all(world));
    checks.extend(path::members(world, observed, now));
    checks.push(vip::holder(world, observed));
    checks.extend(window::estimate(world, plan));
    checks.extend(account::values(world, plan));
    checks.extend(published::all(world, plan));
    checks
}
