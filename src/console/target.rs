//! What verbs aim at: a deed and the identity it is done to, both fixed at the key press.

use super::command::Command;
use super::deed::{Deed, Setting, Switch};
use super::effect::Stop;
use super::facts::{Facts, Node};
use super::gate::{Again, Gate};
use super::kura::{Part, Token};
use super::model::Subject;
use super::shelf::Item;
use crate::domain::change::Level;
use crate::domain::fleet::Pause;
use crate::domain::ids::{EnvironmentId, MachineId, ReleaseId, RingId, RollId, RolloutId, ServerId};
use crate::domain::kura::orphans::Direction;
use crate::domain::roll::fleet_roll::Roll;
use crate::domain::roll::host::{Host, Runtime};
use crate::domain::roll::refusal::RollRefusal;
use crate::domain::world::World;

impl Deed {
    /// What it is done to.
    fn what(&self) -> What {
        match *self {
            Self::Stop(Stop::Rollout(id)) | Self::Reset { rollout: id, .. } => What::Rollout(id),
            Self::Stop(Stop::Ring(id)) | Self::Unpause(Level::Ring(id)) => What::Ring(id),
            Self::HoldLine(id) | Self::Tune(id, _) => What::Ring(id),
            Self::Stop(Stop::Environment(id)) | Self::Unpause(Level::Environment(id)) => What::Environment(id),
            Self::Place(id, _) => What::Environment(id),
            Self::Skip(id) | Self::Unpause(Level::Machine(id)) => What::Machine(id),
            Self::Assign(id, ..) | Self::Unassign(id) | Self::Remove(id) => What::Machine(id),
            Self::Start(id) | Self::Force(id) | Self::Yank(id) => What::Release(id),
            Self::AcceptClock => What::Clock,
            Self::Flip(..) | Self::FollowTags(_) | Self::Add { .. } | Self::ReleaseTag(_) => What::Account,
            Self::Deploy(id, _) | Self::Reapply(id) | Self::Destroy(id) => What::Part(Part::Server(id)),
            Self::DropGateway(id, _) => What::Part(Part::Gateway(id)),
            Self::DropOrphan(id, _) => What::Part(Part::Orphan(id)),
            Self::Strip { part, .. } => What::Part(part),
            Self::Stop(Stop::Roll(id)) => What::Roll(id),
            Self::Approve(ref gate) | Self::Deny(ref gate) => What::Roll(gate.roll),
            Self::RollAgain(ref again) => What::Fleet(again.from),
            Self::Probe(id, _) | Self::Uncordon(id, _) => What::Host(id),
            Self::TakeSeat | Self::LeaveSeat => What::Account,
        }
    }
}

enum What {
    Rollout(RolloutId),
    Release(ReleaseId),
    Ring(RingId),
    Environment(EnvironmentId),
    Machine(MachineId),
    Part(Part),
    Roll(RollId),
    /// The fleet of a roll, whether it goes on or not.
    Fleet(RollId),
    Host(Token),
    Clock,
    Account,
}

/// The thing itself, as the person saw it when the key was pressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// What people call it.
    pub name: String,
    /// Its first eight digits, to compare by eye; empty where there is only one of its kind.
    pub short: String,
    /// Its identity.
    pub id: uuid::Uuid,
    /// The account it is in.
    pub account: String,
}

impl Target {
    /// What a deed is done to; none where it is not there.
    pub fn of(deed: &Deed, world: &World, facts: &Facts, account: &str) -> Option<Self> {
        let (name, id) = match deed.what() {
            What::Part(part) => (facts.kura.name(part)?.to_owned(), identity(part)),
            What::Roll(id) | What::Fleet(id) => (world.rolls.roll(id)?.name(), id.0),
            What::Host(id) => (facts.fleet.hosts.get(&id)?.name.clone(), id.0),
            What::Rollout(id) => (world.release_name(world.rollout(id)?.release).to_owned(), id.0),
            What::Release(id) => (world.releases.get(&id)?.git_ref.clone(), id.0),
            What::Ring(id) => (world.rings.get(&id)?.slug.clone(), id.0),
            What::Environment(id) => (world.environments.get(&id)?.slug.clone(), id.0),
            What::Machine(id) => (world.machines.get(&id)?.hostname.clone(), id.0),
            What::Clock => ("the clock".to_owned(), uuid::Uuid::nil()),
            What::Account => (account.to_owned(), uuid::Uuid::max()),
        };
        let named = !id.is_nil() && !id.is_max();
        let short = if named { id.simple().to_string().chars().take(8).collect() } else { String::new() };
        Some(Self { name, short, id, account: account.to_owned() })
    }
}

fn identity(part: Part) -> uuid::Uuid {
    match part {
        Part::Server(id) => id.0,
        Part::Estate => uuid::Uuid::max(),
        Part::Gateway(id) | Part::Orphan(id) | Part::Group(id) | Part::Cause(id) | Part::Mesh(id) => id.0,
    }
}

/// Does what the deed is done to still exist?
pub fn is_listed(deed: &Deed, world: &World, facts: &Facts) -> bool {
    match deed.what() {
        What::Part(part) => facts.kura.name(part).is_some(),
        What::Roll(id) => world.rolls.roll(id).is_some_and(Roll::is_live),
        What::Fleet(id) => world.rolls.roll(id).is_some(),
        What::Host(id) => facts.fleet.hosts.contains_key(&id),
        What::Rollout(id) => world.running().is_some_and(|r| r.id == id),
        What::Release(id) => world.releases.contains_key(&id),
        What::Ring(id) => world.rings.contains_key(&id),
        What::Environment(id) => world.environments.contains_key(&id),
        What::Machine(id) => world.machines.contains_key(&id),
        What::Clock | What::Account => true,
    }
}

/// What a command means for a row; the error says why it means nothing.
pub fn aim(command: Command, subject: Subject, facts: &Facts, world: &World) -> Result<Deed, String> {
    let row = Aim { subject, facts };
    match command {
        Command::HaltRollout => {
            let running = world.running().ok_or("no rollout is running, so there is nothing to halt")?;
            Ok(Deed::Stop(Stop::Rollout(running.id)))
        }
        Command::Reset => {
            let running = world.running().ok_or("no rollout is running, so there is nothing to reset")?;
            Ok(Deed::Reset { rollout: running.id, release: running.release })
        }
        Command::Start => row.release(world).map(Deed::Start),
        Command::StartForce => row.release(world).map(Deed::Force),
        Command::Yank => row.release(world).map(Deed::Yank),
        Command::HoldLine => Ok(Deed::HoldLine(row.ring()?)),
        Command::SetCap | Command::SetSettle | Command::SetStall | Command::SetThreshold | Command::SetLadder => {
            tune(command, row.ring()?, world)
        }
        Command::SetOrder => {
            let id = row.environment()?;
            Ok(Deed::Place(id, world.environments.get(&id).and_then(|environment| environment.promotion_order)))
        }
        Command::AssignMachine => {
            let id = row.machine()?;
            Ok(Deed::Assign(id, world.machines.get(&id).and_then(|machine| machine.place())))
        }
        Command::AddMachine => Ok(Deed::Add { hostname: String::new(), place: None }),
        Command::SetTagPattern => Ok(Deed::FollowTags(world.account.config_tag_pattern.clone())),
        Command::UnassignMachine => row.machine().map(Deed::Unassign),
        Command::RemoveMachine => row.machine().map(Deed::Remove),
        Command::FlipAutoDeploy => Ok(Deed::Flip(Switch::AutoDeploy, !world.account.auto_deploy)),
        Command::FlipTrackTags => Ok(Deed::Flip(Switch::TrackTags, !world.account.track_config_tags)),
        Command::Deploy => Ok(Deed::Deploy(row.server(world)?, None)),
        Command::ForceReapply => row.server(world).map(Deed::Reapply),
        Command::DestroyServer => row.server(world).map(Deed::Destroy),
        Command::ReleaseTag => Ok(Deed::ReleaseTag(None)),
        Command::DeleteGateway => row.gateway().map(|(id, name)| Deed::DropGateway(id, name)),
        Command::DeleteOrphan => row.orphan().map(|(id, name)| Deed::DropOrphan(id, name)),
        Command::StripFinalizer => row.finalizer(),
        Command::Approve => row.gate(world).map(Deed::Approve),
        Command::Deny => row.gate(world).map(Deed::Deny),
        Command::Abort => {
            let roll = row.roll(world)?;
            let over = || format!("the roll of {} is {} already", roll.name(), roll.state().word());
            if roll.is_live() { Ok(Deed::Stop(Stop::Roll(roll.id))) } else { Err(over()) }
        }
        Command::StartRoll => {
            let roll = row.roll(world)?;
            let goes_on = world.rolls.live(&roll.project, &roll.target).is_some();
            Ok(Deed::RollAgain(Box::new(Again::of(roll, goes_on))))
        }
        Command::Probe => {
            let broken = |roll, host: &Host| host.watched_by == Some(roll) && host.runtime() == Runtime::Broken;
            row.host(broken).map(|(id, name)| Deed::Probe(id, name))
        }
        Command::Uncordon => {
            let left = |roll, host: &Host| host.cordon.as_ref().is_some_and(|cordon| cordon.roll == roll);
            row.host(left).map(|(id, name)| Deed::Uncordon(id, name))
        }
        Command::AcceptClock => Ok(Deed::AcceptClock),
        Command::TakeSeat => Ok(Deed::TakeSeat),
        Command::LeaveSeat => Ok(Deed::LeaveSeat),
        Command::PauseEnvironment => Ok(Deed::Stop(Stop::Environment(row.environment()?))),
        Command::PauseRing => Ok(Deed::Stop(Stop::Ring(row.ring()?))),
        Command::PauseMachine => Ok(Deed::Skip(row.machine()?)),
        Command::UnpauseEnvironment => Ok(Deed::Unpause(Level::Environment(row.environment()?))),
        Command::UnpauseRing => Ok(Deed::Unpause(Level::Ring(row.ring()?))),
        Command::UnpauseMachine => Ok(Deed::Unpause(Level::Machine(row.machine()?))),
        _ => Err("this is no verb".to_owned()),
    }
}

/// Begins at what the ring has now; the value is typed into the dialog.
fn tune(command: Command, ring: RingId, world: &World) -> Result<Deed, String> {
    let settings = &world.rings.get(&ring).ok_or("it is no longer listed")?.settings;
    let setting = match command {
        Command::SetCap => Setting::Cap(settings.max_in_flight),
        Command::SetSettle => Setting::Settle(settings.min_settle_seconds),
        Command::SetStall => Setting::Stall(settings.stall_timeout_seconds),
        Command::SetLadder => Setting::Ladder(settings.wave_ladder.clone()),
        _ => Setting::Threshold(settings.failure_count_threshold),
    };
    Ok(Deed::Tune(ring, setting))
}

struct Aim<'a> {
    subject: Subject,
    facts: &'a Facts,
}

impl Aim<'_> {
    fn node(&self) -> Result<Node, String> {
        match self.subject.row() {
            Subject::Node(node) => Ok(node),
            Subject::Rollout | Subject::Need(..) | Subject::Item(_) | Subject::Nothing => {
                Err("select the row it is meant for first".to_owned())
            }
        }
    }

    fn part(&self) -> Option<Part> {
        match self.subject.row() {
            Subject::Node(Node::Kura(part)) => Some(part),
            _ => None,
        }
    }

    fn roll<'w>(&self, world: &'w World) -> Result<&'w Roll, String> {
        match self.subject.row() {
            Subject::Node(Node::Roll(id)) => world.rolls.roll(id).ok_or_else(|| "it is no longer kept".to_owned()),
            _ => Err("select a fleet roll first".to_owned()),
        }
    }

    fn gate(&self, world: &World) -> Result<Gate, String> {
        let roll = self.roll(world)?;
        Gate::of(roll).ok_or_else(|| format!("{} waits at no gate", roll.name()))
    }

    /// The node of the row. Of a roll it is the one of its nodes that the deed can only be meant for.
    fn host(&self, is_meant: impl Fn(RollId, &Host) -> bool) -> Result<(Token, String), String> {
        let hosts = &self.facts.fleet.hosts;
        match self.subject.row() {
            Subject::Node(Node::Host(id)) => {
                let host = hosts.get(&id).ok_or("it is no longer listed")?;
                Ok((id, host.name.clone()))
            }
            Subject::Node(Node::Roll(roll)) => {
                let meant: Vec<_> = hosts.iter().filter(|(_, host)| is_meant(roll, host)).collect();
                match meant[..] {
                    [(id, host)] => Ok((*id, host.name.clone())),
                    _ => Err("select a node first, on the screen of nodes".to_owned()),
                }
            }
            _ => Err("select a node first".to_owned()),
        }
    }

    /// A row without an instance is its server.
    fn server(&self, world: &World) -> Result<ServerId, String> {
        let orphan = |id| self.facts.kura.orphans.get(&id);
        match self.part() {
            Some(Part::Server(id)) => Ok(id),
            Some(Part::Orphan(id)) if orphan(id).is_some_and(|one| one.direction == Direction::RowWithoutInstance) => {
                let server = orphan(id).and_then(|one| world.kura.server_of(&one.name));
                server.map(|server| server.id).ok_or_else(|| "it is no longer listed".to_owned())
            }
            _ => Err("select a Kura server first".to_owned()),
        }
    }

    fn gateway(&self) -> Result<(Token, String), String> {
        let Some(Part::Gateway(id)) = self.part() else { return Err("select a gateway first".to_owned()) };
        let row = self.facts.kura.gateways.get(&id).ok_or("it is no longer listed")?;
        Ok((id, row.name.clone()))
    }

    fn orphan(&self) -> Result<(Token, String), String> {
        let Some(Part::Orphan(id)) = self.part() else { return Err("select an orphan first".to_owned()) };
        let row = self.facts.kura.orphans.get(&id).ok_or("it is no longer listed")?;
        match row.direction {
            Direction::InstanceWithoutRow => Ok((id, row.name.clone())),
            Direction::RowWithoutInstance => {
                Err("it has a server and no instance: there is nothing to delete".to_owned())
            }
        }
    }

    /// The finalizer that a deletion waits for; which of several is typed into the dialog.
    fn finalizer(&self) -> Result<Deed, String> {
        let kura = &self.facts.kura;
        let found = match self.part() {
            Some(part @ Part::Gateway(id)) => {
                let row = kura.gateways.get(&id).filter(|row| row.is_stuck());
                row.map(|row| (part, row.name.clone(), row.finalizers.clone()))
            }
            Some(part @ Part::Server(id)) => {
                let row = kura.servers.get(&id);
                row.map(|row| (part, row.instance.clone(), row.finalizers.clone()))
            }
            _ => return Err("select a gateway or a server that is stuck in its deletion".to_owned()),
        };
        let found = found.filter(|(_, _, among)| !among.is_empty());
        let (part, name, among) = found.ok_or("it is not being deleted, or waits for no finalizer")?;
        let finalizer = among.first().filter(|_| among.len() == 1).cloned();
        Ok(Deed::Strip { part, name, finalizer, among })
    }

    /// Of a rollout of the past it is the release it shipped.
    fn release(&self, world: &World) -> Result<ReleaseId, String> {
        match self.subject {
            Subject::Item(Item::Release(id)) => Ok(id),
            Subject::Item(Item::Rollout(id)) => {
                world.rollout(id).map(|rollout| rollout.release).ok_or_else(|| "it is no longer kept here".to_owned())
            }
            _ => Err("select a release first, on the screen of releases".to_owned()),
        }
    }

    fn machine(&self) -> Result<MachineId, String> {
        match self.node()? {
            Node::Machine(id) => Ok(id),
            _ => Err("select a machine first".to_owned()),
        }
    }

    fn ring(&self) -> Result<RingId, String> {
        match self.node()? {
            Node::Lane((_, ring)) | Node::Ring(ring) => Ok(ring),
            Node::Machine(id) => {
                self.facts.machine(id).map(|(_, lane, _)| lane.key.1).ok_or_else(|| "it is in no ring".to_owned())
            }
            _ => Err("select a ring or a machine in it first".to_owned()),
        }
    }

    fn environment(&self) -> Result<EnvironmentId, String> {
        match self.node()? {
            Node::Environment(id) | Node::Lane((id, _)) => Ok(id),
            Node::Machine(id) => {
                self.facts.machine(id).map(|(tier, ..)| tier.id).ok_or_else(|| "it is in no environment".to_owned())
            }
            _ => Err("select an environment or something in it first".to_owned()),
        }
    }
}

/// Why a node is not given back: it is not ours to give, or somebody asked for it already.
fn keeps_its_cordon(node: &str, world: &World) -> Option<String> {
    let Some(cordon) = world.rolls.ledger.get(node) else {
        let refusal = RollRefusal::NotOurs { node: node.to_owned() };
        return Some(format!("{refusal} ({})", refusal.hints().join(", ")));
    };
    cordon.asked_by.as_ref().map(|by| format!("{by} asked to give it back already, and the next tick does"))
}

/// Why the deed would change nothing, if it would not.
pub fn futile(deed: &Deed, world: &World) -> Option<String> {
    let pause_of = |level: Level| -> Option<&Pause> {
        match level {
            Level::Machine(id) => world.machines.get(&id)?.paused.as_ref(),
            Level::Ring(id) => world.rings.get(&id)?.paused.as_ref(),
            Level::Environment(id) => world.environments.get(&id)?.paused.as_ref(),
        }
    };
    let already = |pause: &Pause| format!("it is paused already, by {}", pause.by);
    match *deed {
        Deed::Probe(_, ref node) => {
            world.rolls.asked.get(node).map(|asked| format!("{} asked for one already", asked.by))
        }
        Deed::Uncordon(_, ref node) => keeps_its_cordon(node, world),
        Deed::Stop(Stop::Ring(id)) => pause_of(Level::Ring(id)).map(already),
        Deed::Stop(Stop::Environment(id)) => pause_of(Level::Environment(id)).map(already),
        Deed::Skip(id) => pause_of(Level::Machine(id)).map(already),
        Deed::Unpause(level) => pause_of(level).is_none().then(|| "it is not paused".to_owned()),
        Deed::Unassign(id) => {
            let machine = world.machines.get(&id)?;
            let out = machine.environment.is_none() && machine.ring.is_none();
            out.then(|| "it is out of scope already".to_owned())
        }
        _ => None,
    }
}
