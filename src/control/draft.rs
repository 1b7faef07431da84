//! A draft: everything that waits, decided in sequence on a scratch world, ready to be appended in one piece.

use std::borrow::Cow;
use std::collections::BTreeSet;

use jiff::Timestamp;

use super::door::{Answered, DoorError, Request, Stale};
use super::execute::Lot;
use super::ports::Batch;
use super::publish::Published;
use super::repeat::{Repetition, repetition};
use crate::domain::audit::link;
use crate::domain::change::{Change, Entry};
use crate::domain::decide::decide;
use crate::domain::ids::{AccountId, Epoch, Revision};
use crate::domain::input::{Input, Order, Verb};
use crate::domain::kura::object::ObjectRef;
use crate::domain::kura::step::Step;
use crate::domain::observed::{Observed, RefusedStart};
use crate::domain::plan::{moved, plan};
use crate::domain::refusal::Refusal;
use crate::domain::verdict::{Reply, Verdict};
use crate::domain::world::World;

/// Requests decided in one go.
pub(super) const REQUESTS_PER_BATCH: usize = 512;

/// Entries after which a batch takes no further request; one request's changes are never torn apart.
pub(super) const ENTRIES_PER_BATCH: usize = 4_096;

/// Requests that were decided together, and the world they lead to.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    /// The revision it was decided on.
    pub(super) expected: Revision,
    /// What is to be appended; empty where nothing changes.
    pub(super) entries: Vec<Entry>,
    /// The scratch world.
    pub(super) world: World,
    /// A tick was decided, whether or not it changed anything.
    pub(super) ticked: bool,
    /// The last start that was turned away by a protected rollout.
    pub(super) refused_start: Option<RefusedStart>,
    /// When it was decided.
    pub(super) now: Timestamp,
    /// Writes to the cluster that follow once the entries are kept.
    pub(super) lots: Vec<Lot>,
    /// Objects that such writes were decided for since the last tick, or since a person last wanted something of one.
    pub(super) tried: BTreeSet<ObjectRef>,
    epoch: Option<Epoch>,
    /// In the order of the requests.
    replies: Vec<Result<Answered, DoorError>>,
}

/// What requests are decided on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Basis<'a> {
    /// The newest world and the changes that led to it.
    pub(super) published: &'a Published,
    /// The world outside.
    pub(super) observed: &'a Observed,
    /// Objects of the cluster that are not written to again before the next tick.
    pub(super) tried: &'a BTreeSet<ObjectRef>,
    /// The process that decides.
    pub(super) process: &'a str,
    /// What its clock says.
    pub(super) clock: Timestamp,
    /// The lowest epoch the journal is known to take a tick's changes from.
    pub(super) floor: Epoch,
}

impl Draft {
    /// Decides the first of `requests`, in order, until the batch is full. The rest is for the next draft.
    pub(super) fn of(basis: Basis<'_>, requests: &[Request]) -> Self {
        Self::within(basis, requests, ENTRIES_PER_BATCH)
    }

    fn within(basis: Basis<'_>, requests: &[Request], entries: usize) -> Self {
        let mut draft = Self::blank(basis);
        for request in requests.iter().take(REQUESTS_PER_BATCH) {
            if draft.entries.len() >= entries {
                break;
            }
            let reply = draft.decided(basis, request).map(|(verdict, again)| {
                let verdict = if again { verdict } else { draft.audited(basis, request, verdict) };
                let reply = draft.fold(basis, request, verdict);
                Answered { reply, again }
            });
            draft.replies.push(reply);
        }
        draft
    }

    /// Replies to the first of `requests` while nothing can be appended: what changes nothing is answered, and everything
    /// else gets `error`. Each is decided on the published world, so that no reply rests on a change that is not kept. That
    /// world may be an old one, though: a person is told that nothing had to be done only where the journal agrees.
    pub(super) fn refusing(basis: Basis<'_>, requests: &[Request], error: &DoorError) -> Self {
        let mut draft = Self::blank(basis);
        for request in requests.iter().take(REQUESTS_PER_BATCH) {
            let by_person = matches!(request.input, Input::Verb(_));
            let reply = draft.decided(basis, request).and_then(|(verdict, again)| {
                let stands = again || (verdict.changes.is_empty() && !by_person);
                if stands { Ok(Answered { reply: verdict.reply, again }) } else { Err(error.clone()) }
            });
            draft.replies.push(reply);
        }
        draft
    }

    fn blank(basis: Basis<'_>) -> Self {
        let world = World::clone(&basis.published.world);
        Self {
            expected: world.revision,
            entries: Vec::new(),
            now: basis.clock.max(world.at),
            world,
            ticked: false,
            refused_start: None,
            lots: Vec::new(),
            tried: basis.tried.clone(),
            epoch: None,
            replies: Vec::new(),
        }
    }

    /// It would put changes into the journal at a time nobody has vouched for (R168).
    pub(super) fn needs_a_clock(&self) -> bool {
        !self.entries.is_empty() && !self.accepts_the_clock()
    }

    /// A person says in it that the clock is right.
    pub(super) fn accepts_the_clock(&self) -> bool {
        self.entries.iter().any(|entry| matches!(entry.change, Change::ClockAccepted))
    }

    /// What goes to the journal.
    pub(super) fn batch(&self, account: AccountId) -> Batch {
        Batch { account, expected: self.expected, epoch: self.epoch, entries: self.entries.clone() }
    }

    /// Takes the requests that are decided in it off `waiting` and answers them.
    pub(super) fn reply(self, waiting: &mut Vec<Request>) {
        let answered = waiting.drain(..self.replies.len().min(waiting.len()));
        answered.zip(self.replies).for_each(|(request, reply)| request.answer(reply));
    }

    /// A verb leaves a link in the audit, whatever came of it.
    fn audited(&self, basis: Basis<'_>, request: &Request, mut verdict: Verdict) -> Verdict {
        if let Input::Verb(order) = &request.input {
            let link = Box::new(link(order, &verdict, &self.world, basis.observed, self.now));
            verdict.changes.push(Change::Audited { link });
        }
        verdict
    }

    /// Adds what was decided to the batch and to the scratch world.
    fn fold(&mut self, basis: Basis<'_>, request: &Request, mut verdict: Verdict) -> Reply {
        self.line_up(request, std::mem::take(&mut verdict.steps));
        let author = request.input.author(&self.world, basis.process);
        let entries = author.entries(&self.world, &verdict.changes, self.now);
        entries.iter().for_each(|entry| self.world.apply(entry));
        if request.input.needs_seat() {
            self.ticked |= matches!(request.input, Input::Tick { .. });
            // The epoch guards a tick's changes, and only those: a verb needs no seat.
            self.epoch = self.epoch.or(request.under.filter(|_| !entries.is_empty()));
        }
        self.refused_start = turned_away(&request.input, &verdict.reply, self.now).or(self.refused_start.take());
        self.entries.extend(entries);
        verdict.reply
    }

    /// The steps of a verdict; only what was decided under the seat has any. A tick begins anew, and so does a person:
    /// whatever stood in the way of the last write is for the next one to find out.
    fn line_up(&mut self, request: &Request, steps: Vec<Step>) {
        if begins_anew(&request.input) {
            self.tried.clear();
        }
        if let Some(epoch) = request.under.filter(|_| !steps.is_empty()) {
            self.tried.extend(steps.iter().map(|step| step.object.clone()));
            self.lots.push(Lot { epoch, steps });
        }
    }

    /// What is decided: of the cluster nobody but the loop knows what was tried.
    fn input<'a>(&self, request: &'a Request) -> Cow<'a, Input> {
        match &request.input {
            Input::Seen { ran, .. } => Cow::Owned(Input::Seen { ran: ran.clone(), tried: self.tried.clone() }),
            input => Cow::Borrowed(input),
        }
    }

    /// The verdict on a request, and whether it is the one of an earlier request under the same key.
    fn decided(&self, basis: Basis<'_>, request: &Request) -> Result<(Verdict, bool), DoorError> {
        let seated = request.under.is_none_or(|epoch| epoch == self.world.seat.epoch && epoch >= basis.floor);
        if !seated || (request.input.needs_seat() && request.under.is_none()) {
            return Err(DoorError::Deposed);
        }
        if let Input::Verb(order) = &request.input {
            match repetition(order, &self.world, self.now) {
                Repetition::New => {}
                Repetition::Done(reply) => return Ok((Verdict::saying(reply), true)),
                Repetition::Reused => return Err(DoorError::KeyReused),
            }
            let planned_at = request.planned_at.filter(|_| !order.verb.is_stop());
            planned_at.map_or(Ok(()), |revision| self.compare(basis, order, revision))?;
        }
        Ok((decide(&self.world, basis.observed, &self.input(request), self.now), false))
    }

    fn compare(&self, basis: Basis<'_>, order: &Order, planned_at: Revision) -> Result<(), DoorError> {
        let kept = basis.published.entries_after(planned_at);
        let since = kept.as_ref().map(|kept| kept.iter().chain(&self.entries));
        compare(&self.world, basis.observed, order, planned_at, since, self.now)
    }
}

fn begins_anew(input: &Input) -> bool {
    matches!(input, Input::Tick { .. } | Input::Verb(Order { verb: Verb::Kura(_) | Verb::Roll(_), .. }))
}

/// Plans a verb again, and refuses where something the plan names has changed after `planned_at`, be it in `tail` or
/// by what is decided in the same breath.
pub(super) fn compare<'a>(
    world: &World,
    observed: &Observed,
    order: &Order,
    planned_at: Revision,
    since: Option<impl Iterator<Item = &'a Entry>>,
    now: Timestamp,
) -> Result<(), DoorError> {
    let stale = |moved| DoorError::Moved(Stale { planned_at, revision: world.revision, moved });
    let Some(since) = since.filter(|_| planned_at <= world.revision) else { return Err(stale(Vec::new())) };
    let plan = plan(&order.verb, world, observed, &order.by, now);
    let moved = moved(&plan, world, since);
    if moved.is_empty() { Ok(()) } else { Err(stale(moved)) }
}

/// A start that a protected rollout refused: no change says so, and the operator wants to know (B18 D6).
fn turned_away(input: &Input, reply: &Reply, at: Timestamp) -> Option<RefusedStart> {
    let (Input::Verb(order), Reply::Refused(Refusal::Protected { .. })) = (input, reply) else { return None };
    let Verb::Start { release, .. } = order.verb else { return None };
    Some(RefusedStart { at, by: order.by.clone(), release })
}

#[cfg(test)]
mod tests {
    use super::super::ports::Clock;
    use super::super::tests::bed::{Bed, pause, requests, start};
    use super::*;

    #[test]
    fn a_batch_that_is_full_takes_no_further_request_and_tears_none_apart() {
        let bed = Bed::new();
        let a = bed.process("a");
        let inputs = [pause("ash"), start("r1", "v1"), pause("birch")].map(|input| (None, input));
        let (waiting, _answers) = requests(inputs.into());
        let published = a.published();
        let observed = a.turns.observer.observe(&published.world);
        let basis = Basis {
            published: &published,
            observed: &observed,
            tried: &BTreeSet::new(),
            process: "a",
            clock: bed.clock.now(),
            floor: 0,
        };
        let draft = Draft::within(basis, &waiting, 3);
        assert_eq!(draft.replies.len(), 2);
        assert_eq!(draft.entries.len(), 5, "the start has two, the pause one, and each a link of the audit");
        assert_eq!(Draft::within(basis, &waiting, 6).replies.len(), 3);
    }
}
