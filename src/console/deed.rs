//! Deeds: what a person can do from here, each with its verb and its words.

use super::effect::Stop;
use super::gate::{Again, Gate};
use super::kura::{Part, Token};
use crate::domain::change::Level;
use crate::domain::fleet::Rung;
use crate::domain::ids::{EnvironmentId, MachineId, ReleaseId, RingId, RolloutId, ServerId};
use crate::domain::input::{Intent, RingPatch, Verb};
use crate::domain::kura::verb::KuraVerb;
use crate::domain::roll::verb::RollVerb;
use crate::domain::span::Seconds;

/// A brake of a ring, and what it is to be set to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Setting {
    /// Machines that may hold a slot at once; 0 = no cap at all (R125).
    Cap(u32),
    /// How long a slot stays taken after a success (R44).
    Settle(Seconds),
    /// How long a slot may be held; 0 = for ever (R123).
    Stall(Seconds),
    /// Failures that halt the ring, at least 1 (R5).
    Threshold(u32),
    /// How much of it is elected after how long (R70).
    Ladder(Vec<Rung>),
}

/// An environment and a ring in it.
pub type Place = (EnvironmentId, RingId);

/// A switch of the account (R119).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// Unattended starts on new commits.
    AutoDeploy,
    /// Unattended starts on new tags.
    TrackTags,
}

/// What a person can do from here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// Stop something.
    Stop(Stop),
    /// Skip a machine (R110).
    Skip(MachineId),
    /// Skip everybody who waits in a ring; whoever holds a slot finishes.
    HoldLine(RingId),
    /// End a hold, or let a skipped machine join again.
    Unpause(Level),
    /// Say that the clock is right (R168).
    AcceptClock,
    /// Start a release as a protected rollout (R103).
    Start(ReleaseId),
    /// The same in the place of a protected rollout that runs (R91).
    Force(ReleaseId),
    /// Begin the running release again (R94).
    Reset {
        /// The rollout that runs.
        rollout: RolloutId,
        /// What it ships.
        release: ReleaseId,
    },
    /// Withdraw a release for good (R116).
    Yank(ReleaseId),
    /// Turn a brake of a ring (B15).
    Tune(RingId, Setting),
    /// Let a new machine join; without a place it is out of scope (R12).
    Add {
        /// Its host name.
        hostname: String,
        /// Where it belongs.
        place: Option<Place>,
    },
    /// Give a machine another place, or one again; none until one is typed.
    Assign(MachineId, Option<Place>),
    /// Take a machine out of scope.
    Unassign(MachineId),
    /// Take a machine away for good.
    Remove(MachineId),
    /// Give an environment another place in the path, or none (R77).
    Place(EnvironmentId, Option<i64>),
    /// Turn a switch of the account on or off.
    Flip(Switch, bool),
    /// Bring a server to a tag; none until one is typed (K25).
    Deploy(ServerId, Option<String>),
    /// Apply what is rendered once, whatever agrees (K24).
    Reapply(ServerId),
    /// Take a server down (K51).
    Destroy(ServerId),
    /// Release a runtime tag; none until one is typed (K8).
    ReleaseTag(Option<String>),
    /// Delete a gateway that nobody uses (K42).
    DropGateway(Token, String),
    /// Take a finalizer off a gateway or the instance of a server (K44).
    Strip {
        /// Whose row it is.
        part: Part,
        /// The object.
        name: String,
        /// Which one; none until one of several is typed.
        finalizer: Option<String>,
        /// All that its deletion waits for, as they were listed.
        among: Vec<String>,
    },
    /// Delete an instance that no server claims (K45).
    DropOrphan(Token, String),
    /// Say which tags of the account are followed; none = none of them. An owner's (R119).
    FollowTags(Option<String>),
    /// Open a gate of a roll, as it was shown (F54).
    Approve(Gate),
    /// Keep it shut (F20).
    Deny(Gate),
    /// Roll another image through a fleet; none until one is typed.
    RollAgain(Box<Again>),
    /// Probe a node.
    Probe(Token, String),
    /// Give a node back that is ours.
    Uncordon(Token, String),
    /// Take the reconciler's seat for this console.
    TakeSeat,
    /// Leave it.
    LeaveSeat,
}

impl Deed {
    /// The verb it stands for; none for a line, which is a skip for each machine of it, and for the seat, which is no
    /// matter of the account.
    pub fn verb(&self) -> Option<Verb> {
        let verb = match *self {
            Self::HoldLine(_) | Self::TakeSeat | Self::LeaveSeat => return None,
            Self::Stop(stop) => stop.verb(),
            Self::Skip(machine) => Verb::Pause(Level::Machine(machine)),
            Self::Unpause(level) => Verb::Unpause(level),
            Self::AcceptClock => Verb::AcceptClock,
            Self::Start(release) => start(release, false),
            Self::Force(release) => start(release, true),
            Self::Reset { rollout, release } => {
                Verb::Start { id: rollout, release, protected: None, force: false, intent: Some(Intent::Reset) }
            }
            Self::Yank(release) => Verb::Yank { release },
            Self::Tune(ring, ref setting) => Verb::PatchRing { ring, patch: setting.patch() },
            Self::Add { ref hostname, place } => add(hostname, place),
            Self::Assign(machine, place) => assign(machine, place),
            Self::Unassign(machine) => assign(machine, None),
            Self::Remove(machine) => Verb::RemoveMachine { machine },
            Self::Place(environment, order) => {
                let promotion_order = Some(order);
                Verb::PatchEnvironment { environment, name: None, promotion_order, config_values: None }
            }
            Self::Flip(switch, on) => {
                let flipped = |this: Switch| (this == switch).then_some(on);
                let (auto_deploy, track_config_tags) = (flipped(Switch::AutoDeploy), flipped(Switch::TrackTags));
                Verb::PatchAccount { auto_deploy, track_config_tags }
            }
            Self::Deploy(server, ref tag) => {
                Verb::Kura(KuraVerb::Deploy { server, tag: tag.clone().unwrap_or_default(), force: false })
            }
            Self::Reapply(server) => Verb::Kura(KuraVerb::ForceReapply { server }),
            Self::Destroy(server) => Verb::Kura(KuraVerb::DestroyServer { server }),
            Self::ReleaseTag(ref tag) => Verb::Kura(KuraVerb::ReleaseTag { tag: tag.clone().unwrap_or_default() }),
            Self::DropGateway(_, ref name) => Verb::Kura(KuraVerb::DeleteGateway { name: name.clone() }),
            Self::Strip { ref name, ref finalizer, .. } => {
                Verb::Kura(KuraVerb::StripFinalizer { name: name.clone(), finalizer: finalizer.clone() })
            }
            Self::DropOrphan(_, ref name) => Verb::Kura(KuraVerb::DeleteOrphan { name: name.clone() }),
            Self::Approve(ref gate) => Verb::Roll(gate.approve()),
            Self::Deny(ref gate) => Verb::Roll(gate.deny()),
            Self::RollAgain(ref again) => Verb::Roll(again.verb()),
            Self::Probe(_, ref node) => Verb::Roll(RollVerb::Probe { node: node.clone() }),
            Self::Uncordon(_, ref node) => Verb::Roll(RollVerb::Uncordon { node: node.clone() }),
            Self::FollowTags(ref pattern) => Verb::ConfigureAccount { config_tag_pattern: Some(pattern.clone()) },
        };
        Some(verb)
    }

    /// What it relies on being seen of the cluster; empty where that does not matter.
    pub fn relies_on(&self) -> &'static [&'static str] {
        match self {
            Self::Deploy(..) | Self::Reapply(_) | Self::Destroy(_) | Self::DropOrphan(..) => &["instances"],
            Self::DropGateway(..) | Self::Strip { .. } => &["instances", "gateways"],
            Self::Approve(_) | Self::RollAgain(_) | Self::Probe(..) => &["nodes", "pods"],
            Self::Uncordon(..) => &["nodes"],
            _ => &[],
        }
    }

    /// It stops something and starts nothing: no arming, no typing, no fresh data.
    pub fn is_stop(&self) -> bool {
        matches!(self, Self::Stop(_) | Self::LeaveSeat)
    }

    /// It is about the fleet of rolls, and relies on what is seen of that.
    pub fn is_of_fleet(&self) -> bool {
        matches!(self, Self::Approve(_) | Self::Deny(_) | Self::RollAgain(_) | Self::Probe(..) | Self::Uncordon(..))
    }

    /// The question's headline before the name, what the button says, and what is going on once it was sent.
    fn words(&self) -> [&'static str; 3] {
        match self {
            Self::Stop(Stop::Rollout(_)) => ["Halt the rollout of", "halt it", "halting the rollout of"],
            Self::Stop(Stop::Ring(_)) => ["Hold ring", "hold it", "holding ring"],
            Self::Stop(Stop::Environment(_)) => ["Hold environment", "hold it", "holding environment"],
            Self::Stop(Stop::Roll(_)) => ["Abort the roll of", "abort it", "aborting the roll of"],
            Self::Skip(_) => ["Skip machine", "skip it", "skipping"],
            Self::HoldLine(_) => ["Hold the line of ring", "hold the line", "holding the line of ring"],
            Self::Unpause(Level::Machine(_)) => ["Let machine join again:", "let it go on", "ending the hold of"],
            Self::Unpause(Level::Ring(_)) => ["End the hold of ring", "let it go on", "ending the hold of"],
            Self::Unpause(Level::Environment(_)) => {
                ["End the hold of environment", "let it go on", "ending the hold of"]
            }
            Self::AcceptClock => ["Accept", "accept it", "accepting"],
            Self::Start(_) => ["Start, protected:", "start it", "starting"],
            Self::Force(_) => ["Start by force, protected:", "start by force", "starting by force"],
            Self::Reset { .. } => ["Reset the rollout of", "reset it", "resetting the rollout of"],
            Self::Yank(_) => ["Yank for good:", "yank it", "yanking"],
            Self::Tune(_, Setting::Cap(_)) => ["Set the cap of ring", "set it", "setting the cap of"],
            Self::Tune(_, Setting::Settle(_)) => ["Set the settle window of ring", "set it", "setting the settle of"],
            Self::Tune(_, Setting::Stall(_)) => ["Set the stall timeout of ring", "set it", "setting the stall of"],
            Self::Tune(_, Setting::Threshold(_)) => {
                ["Set the failure threshold of ring", "set it", "setting the threshold of"]
            }
            Self::Tune(_, Setting::Ladder(_)) => ["Set the wave ladder of ring", "set it", "setting the ladder of"],
            Self::Add { .. } => ["Add a machine to account", "add it", "adding a machine to"],
            Self::Assign(..) => ["Move machine", "move it", "moving"],
            Self::Unassign(_) => ["Take out of scope:", "take it out", "taking out of scope"],
            Self::Remove(_) => ["Remove for good:", "remove it", "removing"],
            Self::Place(..) => ["Set the place in the path of", "set it", "setting the place of"],
            Self::Flip(Switch::AutoDeploy, true) => {
                ["Turn auto deploy on for account", "turn it on", "auto deploy on for"]
            }
            Self::Flip(Switch::AutoDeploy, false) => {
                ["Turn auto deploy off for account", "turn it off", "auto deploy off for"]
            }
            Self::Flip(Switch::TrackTags, true) => {
                ["Turn tag tracking on for account", "turn it on", "tag tracking on for"]
            }
            Self::Flip(Switch::TrackTags, false) => {
                ["Turn tag tracking off for account", "turn it off", "tag tracking off for"]
            }
            Self::Deploy(..) => ["Deploy a tag to", "deploy it", "deploying to"],
            Self::Reapply(_) => ["Force a re-apply of", "force it", "forcing a re-apply of"],
            Self::Destroy(_) => ["Destroy server", "destroy it", "destroying"],
            Self::ReleaseTag(_) => ["Release a runtime tag to all servers of", "release it", "releasing a tag to"],
            Self::DropGateway(..) => ["Delete gateway", "delete it", "deleting gateway"],
            Self::Strip { .. } => ["Strip a finalizer off", "strip it", "stripping a finalizer off"],
            Self::DropOrphan(..) => ["Delete orphan", "delete it", "deleting orphan"],
            Self::Approve(_) => ["Approve the gate of", "approve it", "approving the gate of"],
            Self::Deny(_) => ["Deny the gate of", "deny it", "denying the gate of"],
            Self::RollAgain(_) => ["Roll an image through", "roll it", "starting a roll of"],
            Self::Probe(..) => ["Probe node", "probe it", "asking for a probe of"],
            Self::Uncordon(..) => ["Give back node", "give it back", "giving back"],
            Self::TakeSeat => ["Take the seat of account", "take it", "taking the seat of"],
            Self::LeaveSeat => ["Leave the seat of account", "leave it", "leaving the seat of"],
            Self::FollowTags(_) => ["Set the tag pattern of account", "set it", "setting the tag pattern of"],
        }
    }

    /// The question's headline, before the name.
    pub fn asks(&self) -> &'static str {
        self.words()[0]
    }

    /// What the button says.
    pub fn button(&self) -> &'static str {
        self.words()[1]
    }

    /// What is going on once it was sent, before the name.
    pub fn doing(&self) -> &'static str {
        self.words()[2]
    }
}

/// Its identity is given when it is confirmed.
fn start(release: ReleaseId, force: bool) -> Verb {
    let (id, protected) = (RolloutId(uuid::Uuid::nil()), Some(true));
    Verb::Start { id, release, protected, force, intent: Some(Intent::Start) }
}

fn assign(machine: MachineId, place: Option<Place>) -> Verb {
    let (environment, ring) = (place.map(|place| place.0), place.map(|place| place.1));
    Verb::AssignMachine { machine, environment: Some(environment), ring: Some(ring), node: None }
}

/// Its identity is given when it is confirmed.
fn add(hostname: &str, place: Option<Place>) -> Verb {
    Verb::AddMachine {
        id: MachineId(uuid::Uuid::nil()),
        hostname: hostname.to_owned(),
        node: None,
        environment: place.map(|place| place.0),
        ring: place.map(|place| place.1),
        bucket: None,
    }
}

impl Setting {
    fn patch(&self) -> RingPatch {
        let patch = RingPatch::default();
        match *self {
            Self::Cap(cap) => RingPatch { max_in_flight: Some(cap), ..patch },
            Self::Settle(span) => RingPatch { min_settle_seconds: Some(span), ..patch },
            Self::Stall(span) => RingPatch { stall_timeout_seconds: Some(span), ..patch },
            Self::Threshold(count) => RingPatch { failure_count_threshold: Some(count), ..patch },
            Self::Ladder(ref rungs) => RingPatch { wave_ladder: Some(rungs.clone()), ..patch },
        }
    }
}
