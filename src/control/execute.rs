//! The steps of the reconciler, carried out one after the other while the seat is held; what came of them goes back in.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::door::{Door, DoorError};
use super::host::Host;
use super::ports::{Clock, Cluster};
use super::seat::Held;
use super::stop::Stop;
use crate::domain::ids::Epoch;
use crate::domain::input::Input;
use crate::domain::kura::step::{Ran, Step};
use crate::domain::roll::wanted::is_wanted;

/// Lots of steps that may wait; one more is left to the next tick, which decides it anew.
pub(super) const LOTS_WAITING: usize = 4;

/// Steps of one verdict.
#[derive(Debug, Clone)]
pub(super) struct Lot {
    /// The epoch they were decided in: in no other one are they carried out.
    pub(super) epoch: Epoch,
    /// In order.
    pub(super) steps: Vec<Step>,
}

/// Carries steps out for one account.
pub(super) struct Executor<H> {
    pub(super) host: Arc<H>,
    pub(super) door: Door,
    pub(super) held: Held,
    pub(super) lots: mpsc::Receiver<Lot>,
    pub(super) stop: Stop,
}

/// Carries out whatever is decided, until it is stopped. Nothing is tried twice: the next tick is the retry.
pub(super) async fn run_executor<H: Host>(mut executor: Executor<H>) {
    loop {
        let lot = tokio::select! {
            biased;
            () = executor.stop.asked() => return,
            lot = executor.lots.recv() => lot,
        };
        match lot {
            None => return,
            Some(lot) => executor.carry_out(lot).await,
        }
    }
}

impl<H: Host> Executor<H> {
    async fn carry_out(&self, lot: Lot) {
        let mut ran = Vec::new();
        for step in lot.steps {
            // Who lost the seat meanwhile finishes what is in flight and begins nothing.
            if !self.held.covers(lot.epoch, self.host.clock().steady()) || self.stop.is_asked() {
                break;
            }
            if !is_wanted(&step, &self.door.world().rolls) {
                continue;
            }
            let outcome = self.host.cluster().run(&step).await;
            if let Some(why) = outcome.trouble() {
                tracing::warn!(object = %step.object, verb = step.deed.verb(), %why, "a write did not succeed");
            }
            ran.push(Ran { step, outcome });
        }
        if ran.is_empty() {
            return;
        }
        match self.door.ask_under(lot.epoch, Input::Seen { ran, tried: BTreeSet::new() }).await {
            Ok(_) => {}
            Err(DoorError::Deposed) => self.held.lose(lot.epoch),
            Err(error) => {
                tracing::warn!(why = %error, "what came of writes was not recorded; the next tick looks again")
            }
        }
    }
}
