//! The log in plain words: one sentence per change.

use super::fleet::said as rolled;
use super::glyph::Glyph;
use super::kura::said;
use super::theme::Role;
use crate::domain::audit::{Fate, Link};
use crate::domain::change::{Cause, Change, Entry, LeaseEnd, Level};
use crate::domain::fleet::Pause;
use crate::domain::ids::RolloutId;
use crate::domain::release::Outcome;
use crate::domain::rollout::Ending;
use crate::domain::world::World;

/// What an entry says, with its shape and colour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// Its shape.
    pub glyph: Glyph,
    /// Its colour.
    pub role: Role,
    /// One sentence without a full stop.
    pub text: String,
}

/// Says an entry. `world` is a later world: names of what is gone meanwhile read `(gone)`.
pub fn say(entry: &Entry, world: &World) -> Words {
    let (glyph, role, text) = match &entry.change {
        Change::Paused { .. } | Change::Unpaused { .. } => pause(&entry.change, world),
        Change::RolloutStarted { .. }
        | Change::RolloutReset { .. }
        | Change::RolloutEnded { .. }
        | Change::CursorMoved { .. }
        | Change::RingHalted { .. } => rollout(&entry.change, world),
        Change::LeaseGranted { .. }
        | Change::LeaseEnded { .. }
        | Change::AssignmentServed { .. }
        | Change::ResultReported { .. }
        | Change::FailureCounted { .. }
        | Change::RenderFailed { .. }
        | Change::RenderRecovered { .. } => arc(&entry.change, world),
        Change::SeatTaken { holder, epoch, .. } => {
            (Glyph::Dot, Role::Dim, format!("{holder} took the reconciler's seat, epoch {epoch}"))
        }
        Change::TagArrived { release, .. } => {
            (Glyph::Dot, Role::Dim, format!("tag {} arrived", world.release_name(*release)))
        }
        Change::Audited { link } => verb(&entry.cause, link),
        Change::Kura(change) => said::say(change, world),
        Change::Roll(change) => rolled::say(change, world),
        Change::ClockAccepted => (Glyph::Dot, Role::Dim, "the clock was accepted".to_owned()),
        change => (Glyph::Dot, Role::Dim, catalog(change, world)),
    };
    Words { glyph, role, text }
}

/// A verb as the audit knows it.
fn verb(cause: &Cause, link: &Link) -> (Glyph, Role, String) {
    let name = if let Cause::Verb { name, .. } = cause { name.as_str() } else { "verb" };
    let asked = [name].into_iter().chain(link.target.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
    match &link.fate {
        Fate::Done => (Glyph::Dot, Role::Dim, format!("{asked}: done")),
        Fate::Refused { detail, .. } => (Glyph::Dot, Role::Dim, format!("{asked}: refused, {detail}")),
    }
}

/// True where the entry has nothing to say that the entries before it did not: a verb that was done shows in its
/// changes, and one that was refused or changed nothing only in its link of the audit.
pub fn is_silent(entry: &Entry) -> bool {
    matches!(&entry.change, Change::Audited { link } if link.fate == Fate::Done && link.changes > 0)
}

/// Who stands behind an entry, in one word or two.
pub fn author(entry: &Entry) -> String {
    match &entry.cause {
        Cause::Tick | Cause::Seen => "tick".to_owned(),
        Cause::Poll | Cause::Report => "agent".to_owned(),
        Cause::Seat => "seat".to_owned(),
        Cause::Repository => "repository".to_owned(),
        Cause::Verb { .. } => entry.by.clone(),
    }
}

type Said = (Glyph, Role, String);

fn level(what: Level, world: &World) -> String {
    match what {
        Level::Machine(id) => world.hostname(id).to_owned(),
        Level::Ring(id) => format!("ring {}", world.ring_slug(id)),
        Level::Environment(id) => format!("environment {}", world.environment_slug(id)),
    }
}

fn because(pause: &Pause) -> String {
    pause.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"))
}

fn pause(change: &Change, world: &World) -> Said {
    match change {
        Change::Paused { what, pause } => {
            let skip = if matches!(what, Level::Machine(_)) { "skipped" } else { "paused" };
            let text = format!("{} is {skip} by {}{}", level(*what, world), pause.by, because(pause));
            (Glyph::Paused, Role::Paused, text)
        }
        Change::Unpaused { what } => (Glyph::Moving, Role::Text, format!("{} goes on", level(*what, world))),
        _ => (Glyph::Dot, Role::Dim, String::new()),
    }
}

fn release_of(rollout: RolloutId, world: &World) -> &str {
    world.rollout(rollout).map_or("(gone)", |r| world.release_name(r.release))
}

fn rollout(change: &Change, world: &World) -> Said {
    match change {
        Change::RolloutStarted { release, protected, .. } => {
            let how = if *protected { ", protected" } else { "" };
            (Glyph::Moving, Role::Strong, format!("rollout of {} started{how}", world.release_name(*release)))
        }
        Change::RolloutReset { rollout, .. } => {
            let release = release_of(*rollout, world);
            (Glyph::Moving, Role::Strong, format!("rollout of {release} reset: it begins again"))
        }
        Change::RolloutEnded { rollout, ending } => {
            let release = release_of(*rollout, world);
            match ending {
                Ending::Completed => (Glyph::Done, Role::Done, format!("rollout of {release} completed")),
                Ending::Halted { reason } => {
                    (Glyph::Halted, Role::Halted, format!("rollout of {release} halted: {reason}"))
                }
                Ending::Superseded { by } => {
                    let other = release_of(*by, world);
                    (Glyph::Halted, Role::Warning, format!("rollout of {release} superseded by that of {other}"))
                }
            }
        }
        Change::CursorMoved { environment, .. } => {
            (Glyph::Arrow, Role::Strong, format!("environment {} opened", world.environment_slug(*environment)))
        }
        Change::RingHalted { ring, halt, .. } => {
            (Glyph::Halted, Role::Halted, format!("ring {} halted: {}", world.ring_slug(*ring), halt.reason))
        }
        _ => (Glyph::Dot, Role::Dim, String::new()),
    }
}

fn arc(change: &Change, world: &World) -> Said {
    match change {
        Change::LeaseGranted { machine, .. } => {
            (Glyph::SlotHeld, Role::Moving, format!("{} got a slot", world.hostname(*machine)))
        }
        Change::LeaseEnded { machine, cause } => {
            let text = format!("{} gave its slot back: {}", world.hostname(*machine), lease_end(*cause));
            (Glyph::SlotFree, Role::Text, text)
        }
        Change::AssignmentServed { machine, .. } => {
            (Glyph::Moving, Role::Moving, format!("{} was served", world.hostname(*machine)))
        }
        Change::ResultReported { machine, outcome, failed_state, .. } => {
            result(world.hostname(*machine), *outcome, failed_state.as_deref())
        }
        Change::FailureCounted { machine, ring, .. } => {
            let text = format!("a failure of {} counts against {}", world.hostname(*machine), world.ring_slug(*ring));
            (Glyph::Failed, Role::Failed, text)
        }
        Change::RenderFailed { machine, error } => {
            let text = format!("{} cannot be rendered: {} missing", world.hostname(*machine), error.missing.join(", "));
            (Glyph::Errored, Role::Failed, text)
        }
        Change::RenderRecovered { machine } => {
            (Glyph::Dot, Role::Text, format!("{} can be rendered again", world.hostname(*machine)))
        }
        _ => (Glyph::Dot, Role::Dim, String::new()),
    }
}

fn result(name: &str, outcome: Outcome, failed_state: Option<&str>) -> Said {
    let state = failed_state.map_or_else(String::new, |state| format!(" in {state}"));
    match outcome {
        Outcome::Success => (Glyph::Done, Role::Done, format!("{name} reported success")),
        Outcome::Failed => (Glyph::Failed, Role::Failed, format!("{name} failed{state}")),
        Outcome::Timeout => (Glyph::Failed, Role::Failed, format!("{name} was killed at its deadline{state}")),
        Outcome::Canceled => (Glyph::Dot, Role::Dim, format!("{name} stopped a run that was withdrawn")),
    }
}

fn lease_end(cause: LeaseEnd) -> &'static str {
    match cause {
        LeaseEnd::Success => "it is done",
        LeaseEnd::Paused => "it was skipped",
        LeaseEnd::Superseded => "another rollout took over",
        LeaseEnd::Reset => "the rollout was reset",
        LeaseEnd::Uncapped => "its ring has no cap any more",
        LeaseEnd::Halted => "the rollout was halted",
        LeaseEnd::Moved => "it was moved",
        LeaseEnd::Removed => "it was removed",
        LeaseEnd::Rebuilt => "it was rebuilt",
    }
}

fn catalog(change: &Change, world: &World) -> String {
    match change {
        Change::AccountChanged { .. } => "the account's switches changed".to_owned(),
        Change::EnvironmentCreated { environment } => format!("environment {} was created", environment.slug),
        Change::EnvironmentChanged { environment, .. } => {
            format!("environment {} changed", world.environment_slug(*environment))
        }
        Change::RingCreated { ring } => format!("ring {} was created", ring.slug),
        Change::RingChanged { ring, settings } => format!(
            "ring {} now has cap {}, settle {}, stall {}, threshold {}",
            world.ring_slug(*ring),
            settings.max_in_flight,
            settings.min_settle_seconds,
            settings.stall_timeout_seconds,
            settings.failure_count_threshold
        ),
        Change::MachineAdded { machine } => format!("{} joined", machine.hostname),
        Change::MachineAssigned { machine, environment, ring, .. } => {
            let tier = environment.map_or("no environment", |id| world.environment_slug(id));
            let ring = ring.map_or("no ring", |id| world.ring_slug(id));
            format!("{} is in {tier} and {ring} now", world.hostname(*machine))
        }
        Change::MachineRemoved { machine } => format!("machine {} left for good", machine.short()),
        Change::MachineRebuilt { machine, .. } => format!("{} came back from a reimage", world.hostname(*machine)),
        Change::ElectionKept { ring, pct, .. } => {
            format!("ring {} keeps its elected {pct} %", world.ring_slug(*ring))
        }
        Change::ReleasePublished { release } => format!("release {} was built", release.git_ref),
        Change::ReleaseYanked { release, yank } => match &yank.reason {
            Some(reason) => format!("{} was yanked by {}: {reason}", world.release_name(*release), yank.by),
            None => format!("{} was yanked by {}", world.release_name(*release), yank.by),
        },
        _ => String::new(),
    }
}
