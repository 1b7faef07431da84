//! A verb that comes again under the same key was done already: its first answer is read from what it left behind.

use crate::domain::change::{Cause, Change, Entry};
use crate::domain::input::Order;
use crate::domain::verdict::Reply;

/// The answer to an order that `entries` already contain, so that a lost answer and a second try do not make a reset
/// out of a start. None where the order is new, or left nothing behind and may as well be decided again.
pub(super) fn reply_to_repetition<'a>(
    order: &Order,
    entries: impl DoubleEndedIterator<Item = &'a Entry> + Clone,
) -> Option<Reply> {
    let key = order.key.as_deref()?;
    let mine = |entry: &&Entry| match &entry.cause {
        Cause::Verb { name, key: Some(known), .. } => known == key && name == order.verb.name() && entry.by == order.by,
        _ => false,
    };
    let mut left_behind = entries.filter(mine).peekable();
    left_behind.peek()?;
    Some(left_behind.find_map(|entry| reply_of(&entry.change)).unwrap_or(Reply::Done))
}

fn reply_of(change: &Change) -> Option<Reply> {
    match change {
        Change::RolloutStarted { rollout, .. } => Some(Reply::Started(*rollout)),
        Change::RolloutReset { rollout, .. } => Some(Reply::Reset(*rollout)),
        Change::EnvironmentCreated { environment } => Some(Reply::Environment(environment.id)),
        Change::RingCreated { ring } => Some(Reply::Ring(ring.id)),
        Change::MachineAdded { machine } => Some(Reply::Machine(machine.id)),
        Change::ReleasePublished { release } => Some(Reply::Release(release.id)),
        _ => None,
    }
}
