//! Plays a plot: builds its world, lets everything in it happen on the real loop, and watches.

use super::super::cluster::objects::Objects;
use super::super::cluster::port::SimCluster;
use super::super::executor::Restless;
use super::super::host::Means;
use super::super::journal::Defect;
use super::super::line::Line;
use super::super::post::Post;
use super::super::record::Answer;
use super::super::script::Cue;
use super::super::stage::{Beginning, Stage, Ties};
use super::super::toll::Mishap;
use super::check::{Breach, Tally, Witness};
use super::faults::patrol::{EVERY, Patrol};
use super::faults::tally::FaultTally;
use super::fleet::content;
use super::heal::heal;
use super::kura::acts::happen;
use super::plot::{Act, Cast, Happening, PROCESSES, Plot};
use super::profile::Profile;
use super::promises::is_unsure;
use super::rolls::acts::{Decision, PROJECT, befall, order as decided, put_up};
use crate::control::ports::Clock;
use crate::control::service::Settings;
use crate::domain::ids::MachineId;
use crate::domain::input::{Order, Verb};
use crate::domain::span::Seconds;
use jiff::{SignedDuration, Timestamp};

/// How long a person waits before asking again where the answer is not known.
const ASK_AGAIN: Seconds = Seconds(7);

/// How a world went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Played {
    /// What was seen.
    pub tally: Tally,
    /// The first broken rule.
    pub breach: Option<Breach>,
}

/// Plays a plot to its end or to its first fault. With a `defect` the journal breaks a promise all the time.
pub fn play(plot: &Plot, defect: Option<Defect>) -> Played {
    let mut theatre = Theatre::of(plot, defect);
    let breach = theatre.perform(plot).err();
    let stage = &theatre.stage;
    let mut tally = theatre.witness.tally;
    tally.races = stage.outside().journal.races(stage.account());
    stage.toll().with(|toll| tally.toll.add(toll));
    (0..stage.crashes()).for_each(|_| tally.toll.count(Mishap::Crash));
    if let Some(patrol) = &mut theatre.patrol {
        tally.toll.add(&patrol.take_toll());
        let (died, froze) = stage.struck();
        let struck = u64::from(died.count() + froze.count());
        (0..struck).for_each(|_| tally.toll.count(Mishap::StruckCall));
        (0..stage.frozen_in_mid_call()).for_each(|_| tally.toll.count(Mishap::Freeze));
        tally.faults = FaultTally { died_at: died, froze_at: froze, ..patrol.tally };
        tally.faults.worlds[plot.cast.len()] += 1;
        tally.faults.consoles = plot.cast.iter().filter(|cast| cast.console.is_some()).count() as u64;
    }
    tally.virtual_seconds = Seconds::between(beginning(), stage.clock().now()).0;
    Played { tally, breach }
}

/// An end of the cluster that belongs to no process.
fn idle_end(stage: &Stage) -> SimCluster {
    let (objects, journal) = (stage.outside().cluster.clone(), stage.outside().journal.clone());
    SimCluster::new(objects, journal, stage.clock().clone(), Line::default(), "nobody")
}

/// When every generated world begins.
pub(super) fn beginning() -> Timestamp {
    Seconds(1_780_000_000).after(Timestamp::UNIX_EPOCH)
}

/// A world in motion, and who watches it.
pub(super) struct Theatre {
    pub(super) stage: Stage,
    pub(super) witness: Witness,
    /// Names of the processes that were started last; each start has a new one.
    processes: [String; PROCESSES],
    /// What each is.
    cast: Vec<Cast>,
    /// Consoles that stand for the seat, or have it.
    pub(super) stands: [bool; PROCESSES],
    /// Looks at processes and their seat, in worlds of faults.
    pub(super) patrol: Option<Patrol>,
    /// How far the wall clock of each is off, in seconds.
    jumped: [i64; PROCESSES],
    started: usize,
}

impl Theatre {
    fn of(plot: &Plot, defect: Option<Defect>) -> Self {
        let mut stage = Stage::new(beginning(), plot.seed, Ties::Shuffled);
        if let Some(defect) = defect {
            stage.outside().journal.break_promise(stage.account(), defect);
        }
        stage.set_post(Post::seeded(plot.seed, plot.post));
        let is_of_faults = plot.profile == Profile::Faults;
        if is_of_faults {
            stage.outside().journal.move_away();
        }
        let witness = Witness::of(&mut stage, is_of_faults);
        let patrol = is_of_faults.then(|| Patrol::of(idle_end(&stage)));
        let mut theatre = Self {
            stage,
            witness,
            processes: Default::default(),
            cast: plot.cast.clone(),
            stands: [false; PROCESSES],
            patrol,
            jumped: [0; PROCESSES],
            started: 0,
        };
        if plot.families.has_cluster() {
            let connect = |objects: &mut Objects| (objects.is_connected, objects.until) = (true, beginning());
            theatre.stage.outside().cluster.with(connect);
        }
        if let Some(nodes) = &plot.nodes {
            theatre.stage.outside().cluster.with(|objects| put_up(objects, nodes, beginning()));
        }
        (0..plot.cast.len()).for_each(|process| theatre.start(process));
        theatre.build(plot);
        theatre
    }

    fn build(&mut self, plot: &Plot) {
        let mut orders = Vec::new();
        for (n, verb) in plot.fleet.iter().enumerate() {
            if let Verb::PublishRelease { git_ref, .. } = verb {
                self.stage.outside().vault.put(content(git_ref));
            }
            let reason = Some(format!("set-up {n}"));
            orders.push(Order { verb: verb.clone(), by: "set-up".to_owned(), reason, key: None });
        }
        self.stage.script().add(beginning(), Cue::Orders(orders));
        self.stage.roster().with(|roster| {
            plot.agents.iter().for_each(|(machine, behaviour)| roster.enroll(beginning(), *machine, behaviour.clone()));
        });
    }

    fn perform(&mut self, plot: &Plot) -> Result<(), Breach> {
        for entry in &plot.script {
            // One second early, so that what a person does falls into the same instant as what everybody else does.
            self.advance_to(Seconds(entry.at.0 - 1).after(beginning()))?;
            self.act(entry);
        }
        self.advance_to(plot.healed_at.after(beginning()))?;
        heal(self, plot)
    }

    /// Lets everything happen up to a moment, and looks at it; in worlds of faults a patrol goes round on the way.
    pub(super) fn advance_to(&mut self, moment: Timestamp) -> Result<Vec<Answer>, Breach> {
        let mut answers = Vec::new();
        while self.patrol.is_some() {
            let next = EVERY.after(self.stage.clock().now());
            if next >= moment {
                break;
            }
            answers.extend(self.go_to(next)?);
            self.patrol()?;
        }
        answers.extend(self.go_to(moment)?);
        self.patrol()?;
        Ok(answers)
    }

    fn go_to(&mut self, moment: Timestamp) -> Result<Vec<Answer>, Breach> {
        let rested = self.stage.advance_to(moment);
        let now = self.stage.clock().now();
        rested.map_err(|restless: Restless| Breach { at: now, what: restless.to_string() })?;
        let answers = self.witness.look(&self.stage)?;
        for answer in &answers {
            let unsure = answer.reply.as_ref().is_err_and(is_unsure);
            if unsure && answer.order.key.is_some() {
                let again = Cue::Orders(vec![answer.order.clone()]);
                self.stage.script().add(ASK_AGAIN.after(now), again);
            }
        }
        Ok(answers)
    }

    fn act(&mut self, entry: &Happening) {
        let at = entry.at.after(beginning());
        match &entry.act {
            Act::Order(order) => self.cue(at, Cue::Orders(vec![order.clone()])),
            Act::Halt(order) => self.halt(at, order),
            Act::Behave(machine, behaviour) => self.cue(at, Cue::Behave(*machine, behaviour.clone())),
            Act::Silence(machine) => self.cue(at, Cue::Silence(*machine)),
            Act::BringBack(machine) => self.cue(at, Cue::BringBack(*machine)),
            Act::Rebuild(machine) => {
                self.witness.sky.rebuild(*machine, at);
                self.cue(at, Cue::Rebuild(*machine, Some("image".to_owned())));
            }
            Act::Telemetry { up } => self.telemetry(*up),
            Act::Lose(machine) => self.render(*machine, false),
            Act::Find(machine) => self.render(*machine, true),
            Act::Journal(fault) => self.stage.outside().journal.fail_next(self.stage.account(), *fault),
            Act::Crash { process, steps } => {
                self.excuse(&self.processes[*process].clone(), false);
                let _ = self.stage.crash(&self.processes[*process], *steps);
            }
            Act::Start(process) => {
                self.spare(*process);
                self.start(*process);
            }
            Act::Freeze(process) => self.freeze(*process),
            Act::Thaw(process) => self.thaw(*process),
            Act::Cut { process, span } => {
                self.means(*process).into_iter().for_each(|means| means.to_journal.cut(span.after(at)));
            }
            Act::Jump { process, by } => self.jump(*process, *by),
            Act::SetRight(process) => self.set_right(*process),
            Act::Part { process, span } => {
                self.means(*process).into_iter().for_each(|means| means.to_cluster.cut(span.after(at)));
            }
            Act::Weather { process, end, weather, span } => self.bring(*process, *end, *weather, span.after(at)),
            Act::Full(span) => self.stage.outside().journal.fill(self.stage.account(), span.after(at)),
            Act::Strike(process, doom) => self.doom(*process, *doom),
            Act::Stop(process) => self.stop(*process),
            Act::Take(process) => self.take_seat(*process),
            Act::Cluster(act) => {
                let now = self.stage.clock().now();
                self.stage.outside().cluster.with(|objects| happen(objects, act, now));
            }
            Act::Fleet(act) => {
                let now = self.stage.clock().now();
                self.stage.outside().cluster.with(|objects| befall(objects, act, now));
                self.stage.outside().herald.tell();
            }
            Act::Decide(target, decision, order) => self.decide(at, target, *decision, order),
        }
    }

    /// The process that was started last in this part.
    pub(super) fn name(&self, process: usize) -> &str {
        &self.processes[process]
    }

    pub(super) fn cast_of(&self, process: usize) -> Cast {
        self.cast.get(process).copied().unwrap_or(Cast::SERVER)
    }

    pub(super) fn patrol_stands(&self, process: usize) -> bool {
        self.stands[process]
    }

    pub(super) fn count(&mut self, mishap: Mishap) {
        self.witness.tally.toll.count(mishap);
    }

    /// The wall clock of a process jumps; from now on it must not act on time, unless somebody accepts it.
    fn jump(&mut self, process: usize, by: i64) {
        let Some(means) = self.means(process).filter(|_| self.jumped[process] == 0) else { return };
        means.clock.jump(SignedDuration::from_secs(by));
        self.jumped[process] = by;
        self.count(Mishap::ClockJump);
    }

    /// The wall clock of a process is right again.
    pub(super) fn set_right(&mut self, process: usize) {
        let by = std::mem::take(&mut self.jumped[process]);
        self.means(process).into_iter().for_each(|means| means.clock.jump(SignedDuration::from_secs(-by)));
    }

    /// The wall clock of a living process is off, and nobody has accepted it.
    pub(super) fn is_suspect(&self, process: usize) -> bool {
        self.means(process).is_some_and(|means| means.clock.is_suspect())
    }

    fn means(&self, process: usize) -> Option<&Means> {
        self.stage.means(&self.processes[process])
    }

    fn cue(&mut self, at: Timestamp, cue: Cue) {
        self.stage.script().add(at, cue);
    }

    /// Halts the rollout that is current by now, if there ever was one.
    fn halt(&mut self, at: Timestamp, order: &Order) {
        if let Some(rollout) = self.stage.world().current().map(|rollout| rollout.id) {
            let order = Order { verb: Verb::Halt { rollout }, ..order.clone() };
            self.cue(at, Cue::Orders(vec![order]));
        }
    }

    /// Decides about the roll of a target that goes on by now, if one does.
    fn decide(&mut self, at: Timestamp, target: &str, decision: Decision, order: &Order) {
        if let Some(roll) = self.stage.world().rolls.live(PROJECT, target) {
            let order = decided(decision, roll, order);
            self.cue(at, Cue::Orders(vec![order]));
        }
    }

    /// The results store comes up or goes down, now.
    pub(super) fn telemetry(&mut self, up: bool) {
        if self.witness.sky.telemetry(up, self.stage.clock().now()) {
            self.count(Mishap::TelemetryDown);
        }
        self.stage.outside().results.switch(up);
    }

    /// A machine can be rendered from now on, or cannot.
    pub(super) fn render(&mut self, machine: MachineId, well: bool) {
        self.witness.sky.render(machine, well, self.stage.clock().now());
        match well {
            true => self.stage.renderer().find(machine),
            false => self.stage.renderer().lose(machine, vec!["K8S_VIP".to_owned()]),
        }
    }

    /// Starts a process, if it does not live, under a name that no process had before.
    pub(super) fn start(&mut self, process: usize) {
        if self.stage.alive().contains(&self.processes[process]) {
            return;
        }
        self.started += 1;
        self.jumped[process] = 0;
        self.stands[process] = false;
        let cast = self.cast_of(process);
        let now = self.stage.clock().instant();
        let attached = self.patrol.as_mut().zip(cast.console).map(|(patrol, grace)| patrol.starts(process, grace, now));
        self.processes[process] = format!("{}-{process}:{}", cast.word(), self.started);
        let clock = self.stage.clock().drifting(cast.ppm);
        let is_server = cast.console.is_none();
        let beginning = Beginning {
            settings: Settings { stands: is_server, ..Settings::default() },
            means: Means { serves_agents: cast.agents, ..Means::ticking_by(clock) },
            is_open: is_server,
            attached,
        };
        self.stage.begin_process(&self.processes[process], beginning);
        if let Some(means) = self.means(process) {
            self.witness.sky.watch(&self.processes[process], means.clock.clone());
        }
    }

    fn freeze(&mut self, process: usize) {
        self.excuse(&self.processes[process].clone(), false);
        let (name, now) = (&self.processes[process], self.stage.clock().now());
        self.witness.sky.freeze(name, true, now);
        if self.stage.freeze(name) {
            self.count(Mishap::Freeze);
        }
    }

    /// Lets a process go on.
    pub(super) fn thaw(&mut self, process: usize) {
        self.spare(process);
        let (name, now) = (&self.processes[process], self.stage.clock().now());
        self.witness.sky.freeze(name, false, now);
        let _ = self.stage.thaw(name);
    }
}
