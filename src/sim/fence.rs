//! Whether the fence of a journal stands, read naively from the rules and from its entries: who decides under the seat says
//! in which epoch, who says an epoch that is over is told so, and nothing is kept that was decided on the past (R28).

use crate::control::ports::{AppendError, Batch, Head};
use crate::domain::change::Cause;
use crate::domain::world::World;

/// The rule that is broken by a batch, or by what a journal says to it that holds `world`, if one is.
pub(super) fn broken(world: &World, batch: &Batch, answer: &Result<Head, AppendError>) -> Option<String> {
    let of_tick = batch.entries.iter().find(|entry| matches!(entry.cause, Cause::Tick | Cause::Seen));
    if let Some(entry) = of_tick.filter(|_| batch.epoch.is_none()) {
        return Some(format!("R28: {} decided under the seat and does not say in which epoch", entry.by));
    }
    let by = batch.entries.first().map(|entry| entry.by.as_str())?;
    match (batch.epoch.filter(|epoch| *epoch < world.seat.epoch), answer) {
        (Some(_), Err(AppendError::Deposed { .. })) => None,
        (Some(epoch), _) => Some(format!("R28: {by} appends in epoch {epoch}, which is over, and is not told so")),
        (None, Ok(_)) if batch.expected != world.revision => {
            Some(format!("R28: {by} decided on revision {} and appends to {}", batch.expected, world.revision))
        }
        (None, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::control::batch::EMPTY;
    use crate::domain::change::{Change, Entry};
    use crate::domain::ids::{AccountId, Epoch, Revision};

    fn batch(expected: Revision, epoch: Option<Epoch>, cause: Cause) -> Batch {
        let (at, by, change) = (Timestamp::UNIX_EPOCH, "a".to_owned(), Change::ClockAccepted);
        let entries = vec![Entry { revision: expected + 1, at, by, cause, change }];
        Batch { account: AccountId::named("test"), expected, epoch, entries }
    }

    fn told(batch: &Batch, answer: Result<Head, AppendError>) -> Option<String> {
        let mut world = World::default();
        (world.revision, world.seat.epoch) = (7, 3);
        broken(&world, batch, &answer)
    }

    #[test]
    fn a_fence_that_does_not_stand_is_told() {
        // R28
        let deposed = || Err(AppendError::Deposed { head: EMPTY });
        let outrun = || Err(AppendError::Outrun { head: EMPTY });
        let says =
            |why: Option<String>, what: &str| assert!(why.as_ref().is_some_and(|why| why.contains(what)), "{why:?}");
        says(told(&batch(7, None, Cause::Tick), Ok(EMPTY)), "in which epoch");
        says(told(&batch(7, None, Cause::Seen), outrun()), "in which epoch");
        says(told(&batch(7, Some(2), Cause::Tick), Ok(EMPTY)), "epoch 2, which is over");
        says(told(&batch(6, Some(2), Cause::Tick), outrun()), "epoch 2, which is over");
        says(told(&batch(6, Some(3), Cause::Tick), Ok(EMPTY)), "on revision 6 and appends to 7");
        says(told(&batch(6, None, Cause::Seat), Ok(EMPTY)), "on revision 6 and appends to 7");
        assert_eq!(told(&batch(6, Some(2), Cause::Tick), deposed()), None);
        assert_eq!(told(&batch(6, Some(3), Cause::Tick), outrun()), None);
        assert_eq!(told(&batch(7, Some(3), Cause::Tick), Ok(EMPTY)), None);
    }
}
