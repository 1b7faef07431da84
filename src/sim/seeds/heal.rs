//! The happy end: faults stop, an operator puts right what people and fate left behind, and the rollout completes.

use super::super::agents::behaviour::Behaviour;
use super::super::post::Post;
use super::super::record::Answer;
use super::super::script::Cue;
use super::check::Breach;
use super::fleet::{content, release};
use super::play::Theatre;
use super::plot::{PROCESSES, Plot};
use super::profile::Profile;
use crate::control::door::DoorError;
use crate::control::ports::Clock;
use crate::domain::change::Level;
use crate::domain::fleet::Rung;
use crate::domain::hold::{Hold, HoldKind, hold};
use crate::domain::ids::{EnvironmentId, ReleaseId, RolloutId};
use crate::domain::input::{Order, RingPatch, Verb};
use crate::domain::observed::Observed;
use crate::domain::rollout::Ending;
use crate::domain::span::Seconds;
use crate::domain::verdict::Reply;
use crate::domain::world::World;

/// How often an operator looks whether something holds the rollout.
const LOOK_EVERY: Seconds = Seconds(300);

/// How long an operator waits for an answer before giving the order anew.
const PATIENCE: Seconds = Seconds(10);

/// A process reaches the journal again at the latest this long after the faults stop.
const LONGEST_CUT: Seconds = Seconds(420);

/// The same where every line is mended at once: what is under way arrives, and somebody takes the seat.
const AFTERMATH: Seconds = Seconds(100);

/// How often an operator gives the same order.
const TRIES: usize = 20;

/// Longest apply of a healthy agent.
const APPLY: u64 = 60;

/// Longest pause between two polls of a healthy agent.
const POLL: u64 = 60;

/// From the end of all faults to whatever is to be reached in the end.
pub(super) fn heal(theatre: &mut Theatre, plot: &Plot) -> Result<(), Breach> {
    let quick = plot.profile == Profile::Faults;
    let mut operator = Operator { theatre, given: 0, quick };
    operator.stop_faults()?;
    if plot.families.rings {
        operator.complete(plot.seed)?;
    }
    if plot.families.kura {
        operator.converge()?;
    }
    if plot.families.rolls {
        operator.land(plot.seed)?;
    }
    Ok(())
}

/// Whoever puts everything right.
pub(super) struct Operator<'a> {
    pub(super) theatre: &'a mut Theatre,
    given: usize,
    /// Every line is mended at once, and things take less time.
    pub(super) quick: bool,
}

impl Operator<'_> {
    /// Processes live and go on, their clocks are right, telemetry is up, everything can be rendered, agents are healthy and online.
    fn stop_faults(&mut self) -> Result<(), Breach> {
        self.theatre.stage.spare();
        for process in 0..PROCESSES {
            self.theatre.thaw(process);
            self.theatre.set_right(process);
        }
        if self.quick {
            self.theatre.mend_lines();
            self.theatre.start(0);
        } else if self.theatre.stage.alive().is_empty() {
            self.theatre.start(0);
        }
        self.theatre.stage.set_post(Post::reliable());
        self.theatre.telemetry(true);
        self.wait(if self.quick { AFTERMATH } else { LONGEST_CUT })?;
        self.accept_clocks()?;
        // Only now: who asked for a machine while no process lived has got it meanwhile.
        let world = self.world();
        world.machines.keys().for_each(|machine| self.theatre.render(*machine, true));
        let now = self.theatre.stage.clock().now();
        self.theatre.stage.roster().with(|roster| {
            for (n, machine) in (0..).zip(world.machines.keys()) {
                let apply = Seconds(APPLY - n % 40);
                let poll = Seconds(POLL - n % 7);
                let healthy = Behaviour { apply, poll, nudge: Seconds(n % 3), ..Behaviour::default() };
                roster.enroll(now, *machine, healthy);
                roster.bring_back(*machine);
            }
        });
        Ok(())
    }

    /// From the end of all faults to a completed rollout.
    fn complete(&mut self, seed: u64) -> Result<(), Breach> {
        self.end_pauses()?;
        self.raise_ladders()?;
        self.open_a_path()?;
        let rollout = self.start(seed)?;
        self.see_it_through(rollout)
    }

    /// A clock that was accepted while it was off, and is right again, is off for its process until it is accepted anew.
    fn accept_clocks(&mut self) -> Result<(), Breach> {
        if (0..PROCESSES).any(|process| self.theatre.is_suspect(process)) {
            self.insist(&Verb::AcceptClock)?;
        }
        Ok(())
    }

    fn end_pauses(&mut self) -> Result<(), Breach> {
        let world = self.world();
        let machines = world.machines.values().filter(|m| m.paused.is_some()).map(|m| Level::Machine(m.id));
        let rings = world.rings.values().filter(|r| r.paused.is_some()).map(|r| Level::Ring(r.id));
        let tiers = world.environments.values().filter(|e| e.paused.is_some()).map(|e| Level::Environment(e.id));
        for level in machines.chain(rings).chain(tiers) {
            self.insist(&Verb::Unpause(level))?;
        }
        Ok(())
    }

    /// A ladder that tops out below 100 never completes its environment (R73).
    fn raise_ladders(&mut self) -> Result<(), Breach> {
        for ring in self.world().rings.values() {
            if ring.settings.wave_ladder.iter().all(|rung| rung.pct < 100) {
                let wave_ladder = Some(vec![Rung { after_seconds: 0, pct: 100 }]);
                let patch = RingPatch { wave_ladder, ..RingPatch::default() };
                self.insist(&Verb::PatchRing { ring: ring.id, patch })?;
            }
        }
        Ok(())
    }

    /// Without any environment in the path nothing could ever complete.
    fn open_a_path(&mut self) -> Result<(), Breach> {
        let world = self.world();
        let peopled =
            |id: EnvironmentId| world.machines.values().any(|m| m.environment == Some(id) && m.ring.is_some());
        if world.path().iter().any(|environment| peopled(environment.id)) {
            return Ok(());
        }
        let Some(tier) = world.environments.values().next() else { return Ok(()) };
        let ring = world.rings.keys().next().copied();
        self.insist(&moved(tier.id, Some(10)))?;
        for machine in world.machines.keys() {
            let verb = Verb::AssignMachine {
                machine: *machine,
                environment: Some(Some(tier.id)),
                ring: Some(ring),
                node: None,
            };
            self.insist(&verb)?;
        }
        Ok(())
    }

    /// Resets what runs, or starts something that was not withdrawn, by turns something else.
    fn start(&mut self, seed: u64) -> Result<RolloutId, Breach> {
        let world = self.world();
        let running = world.running().map(|rollout| rollout.release).filter(|_| seed.is_multiple_of(2));
        let fit = world.releases.values().find(|release| release.yanked.is_none()).map(|release| release.id);
        let release = match running.or(fit) {
            Some(release) => release,
            None => self.publish()?,
        };
        let id = RolloutId::named("healed");
        match self.insist(&Verb::Start { id, release, protected: None, force: true, intent: None })? {
            Reply::Started(id) | Reply::Reset(id) => Ok(id),
            other => Err(self.breach(format!("a start was answered with {other:?}"))),
        }
    }

    fn publish(&mut self) -> Result<ReleaseId, Breach> {
        self.theatre.stage.outside().vault.put(content("repaired"));
        self.insist(&release("repaired", Seconds(0)))?;
        Ok(ReleaseId::named("repaired"))
    }

    /// Waits for the completion, and repairs what legitimately holds it on the way.
    fn see_it_through(&mut self, id: RolloutId) -> Result<(), Breach> {
        // Where a clock was accepted that was ahead, the world stands still until virtual time has come up with it.
        let begins = self.theatre.stage.clock().now().max(self.world().at);
        let deadline = enough(&self.world()).after(begins);
        loop {
            self.wait(LOOK_EVERY)?;
            let world = self.world();
            if world.rollout(id).is_some_and(|rollout| rollout.ending == Some(Ending::Completed)) {
                return self.everybody_is_done(&world, id);
            }
            let held = self.held(&world, id);
            if self.theatre.stage.clock().now() > deadline {
                return Err(self.breach(stuck(&world, id, held.as_ref())));
            }
            if let Some(held) = held {
                self.repair(&world, id, &held)?;
            }
        }
    }

    fn held(&self, world: &World, id: RolloutId) -> Option<Hold> {
        let now = self.theatre.stage.clock().now().max(world.at);
        hold(world, &Observed::starting_at(now), world.rollout(id)?, now)
    }

    /// What an operator does about a hold that does not go away by itself.
    fn repair(&mut self, world: &World, id: RolloutId, held: &Hold) -> Result<(), Breach> {
        let rollout = world.rollout(id);
        match held.kind {
            HoldKind::NothingGateable => {
                let tier = rollout.and_then(|rollout| world.cursor_environment(rollout)).map(|tier| tier.id);
                tier.map_or(Ok(()), |tier| self.insist(&moved(tier, None)).map(drop))
            }
            HoldKind::Halted => {
                let Some(release) = rollout.map(|rollout| rollout.release) else { return Ok(()) };
                let reset = Verb::Start { id, release, protected: None, force: false, intent: None };
                self.insist(&reset).map(drop)
            }
            _ => Ok(()),
        }
    }

    fn everybody_is_done(&self, world: &World, id: RolloutId) -> Result<(), Breach> {
        let undone = undone(world, id);
        match undone.is_empty() {
            true => Ok(()),
            false => Err(self.breach(format!("R85: completed, but {} are not done", undone.join(", ")))),
        }
    }

    /// Gives an order until it is carried out.
    pub(super) fn insist(&mut self, verb: &Verb) -> Result<Reply, Breach> {
        let mut answered = String::new();
        for _ in 0..TRIES {
            let Some(answer) = self.give(verb)? else {
                "no answer".clone_into(&mut answered);
                continue;
            };
            match (answer.complaint(), answer.reply) {
                (None, Ok(reply)) => return Ok(reply),
                (complaint, reply) => {
                    answered = complaint.unwrap_or_default();
                    if let Err(DoorError::Ahead(_)) = reply {
                        self.give(&Verb::AcceptClock)?; // as the hint says: by now the clock is right
                    }
                }
            }
        }
        Err(self.breach(format!("{} was not carried out in {TRIES} tries: {answered}", verb.name())))
    }

    /// Gives an order once; none where no answer came in time.
    pub(super) fn give(&mut self, verb: &Verb) -> Result<Option<Answer>, Breach> {
        self.given += 1;
        let tag = format!("repair {}", self.given);
        let (reason, key) = (Some(tag.clone()), Some(tag.clone()));
        let order = Order { verb: verb.clone(), by: "op-heal".to_owned(), reason, key };
        let now = self.theatre.stage.clock().now();
        self.theatre.stage.script().add(now, Cue::Orders(vec![order]));
        let answers = self.theatre.advance_to(PATIENCE.after(now))?;
        Ok(answers.into_iter().find(|answer| answer.order.reason.as_ref() == Some(&tag)))
    }

    pub(super) fn wait(&mut self, span: Seconds) -> Result<(), Breach> {
        let until = span.after(self.theatre.stage.clock().now());
        self.theatre.advance_to(until).map(drop)
    }

    pub(super) fn world(&self) -> World {
        self.theatre.witness.world()
    }

    pub(super) fn breach(&self, what: String) -> Breach {
        Breach { at: self.theatre.stage.clock().now(), what }
    }
}

fn moved(environment: EnvironmentId, order: Option<i64>) -> Verb {
    Verb::PatchEnvironment { environment, name: None, promotion_order: Some(order), config_values: None }
}

/// More than a healthy fleet needs from a start to the end, machine after machine, with an hour to spare (R10).
fn enough(world: &World) -> Seconds {
    let arc = |settle: Seconds| APPLY + 2 * POLL + settle.0 + 60;
    let slowest = |n: usize, cap: u32| n.div_ceil(usize::try_from(cap).unwrap_or(1).max(1)) as u64;
    let lanes = world.lanes().iter().filter_map(|((_, ring), lane)| {
        let settings = &world.rings.get(ring)?.settings;
        let turns = if settings.max_in_flight == 0 { 1 } else { slowest(lane.members.len(), settings.max_in_flight) };
        let ladder = settings.wave_ladder.iter().map(|rung| rung.after_seconds).max().unwrap_or(0);
        Some(turns * arc(settings.min_settle_seconds) + ladder)
    });
    let tiers = u64::try_from(world.environments.len()).unwrap_or(0) * (120 + LOOK_EVERY.0 * 2);
    Seconds(lanes.sum::<u64>() + tiers + 3_600)
}

/// Machines in scope of an environment in the path that are not done.
fn undone(world: &World, id: RolloutId) -> Vec<String> {
    let Some(release) = world.rollout(id).map(|rollout| rollout.release) else { return Vec::new() };
    let path: Vec<EnvironmentId> = world.path().into_iter().map(|environment| environment.id).collect();
    let machines = world.machines.values().filter(|m| m.place().is_some_and(|(tier, _)| path.contains(&tier)));
    machines.filter(|m| !m.is_done(release)).map(|m| m.hostname.clone()).collect()
}

fn stuck(world: &World, id: RolloutId, held: Option<&Hold>) -> String {
    let why = held.map_or("nothing is said to hold it".to_owned(), |held| held.sentence.clone());
    let cursor = world.rollout(id).and_then(|rollout| rollout.cursor.as_ref()).map(|cursor| cursor.slug.as_str());
    let undone = undone(world, id).join(", ");
    format!("the rollout does not converge: cursor at {cursor:?}, {why}; not done: {undone}")
}
