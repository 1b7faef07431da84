//! The trail of a process through its ports: which call it is at, and the one at which it dies or freezes.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::executor::{Alarm, Fate};
use super::pending::pend_once;
use super::shared::Shared;

/// Calls at the ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Call {
    /// Where the journal stands.
    Head,
    /// The world at its head.
    Load,
    /// Entries to keep.
    Append,
    /// Entries to read.
    Read,
    /// Whether somebody appended.
    Follow,
    /// A world to keep.
    Snapshot,
    /// A sign of life.
    Beat,
    /// The last sign of life.
    LastBeat,
    /// Last polls.
    Flush,
    /// A result to keep.
    FileResult,
    /// Results to read.
    FindResults,
    /// A content.
    Fetch,
    /// A write to the cluster.
    Write,
}

impl Call {
    /// Every one.
    pub const ALL: [Self; 13] = [
        Self::Head,
        Self::Load,
        Self::Append,
        Self::Read,
        Self::Follow,
        Self::Snapshot,
        Self::Beat,
        Self::LastBeat,
        Self::Flush,
        Self::FileResult,
        Self::FindResults,
        Self::Fetch,
        Self::Write,
    ];
}

/// How far a call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Point {
    /// Nothing was done yet.
    Unsent,
    /// It was done, and the caller does not know.
    Done,
    /// It was turned away: outrun, deposed, of an old version.
    Refused,
    /// It failed.
    Failed,
}

impl Point {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Unsent, Self::Done, Self::Refused, Self::Failed];

    /// What a call came to that can only be done or fail.
    pub fn of<T, E>(answer: &Result<T, E>) -> Self {
        if answer.is_ok() { Self::Done } else { Self::Failed }
    }
}

/// Where processes were struck: a set of (call, how far it had come).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Strikes(u64);

impl Strikes {
    /// Places there are.
    pub const PLACES: usize = Call::ALL.len() * Point::ALL.len();

    fn add(&mut self, call: Call, point: Point) {
        self.0 |= 1 << (call as usize * Point::ALL.len() + point as usize);
    }

    /// Both together.
    pub fn join(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Different places.
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// True where somebody was struck there.
    pub fn has(self, call: Call, point: Point) -> bool {
        self.0 & (1 << (call as usize * Point::ALL.len() + point as usize)) != 0
    }
}

/// What waits for a process at one of its next calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Doom {
    /// At which.
    pub call: Call,
    /// Once its answer is there, whatever it is, and not before anything was done.
    pub answered: bool,
    /// After so many others of its kind.
    pub spared: u32,
    /// What happens.
    pub fate: Fate,
}

#[derive(Debug, Default)]
struct Steps {
    doom: Option<Doom>,
    alarm: Option<Alarm>,
    is_dead: bool,
    /// Whoever waits for its death, in order.
    mourners: BTreeMap<u64, Waker>,
    waited: u64,
    died_at: Strikes,
    froze_at: Strikes,
}

/// The trail of one process. Clones are the same trail.
#[derive(Debug, Clone, Default)]
pub struct Trail(Shared<Steps>);

impl Trail {
    /// Whoever drives the process hears when it is struck.
    pub fn arm(&self, alarm: Alarm) {
        self.0.with(|steps| steps.alarm = Some(alarm));
    }

    /// From now on this waits for it.
    pub fn doom(&self, doom: Doom) {
        self.0.with(|steps| steps.doom = Some(doom));
    }

    /// Nothing waits for it any more.
    pub fn spare(&self) {
        self.0.with(|steps| steps.doom = None);
    }

    /// Something waits for it.
    pub fn is_doomed(&self) -> bool {
        self.0.with(|steps| steps.doom.is_some())
    }

    /// At which calls it died, and at which it froze.
    pub fn struck(&self) -> (Strikes, Strikes) {
        self.0.with(|steps| (steps.died_at, steps.froze_at))
    }

    /// Done once it died at a call: for somebody outside who waits for an answer of it.
    pub(super) fn death(&self) -> Death {
        let key = self.0.with(|steps| {
            steps.waited += 1;
            steps.waited
        });
        Death { trail: self.clone(), key }
    }

    /// A call comes by. Whoever dies here goes no further; whoever freezes goes on once it is thawed.
    pub(super) async fn pass(&self, call: Call, point: Point) {
        match self.0.with(|steps| steps.strike(call, point)) {
            None => {}
            Some(Fate::Freezes) => pend_once().await,
            Some(Fate::Dies) => std::future::pending().await,
        }
    }
}

impl Steps {
    fn strike(&mut self, call: Call, point: Point) -> Option<Fate> {
        let alarm = self.alarm.as_ref()?;
        let doom = self.doom.as_mut().filter(|doom| doom.call == call && doom.answered == (point != Point::Unsent))?;
        if doom.spared > 0 {
            doom.spared -= 1;
            return None;
        }
        let fate = doom.fate;
        alarm.ring(fate);
        self.doom = None;
        match fate {
            Fate::Freezes => self.froze_at.add(call, point),
            Fate::Dies => {
                self.died_at.add(call, point);
                self.is_dead = true;
                std::mem::take(&mut self.mourners).into_values().for_each(Waker::wake);
            }
        }
        Some(fate)
    }
}

/// The death of a process, for one who waits for it. Who waits no longer leaves nothing behind.
pub(super) struct Death {
    trail: Trail,
    key: u64,
}

impl Future for Death {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.trail.0.with(|steps| {
            if steps.is_dead {
                return Poll::Ready(());
            }
            steps.mourners.insert(self.key, context.waker().clone());
            Poll::Pending
        })
    }
}

impl Drop for Death {
    fn drop(&mut self) {
        self.trail.0.with(|steps| drop(steps.mourners.remove(&self.key)));
    }
}
