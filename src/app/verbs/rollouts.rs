//! Verbs on releases and rollouts: build, start, reset, halt, yank.

use uuid::Uuid;

use super::aim::{Aim, Aimed, Deed};
use super::names::Names;
use super::span::seconds;
use crate::adapters::remote::basic::stand_in::Kind;
use crate::domain::ids::{ReleaseId, RolloutId};
use crate::domain::input::{Intent, Verb};
use crate::domain::release::{Contract, Digest};
use crate::domain::rollout::Rollout;
use crate::domain::span::Seconds;
use crate::domain::world::World;
use crate::wire::problem::{Problem, ProblemKind};

/// The rollout to halt.
#[derive(Debug, Clone, clap::Args)]
pub struct Halt {
    /// The rollout, by uuid, or by the git ref of its release where it runs; the running one where it is left out.
    #[arg(value_name = "ROLLOUT")]
    rollout: Option<String>,
}

/// The release to withdraw.
#[derive(Debug, Clone, clap::Args)]
pub struct Yank {
    /// The release, by git ref or uuid.
    #[arg(value_name = "RELEASE")]
    release: String,
}

/// What a start may turn out to be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Wanted {
    /// Refuse where that release runs already.
    #[default]
    Start,
    /// Begin the running rollout of that release again; refuse where it does not run.
    Reset,
}

/// The release to start.
#[derive(Debug, Clone, clap::Args)]
pub struct Start {
    /// The release, by git ref or uuid.
    #[arg(value_name = "RELEASE")]
    release: String,
    /// Any other start may supersede it; without this flag only --force can.
    #[arg(long)]
    unprotected: bool,
    /// Supersede a protected rollout that runs: its leases end, its runs are cancelled.
    #[arg(long)]
    force: bool,
    /// What is meant where that release runs already.
    #[arg(long, value_enum, default_value_t, value_name = "INTENT")]
    intent: Wanted,
}

/// The running rollout, again.
#[derive(Debug, Clone, clap::Args)]
pub struct Reset {}

/// What to build.
#[derive(Debug, Clone, clap::Args)]
pub struct Build {
    /// A tag, a branch or a commit of the control plane's repository; a folder where it has folders.
    #[arg(value_name = "GIT_REF")]
    git_ref: String,
    /// What the agents run it with.
    #[arg(long, default_value = "saltstack", value_name = "ENGINE")]
    engine: String,
    /// Deadline of one apply, such as 3600 or 1h; 0 = none. It cannot be changed later.
    #[arg(long, default_value = "0", value_name = "SPAN", value_parser = seconds)]
    timeout: Seconds,
    /// In your words: kept with the release.
    #[arg(long, default_value = "", value_name = "TEXT")]
    notes: String,
    /// The Kubernetes version its states aim at.
    #[arg(long, value_name = "VERSION")]
    target_version: Option<String>,
}

fn nothing_runs(what: &str) -> Problem {
    Problem::new(ProblemKind::Conflict, "not_running", format!("no rollout is running, so there is nothing to {what}"))
        .hint("kura-console status says how the last one ended")
}

fn aimed(world: &World, rollout: &Rollout) -> Aimed {
    Aimed { kind: "rollout", name: world.release_name(rollout.release).to_owned(), uuid: Some(rollout.id.0) }
}

impl Aim for Halt {
    fn verb(&self) -> &'static str {
        "halt"
    }

    fn is_stop(&self) -> bool {
        true
    }

    fn blind(&self) -> Option<(Deed, Aimed)> {
        let (uuid, aimed) = Aimed::by_uuid("rollout", self.rollout.as_deref()?)?;
        Some((Deed::Verb(Box::new(Verb::Halt { rollout: RolloutId(uuid) })), aimed))
    }

    fn aim(&self, world: &World) -> Result<(Deed, Aimed), Problem> {
        let aimed = match &self.rollout {
            Some(name) => {
                let known = Names::rollouts(world).find(name)?;
                Aimed { kind: "rollout", name: known.name, uuid: Some(known.uuid) }
            }
            None => aimed(world, world.running().ok_or_else(|| nothing_runs("halt"))?),
        };
        let rollout = RolloutId(aimed.uuid.unwrap_or_default());
        Ok((Deed::Verb(Box::new(Verb::Halt { rollout })), aimed))
    }
}

fn release(world: &World, name: &str) -> Result<(ReleaseId, Aimed), Problem> {
    let known = Names::releases(world).find(name)?;
    Ok((ReleaseId(known.uuid), Aimed { kind: "release", name: known.name, uuid: Some(known.uuid) }))
}

impl Aim for Yank {
    fn verb(&self) -> &'static str {
        "yank"
    }

    fn thing(&self) -> Option<(Kind, &str)> {
        Some((Kind::Release, &self.release))
    }

    fn aim(&self, world: &World) -> Result<(Deed, Aimed), Problem> {
        let (release, aimed) = release(world, &self.release)?;
        Ok((Deed::Verb(Box::new(Verb::Yank { release })), aimed))
    }
}

impl Aim for Start {
    fn verb(&self) -> &'static str {
        "start"
    }

    fn thing(&self) -> Option<(Kind, &str)> {
        Some((Kind::Release, &self.release))
    }

    fn aim(&self, world: &World) -> Result<(Deed, Aimed), Problem> {
        let (release, aimed) = release(world, &self.release)?;
        let (protected, intent) = match self.intent {
            Wanted::Start => (Some(!self.unprotected), Intent::Start),
            // R98: a reset keeps what it finds
            Wanted::Reset => (self.unprotected.then_some(false), Intent::Reset),
        };
        let id = RolloutId(Uuid::nil());
        let verb = Verb::Start { id, release, protected, force: self.force, intent: Some(intent) };
        Ok((Deed::Verb(Box::new(verb)), aimed))
    }
}

impl Aim for Reset {
    fn verb(&self) -> &'static str {
        "reset"
    }

    fn aim(&self, world: &World) -> Result<(Deed, Aimed), Problem> {
        let running = world.running().ok_or_else(|| nothing_runs("reset"))?;
        let (id, release) = (running.id, running.release);
        let verb = Verb::Start { id, release, protected: None, force: false, intent: Some(Intent::Reset) };
        Ok((Deed::Verb(Box::new(verb)), aimed(world, running)))
    }
}

impl Aim for Build {
    fn verb(&self) -> &'static str {
        "build"
    }

    fn aim(&self, _: &World) -> Result<(Deed, Aimed), Problem> {
        // What the reference leads to, and what is found there, is for the control plane to say.
        let verb = Verb::PublishRelease {
            id: ReleaseId(Uuid::nil()),
            git_ref: self.git_ref.clone(),
            commit: String::new(),
            engine: self.engine.clone(),
            timeout_seconds: self.timeout,
            notes: self.notes.clone(),
            target_version: self.target_version.clone(),
            content: Digest(String::new()),
            contract: Contract::default(),
        };
        Ok((Deed::Verb(Box::new(verb)), Aimed { kind: "release", name: self.git_ref.clone(), uuid: None }))
    }
}
