//! What every journal, the simulated one too, asks of a batch before it touches its store, and of the head before it
//! writes.

use super::ports::{AppendError, Batch, Head, JournalError};
use crate::domain::world::World;

/// The head of an account nobody has written to yet.
pub const EMPTY: Head = Head { revision: 0, epoch: 0, oldest: 1 };

/// Refuses a batch whose entries do not follow `expected` one by one: writing it would leave a gap for ever.
pub fn check_shape(batch: &Batch) -> Result<(), AppendError> {
    if batch.entries.is_empty() {
        return Err(malformed(batch.expected, "a batch without entries".to_owned()));
    }
    for (place, entry) in (batch.expected.saturating_add(1)..).zip(&batch.entries) {
        if entry.revision != place {
            return Err(malformed(entry.revision, format!("it stands at the place of entry {place}")));
        }
    }
    Ok(())
}

/// The head after the batch, if it may be appended to `head`: nobody was faster, and the seat was not lost.
///
/// A lost seat is said first: who lost it has nothing to decide again.
pub fn advance(head: Head, batch: &Batch) -> Result<Head, AppendError> {
    if batch.epoch.is_some_and(|epoch| epoch < head.epoch) {
        return Err(AppendError::Deposed { head });
    }
    if batch.expected != head.revision {
        return Err(AppendError::Outrun { head });
    }
    let last = batch.entries.last().map_or(head.revision, |entry| entry.revision);
    Ok(Head { revision: last, epoch: batch.raises(head.epoch), oldest: head.oldest })
}

/// Refuses to keep a world that was decided and never appended: every later load would start from a lie.
pub fn check_snapshot(head: Head, world: &World) -> Result<(), JournalError> {
    if world.revision <= head.revision {
        return Ok(());
    }
    let problem = format!("a snapshot includes it, and the journal stands at {}", head.revision);
    Err(JournalError::Corrupt { revision: world.revision, problem })
}

fn malformed(revision: u64, problem: String) -> AppendError {
    AppendError::Failed(JournalError::Corrupt { revision, problem })
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::domain::change::{Cause, Change, Entry};
    use crate::domain::ids::{AccountId, Epoch, Revision};

    const HEAD: Head = Head { revision: 7, epoch: 3, oldest: 1 };

    fn batch(expected: Revision, epoch: Option<Epoch>) -> Batch {
        let change = Change::SeatTaken { holder: "b".to_owned(), epoch: 4, agents: true };
        let (at, by, cause) = (Timestamp::UNIX_EPOCH, "b".to_owned(), Cause::Seat);
        let entries = vec![Entry { revision: expected + 1, at, by, cause, change }];
        Batch { account: AccountId::named("test"), expected, epoch, entries }
    }

    #[test]
    fn only_a_batch_that_was_decided_on_the_head_is_taken() {
        // R28
        for expected in [0, 6, 8] {
            let outrun = advance(HEAD, &batch(expected, None));
            assert!(matches!(outrun, Err(AppendError::Outrun { head: HEAD })), "{expected}: {outrun:?}");
        }
        let head = advance(HEAD, &batch(7, None)).unwrap();
        assert_eq!((head.revision, head.epoch, head.oldest), (8, 4, 1));
    }

    #[test]
    fn a_seat_that_was_lost_is_said_before_everything_else() {
        // R28
        for (expected, epoch) in [(7, 2), (6, 2), (7, 0)] {
            let deposed = advance(HEAD, &batch(expected, Some(epoch)));
            assert!(matches!(deposed, Err(AppendError::Deposed { head: HEAD })), "{expected}, {epoch}: {deposed:?}");
        }
        assert!(advance(HEAD, &batch(7, Some(3))).is_ok());
    }
}
