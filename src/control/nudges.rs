//! Nudges: wakes the long polls whose answer may have changed, and tells whoever else wants to know (R38).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{broadcast, watch};

use crate::domain::ids::MachineId;

/// Polls of one machine that may be held at the same time; one more is answered at once.
pub const POLLS_HELD_PER_MACHINE: usize = 4;

/// Waves a subscriber may be behind; one that lags further misses some and should take everybody for nudged.
pub const WAVES_KEPT: usize = 1_024;

/// Machines that should poll again now.
pub type Wave = Arc<BTreeSet<MachineId>>;

/// The registry of held polls. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Nudges {
    held: Arc<Mutex<BTreeMap<MachineId, watch::Sender<()>>>>,
    waves: broadcast::Sender<Wave>,
}

impl Default for Nudges {
    fn default() -> Self {
        Self { held: Arc::default(), waves: broadcast::Sender::new(WAVES_KEPT) }
    }
}

impl Nudges {
    /// Registers a poll of `machine` that is going to be held. Register first and ask afterwards: a nudge between the
    /// two is not lost. None where too many polls of this machine are held already.
    pub fn enlist(&self, machine: MachineId) -> Option<HeldPoll> {
        let mut held = self.lock();
        let sender = held.entry(machine).or_default();
        let nudged = (sender.receiver_count() < POLLS_HELD_PER_MACHINE).then(|| sender.subscribe())?;
        Some(HeldPoll { machine, nudged: Some(nudged), nudges: self.clone() })
    }

    /// Every wave from now on, as a stream: what the agents of a simulation poll by.
    pub fn waves(&self) -> broadcast::Receiver<Wave> {
        self.waves.subscribe()
    }

    /// Every wave from now on, for somebody who comes by now and then.
    pub fn ear(&self) -> Ear {
        Ear(self.waves.subscribe())
    }

    /// Nudges these machines.
    pub fn wake(&self, machines: BTreeSet<MachineId>) {
        if machines.is_empty() {
            return;
        }
        {
            let held = self.lock();
            for sender in machines.iter().filter_map(|machine| held.get(machine)) {
                sender.send_replace(());
            }
        }
        // Nobody listening is no trouble: the polls themselves were woken above.
        let _ = self.waves.send(Arc::new(machines));
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<MachineId, watch::Sender<()>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waves that nobody took notice of yet.
#[derive(Debug)]
pub struct Ear(broadcast::Receiver<Wave>);

/// What was heard since somebody came by last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// These were nudged.
    Machines(BTreeSet<MachineId>),
    /// So many that some were missed: take everybody for nudged.
    Everybody,
}

impl Ear {
    /// Takes everything that was heard; an empty set where it was nothing.
    pub fn take(&mut self) -> Heard {
        let mut machines = BTreeSet::new();
        loop {
            match self.0.try_recv() {
                Ok(wave) => machines.extend(wave.iter().copied()),
                Err(broadcast::error::TryRecvError::Lagged(_)) => {
                    self.0 = self.0.resubscribe();
                    return Heard::Everybody;
                }
                Err(_) => return Heard::Machines(machines),
            }
        }
    }
}

/// A poll that is held. Its place in the registry ends with it.
#[derive(Debug)]
pub struct HeldPoll {
    machine: MachineId,
    nudged: Option<watch::Receiver<()>>,
    nudges: Nudges,
}

impl HeldPoll {
    /// Returns once the machine was nudged since it enlisted, or since the last call.
    pub async fn nudged(&mut self) {
        let Some(nudged) = &mut self.nudged else { return };
        // The sender stays in the registry for as long as this receiver lives.
        let _ = nudged.changed().await;
    }
}

impl Drop for HeldPoll {
    fn drop(&mut self) {
        let mut held = self.nudges.lock();
        self.nudged = None;
        if held.get(&self.machine).is_some_and(|sender| sender.receiver_count() == 0) {
            held.remove(&self.machine);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn is_nudged(held: &mut HeldPoll) -> bool {
        matches!(pin!(held.nudged()).poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(()))
    }

    #[test]
    fn a_nudge_between_enlisting_and_waiting_is_not_lost() {
        // R38
        let nudges = Nudges::default();
        let (ash, birch) = (MachineId::named("ash"), MachineId::named("birch"));
        let (mut first, mut second) = (nudges.enlist(ash).unwrap(), nudges.enlist(ash).unwrap());
        let mut other = nudges.enlist(birch).unwrap();
        nudges.wake(BTreeSet::from([ash]));
        assert!(is_nudged(&mut first) && is_nudged(&mut second));
        assert!(!is_nudged(&mut other));
        assert!(!is_nudged(&mut first), "a nudge is taken once");
    }

    #[test]
    fn the_registry_forgets_polls_that_ended_and_bounds_those_that_did_not() {
        let nudges = Nudges::default();
        let ash = MachineId::named("ash");
        let held: Vec<_> = (0..POLLS_HELD_PER_MACHINE).map(|_| nudges.enlist(ash).unwrap()).collect();
        assert!(nudges.enlist(ash).is_none());
        drop(held);
        assert!(nudges.lock().is_empty());
        assert!(nudges.enlist(ash).is_some());
    }

    #[test]
    fn an_ear_that_missed_some_takes_everybody_for_nudged() {
        let nudges = Nudges::default();
        let mut ear = nudges.ear();
        (0..=WAVES_KEPT * 2).for_each(|_| nudges.wake(BTreeSet::from([MachineId::named("ash")])));
        assert_eq!(ear.take(), Heard::Everybody);
        assert_eq!(ear.take(), Heard::Machines(BTreeSet::new()));
    }

    #[test]
    fn a_stream_sees_every_wave() {
        let nudges = Nudges::default();
        let mut waves = nudges.waves();
        nudges.wake(BTreeSet::new());
        let mut ear = nudges.ear();
        nudges.wake(BTreeSet::from([MachineId::named("ash")]));
        assert_eq!(ear.take(), Heard::Machines(BTreeSet::from([MachineId::named("ash")])));
        assert_eq!(ear.take(), Heard::Machines(BTreeSet::new()));
        assert_eq!(*waves.try_recv().unwrap(), BTreeSet::from([MachineId::named("ash")]));
        assert!(waves.try_recv().is_err(), "an empty wave is none");
    }
}
