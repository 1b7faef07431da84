//! Wall time for a simulated world: a thread of its own moves virtual time along, as fast as it was told to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::actors::Actors;
use crate::adapters::clock::SystemClock;
use crate::console::snapshot::DEMO;
use crate::control::local::Introduction;
use crate::control::picture::Role;
use crate::control::ports::Clock;
use crate::control::service::Loop;
use crate::sim::executor::Hook;
use crate::sim::presets::{Incident, Kept, Preset};
use crate::sim::scenario::ladders::ConsoleLink;
use crate::sim::scenario::run::{Run, Stuck};
use crate::sim::shared::Shared;
use crate::sim::stage::Stage;
use crate::wire::problem::{Problem, ProblemKind};

/// The simulated world moves this often, in wall time, and whenever somebody gives an order.
const PAUSE: Duration = Duration::from_millis(50);

/// How far the clock goes on by itself after a step, in wall time: until the next one.
const STEP: SignedDuration = SignedDuration::from_millis(50);

/// Wall time that is made up for in one step: after a suspend, or on a machine that cannot keep up, the world goes on
/// where it was.
const STEP_MAX: SignedDuration = SignedDuration::from_millis(250);

/// The time a simulated world shows: its own. Sleeping is a matter of the screen, so it takes wall time.
#[derive(Debug, Clone)]
pub struct DemoClock {
    wall: SystemClock,
    speed: f64,
    hands: Shared<Hands>,
}

/// Where virtual time stood when it was moved last.
#[derive(Debug, Clone, Copy)]
struct Hands {
    moved_at: Timestamp,
    shown: Timestamp,
}

impl DemoClock {
    /// Stands at `opening`, and goes on only when it is moved.
    fn new(wall: SystemClock, speed: f64, opening: Timestamp) -> Self {
        Self { wall, speed, hands: Shared::new(Hands { moved_at: opening, shown: opening }) }
    }

    /// The virtual time `passed` of wall time stands for.
    fn faster(&self, passed: SignedDuration) -> SignedDuration {
        SignedDuration::try_from_secs_f64(passed.as_secs_f64() * self.speed).unwrap_or_default()
    }

    /// Moves the hands along with the wall clock, and says where they are now.
    fn step(&self) -> Timestamp {
        let now = self.wall.now();
        let hands = self.hands.with(|hands| *hands);
        let passed = now.duration_since(hands.moved_at).min(STEP_MAX);
        let shown = hands.shown.checked_add(self.faster(passed)).unwrap_or(hands.shown);
        self.hands.with(|hands| *hands = Hands { moved_at: now, shown });
        shown
    }

    /// Stands still until now: time up to here does not count.
    fn hold(&self) {
        let now = self.wall.now();
        self.hands.with(|hands| hands.moved_at = now);
    }
}

impl Clock for DemoClock {
    /// Goes on between two steps, but never past the next one, so it never goes back.
    fn now(&self) -> Timestamp {
        let hands = self.hands.with(|hands| *hands);
        let passed = self.wall.now().duration_since(hands.moved_at).min(STEP);
        hands.shown.checked_add(self.faster(passed)).unwrap_or(hands.shown)
    }

    fn sleep(&self, span: Duration) -> impl Future<Output = ()> + Send {
        self.wall.sleep(span)
    }
}

/// What is shown.
#[derive(Debug, Clone, Copy)]
pub enum Show {
    /// A world that was written to be looked at; the seed picks among its interleavings.
    Preset(&'static Preset, u64),
    /// A row of the table of failure modes.
    Kept(&'static Kept),
    /// An incident of Kura servers or of a fleet roll.
    Incident(Incident),
}

/// A simulated world that moves by itself. It stops when this is dropped.
pub struct Paced {
    link: ConsoleLink,
    clock: DemoClock,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), Stuck>>>,
}

impl Paced {
    /// Lets a world live through its past and go on from now, `speed` times as fast as the wall clock. Returns at
    /// once: the first pictures come when the past is over.
    pub fn start(show: Show, speed: f64, wall: SystemClock) -> Result<Self, Problem> {
        let opening = wall.now();
        let (world, link, painter) = Self::open(show, opening)?;
        let clock = DemoClock::new(wall, speed, opening);
        let stop = Arc::new(AtomicBool::new(false));
        let pacer = Pacer { world, opening, clock: clock.clone(), stop: Arc::clone(&stop) };
        let builder = thread::Builder::new().name("simulation".to_owned());
        let thread = builder.spawn(move || pacer.run(painter)).map_err(unstartable)?;
        Ok(Self { link, clock, stop, thread: Some(thread) })
    }

    /// On a thread of its own: a runtime rations what one of its tasks may do in a row, and a past is more than that.
    fn open(show: Show, opening: Timestamp) -> Result<(World, ConsoleLink, Option<Loop>), Problem> {
        let opened = thread::scope(|scope| scope.spawn(|| World::open(show, opening)).join());
        opened.unwrap_or_else(|_| Err(unstartable("it panicked")))
    }

    /// A console's end of it.
    pub fn link(&self) -> ConsoleLink {
        self.link.clone()
    }

    /// Its time.
    pub fn clock(&self) -> DemoClock {
        self.clock.clone()
    }

    /// Ends it, and says what went wrong in it, if something did.
    pub fn stop(mut self) -> Result<(), Problem> {
        match self.halt().map(JoinHandle::join) {
            None | Some(Ok(Ok(()))) => Ok(()),
            Some(Ok(Err(stuck))) => Err(broken(stuck)),
            Some(Err(_)) => Err(broken("the simulation panicked")),
        }
    }

    fn halt(&mut self) -> Option<JoinHandle<Result<(), Stuck>>> {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take()?;
        thread.thread().unpark();
        Some(thread)
    }
}

impl Drop for Paced {
    fn drop(&mut self) {
        if let Some(thread) = self.halt() {
            drop(thread.join());
        }
    }
}

/// A simulated world, however it was made.
enum World {
    Preset(Box<Stage>),
    Kept(Box<Run<Actors>>),
}

impl World {
    /// A world at its beginning, a console's end of it, and the painter of that end.
    fn open(show: Show, opening: Timestamp) -> Result<(Self, ConsoleLink, Option<Loop>), Problem> {
        let introduction = |account: String| Introduction { endpoint: DEMO.to_owned(), account, role: Role::Operator };
        let (world, linked) = match show {
            Show::Preset(preset, seed) => {
                let stage = preset.stage(opening, seed);
                let linked = stage.link(introduction(preset.name.to_owned()));
                let linked = linked.map(|(link, painter)| (ConsoleLink::Local(link), Some(painter)));
                (Self::Preset(Box::new(stage)), linked)
            }
            Show::Kept(kept) => {
                // Its past takes milliseconds, and a first picture from the middle of it would mislead.
                let mut run = kept.begin(opening, Actors::usual()?).map_err(unstartable)?;
                run.advance_to(opening).map_err(unstartable)?;
                let linked = run.link(introduction(kept.name()));
                (Self::Kept(Box::new(run)), linked)
            }
            Show::Incident(incident) => {
                let mut run = incident.begin(opening, Actors::usual()?).map_err(unstartable)?;
                run.advance_to(opening).map_err(unstartable)?;
                incident.open(&mut run);
                let linked = run.link(introduction(incident.name.to_owned()));
                (Self::Kept(Box::new(run)), linked)
            }
        };
        let (link, painter) = linked.ok_or_else(|| unstartable("no process"))?;
        Ok((world, link, painter))
    }

    fn now(&self) -> Timestamp {
        match self {
            Self::Preset(stage) => stage.clock().now(),
            Self::Kept(run) => run.now(),
        }
    }

    fn next_due(&self) -> Option<Timestamp> {
        match self {
            Self::Preset(stage) => stage.next_due(),
            Self::Kept(run) => run.next_due(),
        }
    }

    fn advance_to(&mut self, target: Timestamp) -> Result<(), Stuck> {
        match self {
            Self::Preset(stage) => Ok(stage.advance_to(target)?),
            Self::Kept(run) => run.advance_to(target),
        }
    }

    /// The past is over: whoever followed a script acts by itself, and a console watches.
    fn go_live(&mut self, painter: Option<Loop>) -> Result<(), Stuck> {
        match self {
            Self::Preset(stage) => painter.into_iter().for_each(|painter| {
                stage.drive(painter);
            }),
            Self::Kept(run) => run.go_live(painter)?,
        }
        Ok(())
    }

    fn on_wake(&self, hook: Hook) {
        match self {
            Self::Preset(stage) => stage.on_wake(hook),
            Self::Kept(run) => run.on_wake(hook),
        }
    }
}

/// Moves virtual time along with the wall clock.
struct Pacer {
    world: World,
    opening: Timestamp,
    clock: DemoClock,
    stop: Arc<AtomicBool>,
}

impl Pacer {
    fn run(mut self, painter: Option<Loop>) -> Result<(), Stuck> {
        self.live_through_the_past()?;
        self.world.go_live(painter)?;
        // An order from the console is decided at once, not at the next step.
        let this = thread::current();
        self.world.on_wake(Arc::new(move || this.unpark()));
        self.clock.hold();
        while !self.is_over() {
            self.world.advance_to(self.clock.step())?;
            thread::park_timeout(PAUSE);
        }
        Ok(())
    }

    /// In pieces, so that whoever leaves meanwhile does not have to wait.
    fn live_through_the_past(&mut self) -> Result<(), Stuck> {
        while !self.is_over() && self.world.now() < self.opening {
            let next = self.world.next_due().unwrap_or(self.opening);
            self.world.advance_to(next.min(self.opening))?;
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

fn unstartable(why: impl std::fmt::Display) -> Problem {
    Problem::new(ProblemKind::Internal, "demo", format!("the simulation could not be started: {why}"))
}

fn broken(why: impl std::fmt::Display) -> Problem {
    Problem::new(ProblemKind::Internal, "demo", format!("the simulation came to an end: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::link::{Answer, Link};
    use crate::control::picture::{Freshness, Picture};
    use crate::domain::change::Level;
    use crate::domain::ids::{MachineId, RingId};
    use crate::domain::rollout::Rollout;
    use crate::sim::operator::Operator;
    use crate::sim::presets::{KEPT, PRESETS, kept, preset};

    /// Far longer than anything here takes, even on a busy machine.
    const PATIENCE: Duration = Duration::from_secs(60);

    fn shown(name: &str) -> Show {
        Show::Preset(preset(name).unwrap(), 1)
    }

    fn is_live(picture: &Picture) -> bool {
        matches!(picture.api, Freshness::Live(_))
    }

    async fn live(paced: &Paced) -> Picture {
        let mut pictures = paced.link().pictures();
        let wait = async { pictures.wait_for(is_live).await.unwrap().clone() };
        tokio::time::timeout(PATIENCE, wait).await.unwrap()
    }

    #[tokio::test]
    async fn a_demo_says_that_it_is_connecting_until_its_past_is_over_and_then_shows_the_present() {
        let wall = SystemClock::start();
        let paced = Paced::start(Show::Preset(&PRESETS[0], 1), 1.0, wall).unwrap();
        let opening = paced.clock().now();
        assert!(opening <= wall.now());
        let first = live(&paced).await;
        assert!(first.world.running().is_some());
        assert!(first.world.at <= paced.clock().now() && first.world.at > opening - SignedDuration::from_hours(1));
        paced.stop().unwrap();
    }

    #[tokio::test]
    async fn an_order_is_decided_at_once_even_where_time_hardly_moves() {
        let paced = Paced::start(shown("fresh"), 1e-6, SystemClock::start()).unwrap();
        let opening = paced.clock().now();
        live(&paced).await;
        let ring = RingId::named("oak-cp");
        let order = Operator("you").pauses(Level::Ring(ring), "");
        let answer = tokio::time::timeout(PATIENCE, paced.link().order(order, None)).await.unwrap();
        assert!(matches!(answer, Answer::Done { .. }), "{answer:?}");
        let mut pictures = paced.link().pictures();
        let paused = pictures.wait_for(|picture| picture.world.rings[&ring].paused.is_some());
        let at = tokio::time::timeout(PATIENCE, paused).await.unwrap().unwrap().world.at;
        assert!(at.duration_since(opening) < SignedDuration::from_secs(1));
    }

    #[tokio::test]
    async fn time_moves_as_fast_as_it_was_told_to() {
        let paced = Paced::start(shown("fresh"), 1_000.0, SystemClock::start()).unwrap();
        let mut pictures = paced.link().pictures();
        let revision = live(&paced).await.world.revision;
        let moved = pictures.wait_for(|picture| picture.world.revision > revision + 4);
        tokio::time::timeout(PATIENCE, moved).await.unwrap().unwrap();
        paced.stop().unwrap();
    }

    #[tokio::test]
    async fn a_row_of_the_table_is_shown_and_goes_on_alive_with_its_operator_at_the_console() {
        let show = Show::Kept(kept("fm-08").unwrap());
        let paced = Paced::start(show, 600.0, SystemClock::start()).unwrap();
        let first = live(&paced).await;
        let ash = MachineId::named("ash");
        assert!(first.world.machines[&ash].paused.is_some() && first.world.machines[&ash].lease.is_none());
        let order = Operator("you").unpauses(Level::Machine(ash), "");
        let answer = tokio::time::timeout(PATIENCE, paced.link().order(order, None)).await.unwrap();
        assert!(matches!(answer, Answer::Done { .. }), "{answer:?}");
        let mut pictures = paced.link().pictures();
        let over = pictures.wait_for(|picture| picture.world.running().is_none());
        let last = tokio::time::timeout(PATIENCE, over).await.unwrap().unwrap().world.clone();
        assert_eq!(last.current().map(Rollout::status), Some("completed"));
        paced.stop().unwrap();
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn every_row_of_the_table_opens_inside_a_runtime() {
        for row in &KEPT {
            let paced = Paced::start(Show::Kept(row), 1.0, SystemClock::start());
            let paced = paced.unwrap_or_else(|problem| panic!("{}: {}", row.name(), problem.message));
            assert!(live(&paced).await.world.revision > 0, "{}", row.name());
            paced.stop().unwrap();
        }
    }

    #[test]
    fn the_clock_never_goes_back_however_it_is_stepped() {
        let wall = SystemClock::start();
        let clock = DemoClock::new(wall, 1_000.0, wall.now());
        let mut last = clock.now();
        for n in 0..20_000 {
            let now = if n % 7 == 0 { clock.step() } else { clock.now() };
            assert!(now >= last);
            last = now;
        }
    }

    #[test]
    fn a_demo_can_be_left_before_its_past_is_over() {
        let paced = Paced::start(shown("fleet"), 1.0, SystemClock::start()).unwrap();
        paced.stop().unwrap();
    }
}
