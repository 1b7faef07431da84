//! Virtual time and futures that are driven by hand: nothing here ever waits for real.

use std::collections::BTreeSet;
use std::future::{Future, poll_fn};
use std::ops::Bound;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::control::ports::Clock;

/// Rounds without progress after which a future is taken to hang.
const ROUNDS_MAX: usize = 10_000;

#[derive(Debug)]
struct Hands {
    now: Timestamp,
    /// How far the wall clock was set ahead, and accepted.
    ahead: SignedDuration,
    due: BTreeSet<Timestamp>,
}

/// A clock that stands until a driver moves it.
#[derive(Debug, Clone)]
pub(crate) struct TestClock(Arc<Mutex<Hands>>);

impl TestClock {
    pub(crate) fn new() -> Self {
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        Self(Arc::new(Mutex::new(Hands { now, ahead: SignedDuration::ZERO, due: BTreeSet::new() })))
    }

    /// Moves the hands, as time does while a process is frozen.
    pub(crate) fn pass(&self, seconds: i64) {
        self.0.lock().unwrap().now += SignedDuration::from_secs(seconds);
    }

    /// A person accepted a wall clock that was set by so many seconds (R168).
    pub(crate) fn set_wall(&self, seconds: i64) {
        self.0.lock().unwrap().ahead += SignedDuration::from_secs(seconds);
    }

    /// Puts the hands back, so that two processes can be driven through the same second one after the other.
    pub(crate) fn set(&self, to: Timestamp) {
        self.0.lock().unwrap().now = to;
    }

    fn next_due(&self) -> Option<Timestamp> {
        let hands = self.0.lock().unwrap();
        hands.due.range((Bound::Excluded(hands.now), Bound::Unbounded)).next().copied()
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        let hands = self.0.lock().unwrap();
        hands.now + hands.ahead
    }

    fn steady(&self) -> Timestamp {
        self.0.lock().unwrap().now
    }

    fn sleep(&self, span: Duration) -> impl Future<Output = ()> + Send {
        let clock = self.clone();
        let until = self.steady() + SignedDuration::try_from(span).unwrap();
        poll_fn(move |_| {
            let mut hands = clock.0.lock().unwrap();
            if hands.now >= until {
                return Poll::Ready(());
            }
            hands.due.insert(until);
            Poll::Pending
        })
    }
}

struct Bell(AtomicBool);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Drives loops: everything that can move does, then the clock goes to the next sleeper.
pub(crate) struct Driver {
    clock: TestClock,
    tasks: Vec<Pin<Box<dyn Future<Output = ()> + Send>>>,
    bell: Arc<Bell>,
}

impl Driver {
    pub(crate) fn new(clock: &TestClock) -> Self {
        Self { clock: clock.clone(), tasks: Vec::new(), bell: Arc::new(Bell(AtomicBool::new(false))) }
    }

    pub(crate) fn add(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.push(Box::pin(task));
    }

    /// Loops that have not come to their end.
    pub(crate) fn alive(&self) -> usize {
        self.tasks.len()
    }

    /// Drops every task where it stands, as a crash would.
    pub(crate) fn crash(&mut self) {
        self.tasks.clear();
    }

    /// Drives everything for so many seconds of virtual time.
    pub(crate) fn run(&mut self, seconds: i64) {
        let end = self.clock.steady() + SignedDuration::from_secs(seconds);
        loop {
            self.settle();
            let next = self.clock.next_due().map_or(end, |due| due.min(end));
            if self.clock.steady() >= end {
                return;
            }
            self.clock.set(next);
        }
    }

    /// Drives everything until `call` has its answer; the clock moves as far as that takes.
    pub(crate) fn until<T>(&mut self, call: impl Future<Output = T>) -> T {
        let mut call = pin!(call);
        let waker = Waker::from(Arc::clone(&self.bell));
        for _ in 0..ROUNDS_MAX {
            self.settle();
            self.bell.0.store(false, Ordering::SeqCst);
            if let Poll::Ready(answer) = call.as_mut().poll(&mut Context::from_waker(&waker)) {
                return answer;
            }
            let idle = !self.bell.0.load(Ordering::SeqCst);
            if let Some(due) = self.clock.next_due().filter(|_| idle) {
                self.clock.set(due);
            }
        }
        panic!("the call hangs");
    }

    /// Polls every task until none asks to be polled again.
    fn settle(&mut self) {
        let waker = Waker::from(Arc::clone(&self.bell));
        for _ in 0..ROUNDS_MAX {
            self.bell.0.store(false, Ordering::SeqCst);
            self.tasks.retain_mut(|task| task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            if !self.bell.0.load(Ordering::SeqCst) {
                return;
            }
        }
        panic!("the loops never come to rest");
    }
}

/// Drives one call whose ports all answer by themselves.
pub(crate) fn now<T>(call: impl Future<Output = T>) -> T {
    let mut call = pin!(call);
    for _ in 0..ROUNDS_MAX {
        if let Poll::Ready(answer) = call.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return answer;
        }
    }
    panic!("the call hangs");
}
