//! A line that is held: its skips leave one after the other, each once the one before is done.

use super::super::deed::Deed;
use super::super::effect::{Effect, Sealed, Signature};
use super::super::line::{Line, in_flight};
use super::super::model::Model;
use super::super::msg::Answer;
use super::super::order::{InFlight, Tone};
use super::{entry, verbs};
use crate::domain::change::Level;
use crate::domain::input::Verb;

/// Sends the skip that is next, unless something speaks against it by now: then it ends there, and says what was done.
pub(super) fn send(model: &mut Model, line: Line) -> Vec<Effect> {
    let (machine, armed) = (line.now.0, model.arming.proof(model.now));
    let armed = match (objection(model, &line), armed) {
        (None, Some(armed)) => armed,
        (why, _) => return stop(model, &line, &why.unwrap_or_else(|| "verbs are not armed any more".to_owned())),
    };
    model.orders_made += 1;
    let key = format!("{}-{}", model.setup.session, model.orders_made);
    let signature = Signature { by: model.setup.by.clone(), reason: line.reason.clone(), key: key.clone() };
    let sealed = Sealed::armed(Verb::Pause(Level::Machine(machine)), line.planned_at, armed, signature);
    let (doing, target) = (line.doing(), machine.0);
    model.orders.push(InFlight { key, doing, target, checking: None, asked: None, line: Some(Box::new(line)) });
    vec![Effect::SendOrder(Box::new(sealed))]
}

/// Who got a slot meanwhile is not skipped: that would cancel a run. What may not be ordered now is not ordered.
fn objection(model: &Model, line: &Line) -> Option<String> {
    let Some(picture) = &model.picture else { return Some("there is no picture any more".to_owned()) };
    if in_flight(&picture.world, line.now.0) {
        return Some("it is in a run by now".to_owned());
    }
    verbs::permitted(model, picture, &Deed::HoldLine(line.ring), &line.target).err()
}

/// The skip that was on its way was answered; it is no longer on its way unless its answer was lost.
pub(super) fn answered(model: &mut Model, line: Line, answer: &Answer) -> Vec<Effect> {
    let why = match answer {
        Answer::Done { .. } => match line.step() {
            Ok(next) => return send(model, next),
            Err(held) => {
                entry::say(model, Tone::Good, held);
                return Vec::new();
            }
        },
        Answer::Unknown { why } => format!("no answer ({why}), the journal will tell"),
        Answer::Unseen { why } => format!("unknown whether it was done, {why}"),
        Answer::Refused { sentence, .. } => format!("refused, {sentence}"),
        Answer::Moved { sentence } => sentence.clone(),
        Answer::Unsent { why } => format!("not sent, {why}"),
    };
    stop(model, &line, &why)
}

fn stop(model: &mut Model, line: &Line, why: &str) -> Vec<Effect> {
    entry::say(model, Tone::Bad, line.stopped(why));
    Vec::new()
}
