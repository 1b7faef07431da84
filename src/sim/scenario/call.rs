//! A verb at a process: asked as the server's routes ask, answered as they answer.

use serde_json::{Map, Value, json};

use super::super::host::SimHost;
use super::super::renderer::SimRenderer;
use super::file::act::Act;
use super::process::USUAL;
use super::records::{Answer, Ended, Turned};
use super::run::{Run, Stuck};
use super::screens::Consoles;
use crate::control::door::{Answered, Door, DoorError};
use crate::control::host::Host;
use crate::control::ports::Clock;
use crate::control::service::Service;
use crate::domain::input::{Order, Verb};
use crate::domain::verdict::Reply;
use crate::wire::answer::{Said, Scene, said};
use crate::wire::call::checked_key;
use crate::wire::problem::Problem;
use crate::wire::process::SeatBody;
use crate::wire::reason;

/// Who does what a file does not say.
pub(super) const SOMEBODY: &str = "operator";

/// The reason of what a file gives none for.
const REASON: &str = "scenario";

/// What people call the account of every scenario.
pub(super) const ACCOUNT: &str = "main";

/// A request as it was read: the verb and the reason in its body, or what is wrong with it.
pub(super) type Request = Result<(Verb, Option<String>), Problem>;

impl<C: Consoles> Run<C> {
    /// Sends a request to the process of an entry.
    pub(super) fn call(&mut self, act: &Act, request: Request) -> Result<Answer, Stuck> {
        let process = self.process_of(act).to_owned();
        let Some(door) = self.door(&process) else { return Ok(Answer::none(Ended::Refused)) };
        let order = match request.and_then(|(verb, reason)| order(act, verb, reason)) {
            Ok(order) => order,
            Err(problem) => return Ok(self.turn_away(act, &act.verb, &problem)),
        };
        let verb = order.verb.clone();
        let answered = self.ground.run("verb", async move { door.give(order, None).await })?;
        self.rest()?;
        let Some(answered) = answered else { return Ok(Answer::none(Ended::Unanswered)) };
        let said = answered.map_err(Problem::from).and_then(|answered| {
            let Answered { reply, again } = answered;
            Ok((self.said(&process, &verb, &reply)?, again))
        });
        match said {
            Ok((said, again)) => Ok(self.done(said, again)),
            Err(problem) => Ok(self.turn_away(act, verb.name(), &problem)),
        }
    }

    /// The process of an entry: the one it names, else the server, else the first in the file.
    pub(super) fn process_of<'a>(&'a self, act: &'a Act) -> &'a str {
        let named = act.circumstances.process.as_deref();
        let usual = || self.processes.iter().find(|one| one.name == USUAL).or(self.processes.first());
        named.or_else(|| usual().map(|one| one.name.as_str())).unwrap_or(USUAL)
    }

    /// The service of a process that lives; it may be frozen.
    pub(super) fn service(&self, process: &str) -> Option<&Service<SimHost, SimRenderer>> {
        self.processes.iter().find(|one| one.name == process)?.service()
    }

    /// Its door.
    pub(super) fn door(&self, process: &str) -> Option<Door> {
        self.service(process).map(|service| service.door.clone())
    }

    fn said(&self, process: &str, verb: &Verb, reply: &Reply) -> Result<Said, Problem> {
        let Some(service) = self.service(process) else { return Err(DoorError::Stopped.into()) };
        let world = service.door.world();
        let observed = service.observer.observe(&world);
        let seat = SeatBody::of(&world.seat, service.door.published().borrow().last_tick);
        let (now, uuid, name) = (service.host().clock().now(), self.ground.account, ACCOUNT);
        said(
            verb,
            reply,
            &Scene { world: &world, observed: &observed, now, uuid, name, repository: None, trouble: None, seat },
        )
    }

    /// The answer to something that was done.
    pub(super) fn done(&self, said: Said, again: bool) -> Answer {
        let mut headers = self.headers();
        if said.body.is_some() {
            headers.insert("Content-Type".to_owned(), json!("application/json"));
        }
        if again {
            headers.insert("Idempotent-Replayed".to_owned(), json!("true"));
        }
        let body = said.body.unwrap_or(Value::Null);
        Answer { ended: Ended::Done, status: Some(said.status), headers, body: self.dressed(body) }
    }

    /// A verb that was not carried out is remembered: the journal knows nothing of it.
    pub(super) fn turn_away(&mut self, act: &Act, verb: &str, problem: &Problem) -> Answer {
        self.records.turned.push(Turned {
            at: self.ground.now(),
            by: by(act).to_owned(),
            verb: verb.replace('_', "-"),
            reason: act.circumstances.reason.clone(),
            key: act.circumstances.key.clone(),
            detail: problem.message.clone(),
        });
        self.refusal(problem)
    }

    /// The answer to something that was not done.
    pub(super) fn refusal(&self, problem: &Problem) -> Answer {
        let mut headers = self.headers();
        headers.insert("Content-Type".to_owned(), json!("application/problem+json"));
        if let Some(seconds) = problem.retry_after() {
            headers.insert("Retry-After".to_owned(), json!(seconds.to_string()));
        }
        let mut body = json!(problem.clone().advised().body());
        if let Value::Object(fields) = &mut body {
            fields.entry("field").or_insert(Value::Null);
        }
        Answer { ended: Ended::Refused, status: Some(problem.kind.status()), headers, body: self.dressed(body) }
    }

    fn headers(&self) -> Map<String, Value> {
        let mut headers = Map::new();
        headers.insert("X-Revision".to_owned(), json!(self.witness.world.revision.to_string()));
        headers.insert("Date".to_owned(), json!(self.ground.now().to_string()));
        headers
    }
}

/// Who does it.
pub(super) fn by(act: &Act) -> &str {
    act.circumstances.by.as_deref().unwrap_or(SOMEBODY)
}

/// The order of a request; the reason in its body goes before that of the entry.
fn order(act: &Act, verb: Verb, reason: Option<String>) -> Result<Order, Problem> {
    let given = reason.or_else(|| Some(act.circumstances.reason.clone().unwrap_or_else(|| REASON.to_owned())));
    let key = act.circumstances.key.clone().map(checked_key).transpose()?;
    Ok(Order { verb, by: by(act).to_owned(), reason: reason::checked(given)?, key })
}
