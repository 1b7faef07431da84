//! Verbs on fleet rolls: start, approve, deny, abort; and on nodes: probe, give back.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;
use uuid::Uuid;

use super::aim::{Aim, Aimed, Deed};
use super::names::Names;
use crate::domain::ids::RollId;
use crate::domain::input::Verb;
use crate::domain::roll::spec::{CANARY_GATE, RollSpec};
use crate::domain::roll::verb::RollVerb;
use crate::domain::span::Seconds;
use crate::domain::world::World;
use crate::wire::problem::{Problem, ProblemKind};

/// The largest file with the pod spec of a Job, in bytes.
const JOB_FILE_MAX: u64 = 256 * 1024;

/// A roll that is started.
#[derive(Debug, Clone, clap::Args)]
pub struct StartRoll {
    /// Whose fleet it is, and which: PROJECT/TARGET.
    #[arg(value_name = "TARGET", value_parser = pair)]
    fleet: (String, String),
    /// The image.
    #[arg(long, value_name = "IMAGE")]
    image: String,
    /// Of which source: what an approval is given for.
    #[arg(long, value_name = "TEXT")]
    revision: String,
    /// The node that goes first; without it nobody is asked before the fleet.
    #[arg(long, value_name = "NODE")]
    canary: Option<String>,
    /// A node of the fleet, in the order they are to go; again for each.
    #[arg(long = "node", value_name = "NODE")]
    nodes: Vec<String>,
    /// File with the pod spec of the Job that boots a node, as YAML or JSON.
    #[arg(long, value_name = "FILE")]
    boot: PathBuf,
    /// File with the pod spec of the Job that verifies one.
    #[arg(long, value_name = "FILE")]
    verify: Option<PathBuf>,
    /// Pulls that run ahead at the same time; 0 for none.
    #[arg(long, value_name = "COUNT", default_value_t = crate::domain::roll::spec::STAGE_PARALLELISM)]
    stage_parallelism: u32,
    /// Seconds a node has to be back before it can be green.
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    settle: u64,
    /// Take the place of the roll of this fleet that waits at a gate or only stages.
    #[arg(long)]
    displace: bool,
}

/// A gate that is opened.
#[derive(Debug, Clone, clap::Args)]
pub struct Approve {
    #[command(flatten)]
    gate: Gate,
}

/// A gate that is kept shut.
#[derive(Debug, Clone, clap::Args)]
pub struct Deny {
    #[command(flatten)]
    gate: Gate,
}

/// A gate, and what it was shown with.
#[derive(Debug, Clone, clap::Args)]
struct Gate {
    /// The roll, as PROJECT/TARGET or by uuid.
    roll: String,
    /// Which gate.
    #[arg(default_value = CANARY_GATE)]
    gate: String,
    /// The revision that was looked at; refused if another one waits by now.
    #[arg(long, value_name = "TEXT")]
    revision: String,
    /// Since when it was seen to wait; refused if it waits anew by now.
    #[arg(long, value_name = "TIME")]
    since: Option<Timestamp>,
}

/// A roll that is stopped.
#[derive(Debug, Clone, clap::Args)]
pub struct Abort {
    /// The roll, as PROJECT/TARGET or by uuid.
    roll: String,
}

/// A node that is probed.
#[derive(Debug, Clone, clap::Args)]
pub struct Probe {
    /// The node, as kura-console nodes lists it.
    node: String,
}

/// A node that is given back.
#[derive(Debug, Clone, clap::Args)]
pub struct Uncordon {
    /// The node, as kura-console nodes lists it.
    node: String,
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('/') {
        Some((project, target)) if !project.is_empty() && !target.is_empty() && !target.contains('/') => {
            Ok((project.to_owned(), target.to_owned()))
        }
        _ => Err("write it as PROJECT/TARGET".to_owned()),
    }
}

fn deed(verb: RollVerb) -> Deed {
    Deed::Verb(Box::new(Verb::Roll(verb)))
}

fn roll(world: &World, name: &str) -> Result<(RollId, Aimed), Problem> {
    let known = Names::rolls(world).find(name)?;
    Ok((RollId(known.uuid), Aimed { kind: "roll", name: known.name, uuid: Some(known.uuid) }))
}

fn node(name: &str) -> Aimed {
    Aimed { kind: "node", name: name.to_owned(), uuid: None }
}

/// The pod spec in a file.
fn job(path: &Path) -> Result<Value, Problem> {
    let bad = |why: String| {
        let message = format!("{} cannot be used: {why}", path.display());
        Problem::new(ProblemKind::Usage, "job_file", message).hint("it holds the pod spec of a Job, as YAML or JSON")
    };
    let length = std::fs::metadata(path).map_err(|error| bad(error.to_string()))?.len();
    if length > JOB_FILE_MAX {
        return Err(bad(format!("it is longer than {JOB_FILE_MAX} bytes")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| bad(error.to_string()))?;
    let spec: Value = serde_yaml::from_str(&text).map_err(|error| bad(error.to_string()))?;
    if spec.get("containers").is_some_and(Value::is_array) {
        Ok(spec)
    } else {
        Err(bad("it has no containers".to_owned()))
    }
}

impl StartRoll {
    fn spec(&self) -> Result<RollSpec, Problem> {
        Ok(RollSpec {
            canary: self.canary.clone(),
            nodes: self.nodes.clone(),
            stage_parallelism: self.stage_parallelism,
            settle_seconds: Seconds(self.settle),
            boot: Some(job(&self.boot)?),
            verify: self.verify.as_deref().map(job).transpose()?,
            ..RollSpec::default()
        })
    }
}

impl Aim for StartRoll {
    fn verb(&self) -> &'static str {
        "start-roll"
    }

    fn check(&self) -> Result<(), Problem> {
        self.spec().map(drop)
    }

    fn aim(&self, _: &World) -> Result<(Deed, Aimed), Problem> {
        let (project, target) = self.fleet.clone();
        let aimed = Aimed { kind: "roll", name: format!("{project}/{target}"), uuid: None };
        let (image, revision) = (self.image.clone(), self.revision.clone());
        let (id, spec, displace) = (RollId(Uuid::nil()), Box::new(self.spec()?), self.displace);
        Ok((deed(RollVerb::Start { id, project, target, image, revision, spec, displace }), aimed))
    }
}

impl Gate {
    /// The roll, its name, the gate, and what it was shown with.
    fn parts(&self, world: &World) -> Result<(RollId, Aimed), Problem> {
        roll(world, &self.roll)
    }
}

impl Aim for Approve {
    fn verb(&self) -> &'static str {
        "approve"
    }

    fn aim(&self, world: &World) -> Result<(Deed, Aimed), Problem> {
        let (roll, aimed) = self.gate.parts(world)?;
        let Gate { gate, revision, since, .. } = self.gate.clone();
        Ok((deed(RollVerb::Approve { roll, gate, revision, awaiting_since: since }), aimed))
    }
}

impl Aim for Deny {
    fn verb(&self) -> &'static str {
        "deny"
    }

    fn aim(&self, world: &World) -> Result<(Deed, Aimed), Problem> {
        let (roll, aimed) = self.gate.parts(world)?;
        let Gate { gate, revision, since, .. } = self.gate.clone();
        Ok((deed(RollVerb::Deny { roll, gate, revision, awaiting_since: since }), aimed))
    }
}

impl Aim for Abort {
    fn verb(&self) -> &'static str {
        "abort"
    }

    fn is_stop(&self) -> bool {
        true
    }

    fn aim(&self, world: &World) -> Result<(Deed, Aimed), Problem> {
        let (roll, aimed) = roll(world, &self.roll)?;
        Ok((deed(RollVerb::Abort { roll }), aimed))
    }
}

impl Aim for Probe {
    fn verb(&self) -> &'static str {
        "probe"
    }

    fn aim(&self, _: &World) -> Result<(Deed, Aimed), Problem> {
        Ok((deed(RollVerb::Probe { node: self.node.clone() }), node(&self.node)))
    }
}

impl Aim for Uncordon {
    fn verb(&self) -> &'static str {
        "uncordon"
    }

    fn aim(&self, _: &World) -> Result<(Deed, Aimed), Problem> {
        Ok((deed(RollVerb::Uncordon { node: self.node.clone() }), node(&self.node)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fleet_is_a_project_and_a_target() {
        assert_eq!(pair("kernel/fleet"), Ok(("kernel".to_owned(), "fleet".to_owned())));
        assert!(["kernel", "/fleet", "kernel/", "a/b/c"].iter().all(|text| pair(text).is_err()));
    }

    #[test]
    fn what_is_no_job_is_told_with_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("boot.yaml");
        assert!(job(&path).unwrap_err().message.contains("boot.yaml"));
        std::fs::write(&path, "reboot: now").unwrap();
        assert!(job(&path).unwrap_err().message.contains("no containers"));
        std::fs::write(&path, "containers: [{name: boot, image: owner/boot}]").unwrap();
        assert_eq!(job(&path).unwrap()["containers"][0]["name"], "boot");
    }
}
