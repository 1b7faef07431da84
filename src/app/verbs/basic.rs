//! A verb on a control plane that has only the runbook's own endpoints: no plan, no key, no journal to ask. Sent once;
//! after a lost answer the status is read again, because a retry is not safe there.

use super::aim::{Aimed, Deed};
use super::friction::Friction;
use super::record::{Outcome, Record};
use super::run::{Session, phrase, record, sentence};
use super::tell;
use super::witness::Witness;
use crate::adapters::remote::basic::orders;
use crate::adapters::remote::basic::sketch::Sketch;
use crate::adapters::remote::basic::watch::{Reader, Wishes};
use crate::adapters::remote::client::{Failure, Sent};
use crate::control::ports::Clock;
use crate::domain::glimpse::Glimpse;
use crate::domain::input::{Order, Verb};
use crate::wire::call::UNKNOWN_OUTCOME;
use crate::wire::problem::{Problem, ProblemKind};

impl Session<'_> {
    /// Until it is done, or is not.
    pub(super) async fn by_the_runbook(&mut self) -> Result<(), Problem> {
        let mut reader = Reader::new(&Wishes::of(self.rollout));
        let mut sketch = reader.read(&self.client, &self.clock).await.map_err(Failure::into_problem)?;
        if let Some((kind, text)) = self.aim.thing() {
            sketch.know(kind, text);
        }
        let (deed, target) = self.aim.aim(&sketch.world)?;
        let mut record = record(self.aim.verb(), target, sketch.account.clone());
        match self.carry_out_blindly(&deed, &sketch, &mut reader, &mut record).await {
            Ok(()) => tell::document(&record, self.manner.output),
            Err(problem) => self.failed(record, problem),
        }
    }

    async fn carry_out_blindly(
        &mut self,
        deed: &Deed,
        sketch: &Sketch,
        reader: &mut Reader,
        record: &mut Record,
    ) -> Result<(), Problem> {
        let verb = offered(deed, &sketch.glimpse)?;
        if self.manner.dry_run {
            return Err(cannot_rehearse());
        }
        let headline = format!("{} {}", phrase(record.verb), record.target.told());
        self.show(&tell::unplanned(record, &headline, &self.api, &sketch.glimpse))?;
        if self.asks {
            self.confirmed(takes(verb), &record.target).await?;
        }
        let (order, witness) = (self.order(verb), self.witness(deed, record));
        self.written_before(&witness).await?;
        let sent = self.sent_once(&order, sketch, reader, &record.target).await;
        self.written_after(&witness, sent.as_ref().map(drop)).await;
        record.outcome = Outcome::Done;
        match sent? {
            Some(sent) => {
                record.answer = serde_json::from_slice(&sent.body).ok();
                self.say(&tell::done(&sentence(&sketch.world, deed, &sent), record))
            }
            None => self.say(&tell::done("its answer was lost, and the status that was read since shows it", record)),
        }
    }

    fn order(&self, verb: &Verb) -> Order {
        Order { verb: verb.clone(), by: String::new(), reason: self.reason.clone(), key: None }
    }

    /// The answer; none where it was lost, and what is read since shows that it was done.
    async fn sent_once(
        &self,
        order: &Order,
        sketch: &Sketch,
        reader: &mut Reader,
        target: &Aimed,
    ) -> Result<Option<Sent>, Problem> {
        let call = orders::call(order);
        let sent = tokio::select! {
            sent = self.client.call(&call, None, None, None) => sent,
            _ = tokio::signal::ctrl_c() => return Err(unknown("it was interrupted", target)),
        };
        let why = match sent {
            Ok(sent) => return Ok(Some(sent)),
            Err(failure) if !super::send::may_be_done(&failure) => return Err(failure.into_problem()),
            Err(failure) => failure.into_problem().message,
        };
        tell::note(&format!("unknown whether it was done: {why}; reading the status again"));
        reader.forget();
        match reader.read(&self.client, &self.clock).await {
            Ok(read) => match orders::shows(&order.verb, &read.world) {
                // What looks like it already did before proves nothing.
                Some(true) if orders::shows(&order.verb, &sketch.world) != Some(true) => Ok(None),
                Some(_) => Err(unknown(&format!("{why}; the status read since does not show it"), target)),
                None => Err(unknown(&format!("{why}; the status read since cannot tell"), target)),
            },
            Err(_) => Err(unknown(&format!("{why}; the status cannot be read since"), target)),
        }
    }

    /// The verb, before it leaves. A stop goes on where that cannot be written.
    pub(super) async fn written_before(&self, witness: &Witness) -> Result<(), Problem> {
        witness.before(self.clock.now()).await?.iter().for_each(|unwritten| tell::note(unwritten));
        Ok(())
    }

    /// What came of it.
    pub(super) async fn written_after(&self, witness: &Witness, came: Result<(), &Problem>) {
        witness.after(self.clock.now(), &came).await.iter().for_each(|unwritten| tell::note(unwritten));
    }
}

/// The verb of the core, where the runbook has it and its thing can be named.
fn offered<'a>(deed: &'a Deed, glimpse: &Glimpse) -> Result<&'a Verb, Problem> {
    let Deed::Verb(verb) = deed else {
        let message = "this is no verb of the runbook, and this control plane has no others";
        return Err(Problem::new(ProblemKind::Invalid, "not_offered", message));
    };
    match orders::unknown(verb, glimpse) {
        None => Ok(verb),
        Some(why) => Err(Problem::new(ProblemKind::Invalid, "not_offered", why)),
    }
}

/// Nobody can say what ends, so everything that does more than stop is asked for by name.
fn takes(verb: &Verb) -> Friction {
    if verb.is_stop() { Friction::Stop } else { Friction::Name }
}

/// A dry run would be a verb like any other there.
fn cannot_rehearse() -> Problem {
    let message = "this control plane cannot rehearse: it would take a dry run for the verb itself";
    Problem::new(ProblemKind::Invalid, "no_plan", message).hint("kura-console status shows what it tells")
}

fn unknown(why: &str, target: &Aimed) -> Problem {
    let message = format!("unknown whether it was done: {why}");
    Problem::new(ProblemKind::Unavailable, UNKNOWN_OUTCOME, message)
        .hint(format!("look at {} before you give it again: kura-console status", target.told()))
        .hint("this control plane knows no idempotency keys: sent twice, it may be done twice")
}
