//! The ground of a run: tasks, time, and the stores every process stands on.

use std::future::Future;

use jiff::Timestamp;

use super::super::clock::VirtualClock;
use super::super::executor::{Executor, Restless};
use super::super::host::Outside;
use super::super::renderer::SimRenderer;
use super::super::shared::Shared;
use super::file::moment::Moment;
use crate::control::ports::Clock;
use crate::domain::ids::AccountId;

/// What everything in a run stands on.
pub(super) struct Ground {
    pub(super) executor: Executor,
    pub(super) outside: Outside,
    pub(super) renderer: SimRenderer,
    pub(super) account: AccountId,
    pub(super) start: Timestamp,
}

impl Ground {
    pub(super) fn new(start: Timestamp, seed: u64) -> Self {
        Self {
            executor: Executor::seeded(seed),
            outside: Outside::new(VirtualClock::starting_at(start)),
            renderer: SimRenderer::default(),
            account: AccountId::named("main"),
            start,
        }
    }

    /// Virtual time.
    pub(super) fn now(&self) -> Timestamp {
        self.outside.clock.now()
    }

    /// Virtual time as a file writes it.
    pub(super) fn moment(&self) -> Moment {
        Moment::of(self.now(), self.start)
    }

    /// Lets everybody go on who can, without moving time.
    pub(super) fn settle(&mut self) -> Result<(), Restless> {
        self.executor.run_until_idle()
    }

    /// Runs a call to its end, or as far as it gets: none = nobody answered.
    pub(super) fn run<T: Send + 'static>(
        &mut self,
        name: &'static str,
        call: impl Future<Output = T> + Send + 'static,
    ) -> Result<Option<T>, Restless> {
        let slot = Shared::new(None);
        let answer = slot.clone();
        self.executor.spawn(name, async move {
            let value = call.await;
            answer.with(|answer| *answer = Some(value));
        });
        self.settle()?;
        Ok(slot.with(Option::take))
    }
}
