//! One path for force, drift and what is missing: apply what is rendered, then wait for the chain (K23-K34).

use serde_json::Value;

use super::super::super::kura::chain::{Judgement, chain, judge};
use super::super::super::kura::change::KuraChange;
use super::super::super::kura::deployment::{Closing, Deployment, DeploymentStatus, WaitKind};
use super::super::super::kura::drift::{carries, drift};
use super::super::super::kura::front::front;
use super::super::super::kura::object::{ObjectKind, ObjectRef, Version, tag_of};
use super::super::super::kura::render::{Imprint, Manifest, render};
use super::super::super::kura::server::{FOREIGN_EDITS_MAX, Server};
use super::super::super::kura::sight::Sight;
use super::super::super::kura::step::{Deed, Purpose, Step};
use super::super::super::kura::ways::Ways;
use super::super::super::kura::workload::Instance;
use super::super::draft::Draft;
use super::pass::since;

pub(super) fn converge(draft: &mut Draft<'_>, ways: &Ways<'_>, server: &Server) {
    let sight = ways.sight;
    let live = sight.instances.get(&server.instance_name);
    let told = draft.told();
    note_observed(draft, server, live);
    let Some(tag) = server.wanted_tag() else { return };
    let imprint = server.imprint(tag);
    if let Some(live) = live.filter(|live| !live.foreign.is_empty() || !server.foreign.is_empty()) {
        note_foreign(draft, server, &render(server, tag), live);
    }
    let server = &*since(draft, server, told);
    let owed = Owed { instance: owes(server, &imprint, live), gateway: owes_gateway(draft, sight, server, &imprint) };
    match owed {
        Owed { instance: false, gateway: false } => activate(draft, ways, server, tag, &imprint),
        _ => apply(draft, sight, server, &render(server, tag), &owed),
    }
}

/// What has to be applied.
struct Owed {
    instance: bool,
    gateway: bool,
}

/// The tag the controller reports, as it changes (K1).
fn note_observed(draft: &mut Draft<'_>, server: &Server, live: Option<&Instance>) {
    let tag = live.and_then(|live| live.observed_image.as_deref()).map(tag_of);
    if live.is_some() && tag != server.observed_image_tag.as_deref() {
        draft.tell(KuraChange::ImageObserved { server: server.id, tag: tag.map(str::to_owned) });
    }
}

/// A field that is rendered, reads otherwise and belongs to somebody else: counted once per apply of ours (K28). What is
/// seen may lag behind what was written, and then says nothing about who wrote since.
fn note_foreign(draft: &mut Draft<'_>, server: &Server, manifest: &Manifest, live: &Instance) {
    let over = server.applied.as_ref().and_then(|applied| applied.over.as_ref());
    if over == Some(&live.stamp.resource_version) {
        return;
    }
    note_let_go(draft, server, live);
    for drifted in drift(manifest, &live.spec) {
        let Some(manager) = live.foreign.get(&drifted.field) else { continue };
        let known = server.foreign.get(&drifted.field).filter(|edit| edit.manager == *manager);
        if known.is_some_and(|edit| edit.counted) {
            continue;
        }
        let times = known.map_or(0, |edit| edit.times).saturating_add(1);
        let (field, manager) = (drifted.field, manager.clone());
        draft.tell(KuraChange::FieldWrittenBack { server: server.id, field, manager, times });
    }
}

/// Who was told to have written a field back too often did not after a person's force: what is wanted is applied by itself
/// again.
fn note_let_go(draft: &mut Draft<'_>, server: &Server, live: &Instance) {
    for (field, edit) in &server.foreign {
        let is_stopped = edit.times >= FOREIGN_EDITS_MAX && !edit.counted;
        if is_stopped && live.foreign.get(field) != Some(&edit.manager) {
            let (field, manager) = (field.clone(), edit.manager.clone());
            draft.tell(KuraChange::FieldWrittenBack { server: server.id, field, manager, times: 0 });
        }
    }
}

/// Something has to be applied: a force that is not spent, an object that is missing, another image or revision. Not
/// over an object on its way out, and not the same manifest over and over by itself where another manager writes a field
/// of it back and back (K28).
fn owes(server: &Server, imprint: &Imprint, live: Option<&Instance>) -> bool {
    let forced = server.open().is_some_and(Deployment::owes_force);
    match live {
        None => true,
        Some(live) if live.stamp.is_leaving() => false,
        Some(_) if forced => true,
        Some(live) => !carries(imprint, live) && !is_torn(server, imprint),
    }
}

/// This very manifest was written back too often.
fn is_torn(server: &Server, imprint: &Imprint) -> bool {
    let same = server.applied.as_ref().is_some_and(|applied| applied.revision == imprint.revision);
    same && server.tug_of_war().is_some()
}

/// Its own gateway is missing or of another manifest, as far as gateways can be read; or a force is not spent.
fn owes_gateway(draft: &Draft<'_>, sight: &Sight, server: &Server, imprint: &Imprint) -> bool {
    let own = imprint.gateway.as_ref().filter(|_| sight.gateways.is_fresh(draft.now));
    let Some(name) = own else { return false };
    match sight.gateways.get(name) {
        None => true,
        Some(seen) if seen.stamp.is_leaving() => false,
        Some(seen) => {
            server.open().is_some_and(Deployment::owes_force) || seen.revision.as_ref() != Some(&imprint.revision)
        }
    }
}

/// The gateway first, since the instance names its class; both under the versions they were seen in.
fn apply(draft: &mut Draft<'_>, sight: &Sight, server: &Server, manifest: &Manifest, owed: &Owed) {
    let (open, live) = (server.open(), sight.instances.get(&server.instance_name));
    let force = open.is_some_and(Deployment::owes_force);
    let before = live.and_then(|live| live.spec.image()).map(tag_of);
    let Manifest { instance, gateway, imprint } = manifest;
    let image = tag_of(&imprint.image).to_owned();
    let purpose = Purpose::Converge {
        server: server.id,
        deployment: open.map(|row| row.id),
        revision: imprint.revision.clone(),
        new_image: before.is_some_and(|before| before != image),
        image,
    };
    let mut step = |kind, name: &str, manifest: &Value, from: Option<Version>| {
        let deed = Deed::Apply { manifest: manifest.clone(), from, force };
        draft.step(Step { object: ObjectRef::new(kind, name), deed, purpose: purpose.clone() });
    };
    if let (Some(gateway), Some(name)) = (gateway.as_ref().filter(|_| owed.gateway), &imprint.gateway) {
        step(ObjectKind::KuraGateway, name, gateway, sight.gateways.get(name).map(|seen| seen.stamp.version()));
    }
    if owed.instance {
        let from = live.map(|live| live.stamp.version());
        step(ObjectKind::KuraInstance, &server.instance_name, instance, from);
    }
}

/// Nothing is left to apply: the open deployment runs, and waits for the first broken link or succeeds.
fn activate(draft: &mut Draft<'_>, ways: &Ways<'_>, server: &Server, tag: &str, imprint: &Imprint) {
    let Some(open) = server.open() else { return };
    if open.status == DeploymentStatus::Pending {
        let revision = imprint.revision.clone();
        draft.tell(KuraChange::DeploymentStarted { server: server.id, deployment: open.id, revision });
    }
    let sight = ways.sight;
    match judge(&chain(server, tag, ways, draft.now)) {
        Judgement::Unsure => {}
        Judgement::Broken(kind, detail) => wait(draft, server, open, Some((kind, detail))),
        Judgement::Whole if is_probed_since(server, open, sight, draft) => succeed(draft, sight, server, open),
        Judgement::Whole => wait(draft, server, open, None),
    }
}

/// An answer from before the manifest was applied is none of what it leads to.
fn is_probed_since(server: &Server, open: &Deployment, sight: &Sight, draft: &Draft<'_>) -> bool {
    if server.public_host().is_none() {
        return true;
    }
    let Some(front) = front(server, sight) else { return false };
    let since = server.applied.as_ref().filter(|_| open.applied).map(|applied| applied.at);
    let probed = sight.endpoint(&front.key(), draft.now).map(|probe| probe.as_of);
    probed.is_some_and(|probed| since.is_none_or(|since| probed >= since))
}

fn succeed(draft: &mut Draft<'_>, sight: &Sight, server: &Server, open: &Deployment) {
    let url = front(server, sight).map(|front| front.url());
    let closing = Closing::Succeeded { detail: None, url };
    draft.tell(KuraChange::DeploymentClosed { server: server.id, deployment: open.id, closing });
}

/// Only what is new is told (K29).
fn wait(draft: &mut Draft<'_>, server: &Server, open: &Deployment, wait: Option<(WaitKind, String)>) {
    let known = open.wait.as_ref().map(|known| (known.kind, known.detail.clone()));
    if known != wait {
        draft.tell(KuraChange::DeploymentWaits { server: server.id, deployment: open.id, wait });
    }
}
