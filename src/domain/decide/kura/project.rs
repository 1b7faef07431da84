//! The status of a server: a projection of what can be seen, derived again on each pass (K2, K31).

use super::super::super::kura::change::KuraChange;
use super::super::super::kura::deployment::DeploymentStatus;
use super::super::super::kura::front::front;
use super::super::super::kura::server::{Server, ServerStatus};
use super::super::super::kura::sight::Sight;
use super::super::super::kura::traffic::{Dns, Up};
use super::super::draft::Draft;

pub(super) fn project(draft: &mut Draft<'_>, sight: &Sight, server: &Server) {
    let status = status_of(server, answers(server, sight, draft));
    if status != server.status {
        draft.tell(KuraChange::StatusChanged { server: server.id, status });
    }
}

/// Whether it serves; none = that cannot be told now.
fn answers(server: &Server, sight: &Sight, draft: &Draft<'_>) -> Option<bool> {
    let Some(front) = front(server, sight) else {
        let told = server.public_host().is_none() && sight.pods.is_fresh(draft.now);
        return told.then(|| sight.pods_of(&server.instance_name).any(|pod| pod.ready));
    };
    let probe = sight.endpoint(&front.key(), draft.now)?;
    match (&probe.up, &probe.dns) {
        // A resolver that fails here says nothing about those who are served there (A23).
        (Up::Unknown, Dns::Unknown | Dns::Failed { .. }) => None,
        // The name or the handshake broke before `/up` could be asked: nobody is served either way.
        (Up::Unknown, _) => Some(false),
        (answer, _) => Some(answer.is_up()),
    }
}

/// An endpoint that answers is never called anything but active, whatever is deployed meanwhile (K14, K31).
fn status_of(server: &Server, answers: Option<bool>) -> ServerStatus {
    let served = server.current_image_tag.is_some();
    let has_url = server.url.is_some() || server.public_host().is_none();
    let failed = server.deployments.last().is_some_and(|row| row.status == DeploymentStatus::Failed);
    match answers {
        Some(true) if served && has_url => ServerStatus::Active,
        None if server.status == ServerStatus::Active => ServerStatus::Active,
        _ if failed => ServerStatus::Failed,
        _ if served => ServerStatus::Replicating,
        _ => ServerStatus::Provisioning,
    }
}
