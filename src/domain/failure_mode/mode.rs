//! The table: each mode with its number, its advice and its verification. "Nothing" is never the advice (R170).

use serde::{Deserialize, Serialize};

/// A row of the table of failure modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureMode {
    /// 1: the holder went offline.
    HolderOffline,
    /// 2: apply, drain or health gate failed on the holder.
    ApplyFailed,
    /// 3: a disruption budget blocks the drain.
    DrainBlocked,
    /// 4: the upgrade ran and the health gate failed.
    HealthGateFailed,
    /// 5: a machine that was done failed again.
    ConvergedFlaps,
    /// 6: the queue grew behind a holder.
    QueueChurn,
    /// 7: another start took the account's slot.
    Superseded,
    /// 8: the operator paused a machine that held a slot.
    HolderPaused,
    /// 9: a ring or an environment is held.
    LinePaused,
    /// 10: a settle window is open.
    Settling,
    /// 11: results cannot be read.
    TelemetryOut,
    /// 12: the head of the queue cannot be rendered.
    RenderError,
    /// 13: the cursor's environment has nobody to wait for.
    NothingGateable,
    /// 14: a dead machine was skipped and still holds the cursor.
    DeadMachine,
    /// 15: a machine was reimaged.
    Reimaged,
    /// D1: the head of the queue is offline and was never served.
    HeadOffline,
    /// D2: nobody ticks.
    NoTicks,
    /// D3: a skipped machine keeps a later environment shut.
    TierShut,
    /// D4: applied, and still cordoned.
    AppliedButCordoned,
    /// D5: a ring without a cap converges at once.
    NotCapped,
    /// D6: a start was refused by a protected rollout.
    StartRefused,
    /// D7: the ring's stall timeout is shorter than the release's deadline.
    StallBelowDeadline,
    /// D8: the same state failed again after a reset.
    ResetWithoutFix,
}

impl FailureMode {
    /// Every row, in the table's order.
    pub const ALL: [Self; 23] = [
        Self::HolderOffline,
        Self::ApplyFailed,
        Self::DrainBlocked,
        Self::HealthGateFailed,
        Self::ConvergedFlaps,
        Self::QueueChurn,
        Self::Superseded,
        Self::HolderPaused,
        Self::LinePaused,
        Self::Settling,
        Self::TelemetryOut,
        Self::RenderError,
        Self::NothingGateable,
        Self::DeadMachine,
        Self::Reimaged,
        Self::HeadOffline,
        Self::NoTicks,
        Self::TierShut,
        Self::AppliedButCordoned,
        Self::NotCapped,
        Self::StartRefused,
        Self::StallBelowDeadline,
        Self::ResetWithoutFix,
    ];

    /// `FM-1`..`FM-15`, `FM-D1`..`FM-D8`.
    pub fn id(self) -> String {
        let place = Self::ALL.iter().position(|mode| *mode == self).unwrap_or(0) + 1;
        if place <= 15 { format!("FM-{place}") } else { format!("FM-D{}", place - 15) }
    }

    /// A few words for a headline.
    pub fn title(self) -> &'static str {
        match self {
            Self::HolderOffline => "holder offline",
            Self::ApplyFailed => "apply failed",
            Self::DrainBlocked => "drain blocked",
            Self::HealthGateFailed => "health gate failed after the upgrade",
            Self::ConvergedFlaps => "a converged machine flaps",
            Self::QueueChurn => "queue churn",
            Self::Superseded => "superseded in mid-queue",
            Self::HolderPaused => "holder paused by the operator",
            Self::LinePaused => "line paused",
            Self::Settling => "settling",
            Self::TelemetryOut => "telemetry out",
            Self::RenderError => "render error",
            Self::NothingGateable => "nothing gateable",
            Self::DeadMachine => "dead machine, finish without it",
            Self::Reimaged => "reimaged",
            Self::HeadOffline => "head of queue offline, no timer",
            Self::NoTicks => "nobody ticks",
            Self::TierShut => "later tier kept shut by a skip",
            Self::AppliedButCordoned => "applied but cordoned",
            Self::NotCapped => "ring not capped",
            Self::StartRefused => "start refused",
            Self::StallBelowDeadline => "stall timeout below the deadline",
            Self::ResetWithoutFix => "reset without a fix",
        }
    }

    /// What to do, most useful first.
    pub fn next(self) -> &'static [&'static str] {
        match self {
            Self::HolderOffline => &[
                "fix: bring the machine back, it resumes on its lease",
                "or skip: pause the machine, which frees its slot",
                "then start the same release again if the ring halted",
            ],
            Self::ApplyFailed => &[
                "read the failing state in its results",
                "fix forward: yank the release and ship a hotfix",
                "or pause the machine, then reset",
            ],
            Self::DrainBlocked => {
                &["fix the workload: relax its budget or add a replica", "then reset; nothing overrides a budget"]
            }
            Self::HealthGateFailed => &[
                "triage the node: is it Ready, does the API answer through the VIP?",
                "ship a hotfix that repairs and uncordons",
                "not a plain reset: it would turn applied and stay cordoned",
            ],
            Self::ConvergedFlaps => &[
                "read its results: it is a real failure",
                "pause it if it has nothing to do with the release: it applied once, so it holds nobody",
            ],
            Self::QueueChurn => &["leave the holder alone: newcomers queue behind it"],
            Self::Superseded => &[
                "find who started the other release, and stop that caller",
                "start the upgrade release again, protected",
                "sweep the interrupted nodes for cordons",
            ],
            Self::HolderPaused => &["check its node for a cordon", "unpause it when it is the only one left"],
            Self::LinePaused => &["check the holder's node for a cordon", "unpause: the holder and the queue resume"],
            Self::Settling => &["wait: it ends by itself", "lower min_settle_seconds if you wait for it routinely"],
            Self::TelemetryOut => {
                &["fix the results store: the queue resumes by itself", "do not reset: it would cancel the holder"]
            }
            Self::RenderError => &["add the missing variable or secret", "its next poll picks it up"],
            Self::NothingGateable => &["add or unpause machines", "or take the environment out of the path"],
            Self::DeadMachine => &[
                "unassign its environment: the cursor goes on without it",
                "put it back after the repair, while a rollout runs",
            ],
            Self::Reimaged => &[
                "a rollout runs: watch it converge under the cap",
                "none runs: start the release again, only what is behind is drained",
            ],
            Self::HeadOffline => &["bring it back", "or pause it: the next machine gets the slot"],
            Self::NoTicks => &["check that a control plane holds the seat", "look at its log and at /readyz"],
            Self::TierShut => &["unpause it and let it converge", "or unassign its environment"],
            Self::AppliedButCordoned => &["uncordon the node: kubectl uncordon NODE"],
            Self::NotCapped => &["set a cap: it adopts what is in flight", "or pause the ring"],
            Self::StartRefused => &[
                "talk to the owner of the running rollout",
                "or start with force: its leases end, nodes in mid-arc stay cordoned",
            ],
            Self::StallBelowDeadline => &["raise stall_timeout_seconds above the release's deadline", "then reset"],
            Self::ResetWithoutFix => &["fix the failing state first: a reset alone halts again"],
        }
    }

    /// What to verify afterwards.
    pub fn verify(self) -> &'static [&'static str] {
        match self {
            Self::HolderOffline => &[
                "fixed: it turns applied and the reset clears the halt",
                "skipped: no cordon is left, the next machine is granted",
            ],
            Self::ApplyFailed => &[
                "the failing state is gone in a new run",
                "the node is schedulable",
                "no ring is halted after the reset",
            ],
            Self::DrainBlocked => &[
                "the drain state succeeds",
                "the budget allows at least 1 disruption",
                "the node is upgraded and schedulable",
            ],
            Self::HealthGateFailed => &["the node is Ready", "the VIP answers", "spec.unschedulable is false"],
            Self::ConvergedFlaps => &["the holder still holds", "the machine is out of the queue", "unpause it later"],
            Self::QueueChurn => &["the holder and its held_since are the same in two successive looks"],
            Self::Superseded => &["no node is left cordoned", "the new rollout is protected", "the caller stopped"],
            Self::HolderPaused => &["the node is schedulable", "it converges alone", "blocking.paused is 0"],
            Self::LinePaused => {
                &["the same holder resumes", "the queue has the same order", "the stall timer did not age"]
            }
            Self::Settling => &["the next machine is granted within 60 s of the close"],
            Self::TelemetryOut => &["the queue resumes alone", "the holder is the same"],
            Self::RenderError => &["it turns pending at its next poll, within 60 s"],
            Self::NothingGateable => &["the cursor moves at the next tick"],
            Self::DeadMachine => {
                &["its row is gone", "the cursor moves", "after the repair it is assigned and converged"]
            }
            Self::Reimaged => &["its version is the target", "the others are passed over without a second drain"],
            Self::HeadOffline => &["the next machine is granted"],
            Self::NoTicks => &["the last tick is younger than 90 s"],
            Self::TierShut => &["the later tier opens"],
            Self::AppliedButCordoned => &["the node is schedulable", "a pod runs on it"],
            Self::NotCapped => &["holds_slot is set on no more rows than the cap"],
            Self::StartRefused => &["the rollout you meant is running", "no node is left cordoned"],
            Self::StallBelowDeadline => &["the next arc ends without a halt"],
            Self::ResetWithoutFix => &["another failing state, or a success"],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_number_an_advice_and_a_verification() {
        // R170
        let ids: Vec<String> = FailureMode::ALL.iter().map(|mode| mode.id()).collect();
        assert_eq!(
            (ids[0].as_str(), ids[14].as_str(), ids[15].as_str(), ids[22].as_str()),
            ("FM-1", "FM-15", "FM-D1", "FM-D8")
        );
        for mode in FailureMode::ALL {
            assert!(!mode.next().is_empty() && !mode.verify().is_empty() && !mode.title().is_empty(), "{mode:?}");
        }
    }
}
