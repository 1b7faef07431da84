//! What is said about verbs on Kura servers: what is displaced, what is applied, what is lost.

use super::super::ids::ServerId;
use super::super::kura::deployment::{Deployment, DeploymentStatus};
use super::super::kura::drift::{carries, drift};
use super::super::kura::incidents::progressing;
use super::super::kura::render::render;
use super::super::kura::server::{MovePhase, Server};
use super::super::kura::sight::{NO_CLUSTER, Sight};
use super::super::kura::verb::KuraVerb;
use super::super::kura::workload::Retention;
use super::outline::PlanKind;
use super::rehearsal::Rehearsal;

/// Fields that are named one by one; the others are counted.
const FIELDS_NAMED: usize = 5;

impl Rehearsal<'_> {
    pub(super) fn kura(&mut self, verb: &KuraVerb) {
        self.consequences(verb);
        if self.sight().is_none() {
            self.say(PlanKind::Warns, format!("{NO_CLUSTER}: it is recorded, and nothing is applied until one is"));
        }
    }

    fn consequences(&mut self, verb: &KuraVerb) {
        match verb {
            KuraVerb::ReleaseTag { tag } => self.release_tag(tag),
            KuraVerb::AddServer { id, .. } => self.add_server(*id),
            KuraVerb::ConfigureServer { server, .. } => self.configure(*server),
            KuraVerb::MoveServer { phase, .. } => self.move_server(*phase),
            KuraVerb::Deploy { server, .. } | KuraVerb::ForceReapply { server } => self.deploy(*server),
            KuraVerb::DestroyServer { server } => self.destroy(*server),
            KuraVerb::DeleteGateway { name } => {
                self.say(PlanKind::Ends, format!("gateway {name} and its ingress class are deleted at the next tick"));
                self.say(PlanKind::Stays, "no instance and no server names its class");
            }
            KuraVerb::StripFinalizer { name, .. } => {
                let finalizer = self.after.kura.stripping(name).unwrap_or("its finalizer").to_owned();
                self.say(PlanKind::Ends, format!("{finalizer} is taken off {name} at the next tick"));
                self.say(PlanKind::Warns, "what its controller would have cleaned up stays behind");
            }
            KuraVerb::DeleteOrphan { name } => {
                self.say(PlanKind::Ends, format!("instance {name} is deleted at the next tick"));
                self.loses(name);
            }
            KuraVerb::AcceptCluster { .. } => self.accept_cluster(),
        }
    }

    /// What was there before is nobody's any more, as far as this control plane can see.
    fn accept_cluster(&mut self) {
        let staying = self.after.kura.servers.values().filter(|server| !server.status.is_leaving());
        let wanted = staying.filter(|server| server.wanted_tag().is_some()).count();
        self.say(PlanKind::Starts, format!("{wanted} servers are applied to this cluster with the next ticks"));
        self.say(
            PlanKind::Stays,
            "whatever runs in the cluster from before stays there, and is looked after by nobody",
        );
    }

    fn server(&self, id: ServerId) -> Option<Server> {
        self.after.kura.servers.get(&id).cloned()
    }

    fn sight(&self) -> Option<&Sight> {
        self.observed.cluster.as_ref()
    }

    fn release_tag(&mut self, tag: &str) {
        if self.after.kura.target() != Some(tag) {
            let newest = self.after.kura.target().unwrap_or("another").to_owned();
            self.say(PlanKind::Stays, format!("{newest} stays the newest tag: nothing is displaced by an older one"));
            return;
        }
        let open = |server: &&Server| server.open().is_some_and(|row| row.image_tag != tag);
        let servers = || self.after.kura.servers.values();
        let leads = |server: &&Server| {
            !server.status.is_leaving()
                && server.move_phase == MovePhase::None
                && server.current_image_tag.as_deref() != Some(tag)
        };
        let (count, displaced) = (servers().filter(leads).count(), servers().filter(open).count());
        self.say(PlanKind::Starts, format!("{count} servers are brought to {tag} with the next ticks"));
        if displaced > 0 {
            self.say(PlanKind::Ends, format!("{displaced} open deployments are superseded"));
        }
    }

    fn add_server(&mut self, id: ServerId) {
        let Some(server) = self.server(id) else { return };
        match self.after.kura.target() {
            Some(tag) => {
                self.say(PlanKind::Starts, format!("{} is created on {tag} at the next tick", server.instance_name))
            }
            None => self.say(PlanKind::Stays, "it waits until a runtime tag is released"),
        }
    }

    fn configure(&mut self, id: ServerId) {
        let (Some(server), Some(sight)) = (self.server(id), self.observed.cluster.as_ref()) else { return };
        let Some(manifest) = server.wanted_tag().map(|tag| render(&server, tag)) else { return };
        let Some(live) = sight.instances.get(&server.instance_name) else { return };
        if carries(&manifest.imprint, live) {
            self.say(PlanKind::Stays, "what is rendered stays the same");
            return;
        }
        let fields: Vec<String> = drift(&manifest, &live.spec).into_iter().map(|drifted| drifted.field).collect();
        let more = fields.len().saturating_sub(FIELDS_NAMED);
        let named = fields.iter().take(FIELDS_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        self.say(PlanKind::Starts, format!("the next tick applies {named}{rest}"));
    }

    fn move_server(&mut self, phase: MovePhase) {
        match phase {
            MovePhase::None => self.say(PlanKind::Starts, "the next tick schedules the newest tag"),
            _ => self.say(PlanKind::Stays, "nothing is deployed to it until the move is over"),
        }
    }

    fn deploy(&mut self, id: ServerId) {
        let Some(server) = self.server(id) else { return };
        self.displaces(id);
        match server.deployments.last() {
            Some(row) if row.status == DeploymentStatus::Succeeded => {
                self.say(PlanKind::Stays, format!("{} runs already: nothing is applied without force", row.image_tag));
            }
            Some(row) => self.applies(&server, &row.clone()),
            None => {}
        }
        if let Some(pin) = server.pin.as_ref() {
            let text = format!("it stays on {} until something newer than {} is released", pin.tag, pin.newest);
            self.say(PlanKind::Warns, text);
        }
    }

    fn displaces(&mut self, id: ServerId) {
        let Some(open) = self.before.kura.servers.get(&id).and_then(Server::open) else { return };
        let (tag, status) = (open.image_tag.clone(), open.status.word());
        self.say(PlanKind::Ends, format!("the {status} deployment of {tag} is superseded"));
    }

    fn applies(&mut self, server: &Server, row: &Deployment) {
        let how = if row.force { ", taking over fields of other managers" } else { "" };
        self.say(PlanKind::Starts, format!("{} is applied to {}{how}", row.image_tag, server.instance_name));
        let changes = server.current_image_tag.as_deref() != Some(&row.image_tag);
        if changes {
            self.say(PlanKind::Ends, "pods that are not Ready are deleted together, their volumes stay");
            self.say(PlanKind::Stays, "Ready pods roll one by one behind the readiness gate");
        } else {
            self.say(PlanKind::Stays, "pods keep running: the image stays the same");
        }
    }

    fn destroy(&mut self, id: ServerId) {
        let Some(server) = self.server(id) else { return };
        if self.before.kura.servers.get(&id).and_then(Server::open).is_some() {
            self.say(PlanKind::Ends, "its open deployment is cancelled");
        }
        let instance = server.instance_name.clone();
        self.say(PlanKind::Ends, format!("instance {instance} and the gateways only it uses are deleted"));
        self.loses(&instance);
        self.say(PlanKind::Warns, "this is not a way to ship a fix: deploy a newer tag, or force a re-apply");
    }

    /// What a deletion takes with it (K52, I11).
    fn loses(&mut self, instance: &str) {
        let set = self.sight().and_then(|sight| sight.sets.get(instance));
        let text = match set.map(|set| set.claims_when_deleted) {
            Some(Retention::Delete) => "its data set is lost with its volumes: hours of cold bootstrap",
            Some(Retention::Retain) => "its volumes are kept; a server of that name finds its data set again",
            None => "what becomes of its volumes cannot be seen; a lost data set is hours of cold bootstrap",
        };
        self.say(PlanKind::Warns, text);
        let moving = self.sight().and_then(|sight| progressing(sight, instance, self.now));
        if let Some(progress) = moving {
            self.say(PlanKind::Warns, format!("it is progressing ({progress}): deleting it throws that away"));
        }
    }
}
