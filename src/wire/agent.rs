//! What agents and the control plane say to each other: the poll and its answer, the report, the rebuild.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::problem::{Problem, ProblemKind};
use crate::control::desk::{Handout, PollAnswer as Held};
use crate::control::ports::{ApplyResult, FailedState};
use crate::domain::ids::{Generation, MachineId, ReleaseId};
use crate::domain::input::Edition;
use crate::domain::release::Outcome;
use crate::domain::span::Seconds;

/// `GET`: the poll. Query: `wait` in seconds, `have` as written by `have_text`.
pub const ASSIGNMENT_PATH: &str = "/api/agent/assignment";

/// `POST`: how a run ended.
pub const APPLY_RESULTS_PATH: &str = "/api/agent/apply-results";

/// `POST`: the machine was reimaged (R152).
pub const REBUILT_PATH: &str = "/api/agent/rebuilt";

/// Names the machine where the token is not bound to one.
pub const MACHINE_HEADER: &str = "x-machine";

/// The longest a poll may ask to be held.
pub const WAIT_MAX: Seconds = Seconds(25);

/// The longest end of a log that is kept, in bytes.
pub const LOG_TAIL_MAX: usize = 64 * 1024;

/// Failing states of one run that are kept.
pub const FAILED_STATES_MAX: usize = 100;

/// The longest name or comment of a failing state that is kept, in bytes.
pub const STATE_TEXT_MAX: usize = 4 * 1024;

/// The value of `have`: `RELEASE:GENERATION`.
pub fn have_text(edition: Edition) -> String {
    format!("{}:{}", edition.release, edition.generation)
}

/// Reads what `have_text` wrote; none where it is anything else.
pub fn parse_have(text: &str) -> Option<Edition> {
    let (release, generation) = text.split_once(':')?;
    Some(Edition { release: ReleaseId(release.parse().ok()?), generation: generation.parse().ok()? })
}

/// The answer to a poll.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PollAnswer {
    /// What to converge on; null = nothing is served to this machine now.
    pub assignment: Option<AssignmentBody>,
    /// True = stop the run in flight, it was withdrawn.
    #[serde(default)]
    pub cancel: bool,
    /// When to ask again, where `wait` was not used.
    pub poll_after_seconds: Seconds,
}

/// What a machine is to converge on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AssignmentBody {
    /// The release.
    pub release_uuid: ReleaseId,
    /// The generation it is served in; it goes back with the report (R63).
    pub generation: Generation,
    /// Deadline of one apply, enforced by the agent; 0 = none (R4).
    pub timeout_seconds: Seconds,
    /// SHA-256 of `content` in hex.
    pub content_digest: String,
    /// Rendered for this machine.
    pub content: String,
    /// How often the machine was reimaged until now; an agent that sends it back with its report lets no run of an
    /// earlier system count for this one (R153).
    #[serde(default)]
    pub rebuilds: u32,
}

impl PollAnswer {
    /// The answer of the desk; the problem is a content that is no text.
    pub fn of(held: Held) -> Result<Self, Problem> {
        let Held { assignment, cancel, poll_after } = held;
        let assignment = assignment.map(AssignmentBody::of).transpose()?;
        Ok(Self { assignment, cancel, poll_after_seconds: poll_after })
    }
}

impl AssignmentBody {
    fn of(handout: Handout) -> Result<Self, Problem> {
        let Handout { edition, timeout_seconds, digest, content, rebuilds } = handout;
        let content = std::str::from_utf8(&content).map_err(|_| {
            let message = format!("content {digest} is no text, so it cannot be served");
            Problem::new(ProblemKind::Internal, "content_unreadable", message)
        })?;
        let (release_uuid, generation) = (edition.release, edition.generation);
        let (content_digest, content) = (digest.to_string(), content.to_owned());
        Ok(Self { release_uuid, generation, timeout_seconds, content_digest, content, rebuilds })
    }

    /// What the assignment is known by.
    pub fn edition(&self) -> Edition {
        Edition { release: self.release_uuid, generation: self.generation }
    }
}

/// One failing state of a run. It is read back as well, so that whoever reads it passes over what is new.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedStateBody {
    /// Its id in the release.
    pub id: String,
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// What it said.
    #[serde(default)]
    pub comment: String,
}

impl From<FailedState> for FailedStateBody {
    fn from(state: FailedState) -> Self {
        Self { id: state.id, name: state.name, comment: state.comment }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReportBody {
    /// What ran.
    pub release_uuid: ReleaseId,
    /// The generation of its assignment.
    pub generation: Generation,
    /// `success`, `failed`, `timeout` or `canceled`.
    pub outcome: Outcome,
    /// By the agent's clock; the same run keeps it when it is reported again.
    pub started_at: Timestamp,
    /// By the agent's clock.
    pub finished_at: Timestamp,
    /// States that changed something.
    #[serde(default)]
    pub changed_count: u64,
    /// States that failed, the first one first; at most `FAILED_STATES_MAX`.
    #[serde(default)]
    pub failed_states: Vec<FailedStateBody>,
    /// The end of the log; what is longer than `LOG_TAIL_MAX` is cut at its beginning.
    #[serde(default)]
    pub log_tail: String,
    /// `rebuilds` of its assignment (R153).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuilds: Option<u32>,
}

impl ReportBody {
    /// The report within its limits, for the desk.
    pub fn result(self, machine: MachineId, received_at: Timestamp) -> ApplyResult {
        let cut = |text: &str| tail_of(text, STATE_TEXT_MAX).to_owned();
        let states = self.failed_states.iter().take(FAILED_STATES_MAX);
        ApplyResult {
            machine,
            release: self.release_uuid,
            generation: self.generation,
            outcome: self.outcome,
            started_at: self.started_at,
            finished_at: self.finished_at,
            received_at,
            changed_count: self.changed_count,
            failed_states: states
                .map(|state| FailedState { id: cut(&state.id), name: cut(&state.name), comment: cut(&state.comment) })
                .collect(),
            log_tail: tail_of(&self.log_tail, LOG_TAIL_MAX).to_owned(),
            rebuilds: self.rebuilds,
        }
    }
}

/// The machine was reimaged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RebuiltBody {
    /// The version baked into its image, where it is known.
    #[serde(default)]
    pub baked_version: Option<String>,
}

/// The answer to a report and to a rebuild: it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Filed {
    /// Always true; what could not be kept is a problem instead.
    pub filed: bool,
}

/// The last `limit` bytes of a text, cut between characters.
pub fn tail_of(text: &str, limit: usize) -> &str {
    let start = text.len().saturating_sub(limit);
    let start = (start..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    text.get(start..).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn have_is_read_as_it_was_written() {
        let edition = Edition { release: ReleaseId::named("v1"), generation: 7 };
        assert_eq!(parse_have(&have_text(edition)), Some(edition));
        assert_eq!(parse_have("v1:7"), None);
        assert_eq!(parse_have(&format!("{}:", edition.release)), None);
    }

    #[test]
    fn a_tail_never_splits_a_character() {
        assert_eq!(tail_of("abc", 8), "abc");
        assert_eq!(tail_of("aéb", 2), "b");
        assert_eq!(tail_of("aéb", 3), "éb");
        assert_eq!(tail_of("aé", 0), "");
    }
}
