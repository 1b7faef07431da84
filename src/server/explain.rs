//! What something waits for, on whom, since when.

use axum::http::StatusCode;

use super::admit::Reader;
use super::build::Builder;
use super::errand::body;
use super::extract::{Body, NoQuery};
use super::failure::Answer;
use crate::control::host::Host;
use crate::domain::explain::{Subject, explain};
use crate::domain::kura::refusal::KuraRefusal;
use crate::domain::refusal::Refusal;
use crate::domain::roll::host::host;
use crate::domain::roll::refusal::RollRefusal;
use crate::wire::body::parse;
use crate::wire::explain::{ExplainBody, ExplanationBody};

/// `POST /api/explain`.
pub(super) async fn ask<H: Host, B: Builder>(reader: Reader<H, B>, _: NoQuery, Body(bytes): Body) -> Answer {
    let subject = parse::<ExplainBody>(&bytes)?.subject(reader.account.service.account())?;
    let look = reader.look();
    match &subject {
        Subject::Ring(id) if !look.rings.contains_key(id) => return Err(Refusal::NoRing(*id).into()),
        Subject::Machine(id) if !look.machines.contains_key(id) => return Err(Refusal::NoMachine(*id).into()),
        Subject::Server(id) if !look.world.kura.servers.contains_key(id) => {
            return Err(Refusal::from(KuraRefusal::NoServer(*id)).into());
        }
        Subject::Roll(id) if look.rolls.roll(*id).is_none() => {
            return Err(Refusal::from(RollRefusal::NoRoll(*id)).into());
        }
        Subject::Node(name) if host(&look.world, &look.observed, name, look.now).is_none() => {
            return Err(Refusal::from(RollRefusal::NoNode(name.clone())).into());
        }
        _ => {}
    }
    Ok(body(StatusCode::OK, &ExplanationBody::from(explain(&look.world, &look.observed, subject, look.now))))
}
