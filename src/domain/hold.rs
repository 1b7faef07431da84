//! Why the cursor does not move: one kind, one sentence, by precedence (R78, R139-R141).

use std::collections::BTreeSet;

use imbl::OrdSet;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fleet::{Environment, Pause, Ring};
use super::ids::MachineId;
use super::lane::Lane;
use super::observed::{Observed, Telemetry};
use super::rollout::Rollout;
use super::span::Seconds;
use super::world::{World, place};

/// The kinds of a hold, in order of precedence (R141).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HoldKind {
    /// Results cannot be read; the counts behind every other reason are a guess.
    Telemetry,
    /// The clock cannot be trusted until a person accepts it (R168).
    Clock,
    /// No agent reaches whoever ticks: nobody could be served or heard.
    NoAgents,
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
    /// The machine, ring or environment it names first.
    pub on: String,
    /// Since when, where that is known.
    pub since: Option<Timestamp>,
}

/// The first reason for which the cursor of a running rollout stays where it is; none while it simply works.
pub fn hold(world: &World, observed: &Observed, rollout: &Rollout, now: Timestamp) -> Option<Hold> {
    if !rollout.is_running() {
        return None;
    }
    if observed.telemetry == Telemetry::Unreadable {
        return Some(telemetry());
    }
    if observed.clock_suspect {
        return Some(clock());
    }
    if let Some(since) = world.seat.deaf_since {
        return Some(no_agents(world, since));
    }
    let environment = world.cursor_environment(rollout)?;
    let tier = Tier { world, rollout, environment, lanes: lanes(world, environment), now };
    None.or_else(|| tier.paused())
        .or_else(|| tier.paused_ring())
        .or_else(|| tier.halted())
        .or_else(|| tier.nothing_gateable())
        .or_else(|| tier.failing())
        .or_else(|| tier.skipped())
        .or_else(|| tier.ladder())
        .or_else(|| tier.settling())
        .or_else(|| tier.straggling_holder())
}

fn telemetry() -> Hold {
    let sentence = "telemetry cannot be read: nothing is granted or promoted until it can, and the counts are those \
                    of the main database";
    Hold { kind: HoldKind::Telemetry, sentence: sentence.to_owned(), on: "telemetry".to_owned(), since: None }
}

fn clock() -> Hold {
    let sentence = "the clock jumped: nothing stalls or promotes until a person accepts the new time";
    Hold { kind: HoldKind::Clock, sentence: sentence.to_owned(), on: "clock".to_owned(), since: None }
}

fn no_agents(world: &World, since: Timestamp) -> Hold {
    let on = world.seat.holder.clone().unwrap_or_default();
    let sentence = format!("no agent endpoint is up since {on} ticks: no stall timer ages and nothing promotes");
    Hold { kind: HoldKind::NoAgents, sentence, on, since: Some(since) }
}

fn lanes<'a>(world: &'a World, environment: &Environment) -> Vec<(&'a Ring, &'a Lane)> {
    let lanes = world.lanes().of_environment(environment.id);
    lanes.filter_map(|((_, ring), lane)| Some((world.rings.get(ring)?, lane))).collect()
}

/// The environment the cursor stands on.
struct Tier<'a> {
    world: &'a World,
    rollout: &'a Rollout,
    environment: &'a Environment,
    lanes: Vec<(&'a Ring, &'a Lane)>,
    now: Timestamp,
}

impl Tier<'_> {
    fn paused(&self) -> Option<Hold> {
        let pause = self.environment.paused.as_ref()?;
        let sentence = format!("environment {} is paused {}", self.environment.slug, by_whom(pause));
        Some(Hold { kind: HoldKind::PausedEnvironment, sentence, on: self.slug(), since: Some(pause.at) })
    }

    fn paused_ring(&self) -> Option<Hold> {
        let unfinished = |(ring, lane): &&(&Ring, &Lane)| ring.paused.is_some() && !lane.unfinished.is_empty();
        let (ring, _) = self.lanes.iter().find(unfinished)?;
        let pause = ring.paused.as_ref()?;
        let sentence = format!("ring {} is paused {}", ring.slug, by_whom(pause));
        Some(Hold { kind: HoldKind::PausedRing, sentence, on: ring.slug.clone(), since: Some(pause.at) })
    }

    /// Names every halted ring with members here, the first one's reason first (R69).
    fn halted(&self) -> Option<Hold> {
        let halted: Vec<_> =
            self.lanes.iter().filter_map(|(ring, _)| Some((ring, self.rollout.halted_rings.get(&ring.id)?))).collect();
        let (ring, halt) = halted.first()?;
        let others = match halted.len() {
            1 => String::new(),
            n => format!(" (and {} more rings)", n - 1),
        };
        let sentence = format!("ring {} is halted: {}{others}", ring.slug, halt.reason);
        Some(Hold { kind: HoldKind::Halted, sentence, on: ring.slug.clone(), since: Some(halt.at) })
    }

    /// An environment without an unpaused member never promotes (R80).
    fn nothing_gateable(&self) -> Option<Hold> {
        let members: usize = self.lanes.iter().map(|(_, lane)| lane.members.len()).sum();
        let paused: usize = self.lanes.iter().map(|(_, lane)| lane.paused.len()).sum();
        if paused < members {
            return None;
        }
        let why = if members == 0 { "it has no machines" } else { "every machine in it is paused" };
        let sentence = format!("environment {} has nothing gateable: {why}", self.environment.slug);
        Some(Hold { kind: HoldKind::NothingGateable, sentence, on: self.slug(), since: None })
    }

    fn failing(&self) -> Option<Hold> {
        let failing = self.union(|lane| &lane.failing);
        let erroring = self.union(|lane| &lane.erroring);
        let sentence = match (failing.is_empty(), erroring.is_empty()) {
            (true, true) => return None,
            (false, true) => format!("{} failed", self.names(&failing)),
            (true, false) => self.unrendered(&erroring),
            (false, false) => format!("{} failed, {}", self.names(&failing), self.unrendered(&erroring)),
        };
        let first = failing.iter().chain(&erroring).next().and_then(|id| self.world.machines.get(id))?;
        let since = first.last_result.as_ref().map(|r| r.at).or(first.render_error.as_ref().map(|e| e.at));
        Some(Hold { kind: HoldKind::Failing, sentence, on: first.hostname.clone(), since })
    }

    /// Who cannot be rendered, and what does not exist (R148).
    fn unrendered(&self, machines: &OrdSet<MachineId>) -> String {
        let errors = machines.iter().filter_map(|id| self.world.machines.get(id)?.render_error.as_ref());
        let missing: BTreeSet<&str> = errors.flat_map(|error| &error.missing).map(String::as_str).collect();
        let missing = few(&missing.into_iter().collect::<Vec<_>>());
        format!("{} cannot be rendered: {missing} missing", self.names(machines))
    }

    /// A machine that was paused before it applied holds the cursor (R79).
    fn skipped(&self) -> Option<Hold> {
        let skipped = self.union(|lane| &lane.skipped);
        let first = self.world.machines.get(skipped.iter().next()?)?;
        let sentence = format!(
            "{} {} paused before applying the release and {} environment {}",
            self.names(&skipped),
            if skipped.len() == 1 { "was" } else { "were" },
            if skipped.len() == 1 { "holds" } else { "hold" },
            self.environment.slug
        );
        let since = first.paused.as_ref().map(|p| p.at);
        Some(Hold { kind: HoldKind::PausedBeforeApply, sentence, on: first.hostname.clone(), since })
    }

    /// A ladder that tops out below 100 leaves machines unelected for ever (R73), but for those an earlier ladder of
    /// this generation elected (R75).
    fn ladder(&self) -> Option<Hold> {
        let (ring, top) = self.lanes.iter().find_map(|(ring, lane)| {
            let top = ring.settings.wave_ladder.iter().map(|rung| rung.pct).max().unwrap_or(0);
            let kept = self.rollout.elected.get(&(self.environment.id, ring.id)).copied().unwrap_or(0);
            let left_out = lane.queue.iter().any(|(bucket, _)| *bucket >= top.max(kept));
            (top < 100 && left_out).then_some((ring, top))
        })?;
        let sentence = format!("the ladder of ring {} tops out at {top} %: not every machine is elected", ring.slug);
        Some(Hold { kind: HoldKind::Ladder, sentence, on: ring.slug.clone(), since: None })
    }

    /// Promotion waits for every open window, also in uncapped rings (R46).
    fn settling(&self) -> Option<Hold> {
        let last = self.lanes.iter().filter_map(|(ring, lane)| {
            let settle = ring.settings.min_settle_seconds;
            let (first, machine) = lane.settling(settle, self.now).last()?;
            Some((settle.after(*first), *first, *machine))
        });
        let (end, since, machine) = last.max()?;
        let on = self.world.hostname(machine).to_owned();
        let sentence = format!("{on} settles for another {}", Seconds::between(self.now, end));
        Some(Hold { kind: HoldKind::Settle, sentence, on, since: Some(since) })
    }

    /// Past the last environment a lease in an earlier one blocks the completion (R86).
    fn straggling_holder(&self) -> Option<Hold> {
        let cursor = self.rollout.cursor.as_ref()?;
        let is_last = !self.world.path().into_iter().filter_map(place).any(|place| place > *cursor);
        let done = self.lanes.iter().all(|(_, lane)| lane.unfinished.is_empty());
        if !is_last || !done {
            return None;
        }
        let mut holders = self.world.lanes().iter().flat_map(|(_, lane)| lane.holders.iter());
        let machine = self.world.machines.get(holders.next()?)?;
        let sentence = format!("{} still holds a slot in an environment that was promoted", machine.hostname);
        let since = machine.lease.as_ref().map(|l| l.granted_at);
        Some(Hold { kind: HoldKind::HolderInPromotedEnv, sentence, on: machine.hostname.clone(), since })
    }

    fn slug(&self) -> String {
        self.environment.slug.clone()
    }

    fn union(&self, set: impl Fn(&Lane) -> &OrdSet<MachineId>) -> OrdSet<MachineId> {
        self.lanes.iter().flat_map(|(_, lane)| set(lane).iter().copied()).collect()
    }

    /// Host names in order.
    fn names(&self, machines: &OrdSet<MachineId>) -> String {
        let mut names: Vec<&str> = machines.iter().map(|id| self.world.hostname(*id)).collect();
        names.sort_unstable();
        few(&names)
    }
}

/// Up to three names, then a count.
fn few(names: &[&str]) -> String {
    match names.len() {
        0..=3 => names.join(", "),
        n => format!("{} and {} more", names[..3].join(", "), n - 3),
    }
}

/// `by op-a since 2026-01-01T00:00:00Z: storage work`.
pub(super) fn by_whom(pause: &Pause) -> String {
    match &pause.reason {
        Some(reason) => format!("by {}: {reason}", pause.by),
        None => format!("by {}", pause.by),
    }
}

/// The same where the sentence goes on behind it.
pub(super) fn by_whom_in_passing(pause: &Pause) -> String {
    match &pause.reason {
        Some(reason) => format!("by {} ({reason})", pause.by),
        None => format!("by {}", pause.by),
    }
}
