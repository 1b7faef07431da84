//! From a seed to a plot: a fleet, and two virtual hours of people, agents and faults.

use std::ops::RangeInclusive;

use super::super::journal::JournalFault;
use super::super::post::Faults;
use super::fleet::Draw;
use super::plot::{Act, Cast, Happening, Plot};
use super::profile::Profile;
use crate::domain::change::Level;
use crate::domain::ids::{EnvironmentId, MachineId, ReleaseId, RingId, RolloutId};
use crate::domain::input::{Intent, Order, RingPatch, Verb};
use crate::domain::span::Seconds;

/// When the faults stop: after two hours.
pub const HEALED_AT: Seconds = Seconds(7_200);

/// How large a world is, and for how long things happen in it.
#[derive(Debug, Clone)]
pub(super) struct Scale {
    pub(super) tiers: usize,
    pub(super) rings: usize,
    pub(super) machines: RangeInclusive<usize>,
    pub(super) tenants: usize,
    pub(super) nodes: usize,
    /// What people and fate do to rollouts.
    pub(super) acts: RangeInclusive<usize>,
    /// To servers.
    pub(super) acts_on_servers: RangeInclusive<usize>,
    /// To rolls.
    pub(super) acts_on_rolls: RangeInclusive<usize>,
    /// To rolls where hardly anything goes wrong.
    pub(super) calm_acts: RangeInclusive<usize>,
    pub(super) until: Seconds,
}

impl Scale {
    /// A world of one family by itself.
    pub(super) const WHOLE: Self = Self {
        tiers: 4,
        rings: 4,
        machines: 3..=25,
        tenants: 4,
        nodes: 6,
        acts: 8..=60,
        acts_on_servers: 8..=70,
        acts_on_rolls: 25..=110,
        calm_acts: 15..=30,
        until: HEALED_AT,
    };
}

/// Makes the plot of a seed; the same one every time.
pub fn generate(profile: Profile, seed: u64) -> Plot {
    match profile {
        Profile::Rings => rings(seed, &Scale::WHOLE),
        Profile::Kura => super::kura::generate::generate(seed, &Scale::WHOLE),
        Profile::Rolls => super::rolls::generate::generate(seed, &Scale::WHOLE),
        Profile::All => all(seed, &Scale::WHOLE),
        Profile::Faults => super::faults::generate::generate(seed),
    }
}

/// What happens in three worlds happens in one: rollouts, servers and rolls of one account, on the same processes, the
/// same journal and the same cluster.
fn all(seed: u64, scale: &Scale) -> Plot {
    let servers = super::kura::generate::generate(seed, scale);
    let plots = [rings(seed, scale), servers, super::rolls::generate::generate(seed, scale)];
    let [rings, kura, rolls] = plots;
    let fleet = rings.fleet.into_iter().chain(kura.fleet).collect();
    let mut script: Vec<Happening> = rings.script.into_iter().chain(kura.script).chain(rolls.script).collect();
    // A clock that is accepted while it is off is a matter of rollouts; the cluster has a time of its own.
    script.retain(|entry| !is_of_clocks(&entry.act));
    script.sort_by_key(|entry| entry.at);
    let (cast, nodes, agents, post) = (rings.cast, rolls.nodes, rings.agents, rings.post);
    let (profile, healed_at) = (Profile::All, scale.until);
    Plot { profile, seed, fleet, agents, nodes, families: profile.families(), cast, post, script, healed_at }
}

fn is_of_clocks(act: &Act) -> bool {
    let accepts = |order: &Order| order.verb == Verb::AcceptClock;
    matches!(act, Act::Jump { .. } | Act::SetRight(_)) || matches!(act, Act::Order(order) if accepts(order))
}

/// Ring rollouts of a seed.
pub(super) fn rings(seed: u64, scale: &Scale) -> Plot {
    let mut draw = Draw::of(seed, scale);
    let fleet = draw.fleet();
    let names = draw.machines.clone();
    let agents = names.iter().map(|name| (MachineId::named(name), draw.behaviour())).collect();
    let cast = vec![Cast::SERVER; if draw.chance(60) { 2 } else { 1 }];
    let post = match draw.chance(50) {
        true => Faults { late: draw.dice.u8(..20), twice: draw.dice.u8(..30), lost: draw.dice.u8(..10) },
        false => Faults::default(),
    };
    let script = Writer { draw, script: Vec::new(), now: 0 }.write(scale);
    let (profile, nodes, healed_at) = (Profile::Rings, None, scale.until);
    Plot { profile, seed, fleet, agents, nodes, families: profile.families(), cast, post, script, healed_at }
}

/// Writes the script of a world.
struct Writer {
    draw: Draw,
    script: Vec<Happening>,
    now: u64,
}

impl Writer {
    fn write(mut self, scale: &Scale) -> Vec<Happening> {
        self.now = self.draw.dice.u64(20..=120);
        self.start();
        let acts = self.draw.dice.usize(scale.acts.clone());
        let pace = scale.until.0 / u64::try_from(acts).unwrap_or(1);
        for _ in 0..acts {
            self.now += if self.draw.chance(40) { self.draw.dice.u64(..=3) } else { self.draw.dice.u64(1..=2 * pace) };
            if self.now >= scale.until.0 {
                break;
            }
            self.act();
        }
        self.script.retain(|entry| entry.at < scale.until);
        self.script.sort_by_key(|entry| entry.at);
        self.script
    }

    /// Anything that people or fate may do.
    fn act(&mut self) {
        match self.draw.dice.u8(..100) {
            0..14 => self.start(),
            14..17 => self.halt(),
            17..19 => self.yank(),
            19..37 => self.pause(),
            37..49 => self.patch_ring(),
            49..54 => self.patch_environment(),
            54..60 => self.assign(),
            60..63 => self.add(),
            63..65 => self.remove(),
            65..70 => self.rebuild(),
            70..76 => self.go_silent(),
            76..80 => self.lose_variable(),
            80..84 => self.lose_telemetry(),
            84..91 => self.spoil_journal(),
            91..94 => self.crash(),
            94..96 => self.freeze(),
            96..98 => self.cut(),
            _ => self.jump(),
        }
    }

    /// Starts any release: a start, a reset or a supersede, as it turns out (R90-R103).
    fn start(&mut self) {
        let release = self.draw.name(|draw| &draw.releases);
        let protected = self.draw.one(&[None, Some(true), Some(false)], None);
        let force = self.draw.chance(40);
        let intent = self.draw.one(&[None, None, None, Some(Intent::Start), Some(Intent::Reset)], None);
        let id = RolloutId::named(&format!("r{}", self.script.len()));
        let words = format!("start {release}, protected {protected:?}, force {force}, intent {intent:?}");
        self.order(Verb::Start { id, release: ReleaseId::named(&release), protected, force, intent }, words);
    }

    /// Halts what runs; the name of the rollout is filled in when it happens.
    fn halt(&mut self) {
        let order = self.signed(Verb::Halt { rollout: RolloutId(uuid::Uuid::nil()) });
        self.push(self.now, Act::Halt(order), "halt the rollout".to_owned());
    }

    fn yank(&mut self) {
        let release = self.draw.name(|draw| &draw.releases);
        self.order(Verb::Yank { release: ReleaseId::named(&release) }, format!("yank {release}"));
    }

    /// Holds something on any level, and mostly ends the hold some time later.
    fn pause(&mut self) {
        let (level, name) = match self.draw.dice.u8(..10) {
            0..5 => {
                let name = self.draw.name(|draw| &draw.machines);
                (Level::Machine(MachineId::named(&name)), name)
            }
            5..8 => {
                let name = self.draw.name(|draw| &draw.rings);
                (Level::Ring(RingId::named(&name)), name)
            }
            _ => {
                let name = self.draw.name(|draw| &draw.environments);
                (Level::Environment(EnvironmentId::named(&name)), name)
            }
        };
        self.order(Verb::Pause(level), format!("pause {name}"));
        if self.draw.chance(80) {
            let order = self.signed(Verb::Unpause(level));
            self.later(1_800, Act::Order(order), format!("unpause {name}"));
        }
    }

    /// Changes some of a ring's brakes, or uncaps it and caps it again (R29, R125).
    fn patch_ring(&mut self) {
        let name = self.draw.name(|draw| &draw.rings);
        let ring = RingId::named(&name);
        if self.draw.chance(25) {
            let cap = |n| RingPatch { max_in_flight: Some(n), ..RingPatch::default() };
            self.order(Verb::PatchRing { ring, patch: cap(0) }, format!("uncap {name}"));
            let slots = self.draw.dice.u32(1..=3);
            let order = self.signed(Verb::PatchRing { ring, patch: cap(slots) });
            return self.later(900, Act::Order(order), format!("cap {name} at {slots}"));
        }
        let all = self.draw.settings();
        let patch = RingPatch {
            max_in_flight: all.max_in_flight.filter(|_| self.draw.chance(50)),
            min_settle_seconds: all.min_settle_seconds.filter(|_| self.draw.chance(50)),
            stall_timeout_seconds: all.stall_timeout_seconds.filter(|_| self.draw.chance(50)),
            failure_count_threshold: all.failure_count_threshold.filter(|_| self.draw.chance(50)),
            wave_ladder: all.wave_ladder.filter(|_| self.draw.chance(50)),
            ..RingPatch::default()
        };
        let words = format!("patch {name}: {}", words_of(&patch));
        self.order(Verb::PatchRing { ring, patch }, words);
    }

    fn patch_environment(&mut self) {
        let name = self.draw.name(|draw| &draw.environments);
        let order = self.draw.order();
        let verb = Verb::PatchEnvironment {
            environment: EnvironmentId::named(&name),
            name: None,
            promotion_order: Some(order),
            config_values: None,
        };
        self.order(verb, format!("move {name} to {order:?} in the path"));
    }

    fn assign(&mut self) {
        let machine = self.draw.name(|draw| &draw.machines);
        let (tier, ring) = (self.draw.name(|draw| &draw.environments), self.draw.name(|draw| &draw.rings));
        let environment = self.draw.chance(60).then(|| (!self.draw.chance(20)).then(|| EnvironmentId::named(&tier)));
        let to = self.draw.chance(60).then(|| (!self.draw.chance(20)).then(|| RingId::named(&ring)));
        let stays = |change: Option<bool>, name: String| match change {
            None => "as it is".to_owned(),
            Some(true) => name,
            Some(false) => "none".to_owned(),
        };
        let tier = stays(environment.map(|e| e.is_some()), tier);
        let ring = stays(to.map(|r| r.is_some()), ring);
        let verb = Verb::AssignMachine { machine: MachineId::named(&machine), environment, ring: to, node: None };
        self.order(verb, format!("assign {machine}: tier {tier}, ring {ring}"));
    }

    fn add(&mut self) {
        let name = format!("m{}", self.draw.machines.len() + 1);
        self.draw.machines.push(name.clone());
        let (verb, behaviour) = (self.draw.machine(&name), self.draw.behaviour());
        self.order(verb, format!("add {name}"));
        self.push(self.now, Act::Behave(MachineId::named(&name), Box::new(behaviour)), format!("{name} gets an agent"));
    }

    fn remove(&mut self) {
        let name = self.draw.name(|draw| &draw.machines);
        self.order(Verb::RemoveMachine { machine: MachineId::named(&name) }, format!("remove {name}"));
    }

    fn rebuild(&mut self) {
        let name = self.draw.name(|draw| &draw.machines);
        self.push(self.now, Act::Rebuild(MachineId::named(&name)), format!("{name} is rebuilt"));
    }

    fn go_silent(&mut self) {
        let name = self.draw.name(|draw| &draw.machines);
        let machine = MachineId::named(&name);
        self.push(self.now, Act::Silence(machine), format!("{name} goes silent"));
        if self.draw.chance(70) {
            self.later(1_500, Act::BringBack(machine), format!("{name} is back"));
        }
    }

    fn lose_variable(&mut self) {
        let name = self.draw.name(|draw| &draw.machines);
        let machine = MachineId::named(&name);
        self.push(self.now, Act::Lose(machine), format!("{name} cannot be rendered"));
        if self.draw.chance(80) {
            self.later(900, Act::Find(machine), format!("{name} can be rendered again"));
        }
    }

    fn lose_telemetry(&mut self) {
        self.push(self.now, Act::Telemetry { up: false }, "the results store goes down".to_owned());
        self.later(900, Act::Telemetry { up: true }, "the results store is back".to_owned());
    }

    fn spoil_journal(&mut self) {
        let faults = [JournalFault::Conflict, JournalFault::Error, JournalFault::LostAnswer];
        for _ in 0..self.draw.dice.usize(1..=2) {
            let fault = self.draw.one(&faults, JournalFault::Conflict);
            self.push(self.now, Act::Journal(fault), format!("the journal's next append: {fault:?}"));
        }
    }

    /// Kills a process at any await, and starts the same or the other one a little later.
    fn crash(&mut self) {
        let (process, steps) = (self.draw.dice.usize(..2), self.draw.dice.u64(..300));
        self.push(self.now, Act::Crash { process, steps }, format!("process {process} dies {steps} steps later"));
        self.later(200, Act::Start(process), format!("process {process} starts"));
        if self.draw.chance(30) {
            self.later(600, Act::Start(1 - process), format!("process {} starts", 1 - process));
        }
    }

    fn freeze(&mut self) {
        let process = self.draw.dice.usize(..2);
        self.push(self.now, Act::Freeze(process), format!("process {process} freezes"));
        self.later(120, Act::Thaw(process), format!("process {process} thaws"));
    }

    fn cut(&mut self) {
        let (process, span) = (self.draw.dice.usize(..2), Seconds(self.draw.dice.u64(1..=120)));
        let words = format!("process {process} cannot reach the journal for {span}");
        self.push(self.now, Act::Cut { process, span }, words);
    }

    /// A wall clock jumps by up to two hours, and is mostly set right some time later. Before that or after it a person
    /// may accept the clocks as they are: then a process lives in another time than the others (R168).
    fn jump(&mut self) {
        let (process, far) = (self.draw.dice.usize(..2), self.draw.dice.i64(60..=7_200));
        let by = if self.draw.chance(50) { far } else { -far };
        let words = format!("the wall clock of process {process} jumps by {by} s");
        self.push(self.now, Act::Jump { process, by }, words);
        if self.draw.chance(70) {
            self.later(900, Act::SetRight(process), format!("the wall clock of process {process} is set right"));
        }
        for within in [600, 1_800] {
            if self.draw.chance(40) {
                let order = self.signed(Verb::AcceptClock);
                self.later(within, Act::Order(order), "accept the clocks".to_owned());
            }
        }
    }

    fn order(&mut self, verb: Verb, words: String) {
        let order = self.signed(verb);
        self.push(self.now, Act::Order(order), words);
    }

    /// An order with a tag of its own as its reason, by which the journal knows it again; two in three have a key.
    fn signed(&mut self, verb: Verb) -> Order {
        let tag = format!("#{}", self.draw.dice.u32(..));
        let key = self.draw.chance(67).then(|| format!("key {tag}"));
        let by = self.draw.one(&["op-a", "op-b"], "op-a").to_owned();
        Order { verb, by, reason: Some(tag), key }
    }

    fn later(&mut self, at_most: u64, act: Act, words: String) {
        let at = self.now + self.draw.dice.u64(1..=at_most);
        self.push(at, act, words);
    }

    fn push(&mut self, at: u64, act: Act, words: String) {
        self.script.push(Happening { at: Seconds(at), act, words });
    }
}

/// The fields a patch changes.
fn words_of(patch: &RingPatch) -> String {
    let fields = [
        patch.max_in_flight.map(|n| format!("cap {n}")),
        patch.min_settle_seconds.map(|s| format!("settle {s}")),
        patch.stall_timeout_seconds.map(|s| format!("stall {s}")),
        patch.failure_count_threshold.map(|n| format!("threshold {n}")),
        patch.wave_ladder.as_ref().map(|ladder| {
            let rungs: Vec<String> =
                ladder.iter().map(|r| format!("{} % after {} s", r.pct, r.after_seconds)).collect();
            format!("ladder {}", rungs.join(", "))
        }),
    ];
    fields.into_iter().flatten().collect::<Vec<_>>().join("; ")
}
