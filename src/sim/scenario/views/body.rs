//! The table of views.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::dress::dressed;
use super::super::file::view::View;
use super::super::process::Process;
use super::super::run::Run;
use super::super::screens::Consoles;
use crate::control::host::Host;
use crate::control::ports::{Clock, Presence, Results};
use crate::domain::observed::Observed;
use crate::domain::world::World;

/// What bodies are made from.
pub(super) struct Lens<'a> {
    pub(super) world: &'a World,
    pub(super) observed: Observed,
    pub(super) now: Timestamp,
    pub(super) last_tick: Option<Timestamp>,
}

impl<C: Consoles> Run<C> {
    /// A view as it is now, in the words of the file.
    pub(in super::super) fn body(&self, view: &View) -> Value {
        match view {
            View::Status(rollout) => self.status(rollout.as_deref()),
            View::Rollouts => self.rollouts(),
            View::Results => self.results(),
            View::Account => self.account(),
            View::Explain(kind, id) => self.explanation(*kind, id),
            View::Seat => self.seat(),
            View::Audit => self.audit(),
            View::Log => json!(self.log()),
            View::Metrics => self.metrics(),
            View::Reply => self.records.reply.shown(),
            View::Served => self.served(),
            View::ClusterWrites => self.cluster_writes(),
            View::Server(id) => self.kura_server(id),
            View::Deployments(id) => self.deployments(id),
            View::Manifest(id) => self.manifest(id),
            View::Kura => self.kura(),
            View::Gateways => self.gateways(),
            View::Orphans => self.orphans(),
            View::Pods => self.pods(),
            View::Nodes => self.nodes(),
            View::Roll(id) => self.roll(id),
            View::Screen(name, width, height) => json!(self.screen(name, (*width, *height))),
            View::CurrentScreen => json!(self.current_screen()),
        }
    }

    /// A body of the API in the words of the file.
    pub(in super::super) fn dressed(&self, body: Value) -> Value {
        dressed(&self.ids, self.ground.start, body)
    }

    /// The world as the journal has it, with what the first living process sees outside.
    pub(super) fn lens(&self) -> Lens<'_> {
        let world = &self.witness.world;
        let living = self.processes.iter().find_map(Process::service);
        let Some(service) = living else {
            let mut observed = Observed::starting_at(self.ground.start);
            observed.last_poll = self.ground.outside.presence.seen(self.ground.account);
            observed.telemetry = self.ground.outside.results.telemetry();
            return Lens { world, observed, now: self.ground.now().max(world.at), last_tick: None };
        };
        let now = service.host().clock().now().max(world.at);
        let last_tick = service.door.published().borrow().last_tick;
        Lens { observed: service.observer.observe(world), world, now, last_tick }
    }
}
