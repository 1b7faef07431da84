//! The ticker: asks for a tick every period while this process holds the seat.

use std::sync::Arc;
use std::time::Duration;

use super::door::{Door, DoorError};
use super::host::Host;
use super::ports::Clock;
use super::seat::Held;
use super::stop::Stop;
use super::time::{later, until};
use crate::domain::ids::{Epoch, RolloutId};
use crate::domain::input::Input;

/// Period of the tick, unless the process is told otherwise (R9).
pub const TICK_EVERY: Duration = Duration::from_secs(60);

/// Asks for the ticks of one account.
pub(super) struct Ticker<H> {
    pub(super) host: Arc<H>,
    pub(super) door: Door,
    pub(super) held: Held,
    pub(super) period: Duration,
    pub(super) stop: Stop,
}

/// Ticks whenever the seat is held, until it is stopped.
pub(super) async fn run_ticker<H: Host>(ticker: Ticker<H>) {
    while let Some(epoch) = ticker.held.next_epoch(&ticker.stop).await {
        ticker.tick_under(epoch).await;
    }
}

impl<H: Host> Ticker<H> {
    /// The tick, with the identity of the rollout that an unattended starter may begin in it.
    fn tick(&self) -> Input {
        Input::Tick { fresh: RolloutId(self.host.fresh()) }
    }

    /// Ticks until the epoch is over; the first time one period after it began. A period that was slept through is
    /// left out rather than made up for, and a clock that is set moves no tick (R168).
    async fn tick_under(&self, epoch: Epoch) {
        let clock = self.host.clock();
        let mut epochs = self.held.epochs();
        let mut due = later(clock.steady(), self.period);
        loop {
            tokio::select! {
                biased;
                () = self.stop.asked() => return,
                _ = epochs.wait_for(|held| *held != Some(epoch)) => return,
                () = clock.sleep(until(due, clock.steady())) => {}
            }
            match self.door.ask_under(epoch, self.tick()).await {
                Ok(_) => {}
                Err(DoorError::Deposed) => return self.held.lose(epoch),
                // The next tick is the retry.
                Err(error) => tracing::warn!(%epoch, why = %error, "a tick was not decided"),
            }
            due = later(due, self.period).max(clock.steady());
        }
    }
}
