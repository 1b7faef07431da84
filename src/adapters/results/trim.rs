//! How much of a result is kept.

use crate::control::ports::ApplyResult;

/// Bytes of a log that are kept: its end.
pub const LOG_TAIL_MAX: usize = 64 * 1_024;

/// Failing states of one run that are kept.
pub const FAILED_STATES_MAX: usize = 1_000;

/// Results one question returns at most, whatever its limit says.
pub const FIND_MAX: usize = 1_000;

/// Cuts a result down to what is kept.
pub(super) fn trim(result: &mut ApplyResult) {
    result.failed_states.truncate(FAILED_STATES_MAX);
    if result.log_tail.len() > LOG_TAIL_MAX {
        let mut start = result.log_tail.len() - LOG_TAIL_MAX;
        while !result.log_tail.is_char_boundary(start) {
            start += 1;
        }
        result.log_tail.drain(..start);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::control::ports::FailedState;
    use crate::domain::ids::{MachineId, ReleaseId};
    use crate::domain::release::Outcome;

    pub(in crate::adapters::results) fn result(machine: &str, release: &str, run: i64) -> ApplyResult {
        let at = Timestamp::from_second(1_700_000_000 + run).unwrap();
        ApplyResult {
            machine: MachineId::named(machine),
            release: ReleaseId::named(release),
            generation: 1,
            outcome: Outcome::Failed,
            started_at: at,
            finished_at: at,
            received_at: at,
            changed_count: 3,
            failed_states: vec![FailedState { id: "cordon".to_owned(), ..FailedState::default() }],
            log_tail: "the end".to_owned(),
            rebuilds: None,
        }
    }

    #[test]
    fn the_end_of_a_long_log_is_kept_whole_characters_only() {
        let mut long = result("ash", "v1", 0);
        long.log_tail = format!("begin{}", "ö".repeat(LOG_TAIL_MAX));
        long.log_tail.push('!');
        trim(&mut long);
        assert_eq!(long.log_tail.len(), LOG_TAIL_MAX - 1);
        assert!(long.log_tail.starts_with('ö') && long.log_tail.ends_with("ö!"));

        let mut short = result("ash", "v1", 0);
        trim(&mut short);
        assert_eq!(short, result("ash", "v1", 0));
    }
}
