//! Every "no" of the core in one table: its kind, its sentence, the field it names and what to do instead.

use std::fmt;

use super::ids::{EnvironmentId, MachineId, ReleaseId, RingId, RolloutId};
use super::kura::refusal::KuraRefusal;
use super::roll::refusal::RollRefusal;
use super::span::Seconds;

/// Families of refusals, for the edges to translate into a status or an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalKind {
    /// The request contradicts itself or the state it would leave behind.
    Invalid,
    /// The thing does not exist.
    Missing,
    /// The thing is not in a state in which this can be done.
    Conflict,
}

/// Why the core says no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// R91.
    Protected {
        /// The release of the running rollout.
        running: String,
        /// Who started it.
        started_by: String,
    },
    /// R102.
    Yanked {
        /// The release.
        release: String,
        /// Why it was withdrawn.
        reason: Option<String>,
    },
    /// R93: the body said start, a reset would happen.
    WouldReset {
        /// The release that runs already.
        release: String,
    },
    /// R93: the body said reset, a start would happen.
    WouldStart {
        /// The release that does not run.
        release: String,
    },
    /// There is nothing left to stop.
    NotRunning {
        /// The rollout.
        rollout: RolloutId,
        /// Where it is.
        status: &'static str,
    },
    /// R123: a stall timeout on a ring that would be uncapped.
    StallWithoutCap,
    /// R5.
    ThresholdBelowOne,
    /// R76.
    Ladder {
        /// What is wrong with it.
        problem: String,
    },
    /// A slug or host name is in use.
    Duplicate {
        /// `slug` or `hostname`.
        field: &'static str,
        /// The text.
        value: String,
    },
    /// A text that is empty, too long, or does not show as it is.
    BadText {
        /// Which field.
        field: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// A setting beyond every use.
    SpanTooLong {
        /// Which field.
        field: &'static str,
        /// The longest there may be.
        limit: Seconds,
    },
    /// A name that cannot be used in a path or on a screen.
    BadName {
        /// `slug`, `name` or `hostname`.
        field: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// R77: the new order would close an environment in which a machine holds a lease.
    ClosesHolder {
        /// The environment.
        environment: String,
        /// The holder.
        machine: String,
    },
    /// No such machine.
    NoMachine(MachineId),
    /// No such ring.
    NoRing(RingId),
    /// No such environment.
    NoEnvironment(EnvironmentId),
    /// No such release.
    NoRelease(ReleaseId),
    /// No such rollout.
    NoRollout(RolloutId),
    /// A limit of the World is reached.
    Full {
        /// Of what.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// About Kura servers.
    Kura(KuraRefusal),
    /// About fleet rolls.
    Roll(RollRefusal),
}

impl From<RollRefusal> for Refusal {
    fn from(refusal: RollRefusal) -> Self {
        Self::Roll(refusal)
    }
}

impl From<KuraRefusal> for Refusal {
    fn from(refusal: KuraRefusal) -> Self {
        Self::Kura(refusal)
    }
}

impl Refusal {
    /// The family it belongs to.
    pub fn kind(&self) -> RefusalKind {
        match self {
            Self::StallWithoutCap
            | Self::ThresholdBelowOne
            | Self::Ladder { .. }
            | Self::BadName { .. }
            | Self::BadText { .. }
            | Self::SpanTooLong { .. } => RefusalKind::Invalid,
            Self::NoMachine(_) | Self::NoRing(_) | Self::NoEnvironment(_) | Self::NoRelease(_) | Self::NoRollout(_) => {
                RefusalKind::Missing
            }
            Self::Kura(refusal) => refusal.kind(),
            Self::Roll(refusal) => refusal.kind(),
            _ => RefusalKind::Conflict,
        }
    }

    /// The field of the request that is to blame, where there is one.
    pub fn field(&self) -> Option<&'static str> {
        match self {
            Self::StallWithoutCap => Some("max_in_flight"),
            Self::ThresholdBelowOne => Some("failure_count_threshold"),
            Self::Ladder { .. } => Some("wave_ladder"),
            Self::Duplicate { field, .. }
            | Self::BadName { field, .. }
            | Self::BadText { field, .. }
            | Self::SpanTooLong { field, .. } => Some(field),
            Self::Protected { .. } => Some("force"),
            Self::WouldReset { .. } | Self::WouldStart { .. } => Some("intent"),
            Self::ClosesHolder { .. } => Some("promotion_order"),
            Self::Kura(refusal) => refusal.field(),
            Self::Roll(refusal) => refusal.field(),
            _ => None,
        }
    }

    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Protected { .. } => "protected",
            Self::Yanked { .. } => "yanked",
            Self::WouldReset { .. } => "would_reset",
            Self::WouldStart { .. } => "would_start",
            Self::NotRunning { .. } => "not_running",
            Self::StallWithoutCap => "stall_without_cap",
            Self::ThresholdBelowOne => "threshold_below_one",
            Self::Ladder { .. } => "bad_ladder",
            Self::Duplicate { .. } => "duplicate",
            Self::BadName { .. } => "bad_name",
            Self::BadText { .. } => "bad_text",
            Self::SpanTooLong { .. } => "span_too_long",
            Self::ClosesHolder { .. } => "closes_holder",
            Self::NoMachine(_) => "no_machine",
            Self::NoRing(_) => "no_ring",
            Self::NoEnvironment(_) => "no_environment",
            Self::NoRelease(_) => "no_release",
            Self::NoRollout(_) => "no_rollout",
            Self::Full { .. } => "full",
            Self::Kura(refusal) => refusal.code(),
            Self::Roll(refusal) => refusal.code(),
        }
    }

    /// What to do instead, most useful first.
    pub fn hints(&self) -> Vec<String> {
        let hints: &[&str] = match self {
            Self::Protected { .. } => &[
                "wait until it completes, or halt it first",
                "send \"force\": true to supersede it on purpose: its leases end and nodes in mid-arc stay cordoned",
            ],
            Self::Yanked { .. } => &["a yank cannot be undone: build a new release and start that"],
            Self::WouldReset { .. } => {
                &["send \"intent\": \"reset\" to begin it again: every lease ends and runs in flight are cancelled"]
            }
            Self::WouldStart { .. } => &["send \"intent\": \"start\" to start it as a new rollout"],
            Self::NotRunning { .. } => &["start the release again to go on: done machines are passed over"],
            Self::StallWithoutCap => &[
                "send max_in_flight of at least 1 in the same request",
                "to uncap the ring send max_in_flight 0 alone",
            ],
            Self::ThresholdBelowOne => &["1 stops the line at the first failure, the default is 10"],
            Self::Ladder { .. } => &["everybody at once is [{\"after_seconds\":0,\"pct\":100}]"],
            Self::ClosesHolder { .. } => &["wait until the machine is done, or pause it, which ends its lease"],
            Self::NoRelease(_) => &["list them with GET /api/config/releases/"],
            Self::NoRollout(_) => &["list them with GET /api/config/rollouts/"],
            Self::NoRing(_) => &["list them with GET /api/config/rings/"],
            Self::NoEnvironment(_) => &["list them with GET /api/config/environments/"],
            Self::NoMachine(_) => &["list them with GET /api/provisioning/machines/"],
            Self::Full { .. } => &["remove what is no longer used"],
            Self::Kura(refusal) => refusal.hints(),
            Self::Roll(refusal) => refusal.hints(),
            Self::Duplicate { .. } => &["choose another, or change the one that exists"],
            Self::BadText { .. } => &["use printable text, and keep the long story elsewhere"],
            Self::SpanTooLong { .. } => &["spans are in seconds; 0 switches a setting off"],
            Self::BadName { .. } => &["use 1 to 100 letters, digits, '.', '-' and '_'"],
        };
        hints.iter().map(|h| (*h).to_owned()).collect()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Protected { running, started_by } => {
                write!(
                    f,
                    "a protected rollout of {running}, started by {started_by}, is running; only force supersedes it"
                )
            }
            Self::Yanked { release, reason: Some(reason) } => write!(f, "release {release} was yanked: {reason}"),
            Self::Yanked { release, reason: None } => write!(f, "release {release} was yanked"),
            Self::WouldReset { release } => write!(f, "{release} is running already, so this would reset it"),
            Self::WouldStart { release } => write!(f, "{release} is not running, so this would start it"),
            Self::NotRunning { rollout, status } => write!(f, "rollout {rollout} is not running, it is {status}"),
            Self::StallWithoutCap => {
                f.write_str("stall_timeout_seconds needs a capped ring, and max_in_flight would be 0")
            }
            Self::ThresholdBelowOne => f.write_str("failure_count_threshold must be at least 1"),
            Self::Ladder { problem } => write!(f, "wave_ladder {problem}"),
            Self::Duplicate { field, value } => write!(f, "{field} {value} is in use"),
            Self::BadName { field, problem } | Self::BadText { field, problem } => write!(f, "{field} {problem}"),
            Self::SpanTooLong { field, limit } => write!(f, "{field} is longer than {limit}"),
            Self::ClosesHolder { environment, machine } => {
                write!(f, "this would close environment {environment} while {machine} holds a slot in it")
            }
            Self::NoMachine(id) => write!(f, "there is no machine {id}"),
            Self::NoRing(id) => write!(f, "there is no ring {id}"),
            Self::NoEnvironment(id) => write!(f, "there is no environment {id}"),
            Self::NoRelease(id) => write!(f, "there is no release {id}"),
            Self::NoRollout(id) => write!(f, "there is no rollout {id}"),
            Self::Kura(refusal) => refusal.fmt(f),
            Self::Roll(refusal) => refusal.fmt(f),
            Self::Full { what, limit } => write!(f, "there are {limit} {what} already, which is the limit"),
        }
    }
}
