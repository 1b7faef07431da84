//! Wall time for a simulated world: a thread of its own moves virtual time along, as fast as it was told to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::adapters::clock::SystemClock;
use crate::control::local::{Introduction, LocalLink};
use crate::control::picture::Role;
use crate::control::ports::Clock;
use crate::control::service::Loop;
use crate::sim::clock::VirtualClock;
use crate::sim::executor::Restless;
use crate::sim::host::SimHost;
use crate::sim::presets::Preset;
use crate::sim::stage::Stage;
use crate::wire::problem::{Problem, ProblemKind};

/// Virtual time moves at least this often, in wall time.
const STEP: Duration = Duration::from_millis(50);

/// Wall time that is made up for in one step: after a suspend, or on a machine that cannot keep up, the world goes on
/// where it was.
const STEP_MAX: SignedDuration = SignedDuration::from_millis(250);

/// The time a simulated world shows: its own. Sleeping is a matter of the screen, so it takes wall time.
#[derive(Debug, Clone)]
pub struct DemoClock {
    simulated: VirtualClock,
    opening: Timestamp,
    wall: SystemClock,
}

impl Clock for DemoClock {
    /// While the world lives through its past, nobody is to see the hands race.
    fn now(&self) -> Timestamp {
        self.simulated.now().max(self.opening)
    }

    fn sleep(&self, span: Duration) -> impl Future<Output = ()> + Send {
        self.wall.sleep(span)
    }
}

/// A simulated world that moves by itself. It stops when this is dropped.
pub struct Paced {
    link: LocalLink<SimHost>,
    clock: DemoClock,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), Restless>>>,
}

impl Paced {
    /// Lets a preset live through its past and go on from now, `speed` times as fast as the wall clock. Returns at
    /// once: the first pictures come when the past is over.
    pub fn start(preset: &Preset, seed: u64, speed: f64, wall: SystemClock) -> Result<Self, Problem> {
        let opening = wall.now();
        let stage = preset.stage(opening, seed);
        let introduction =
            Introduction { endpoint: "demo".to_owned(), account: preset.name.to_owned(), role: Role::Operator };
        let (link, painter) = stage.link(introduction).ok_or_else(|| unstartable("no process"))?;
        let clock = DemoClock { simulated: stage.clock().clone(), opening, wall };
        let stop = Arc::new(AtomicBool::new(false));
        let pacer = Pacer { stage, opening, speed, wall, stop: Arc::clone(&stop) };
        let builder = thread::Builder::new().name("simulation".to_owned());
        let thread = builder.spawn(move || pacer.run(painter)).map_err(unstartable)?;
        Ok(Self { link, clock, stop, thread: Some(thread) })
    }

    /// A console's end of it.
    pub fn link(&self) -> LocalLink<SimHost> {
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
            Some(Ok(Err(restless))) => Err(broken(restless)),
            Some(Err(_)) => Err(broken("the simulation panicked")),
        }
    }

    fn halt(&mut self) -> Option<JoinHandle<Result<(), Restless>>> {
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

/// Moves virtual time along with the wall clock.
struct Pacer {
    stage: Stage,
    opening: Timestamp,
    speed: f64,
    wall: SystemClock,
    stop: Arc<AtomicBool>,
}

impl Pacer {
    fn run(mut self, painter: Loop) -> Result<(), Restless> {
        self.live_through_the_past()?;
        self.stage.drive(painter);
        // An order from the console is decided at once, not at the next step.
        let this = thread::current();
        self.stage.on_wake(Arc::new(move || this.unpark()));
        let mut last = self.wall.now();
        while !self.is_over() {
            let now = self.wall.now();
            let target = self.target(now.duration_since(last));
            last = now;
            self.stage.advance_to(target)?;
            thread::park_timeout(STEP);
        }
        Ok(())
    }

    /// In pieces, so that whoever leaves meanwhile does not have to wait.
    fn live_through_the_past(&mut self) -> Result<(), Restless> {
        while !self.is_over() && self.stage.clock().now() < self.opening {
            let next = self.stage.next_due().unwrap_or(self.opening);
            self.stage.advance_to(next.min(self.opening))?;
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Virtual time after `passed` of wall time.
    fn target(&self, passed: SignedDuration) -> Timestamp {
        let seconds = passed.min(STEP_MAX).as_secs_f64() * self.speed;
        let passed = SignedDuration::try_from_secs_f64(seconds).unwrap_or_default();
        let now = self.stage.clock().now();
        now.checked_add(passed).unwrap_or(now)
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
    use crate::domain::ids::RingId;
    use crate::sim::operator::Operator;
    use crate::sim::presets::{PRESETS, preset};

    /// Far longer than anything here takes, even on a busy machine.
    const PATIENCE: Duration = Duration::from_secs(60);

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
        let paced = Paced::start(&PRESETS[0], 1, 1.0, wall).unwrap();
        let opening = paced.clock().now();
        assert!(opening <= wall.now());
        let first = live(&paced).await;
        assert!(first.world.running().is_some());
        assert!(first.world.at <= paced.clock().now() && first.world.at > opening - SignedDuration::from_hours(1));
        paced.stop().unwrap();
    }

    #[tokio::test]
    async fn an_order_is_decided_at_once_even_where_time_hardly_moves() {
        let paced = Paced::start(preset("fresh").unwrap(), 1, 1e-6, SystemClock::start()).unwrap();
        live(&paced).await;
        let ring = RingId::named("oak-cp");
        let order = Operator("you").pauses(Level::Ring(ring), "");
        let answer = tokio::time::timeout(PATIENCE, paced.link().order(order)).await.unwrap();
        assert!(matches!(answer, Answer::Done { .. }), "{answer:?}");
        let mut pictures = paced.link().pictures();
        let paused = pictures.wait_for(|picture| picture.world.rings[&ring].paused.is_some());
        let at = tokio::time::timeout(PATIENCE, paused).await.unwrap().unwrap().world.at;
        assert!(at.duration_since(paced.clock().opening) < SignedDuration::from_secs(1));
    }

    #[tokio::test]
    async fn time_moves_as_fast_as_it_was_told_to() {
        let paced = Paced::start(preset("fresh").unwrap(), 1, 1_000.0, SystemClock::start()).unwrap();
        let mut pictures = paced.link().pictures();
        let revision = live(&paced).await.world.revision;
        let moved = pictures.wait_for(|picture| picture.world.revision > revision + 4);
        tokio::time::timeout(PATIENCE, moved).await.unwrap().unwrap();
        paced.stop().unwrap();
    }

    #[test]
    fn a_demo_can_be_left_before_its_past_is_over() {
        let paced = Paced::start(preset("fleet").unwrap(), 1, 1.0, SystemClock::start()).unwrap();
        paced.stop().unwrap();
    }
}
