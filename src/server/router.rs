//! Every route of the control plane, and the way to run it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use axum::serve::{Listener, ListenerExt};
use tokio::net::{TcpListener, TcpStream};

use super::build::Builder;
use super::failure::{no_method, no_route};
use super::shared::Shared;
use super::{
    account, agent, environment, explain, layers, machine, metrics, process, release, ring, rollout, secrets, stream,
    world,
};
use crate::control::host::Host;
use crate::wire::call::ACCEPT_CLOCK_PATH;

/// Every route. Collections end in a slash, items and verbs do not.
pub fn router<H: Host, B: Builder>(shared: Arc<Shared<H, B>>) -> Router {
    let routes = Router::new()
        .merge(configuration())
        .merge(rollouts())
        .merge(fleet())
        .merge(agents())
        .route("/api/world", get(world::load::<H, B>))
        .route("/api/changes", get(stream::follow::<H, B>))
        .route(ACCEPT_CLOCK_PATH, post(process::accept_clock::<H, B>))
        .route("/api/seat", get(process::seat::<H, B>))
        .route("/api/seat/leave", post(process::leave::<H, B>))
        .route("/api/version", get(process::version::<H>))
        .route("/healthz", get(process::alive))
        .route("/readyz", get(process::ready::<H, B>))
        .route("/metrics", get(metrics::show::<H, B>));
    routes
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .layer(from_fn_with_state(Arc::clone(&shared), layers::around::<H, B>))
        .with_state(shared)
}

fn configuration<H: Host, B: Builder>() -> Router<Arc<Shared<H, B>>> {
    Router::new()
        .route("/api/config/account", get(account::show::<H, B>).patch(account::change::<H, B>))
        .route("/api/account/config", post(account::configure::<H, B>))
        .route("/api/config/environments/", get(environment::list::<H, B>).post(environment::make::<H, B>))
        .route("/api/config/environments/{uuid}", axum::routing::patch(environment::change::<H, B>))
        .route("/api/config/environments/{uuid}/pause", post(environment::pause::<H, B>))
        .route("/api/config/environments/{uuid}/unpause", post(environment::unpause::<H, B>))
        .route("/api/config/rings/", get(ring::list::<H, B>).post(ring::make::<H, B>))
        .route("/api/config/rings/{uuid}", axum::routing::patch(ring::change::<H, B>))
        .route("/api/config/rings/{uuid}/pause", post(ring::pause::<H, B>))
        .route("/api/config/rings/{uuid}/unpause", post(ring::unpause::<H, B>))
}

fn rollouts<H: Host, B: Builder>() -> Router<Arc<Shared<H, B>>> {
    Router::new()
        .route("/api/config/releases/build-from-git", post(release::build::<H, B>))
        .route("/api/config/releases/", get(release::list::<H, B>))
        .route("/api/config/releases/{uuid}", get(release::show::<H, B>))
        .route("/api/config/releases/{uuid}/yank", post(release::yank::<H, B>))
        .route("/api/config/rollouts/", get(rollout::list::<H, B>).post(rollout::start::<H, B>))
        .route("/api/config/rollouts/{uuid}", get(rollout::show::<H, B>))
        .route("/api/config/rollouts/{uuid}/status", get(rollout::progress::<H, B>))
        .route("/api/config/rollouts/{uuid}/apply-results", get(rollout::results::<H, B>))
        .route("/api/config/rollouts/{uuid}/halt", post(rollout::halt::<H, B>))
        .route("/api/secrets/", get(secrets::list::<H, B>))
        .route("/api/secrets/{name}", axum::routing::put(secrets::set::<H, B>))
}

fn fleet<H: Host, B: Builder>() -> Router<Arc<Shared<H, B>>> {
    Router::new()
        .route("/api/provisioning/machines/", get(machine::list::<H, B>).post(machine::add::<H, B>))
        .route(
            "/api/provisioning/machines/{uuid}",
            get(machine::show::<H, B>).patch(machine::change::<H, B>).delete(machine::remove::<H, B>),
        )
        .route("/api/provisioning/machines/{uuid}/config-pause", post(machine::pause::<H, B>))
        .route("/api/provisioning/machines/{uuid}/config-unpause", post(machine::unpause::<H, B>))
        .route("/api/explain", post(explain::ask::<H, B>))
}

fn agents<H: Host, B: Builder>() -> Router<Arc<Shared<H, B>>> {
    Router::new()
        .route("/api/agent/assignment", get(agent::assignment::<H, B>))
        .route("/api/agent/apply-results", post(agent::report::<H, B>))
        .route("/api/agent/rebuilt", post(agent::rebuilt::<H, B>))
}

/// Serves `listener` and feeds the change streams, until the shared `stop` is asked and every answer that was begun is
/// out.
pub async fn serve<L, H, B>(listener: L, shared: Arc<Shared<H, B>>) -> io::Result<()>
where
    L: Listener<Addr = SocketAddr>,
    H: Host,
    B: Builder,
{
    for account in shared.accounts() {
        tokio::spawn(account.feed.clone().run(account.service.clone(), shared.metrics.clone()));
    }
    let stop = shared.setup.stop.clone();
    let stopped = async move { stop.asked().await };
    axum::serve(listener, router(shared)).with_graceful_shutdown(stopped).await
}

/// The same listener; its connections send small answers at once.
pub fn quick(listener: TcpListener) -> impl Listener<Io = TcpStream, Addr = SocketAddr> {
    listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection could not be made quick");
        }
    })
}
