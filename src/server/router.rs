//! Every route of the control plane.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;

use super::build::Builder;
use super::failure::{no_method, no_route};
use super::routes::Routes;
use super::shared::Shared;
use super::{
    account, agent, audit, environment, explain, gateway, kura, layers, machine, metrics, openapi, process, release,
    ring, rollout, rolls, secrets, stream, world,
};
use crate::control::host::Host;
use crate::wire::audit::PATH as AUDIT_PATH;
use crate::wire::call::ACCEPT_CLOCK_PATH;
use crate::wire::kura::request::ACCEPT_CLUSTER_PATH;

/// Every route. Collections end in a slash, items and verbs do not.
pub fn router<H: Host, B: Builder>(shared: Arc<Shared<H, B>>) -> Router {
    around(routes::<H, B>(), shared)
}

/// The routes of agents, for a process that serves nobody else.
pub fn agent_router<H: Host, B: Builder>(shared: Arc<Shared<H, B>>) -> Router {
    let routes = agents(Routes::default())
        .get("/api/version", process::version::<H>)
        .get("/healthz", process::alive)
        .get("/readyz", process::ready::<H, B>);
    around(routes, shared)
}

fn around<H: Host, B: Builder>(routes: Routes<Arc<Shared<H, B>>>, shared: Arc<Shared<H, B>>) -> Router {
    routes
        .router
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .layer(from_fn_with_state(Arc::clone(&shared), layers::around::<H, B>))
        .with_state(shared)
}

/// Method and path of every route, as the router has them.
pub fn listed<H: Host, B: Builder>() -> Vec<(&'static str, &'static str)> {
    routes::<H, B>().listed
}

fn routes<H: Host, B: Builder>() -> Routes<Arc<Shared<H, B>>> {
    itself(agents(nodes(kura(fleet(rollouts(configuration(Routes::default())))))))
}

fn configuration<H: Host, B: Builder>(routes: Routes<Arc<Shared<H, B>>>) -> Routes<Arc<Shared<H, B>>> {
    routes
        .get("/api/config/account", account::show::<H, B>)
        .patch("/api/config/account", account::change::<H, B>)
        .post("/api/account/config", account::configure::<H, B>)
        .get("/api/config/environments/", environment::list::<H, B>)
        .post("/api/config/environments/", environment::make::<H, B>)
        .patch("/api/config/environments/{uuid}", environment::change::<H, B>)
        .post("/api/config/environments/{uuid}/pause", environment::pause::<H, B>)
        .post("/api/config/environments/{uuid}/unpause", environment::unpause::<H, B>)
        .get("/api/config/rings/", ring::list::<H, B>)
        .post("/api/config/rings/", ring::make::<H, B>)
        .patch("/api/config/rings/{uuid}", ring::change::<H, B>)
        .post("/api/config/rings/{uuid}/pause", ring::pause::<H, B>)
        .post("/api/config/rings/{uuid}/unpause", ring::unpause::<H, B>)
}

fn rollouts<H: Host, B: Builder>(routes: Routes<Arc<Shared<H, B>>>) -> Routes<Arc<Shared<H, B>>> {
    routes
        .post("/api/config/releases/build-from-git", release::build::<H, B>)
        .get("/api/config/releases/", release::list::<H, B>)
        .get("/api/config/releases/{uuid}", release::show::<H, B>)
        .post("/api/config/releases/{uuid}/yank", release::yank::<H, B>)
        .get("/api/config/rollouts/", rollout::list::<H, B>)
        .post("/api/config/rollouts/", rollout::start::<H, B>)
        .get("/api/config/rollouts/{uuid}", rollout::show::<H, B>)
        .get("/api/config/rollouts/{uuid}/status", rollout::progress::<H, B>)
        .get("/api/config/rollouts/{uuid}/apply-results", rollout::results::<H, B>)
        .post("/api/config/rollouts/{uuid}/halt", rollout::halt::<H, B>)
        .get("/api/secrets/", secrets::list::<H, B>)
        .put("/api/secrets/{name}", secrets::set::<H, B>)
}

fn fleet<H: Host, B: Builder>(routes: Routes<Arc<Shared<H, B>>>) -> Routes<Arc<Shared<H, B>>> {
    routes
        .get("/api/provisioning/machines/", machine::list::<H, B>)
        .post("/api/provisioning/machines/", machine::add::<H, B>)
        .get("/api/provisioning/machines/{uuid}", machine::show::<H, B>)
        .patch("/api/provisioning/machines/{uuid}", machine::change::<H, B>)
        .delete("/api/provisioning/machines/{uuid}", machine::remove::<H, B>)
        .post("/api/provisioning/machines/{uuid}/config-pause", machine::pause::<H, B>)
        .post("/api/provisioning/machines/{uuid}/config-unpause", machine::unpause::<H, B>)
        .post("/api/explain", explain::ask::<H, B>)
}

fn kura<H: Host, B: Builder>(routes: Routes<Arc<Shared<H, B>>>) -> Routes<Arc<Shared<H, B>>> {
    routes
        .get("/api/kura/servers/", kura::list::<H, B>)
        .post("/api/kura/servers/", kura::add::<H, B>)
        .get("/api/kura/servers/{id}", kura::show::<H, B>)
        .patch("/api/kura/servers/{id}", kura::change::<H, B>)
        .delete("/api/kura/servers/{id}", kura::destroy::<H, B>)
        .get("/api/kura/servers/{id}/deployments", kura::deployments::<H, B>)
        .post("/api/kura/servers/{id}/deployments", kura::deploy::<H, B>)
        .post("/api/kura/servers/{id}/force-reapply", kura::force_reapply::<H, B>)
        .get("/api/kura/servers/{id}/manifest", kura::manifest::<H, B>)
        .get("/api/kura/runtime-tags/", kura::tags::<H, B>)
        .post("/api/kura/runtime-tags/", kura::release::<H, B>)
        .get("/api/kura/gateways/", gateway::list::<H, B>)
        .post("/api/kura/gateways/{name}/delete", gateway::delete::<H, B>)
        .post("/api/kura/gateways/{name}/strip-finalizer", gateway::strip_finalizer::<H, B>)
        .get("/api/kura/orphans/", gateway::orphans::<H, B>)
        .post("/api/kura/orphans/{name}/delete", gateway::delete_orphan::<H, B>)
        .post(ACCEPT_CLUSTER_PATH, gateway::accept_cluster::<H, B>)
}

fn nodes<H: Host, B: Builder>(routes: Routes<Arc<Shared<H, B>>>) -> Routes<Arc<Shared<H, B>>> {
    routes
        .get("/api/rolls/", rolls::list::<H, B>)
        .post("/api/rolls/", rolls::start::<H, B>)
        .get("/api/rolls/{uuid}", rolls::show::<H, B>)
        .post("/api/rolls/{uuid}/gates/{gate}/approve", rolls::approve::<H, B>)
        .post("/api/rolls/{uuid}/gates/{gate}/deny", rolls::deny::<H, B>)
        .post("/api/rolls/{uuid}/abort", rolls::abort::<H, B>)
        .get("/api/nodes/", rolls::nodes::<H, B>)
        .post("/api/nodes/{name}/probe", rolls::probe::<H, B>)
        .post("/api/nodes/{name}/uncordon", rolls::uncordon::<H, B>)
}

fn agents<H: Host, B: Builder>(routes: Routes<Arc<Shared<H, B>>>) -> Routes<Arc<Shared<H, B>>> {
    routes
        .get_whole("/api/agent/assignment", agent::assignment::<H, B>)
        .post("/api/agent/apply-results", agent::report::<H, B>)
        .post("/api/agent/rebuilt", agent::rebuilt::<H, B>)
}

fn itself<H: Host, B: Builder>(routes: Routes<Arc<Shared<H, B>>>) -> Routes<Arc<Shared<H, B>>> {
    routes
        .get("/api/world", world::load::<H, B>)
        .get_whole("/api/changes", stream::follow::<H, B>)
        .post(ACCEPT_CLOCK_PATH, process::accept_clock::<H, B>)
        .get(AUDIT_PATH, audit::list::<H, B>)
        .get("/api/seat", process::seat::<H, B>)
        .post("/api/seat/leave", process::leave::<H, B>)
        .get("/api/version", process::version::<H>)
        .get("/healthz", process::alive)
        .get("/readyz", process::ready::<H, B>)
        .get("/metrics", metrics::show::<H, B>)
        .get("/api/openapi.json", openapi::show)
}
