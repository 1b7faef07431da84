//! From a seed to a small world in which everything goes wrong between processes, journal, cluster and agents.

use super::super::super::executor::Fate;
use super::super::super::line::Weather;
use super::super::super::post::Faults;
use super::super::super::trail::{Call, Doom};
use super::super::generate::{Scale, rings};
use super::super::pen::{Pen, Scribe};
use super::super::plot::{Act, Cast, End, Happening, PROCESSES, Plot};
use super::super::profile::{Families, Profile};
use crate::domain::input::{Order, Verb};
use crate::domain::kura::verb::KuraVerb;
use crate::domain::span::Seconds;

/// When the faults stop: after twenty minutes.
const UNTIL: Seconds = Seconds(1_200);

/// A world in which a fault is not drowned by what else happens.
const SMALL: Scale = Scale {
    tiers: 2,
    rings: 2,
    machines: 2..=6,
    tenants: 2,
    nodes: 3,
    acts: 3..=12,
    acts_on_servers: 3..=10,
    acts_on_rolls: 5..=14,
    calm_acts: 4..=10,
    until: UNTIL,
};

/// Longest time for which something is cut, slow, stale or full.
const SPELL: u64 = 60;

/// Longest time for which a process is frozen or dead.
const AWAY: u64 = 90;

/// Longest time for which one is frozen over what others do.
const LONGEST_FREEZE: u64 = 120;

/// In so many of a hundred worlds with a cluster whoever has the seat freezes over its writes.
const FROSTY: u8 = 20;

/// Within this time whoever has the seat ticks, writes, and loses the seat where it freezes over that.
const NEXT_WRITE: u64 = 75;

/// How much a clock may run too fast or too slowly, in millionths: far more than any crystal.
const DRIFT: i64 = 3_000;

/// Makes the plot of a seed; the same one every time.
pub(in super::super) fn generate(seed: u64) -> Plot {
    let mut dice = fastrand::Rng::with_seed(seed ^ 0x6661_756c_7473);
    let families = families(&mut dice);
    let cast = cast(&mut dice);
    let post = Faults { late: dice.u8(..20), twice: dice.u8(..30), lost: dice.u8(..10) };
    let mut plot = Plot { profile: Profile::Faults, families, cast, post, ..rings(seed, &SMALL) };
    if !families.rings {
        plot.fleet.clear();
        plot.agents.clear();
        plot.script.clear();
    }
    if families.kura {
        let servers = super::super::kura::generate::generate(seed, &SMALL);
        plot.fleet.extend(servers.fleet);
        plot.script.extend(servers.script);
    }
    if families.rolls {
        let rolls = super::super::rolls::generate::generate(seed, &SMALL);
        plot.nodes = rolls.nodes;
        plot.script.extend(rolls.script);
    }
    // A clock that is accepted while it is off is a matter of rollouts; the cluster has a time of its own.
    plot.script.retain(|entry| !families.has_cluster() || !accepts_clocks(&entry.act));
    let writer = |dice| Writer { pen: Pen::new(dice, UNTIL), cast: plot.cast.clone(), families };
    let (faults, more) =
        (writer(dice).write(), writer(fastrand::Rng::with_seed(seed ^ 0x0066_726f_7374)).write_frost());
    plot.script.extend(faults.into_iter().chain(more));
    plot.script.sort_by_key(|entry| entry.at);
    plot
}

/// Mostly one family, so that worlds are small; all three in one of ten.
fn families(dice: &mut fastrand::Rng) -> Families {
    let (rings, kura, rolls) = match dice.u8(..100) {
        0..40 => (true, false, false),
        40..58 => (false, true, false),
        58..72 => (false, false, true),
        72..82 => (true, true, false),
        82..90 => (true, false, true),
        _ => (true, true, true),
    };
    Families { rings, kura, rolls }
}

/// Two to four processes, the first of which is a server: two servers, two consoles, or anything between.
fn cast(dice: &mut fastrand::Rng) -> Vec<Cast> {
    let count = dice.usize(2..=PROCESSES);
    let drifting = dice.u8(..100) < 50;
    let mut cast = Vec::new();
    for process in 0..count {
        let is_console = process > 0 && (process >= 2 || dice.bool());
        let grace = (dice.u8(..100) < 80).then(|| Seconds(dice.u64(..=45)));
        let console = is_console.then_some(grace);
        let agents = !is_console || dice.bool();
        let ppm = if drifting { dice.i64(-DRIFT..=DRIFT) } else { 0 };
        cast.push(Cast { console, agents, ppm });
    }
    cast
}

fn accepts_clocks(act: &Act) -> bool {
    let accepts = |order: &Order| order.verb == Verb::AcceptClock;
    matches!(act, Act::Order(order) if accepts(order))
}

/// Writes what goes wrong.
struct Writer {
    pen: Pen,
    cast: Vec<Cast>,
    families: Families,
}

impl Scribe for Writer {
    fn pen(&mut self) -> &mut Pen {
        &mut self.pen
    }

    fn act(&mut self) {
        match self.pen.dice.u8(..100) {
            0..20 => self.part(),
            20..42 => self.weather(),
            42..60 => self.strike(),
            60..65 => self.freeze(),
            65..70 => self.crash(),
            70..76 => self.stop(),
            76..81 => self.take(),
            81..86 => self.lose_servers(),
            86..90 if self.families.kura => self.freeze_over_a_release(),
            86..90 => self.fill(),
            90..93 => self.lose_journal(),
            93..97 => self.jump(),
            _ => self.spoil_journal(),
        }
    }
}

impl Writer {
    fn write(mut self) -> Vec<Happening> {
        self.pen.now = self.pen.dice.u64(5..=90);
        let acts = self.pen.dice.usize(6..=24);
        self.acts(acts);
        self.pen.finish()
    }

    /// In some worlds with a cluster, dice of their own: whoever has the seat freezes over its writes, again and again.
    fn write_frost(mut self) -> Vec<Happening> {
        if self.families.has_cluster() && self.pen.chance(FROSTY) {
            (0..self.pen.dice.usize(2..=6)).for_each(|_| self.freeze_over_writes());
        }
        self.pen.finish()
    }

    fn process(&mut self) -> usize {
        self.pen.dice.usize(..self.cast.len())
    }

    fn span(&mut self) -> Seconds {
        Seconds(self.pen.dice.u64(1..=SPELL))
    }

    /// Some processes lose some of their lines, in any combination.
    fn part(&mut self) {
        let span = self.span();
        for process in 0..self.cast.len() {
            if !self.pen.chance(45) {
                continue;
            }
            let ends: Vec<End> = End::ALL.into_iter().filter(|_| self.pen.dice.bool()).collect();
            for end in ends {
                self.weather_at(process, end, Weather::Cut, span);
            }
        }
    }

    fn weather_at(&mut self, process: usize, end: End, weather: Weather, span: Seconds) {
        let words = format!("the line of process {process} to {end:?} is {weather:?} for {span}");
        self.pen.push(self.pen.now, Act::Weather { process, end, weather, span }, words);
    }

    /// A line loses answers, is slow, shows the past, or delivers what was given up.
    fn weather(&mut self) {
        let (process, span) = (self.process(), self.span());
        let cluster = self.families.has_cluster() && self.pen.chance(50);
        let end = if cluster { End::Cluster } else { End::Journal };
        let mut some = |most: u64| Seconds(self.pen.dice.u64(1..=most));
        let all = [
            Weather::Deaf,
            Weather::Slow { out: some(5), back: some(5) },
            Weather::Stale(some(20)),
            Weather::Late(some(30)),
        ];
        let weather = self.pen.one(&all);
        self.weather_at(process, end, weather, span);
    }

    /// A process dies or freezes at one of its next calls, before it is done or before its answer is heard.
    fn strike(&mut self) {
        let process = self.process();
        let usual = [Call::Append, Call::Append, Call::Write, Call::Write, Call::Beat];
        let call = if self.pen.chance(50) { self.pen.one(&usual) } else { self.pen.one(&Call::ALL) };
        let fate = if self.pen.chance(50) { Fate::Dies } else { Fate::Freezes };
        let doom = Doom { call, answered: self.pen.dice.bool(), spared: self.pen.dice.u32(..3), fate };
        self.pen.push(self.pen.now, Act::Strike(process, doom), format!("process {process} meets {doom:?}"));
        match fate {
            Fate::Dies => self.back(process),
            Fate::Freezes => self.thaw(process),
        }
    }

    fn back(&mut self, process: usize) {
        self.pen.later(AWAY, Act::Start(process), format!("process {process} starts"));
    }

    fn thaw(&mut self, process: usize) {
        self.pen.later(AWAY, Act::Thaw(process), format!("process {process} thaws"));
    }

    fn freeze(&mut self) {
        let process = self.process();
        self.pen.push(self.pen.now, Act::Freeze(process), format!("process {process} freezes"));
        self.thaw(process);
    }

    fn crash(&mut self) {
        let (process, steps) = (self.process(), self.pen.dice.u64(..200));
        self.pen.push(
            self.pen.now,
            Act::Crash { process, steps },
            format!("process {process} dies {steps} steps later"),
        );
        self.back(process);
    }

    fn stop(&mut self) {
        let process = self.process();
        self.pen.push(self.pen.now, Act::Stop(process), format!("process {process} is asked to stop"));
        self.back(process);
    }

    /// A person takes the seat at a console that finds no server.
    fn take(&mut self) {
        let process = self.process();
        if self.cast[process].console.is_none() {
            return self.lose_servers();
        }
        self.weather_at(process, End::Servers, Weather::Cut, Seconds(SPELL));
        self.pen.later(SPELL / 2, Act::Take(process), format!("somebody takes the seat at process {process}"));
    }

    /// The control plane is gone: every server dies, freezes, or loses its journal.
    fn lose_servers(&mut self) {
        let (how, span) = (self.pen.dice.u8(..4), self.span());
        for process in 0..self.cast.len() {
            if self.cast[process].console.is_some() {
                continue;
            }
            match how {
                0 | 1 => {
                    let act = Act::Crash { process, steps: self.pen.dice.u64(..60) };
                    self.pen.push(self.pen.now, act, format!("process {process} dies"));
                    self.back(process);
                }
                2 => {
                    self.pen.push(self.pen.now, Act::Freeze(process), format!("process {process} freezes"));
                    self.thaw(process);
                }
                _ => self.weather_at(process, End::Journal, Weather::Cut, span),
            }
        }
    }

    /// What a frozen process knows of what people want is old by the time it thaws, and somebody else has acted on it.
    fn freeze_over_a_release(&mut self) {
        let (process, tag) = (self.process(), format!("1.{}.0", self.pen.len()));
        self.pen.push(self.pen.now, Act::Freeze(process), format!("process {process} freezes"));
        let order = self.pen.signed(Verb::Kura(KuraVerb::ReleaseTag { tag: tag.clone() }));
        self.pen.later(30, Act::Order(order), format!("release {tag}"));
        let at = self.pen.now + self.pen.dice.u64(60..=LONGEST_FREEZE);
        self.pen.push(at, Act::Thaw(process), format!("process {process} thaws"));
    }

    /// Whoever writes to the cluster next freezes before that is done, until somebody else has the seat and has mostly not
    /// ticked yet: whatever was to be written after it is as it was.
    fn freeze_over_writes(&mut self) {
        self.pen.now = self.pen.dice.u64(30..UNTIL.0);
        for process in 0..self.cast.len() {
            let doom = Doom { call: Call::Write, answered: false, spared: self.pen.dice.u32(..2), fate: Fate::Freezes };
            let words = format!("process {process} meets {doom:?}");
            self.pen.push(self.pen.now, Act::Strike(process, doom), words);
            self.pen.push(self.pen.now + NEXT_WRITE, Act::Thaw(process), format!("process {process} thaws"));
        }
    }

    fn fill(&mut self) {
        let span = self.span();
        self.pen.push(self.pen.now, Act::Full(span), format!("the journal has no room for {span}"));
    }

    /// Nobody reaches the journal.
    fn lose_journal(&mut self) {
        let span = self.span();
        (0..self.cast.len()).for_each(|process| self.weather_at(process, End::Journal, Weather::Cut, span));
    }

    /// A wall clock jumps, mostly there and back; where there is no cluster people may accept it meanwhile (R168).
    fn jump(&mut self) {
        let (process, far) = (self.process(), self.pen.dice.i64(10..=7_200));
        let by = if self.pen.dice.bool() { far } else { -far };
        let words = format!("the wall clock of process {process} jumps by {by} s");
        self.pen.push(self.pen.now, Act::Jump { process, by }, words);
        if self.pen.chance(70) {
            let words = format!("the wall clock of process {process} is set right");
            self.pen.later(300, Act::SetRight(process), words);
        }
        if !self.families.has_cluster() && self.pen.chance(50) {
            let order = self.pen.signed(Verb::AcceptClock);
            self.pen.later(200, Act::Order(order), "accept the clocks".to_owned());
        }
    }

    fn spoil_journal(&mut self) {
        (0..self.pen.dice.usize(1..=3)).for_each(|_| self.pen.spoil_journal());
    }
}
