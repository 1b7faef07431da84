//! The remote link: a console's end of a control plane somewhere else.

use std::sync::Arc;

use imbl::Vector;
use tokio::sync::watch;

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
use crate::domain::ids::{MachineId, Revision, RolloutId};
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

/// Results of one machine in one rollout that are read at a time.
pub const RESULTS_READ: usize = 20;

/// A console's end of a control plane at the end of a wire. Cheap to clone; the last clone that goes ends it.
#[derive(Debug, Clone)]
pub struct RemoteLink {
    client: Client,
    pictures: watch::Receiver<Picture>,
}

impl RemoteLink {
    /// Begins to follow a control plane, on the runtime this is called in, for ever: what cannot be reached is tried
    /// again. The error is about this side only. `clock` is set by what the far end says: pictures are to be looked at
    /// by it.
    pub fn start<C: Clock>(endpoint: Endpoint, token: &Token, clock: FarClock<C>) -> Result<Self, Problem> {
        let client = Client::new(endpoint, token)?;
        let (sender, pictures) = watch::channel(blank(&client, &clock));
        let follower = Follower { client: client.clone(), clock, pictures: sender, replica: None, lost_since: None };
        tokio::spawn(follower.run());
        Ok(Self { client, pictures })
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
    }
}

impl Link for RemoteLink {
    fn pictures(&self) -> watch::Receiver<Picture> {
        self.pictures.clone()
    }

    async fn order(&self, order: Order, planned_at: Option<Revision>) -> Answer {
        // A verb may take away what it names, so names are looked up where they were before.
        let before = Arc::clone(&self.pictures.borrow().world);
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
        let read = self.client.get::<Vec<ResultBody>>(&path).await;
        read.map(|bodies| bodies.into_iter().map(result_of).collect()).map_err(|failure| failure.into_problem().message)
    }

    async fn past(&self, before: Revision) -> Result<Vec<Entry>, String> {
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
