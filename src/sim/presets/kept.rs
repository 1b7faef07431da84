//! The kept scenarios of the failure modes, one for each row of the table (B18): played to the moment at which the
//! failure shows, they go on live.

use jiff::{SignedDuration, Timestamp};

use super::super::scenario::file::place::{Place, Placed};
use super::super::scenario::file::scenario::Scenario;
use super::super::scenario::run::{Run, Stuck};
use super::super::scenario::screens::Consoles;
use crate::domain::failure_mode::FailureMode;
use crate::domain::span::Seconds;

/// One row of the table, alive.
#[derive(Debug, Clone, Copy)]
pub struct Kept {
    /// Which row.
    pub mode: FailureMode,
    /// How much of the scenario's time has passed when the failure shows.
    pub past: Seconds,
    /// Its file.
    text: &'static str,
}

macro_rules! kept {
    ($mode:ident, $past:literal, $file:literal) => {
        Kept {
            mode: FailureMode::$mode,
            past: Seconds($past),
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scenarios/fm-", $file, ".yaml")),
        }
    };
}

/// Every row, in the table's order.
pub const KEPT: [Kept; 23] = [
    kept!(HolderOffline, 2_400, "01-holder-offline-fixed"),
    kept!(ApplyFailed, 900, "02-apply-failed"),
    kept!(DrainBlocked, 900, "03-drain-blocked"),
    kept!(HealthGateFailed, 1_200, "04-health-gate-failed"),
    kept!(ConvergedFlaps, 250, "05-converged-machine-flaps"),
    kept!(QueueChurn, 600, "06-queue-churn"),
    kept!(Superseded, 150, "07-superseded"),
    kept!(HolderPaused, 200, "08-holder-paused"),
    kept!(LinePaused, 1_800, "09-ring-paused"),
    kept!(Settling, 640, "10-settling"),
    kept!(TelemetryOut, 300, "11-telemetry-down"),
    kept!(RenderError, 3_600, "12-render-error"),
    kept!(NothingGateable, 1_800, "13-nothing-gateable"),
    kept!(DeadMachine, 1_260, "14-dead-machine"),
    kept!(Reimaged, 701, "15-reimaged"),
    kept!(HeadOffline, 3_600, "d1-head-offline"),
    kept!(NoTicks, 3_600, "d2-nobody-ticks"),
    kept!(TierShut, 3_600, "d3-tier-shut"),
    kept!(AppliedButCordoned, 460, "d4-applied-but-cordoned"),
    kept!(NotCapped, 59, "d5-ring-not-capped"),
    kept!(StartRefused, 90, "d6-start-refused"),
    kept!(StallBelowDeadline, 960, "d7-stall-below-deadline"),
    kept!(ResetWithoutFix, 1_200, "d8-reset-without-fix"),
];

/// The kept scenario of this name, such as `fm-03` or `fm-d1`.
pub fn kept(name: &str) -> Option<&'static Kept> {
    KEPT.iter().find(|kept| kept.name() == name)
}

impl Kept {
    /// What it is called on the command line: the number of its row, in two digits.
    pub fn name(&self) -> String {
        let id = self.mode.id().to_lowercase();
        match id.strip_prefix("fm-") {
            Some(number) if number.len() == 1 => format!("fm-0{number}"),
            _ => id,
        }
    }

    /// The world at its beginning, which lies so far back that its past is over at `opening`: `advance_to(opening)` lives
    /// through it, and `go_live` ends it.
    pub fn begin<C: Consoles>(&self, opening: Timestamp, consoles: C) -> Result<Run<C>, Stuck> {
        begin(self.text, self.past, opening, consoles)
    }
}

/// The world of a scenario at its beginning, which lies so far back that its past is over at `opening`.
pub(super) fn begin<C: Consoles>(text: &str, past: Seconds, opening: Timestamp, consoles: C) -> Result<Run<C>, Stuck> {
    let mut scenario = Scenario::parse(text)?;
    let past = SignedDuration::from_secs(i64::try_from(past.0).unwrap_or_default());
    let start = opening.saturating_sub(past).unwrap_or(opening);
    scenario.heading.start = Some(Placed { place: Place::default(), value: start });
    Run::new(scenario, consoles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_has_a_kept_scenario_and_a_name_of_its_own() {
        assert_eq!(KEPT.map(|kept| kept.mode), FailureMode::ALL);
        let names = KEPT.map(|kept| kept.name());
        assert_eq!((names[0].as_str(), names[14].as_str(), names[15].as_str()), ("fm-01", "fm-15", "fm-d1"));
        for (kept, name) in KEPT.iter().zip(&names) {
            assert_eq!(super::kept(name).map(|found| found.mode), Some(kept.mode));
            assert!(Scenario::parse(kept.text).is_ok(), "{name}");
        }
        assert!(super::kept("fm-16").is_none());
    }
}
