//! A person brings a server to a tag, by force or not (K24, K25).

use super::super::super::ids::ServerId;
use super::super::super::input::Order;
use super::super::super::kura::change::KuraChange;
use super::super::super::kura::deployment::{Closing, Deployment};
use super::super::super::kura::refusal::KuraRefusal;
use super::super::super::kura::server::{MovePhase, Pin, Server};
use super::super::super::verdict::Reply;
use super::super::draft::Draft;
use super::verbs::{Done, staying};

/// What a row says that asks for what runs already.
pub(super) const NOT_FORCED: &str = "same image, not forced";

pub(super) fn deploy(draft: &mut Draft<'_>, order: &Order, id: ServerId, tag: &str, force: bool) -> Done {
    let server = deployable(draft, id)?;
    if !draft.world().kura.knows_tag(tag) {
        return Err(KuraRefusal::NoTag(tag.to_owned()));
    }
    let open = server.open().map(|row| row.image_tag.as_str());
    if open == Some(tag) && !force {
        return Err(KuraRefusal::AlreadyOpen { server: server.name(), tag: tag.to_owned() });
    }
    let idle = open.is_none() && !force && server.current_image_tag.as_deref() == Some(tag);
    pin(draft, order, &server, tag);
    let asked = asked(draft, order, &server, tag, force);
    schedule(draft, &server, asked.clone());
    if idle {
        let closing = Closing::Succeeded { detail: Some(NOT_FORCED.to_owned()), url: None };
        draft.tell(KuraChange::DeploymentClosed { server: id, deployment: asked.id, closing });
    }
    Ok(Reply::Deployment(id, asked.id))
}

/// A forced row of the tag the server is brought to.
pub(super) fn force_reapply(draft: &mut Draft<'_>, order: &Order, id: ServerId) -> Done {
    let server = deployable(draft, id)?;
    let tag = draft.world().kura.target_of(&server).map(str::to_owned);
    let tag = tag.ok_or_else(|| KuraRefusal::NothingToApply { server: server.name() })?;
    let asked = asked(draft, order, &server, &tag, true);
    schedule(draft, &server, asked.clone());
    Ok(Reply::Deployment(id, asked.id))
}

/// Not while it is taken down, nor while it is moved (K13, K25).
fn deployable(draft: &Draft<'_>, id: ServerId) -> Result<Server, KuraRefusal> {
    let server = staying(draft, id)?;
    match server.move_phase {
        MovePhase::None => Ok(server),
        phase => Err(KuraRefusal::Moving { server: server.name(), phase: phase.word() }),
    }
}

fn asked(draft: &Draft<'_>, order: &Order, server: &Server, tag: &str, force: bool) -> Deployment {
    let row = Deployment::pending(server.next_deployment(), tag, &order.by, draft.now);
    Deployment { force, reason: order.reason.clone(), ..row }
}

/// Whatever is open makes way in the same commit (K10, K15, K24).
pub(super) fn schedule(draft: &mut Draft<'_>, server: &Server, row: Deployment) {
    if let Some(open) = server.open() {
        let closing = Closing::Superseded { by: row.image_tag.clone() };
        draft.tell(KuraChange::DeploymentClosed { server: server.id, deployment: open.id, closing });
    }
    draft.tell(KuraChange::DeploymentOpened { server: server.id, deployment: Box::new(row) });
}

/// Anything but the newest tag stays until something newer than that is released; the newest ends such a hold (K25).
fn pin(draft: &mut Draft<'_>, order: &Order, server: &Server, tag: &str) {
    let newest = draft.world().kura.target().unwrap_or(tag).to_owned();
    let (by, at) = (order.by.clone(), draft.now);
    let pin = (newest != tag).then(|| Pin { tag: tag.to_owned(), newest, by, at });
    if pin.is_some() || server.pin.is_some() {
        draft.tell(KuraChange::Pinned { server: server.id, pin });
    }
}
