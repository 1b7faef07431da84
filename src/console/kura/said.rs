//! Facts about Kura servers in plain words: one sentence each, which is the line of the log as well (K19).

use super::super::glyph::Glyph;
use super::super::theme::Role;
use crate::domain::ids::{DeploymentId, ServerId};
use crate::domain::kura::change::KuraChange;
use crate::domain::kura::deployment::Closing;
use crate::domain::kura::server::ServerStatus;
use crate::domain::world::World;

type Said = (Glyph, Role, String);

/// Says a fact.
pub(in super::super) fn say(change: &KuraChange, world: &World) -> Said {
    let name = |id: &ServerId| world.kura.server_name(*id);
    match change {
        KuraChange::DeploymentOpened { .. }
        | KuraChange::DeploymentStarted { .. }
        | KuraChange::DeploymentWaits { .. }
        | KuraChange::DeploymentClosed { .. } => deployment(change, world),
        KuraChange::StatusChanged { server, status } => status_changed(&name(server), *status),
        KuraChange::ManifestApplied { server, revision, image, .. } => {
            (Glyph::Moving, Role::Moving, format!("{}: manifest {revision} of {image} was applied", name(server)))
        }
        KuraChange::PodDeleted { server, image, pod, .. } => {
            let text = format!("{}: {pod} was not Ready and was deleted, it comes back on {image}", name(server));
            (Glyph::Moving, Role::Moving, text)
        }
        KuraChange::FieldWrittenBack { server, field, manager, times: 0 } => {
            (Glyph::Done, Role::Done, format!("{}: {manager} writes {field} back no more", name(server)))
        }
        KuraChange::FieldWrittenBack { server, field, manager, times } => {
            let text = format!("{}: {manager} wrote {field} back, {times} in a row", name(server));
            (Glyph::Warning, Role::Warning, text)
        }
        KuraChange::WriteTroubled { server, object, trouble: Some(trouble) } => {
            (Glyph::Errored, Role::Warning, format!("{}: {object}: {trouble}", name(server)))
        }
        other => (Glyph::Dot, Role::Dim, plain(other, world)),
    }
}

fn status_changed(name: &str, status: ServerStatus) -> Said {
    let (glyph, role) = match status {
        ServerStatus::Active => (Glyph::Done, Role::Done),
        ServerStatus::Failed => (Glyph::Failed, Role::Failed),
        ServerStatus::Replicating | ServerStatus::Destroying => (Glyph::Warning, Role::Warning),
        ServerStatus::Provisioning | ServerStatus::Destroyed => (Glyph::Dot, Role::Dim),
    };
    (glyph, role, format!("{name} is {}", status.word()))
}

fn tag_of(world: &World, server: ServerId, deployment: DeploymentId) -> String {
    let row = world.kura.servers.get(&server).and_then(|server| server.deployment(deployment));
    row.map_or_else(|| "(gone)".to_owned(), |row| row.image_tag.clone())
}

fn deployment(change: &KuraChange, world: &World) -> Said {
    let name = |id: &ServerId| world.kura.server_name(*id);
    match change {
        KuraChange::DeploymentOpened { server, deployment } => {
            let how = if deployment.force { ", forced" } else { "" };
            let (tag, by) = (&deployment.image_tag, &deployment.requested_by);
            (Glyph::Queued, Role::Strong, format!("{}: deployment of {tag} was scheduled by {by}{how}", name(server)))
        }
        KuraChange::DeploymentStarted { server, deployment, .. } => {
            let text = format!("{}: deployment of {} runs", name(server), tag_of(world, *server, *deployment));
            (Glyph::Moving, Role::Moving, text)
        }
        KuraChange::DeploymentWaits { server, wait: Some((kind, detail)), .. } => {
            (Glyph::Waiting, Role::Queued, format!("{} waits: {}: {detail}", name(server), kind.word()))
        }
        KuraChange::DeploymentWaits { server, wait: None, .. } => {
            (Glyph::Dot, Role::Dim, format!("{} waits for nothing it can name any more", name(server)))
        }
        KuraChange::DeploymentClosed { server, deployment, closing } => {
            closed(&name(server), &tag_of(world, *server, *deployment), closing)
        }
        _ => (Glyph::Dot, Role::Dim, String::new()),
    }
}

fn closed(name: &str, tag: &str, closing: &Closing) -> Said {
    let detail = |text: &Option<String>| text.as_ref().map_or(String::new(), |text| format!(" ({text})"));
    match closing {
        Closing::Succeeded { detail: text, .. } => {
            (Glyph::Done, Role::Done, format!("{name}: deployment of {tag} succeeded{}", detail(text)))
        }
        Closing::Failed { error } => {
            (Glyph::Failed, Role::Failed, format!("{name}: deployment of {tag} failed: {error}"))
        }
        Closing::Cancelled => (Glyph::Dot, Role::Dim, format!("{name}: deployment of {tag} was cancelled")),
        Closing::Superseded { by } => {
            (Glyph::Warning, Role::Strong, format!("{name}: deployment of {tag} was superseded by {by}"))
        }
    }
}

fn plain(change: &KuraChange, world: &World) -> String {
    let name = |id: &ServerId| world.kura.server_name(*id);
    match change {
        KuraChange::TagReleased { tag } => format!("runtime tag {tag} was released"),
        KuraChange::ServerAdded { server } => format!("server {} was added", server.name()),
        KuraChange::SpecChanged { server, .. } => format!("server {} is configured otherwise", name(server)),
        KuraChange::Moved { server, phase } => format!("{}: the move is {}", name(server), phase.word()),
        KuraChange::ImageObserved { server, tag } => {
            format!("{}: its controller reports {}", name(server), tag.as_deref().unwrap_or("no image"))
        }
        KuraChange::Pinned { server, pin: Some(pin) } => {
            format!("{} stays on {} until something newer than {} is released", name(server), pin.tag, pin.newest)
        }
        KuraChange::Pinned { server, pin: None } => format!("{} follows the newest tag again", name(server)),
        KuraChange::RollFixed { server, image, pods } => {
            match pods.iter().filter(|pod| pod.again > 0 && !pod.done).count() {
                0 => format!("{}: {} pods roll together to {image}", name(server), pods.len()),
                back => format!("{}: {back} pods came back on an old image and go again, to {image}", name(server)),
            }
        }
        KuraChange::WriteTroubled { server, object, .. } => format!("{}: {object} can be written again", name(server)),
        KuraChange::Collected { object } => format!("{object} was deleted: nobody names it any more"),
        KuraChange::Asked { asked } => match &asked.finalizer {
            Some(finalizer) => format!("{} wants {finalizer} taken off {}", asked.by, asked.object),
            None => format!("{} wants {} deleted", asked.by, asked.object),
        },
        KuraChange::AskedDone { object, trouble: None, .. } => format!("{object}: what was asked for is done"),
        KuraChange::AskedDone { object, trouble: Some(trouble), .. } => format!("{object} stays: {trouble}"),
        _ => String::new(),
    }
}
