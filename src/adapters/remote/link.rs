//! The remote link: a console's end of a control plane somewhere else.

use std::sync::Arc;
use std::time::Duration;

use imbl::Vector;
use tokio::sync::watch;
use uuid::Uuid;

use super::basic::orders;
use super::basic::watch::{Reader, Wishes};
use super::client::{Client, Failure};
use super::endpoint::Endpoint;
use super::far_clock::FarClock;
use super::follow::Follower;
use super::token::Token;
use crate::control::answer;
use crate::control::link::{Answer, Link, PAST_READ};
use crate::control::picture::{Freshness, Picture, Role, SeatView};
use crate::control::ports::{ApplyResult, Clock, FailedState};
use crate::domain::change::Entry;
use crate::domain::glimpse::Glimpse;
use crate::domain::ids::{MachineId, ReleaseId, Revision, RolloutId};
use crate::domain::input::{Order, Verb};
use crate::domain::observed::Observed;
use crate::domain::verdict::Reply;
use crate::domain::world::World;
use crate::wire::agent::FailedStateBody;
use crate::wire::audit::{AuditRow, PATH as AUDIT_PATH};
use crate::wire::call::{Call, UNKNOWN_OUTCOME};
use crate::wire::problem::{Problem, ProblemKind};
use crate::wire::result::ResultBody;
use crate::wire::rollout::PATH as ROLLOUTS_PATH;
use crate::wire::told::{MadeTold, ResultTold};

/// How long the status is waited for after an answer was lost.
pub const AFTERWARDS: Duration = Duration::from_secs(20);

/// Results of one machine in one rollout that are read at a time.
pub const RESULTS_READ: usize = 20;

/// A console's end of a control plane at the end of a wire. Cheap to clone; the last clone that goes ends it.
#[derive(Debug, Clone)]
pub struct RemoteLink {
    client: Client,
    pictures: watch::Receiver<Picture>,
    /// What is looked at where the control plane offers no world.
    wishes: Wishes,
}

impl RemoteLink {
    /// Begins to follow a control plane, on the runtime this is called in, for ever: what cannot be reached is tried
    /// again. The error is about this side only. `clock` is set by what the far end says: pictures are to be looked at
    /// by it. `rollout` is the one to look at where the control plane offers no world and lists none.
    pub fn start<C: Clock>(
        endpoint: Endpoint,
        token: &Token,
        rollout: Option<RolloutId>,
        clock: FarClock<C>,
    ) -> Result<Self, Problem> {
        let client = Client::new(endpoint, token)?;
        let (sender, pictures) = watch::channel(blank(&client, &clock));
        let wishes = Wishes::of(rollout);
        let reader = Reader::new(&wishes);
        let client_of_follower = client.clone();
        let follower =
            Follower { client: client_of_follower, clock, pictures: sender, replica: None, reader, lost_since: None };
        tokio::spawn(follower.run());
        Ok(Self { client, pictures, wishes })
    }

    /// Gives an order to a control plane of which only a glimpse is known: once, with nothing in it that the runbook
    /// does not show. Where its answer is lost the status is read again, since there is no journal to ask.
    async fn order_by_the_runbook(&self, order: &Order, before: &World, glimpse: &Glimpse) -> Answer {
        if let Some(sentence) = orders::unknown(&order.verb, glimpse) {
            return Answer::Refused { sentence, hints: Vec::new() };
        }
        match self.client.call(&orders::call(order), None, None, None).await {
            Ok(sent) => {
                match (&order.verb, serde_json::from_slice::<MadeTold>(&sent.body)) {
                    (Verb::Start { .. }, Ok(made)) => self.wishes.look_at(RolloutId(made.uuid)),
                    _ => drop(self.wishes.read_again()),
                }
                answer::to_reply(before, &order.verb, &reply_of(&order.verb, sent.status))
            }
            Err(failure) => match no(failure) {
                Answer::Unknown { why } => self.seen_afterwards(order, before, why).await,
                answer => answer,
            },
        }
    }

    /// What the status says of an order whose answer was lost.
    async fn seen_afterwards(&self, order: &Order, before: &World, why: String) -> Answer {
        let asked = self.wishes.read_again();
        let mut pictures = self.pictures.clone();
        let is_newer = |picture: &Picture| picture.glimpse.as_ref().is_some_and(|glimpse| glimpse.reading >= asked);
        let read = tokio::time::timeout(AFTERWARDS, pictures.wait_for(is_newer)).await;
        let shown = match &read {
            Ok(Ok(picture)) => orders::shows(&order.verb, &picture.world),
            _ => return Answer::Unseen { why: format!("{why}; the status cannot be read since") },
        };
        match (shown, answer::to_reply(before, &order.verb, &Reply::Done)) {
            (Some(true), Answer::Done { sentence }) => Answer::Done {
                sentence: format!("{sentence}: its answer was lost, and the status read since shows it"),
            },
            (Some(false), _) => Answer::Unseen { why: format!("{why}; the status read since does not show it") },
            _ => Answer::Unseen { why: format!("{why}; the status read since cannot tell") },
        }
    }
}

/// What is known before anything is.
fn blank<C: Clock>(client: &Client, clock: &C) -> Picture {
    Picture {
        world: Arc::new(World::default()),
        observed: Arc::new(Observed::starting_at(clock.now())),
        tail: Vector::new(),
        seat: SeatView::default(),
        api: Freshness::Connecting,
        endpoint: client.endpoint().to_string(),
        account: String::new(),
        role: Role::Viewer,
        glimpse: None,
        own: None,
        fallback: None,
    }
}

impl Link for RemoteLink {
    fn pictures(&self) -> watch::Receiver<Picture> {
        self.pictures.clone()
    }

    async fn order(&self, order: Order, planned_at: Option<Revision>) -> Answer {
        // A verb may take away what it names, so names are looked up where they were before.
        let (before, glimpse) = {
            let picture = self.pictures.borrow();
            (Arc::clone(&picture.world), picture.glimpse.clone())
        };
        if let Some(glimpse) = glimpse {
            return self.order_by_the_runbook(&order, &before, &glimpse).await;
        }
        let planned_at = planned_at.filter(|_| !order.verb.is_stop());
        let call = Call::of(&order);
        let sent = self.client.call(&call, order.key.as_deref(), order.reason.as_deref(), planned_at).await;
        match sent {
            Ok(sent) => answer::to_reply(&before, &order.verb, &reply_of(&order.verb, sent.status)),
            Err(failure) => no(failure),
        }
    }

    async fn results(&self, rollout: RolloutId, machine: MachineId) -> Result<Vec<ApplyResult>, String> {
        let path = format!("{ROLLOUTS_PATH}{rollout}/apply-results?machine_uuid={machine}&limit={RESULTS_READ}");
        if self.pictures.borrow().glimpse.is_some() {
            let read = self.client.get::<Vec<ResultTold>>(&path).await;
            let read = read.map(|told| told.into_iter().map(|result| result_told(machine, result)).collect());
            return read.map_err(|failure| failure.into_problem().message);
        }
        let read = self.client.get::<Vec<ResultBody>>(&path).await;
        read.map(|bodies| bodies.into_iter().map(result_of).collect()).map_err(|failure| failure.into_problem().message)
    }

    async fn past(&self, before: Revision) -> Result<Vec<Entry>, String> {
        if self.pictures.borrow().glimpse.is_some() {
            // There is no audit: nobody was asked and nothing is missing.
            return Ok(Vec::new());
        }
        let read = self.client.get::<Vec<AuditRow>>(&format!("{AUDIT_PATH}?before={before}&limit={PAST_READ}")).await;
        read.map(|rows| rows.iter().map(AuditRow::entry).collect()).map_err(|failure| failure.into_problem().message)
    }
}

/// The reply a success stands for, as far as sentences need it: 200 to a start is a reset (R99).
pub fn reply_of(verb: &Verb, status: u16) -> Reply {
    match verb {
        Verb::Start { id, .. } if status == 200 => Reply::Reset(*id),
        Verb::Start { id, .. } => Reply::Started(*id),
        _ => Reply::Done,
    }
}

/// What a failure means for the person who gave the order. Whatever may have been done is never called undone.
fn no(failure: Failure) -> Answer {
    match failure {
        Failure::Unsent(problem) => Answer::Unsent { why: problem.message },
        Failure::Lost(problem) => Answer::Unknown { why: problem.message },
        Failure::Answered(problem) => match problem.kind {
            ProblemKind::Moved => Answer::Moved { sentence: problem.message },
            ProblemKind::Internal => Answer::Unknown { why: problem.message },
            ProblemKind::Unavailable if problem.code == UNKNOWN_OUTCOME => Answer::Unknown { why: problem.message },
            ProblemKind::Unavailable | ProblemKind::TooMany => Answer::Unsent { why: problem.message },
            _ => Answer::Refused { sentence: problem.message, hints: problem.hints },
        },
    }
}

/// A result of which not everything is told.
fn result_told(machine: MachineId, told: ResultTold) -> ApplyResult {
    let received_at = told.received_at.or(told.finished_at).or(told.started_at).unwrap_or_default();
    let state = |s: FailedStateBody| FailedState { id: s.id, name: s.name, comment: s.comment };
    ApplyResult {
        machine,
        release: told.release_uuid.unwrap_or(ReleaseId(Uuid::nil())),
        generation: 0,
        outcome: told.outcome,
        started_at: told.started_at.unwrap_or(received_at),
        finished_at: told.finished_at.unwrap_or(received_at),
        received_at,
        changed_count: told.changed_count,
        failed_states: told.failed_states.into_iter().map(state).collect(),
        log_tail: told.log_tail,
        rebuilds: None,
    }
}

fn result_of(body: ResultBody) -> ApplyResult {
    let state = |s: FailedStateBody| FailedState { id: s.id, name: s.name, comment: s.comment };
    ApplyResult {
        machine: body.machine_uuid,
        release: body.release_uuid,
        generation: body.generation,
        outcome: body.outcome,
        started_at: body.started_at,
        finished_at: body.finished_at,
        received_at: body.received_at,
        changed_count: body.changed_count,
        failed_states: body.failed_states.into_iter().map(state).collect(),
        log_tail: body.log_tail,
        rebuilds: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(kind: ProblemKind, code: &str) -> Answer {
        no(Failure::Answered(Problem::new(kind, code, "why")))
    }

    #[test]
    fn what_may_have_been_done_is_never_called_undone() {
        let unknown = Answer::Unknown { why: "why".to_owned() };
        assert_eq!(no(Failure::Lost(Problem::new(ProblemKind::Unreachable, "unreachable", "why"))), unknown);
        assert_eq!(answered(ProblemKind::Unavailable, UNKNOWN_OUTCOME), unknown);
        assert_eq!(answered(ProblemKind::Internal, "bug"), unknown);
        let unsent = Answer::Unsent { why: "why".to_owned() };
        assert_eq!(no(Failure::Unsent(Problem::new(ProblemKind::Unreachable, "unreachable", "why"))), unsent);
        assert_eq!(answered(ProblemKind::Unavailable, "busy"), unsent);
        assert!(matches!(answered(ProblemKind::Conflict, "protected"), Answer::Refused { .. }));
    }
}
