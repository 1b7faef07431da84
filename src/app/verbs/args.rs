//! The verbs of the command line, in one table.

use super::account::{AcceptClock, Account, LeaveSeat, SetSecret};
use super::aim::Aim;
use super::cluster::{AcceptCluster, DeleteGateway, DeleteOrphan, StripFinalizer};
use super::fleet::{AddMachine, Assign, Pause, RemoveMachine, Unpause};
use super::kura::{AddServer, Deploy, DestroyServer, ForceReapply, MoveServer, ReleaseTag, Server};
use super::manner::{Given, Manner};
use super::rollouts::{Build, Halt, Reset, Start, Yank};
use super::rolls::{Abort, Approve, Deny, Probe, Uncordon};
use super::start_roll::StartRoll;
use super::tiers::{AddEnvironment, AddRing, Environment, Ring};

/// One verb.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum Act {
    /// Stop the running rollout; nothing is rolled back.
    Halt(Given<Halt>),
    /// Skip a machine, or hold a ring or an environment.
    Pause(Given<Pause>),
    /// Let a skipped machine join again, or end the hold of a ring or an environment.
    Unpause(Given<Unpause>),
    /// Start a release, protected.
    Start(Given<Start>),
    /// Begin the running rollout again: every lease ends, done machines are passed over.
    Reset(Given<Reset>),
    /// Withdraw a release for good; the rollout that runs it is halted.
    Yank(Given<Yank>),
    /// Build a release from the control plane's repository.
    Build(Given<Build>),
    /// Change the brakes of a ring.
    Ring(Given<Ring>),
    /// Make a ring.
    AddRing(Given<AddRing>),
    /// Change an environment, or its place in the promotion path.
    Environment(Given<Environment>),
    /// Make an environment.
    AddEnvironment(Given<AddEnvironment>),
    /// Change the place of a machine.
    Assign(Given<Assign>),
    /// Let a machine join.
    AddMachine(Given<AddMachine>),
    /// Take a machine away for good.
    RemoveMachine(Given<RemoveMachine>),
    /// Show the account, or flip its switches of unattended starts.
    Account(Given<Account>),
    /// Give a secret a value.
    SetSecret(Given<SetSecret>),
    /// Release a runtime tag; servers are brought to it by themselves.
    ReleaseTag(Given<ReleaseTag>),
    /// Add a Kura server.
    AddServer(Given<AddServer>),
    /// Configure a Kura server otherwise.
    Server(Given<Server>),
    /// Say that the move of a Kura server begins or ends.
    MoveServer(Given<MoveServer>),
    /// Bring a Kura server to a runtime tag.
    Deploy(Given<Deploy>),
    /// Apply what is rendered for a Kura server once more, whatever is open or agrees.
    ForceReapply(Given<ForceReapply>),
    /// Take a Kura server down with everything only it used.
    DestroyServer(Given<DestroyServer>),
    /// Delete a gateway nobody uses.
    DeleteGateway(Given<DeleteGateway>),
    /// Take a finalizer off a gateway or an instance that is stuck in its deletion.
    StripFinalizer(Given<StripFinalizer>),
    /// Delete an instance that no Kura server claims.
    DeleteOrphan(Given<DeleteOrphan>),
    /// Accept another cluster: everything that is wanted is made anew there.
    AcceptCluster(Given<AcceptCluster>),
    /// Roll an image through a fleet of nodes.
    StartRoll(Box<Given<StartRoll>>),
    /// Open a gate of a fleet roll, for the revision and the wait it was shown with.
    Approve(Given<Approve>),
    /// Keep a gate of a fleet roll shut; the roll ends.
    Deny(Given<Deny>),
    /// Stop a fleet roll; no node is touched any more.
    Abort(Given<Abort>),
    /// Probe the runtime of a node now.
    Probe(Given<Probe>),
    /// Give a node back that a fleet roll which has ended left cordoned.
    Uncordon(Given<Uncordon>),
    /// Say that the control plane's clock is right again.
    AcceptClock(Given<AcceptClock>),
    /// Make the process that answers give the reconciler's seat back.
    LeaveSeat(Given<LeaveSeat>),
}

impl Act {
    /// What is meant, and how it is given.
    pub(super) fn parts(&self) -> (&dyn Aim, &Manner) {
        match self {
            Self::Halt(given) => (&given.what, &given.manner),
            Self::Pause(given) => (&given.what, &given.manner),
            Self::Unpause(given) => (&given.what, &given.manner),
            Self::Start(given) => (&given.what, &given.manner),
            Self::Reset(given) => (&given.what, &given.manner),
            Self::Yank(given) => (&given.what, &given.manner),
            Self::Build(given) => (&given.what, &given.manner),
            Self::Ring(given) => (&given.what, &given.manner),
            Self::AddRing(given) => (&given.what, &given.manner),
            Self::Environment(given) => (&given.what, &given.manner),
            Self::AddEnvironment(given) => (&given.what, &given.manner),
            Self::Assign(given) => (&given.what, &given.manner),
            Self::AddMachine(given) => (&given.what, &given.manner),
            Self::RemoveMachine(given) => (&given.what, &given.manner),
            Self::Account(given) => (&given.what, &given.manner),
            Self::SetSecret(given) => (&given.what, &given.manner),
            Self::ReleaseTag(given) => (&given.what, &given.manner),
            Self::AddServer(given) => (&given.what, &given.manner),
            Self::Server(given) => (&given.what, &given.manner),
            Self::MoveServer(given) => (&given.what, &given.manner),
            Self::Deploy(given) => (&given.what, &given.manner),
            Self::ForceReapply(given) => (&given.what, &given.manner),
            Self::DestroyServer(given) => (&given.what, &given.manner),
            Self::DeleteGateway(given) => (&given.what, &given.manner),
            Self::StripFinalizer(given) => (&given.what, &given.manner),
            Self::DeleteOrphan(given) => (&given.what, &given.manner),
            Self::AcceptCluster(given) => (&given.what, &given.manner),
            Self::StartRoll(given) => (&given.what, &given.manner),
            Self::Approve(given) => (&given.what, &given.manner),
            Self::Deny(given) => (&given.what, &given.manner),
            Self::Abort(given) => (&given.what, &given.manner),
            Self::Probe(given) => (&given.what, &given.manner),
            Self::Uncordon(given) => (&given.what, &given.manner),
            Self::AcceptClock(given) => (&given.what, &given.manner),
            Self::LeaveSeat(given) => (&given.what, &given.manner),
        }
    }
}
