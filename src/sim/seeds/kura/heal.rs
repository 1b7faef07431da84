//! The happy end of an estate: faults stop, moves end, and the newest intent reaches every server without a person, but
//! for the one key that takes a field back from somebody else.

use super::super::check::Breach;
use super::super::heal::Operator;
use super::acts::let_go;
use super::generate::whole;
use crate::control::ports::Clock;
use crate::domain::input::Verb;
use crate::domain::kura::drift::carries;
use crate::domain::kura::incidents::{class_of, used_classes};
use crate::domain::kura::render::render;
use crate::domain::kura::server::{MovePhase, Server, ServerStatus};
use crate::domain::kura::verb::KuraVerb;
use crate::domain::span::Seconds;
use crate::domain::world::World;
use crate::sim::cluster::objects::Objects;

/// Newer than anything that was released before.
const LAST: &str = "9.9.9";

/// How often somebody looks.
const LOOK_EVERY: Seconds = Seconds(300);

/// Within this time the newest intent has reached everybody: at most four pods that roll one by one, and then some.
const ENOUGH: Seconds = Seconds(3 * 3_600);

impl Operator<'_> {
    /// From the end of all faults to a converged estate.
    pub(in super::super) fn converge(&mut self) -> Result<(), Breach> {
        self.mend();
        let world = self.world();
        for server in world.kura.servers.values().filter(|server| server.move_phase != MovePhase::None) {
            let verb = KuraVerb::MoveServer { server: server.id, phase: MovePhase::None };
            self.insist(&Verb::Kura(verb))?;
        }
        self.insist(&Verb::Kura(KuraVerb::ReleaseTag { tag: LAST.to_owned() }))?;
        let deadline = ENOUGH.after(self.theatre.stage.clock().now());
        loop {
            self.wait(LOOK_EVERY)?;
            let Some(why) = self.unfinished() else { return Ok(()) };
            if self.theatre.stage.clock().now() > deadline {
                return Err(self.breach(format!("K10: the newest intent does not win: {why}")));
            }
            self.take_back()?;
        }
    }

    /// Kubelets work, every link holds, nobody holds an update back, stuck controllers are back, nobody edits any more.
    fn mend(&mut self) {
        let now = self.theatre.stage.clock().now();
        self.theatre.stage.outside().cluster.with(|objects| {
            objects.advance(now);
            objects.faults.clear();
            objects.dead_classes.clear();
            objects
                .chains
                .keys()
                .cloned()
                .collect::<Vec<_>>()
                .iter()
                .for_each(|name| objects.change_link(name, whole()));
            for name in objects.sets.keys().cloned().collect::<Vec<_>>() {
                objects.pause_update(&name, None, now);
                let_go(objects, &name);
            }
            for (row, alive) in objects.gateways.values_mut() {
                *alive = true;
                row.stamp.finalizers.clear();
            }
            objects.gateways.retain(|_, (row, _)| !row.stamp.is_leaving());
        });
    }

    /// A field that somebody else owns is taken back by a forced row, and by nothing else (K28).
    fn take_back(&mut self) -> Result<(), Breach> {
        let world = self.world();
        let owned = |server: &&Server| {
            let torn = server.troubles.values().any(|trouble| trouble.contains("is owned by"));
            (torn || !server.foreign.is_empty()) && !server.status.is_leaving()
        };
        for server in world.kura.servers.values().filter(owned) {
            self.insist(&Verb::Kura(KuraVerb::ForceReapply { server: server.id }))?;
        }
        Ok(())
    }

    /// Why it is not over yet.
    fn unfinished(&self) -> Option<String> {
        let (world, now) = (self.world(), self.theatre.stage.clock().now());
        self.theatre.stage.outside().cluster.with(|objects| {
            objects.advance(now);
            let behind = world.kura.servers.values().find_map(|server| behind(server, objects));
            behind.or_else(|| left_over(&world, objects))
        })
    }
}

/// What is missing of a server.
fn behind(server: &Server, objects: &Objects) -> Option<String> {
    let (name, live) = (server.name(), objects.instances.get(&server.instance_name));
    match server.status {
        ServerStatus::Destroyed => return live.map(|_| format!("{name} is destroyed and still there")),
        ServerStatus::Destroying => return Some(format!("{name} is still being taken down")),
        _ => {}
    }
    let Some(live) = live else { return Some(format!("{name} has no instance")) };
    let manifest = render(server, LAST);
    let faults = [
        (server.current_image_tag.as_deref() != Some(LAST), "does not serve it"),
        (server.open().is_some(), "has an open row"),
        (server.status != ServerStatus::Active, "is not active"),
        (!carries(&manifest.imprint, live), "does not carry what is rendered"),
        (!server.troubles.is_empty(), "has writes that do not succeed"),
    ];
    let why = faults.into_iter().find(|(broken, _)| *broken).map(|(_, why)| why)?;
    let rows: Vec<_> = server.deployments.iter().rev().take(3).collect();
    Some(format!("{name} {why}: {} {rows:?} {:?} {:?}", server.status.word(), server.troubles, server.foreign))
}

/// A gateway of a living server that nobody names goes away (K43).
fn left_over(world: &World, objects: &mut Objects) -> Option<String> {
    let sight = objects.sight(objects.until);
    let used = used_classes(&world.kura, &sight);
    let staying = |server: &&Server| !server.status.is_leaving();
    let tenants: Vec<&str> = world.kura.servers.values().filter(staying).map(|server| server.tenant.as_str()).collect();
    let ours = |labels: Option<&str>| labels.is_some_and(|tenant| tenants.contains(&tenant));
    let mut left = sight.gateways.rows.values().filter(|gateway| !used.contains(class_of(gateway)));
    let left = left.find(|gateway| ours(gateway.stamp.label(crate::domain::kura::object::ACCOUNT_LABEL)))?;
    Some(format!("gateway {} is used by nobody", left.stamp.name))
}
