//! The verb that begins a fleet roll, with a flag for everything a roll can be told.

use std::path::{Path, PathBuf};

use serde_json::Value;
use uuid::Uuid;

use super::aim::{Aim, Aimed, Deed};
use super::rolls::deed;
use super::span::seconds;
use crate::domain::ids::RollId;
use crate::domain::roll::partition::Partition;
use crate::domain::roll::spec::{CANARY_GATE, PROBE_IMAGE, RollSpec, SOAK, STAGE_PARALLELISM, Selector};
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
    #[arg(long, value_name = "COUNT", default_value_t = STAGE_PARALLELISM)]
    stage_parallelism: u32,
    /// Nodes that roll at the same time; anything but 1 is refused.
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    concurrency: u32,
    #[command(flatten)]
    people: People,
    #[command(flatten)]
    green: GreenGate,
    #[command(flatten)]
    pulls: Pulls,
    /// Take the place of the roll of this fleet that waits at a gate or only stages.
    #[arg(long)]
    displace: bool,
}

/// Where a person is asked.
#[derive(Debug, Clone, clap::Args)]
struct People {
    /// A gate a person opens once the canary is green; again for each, in their order.
    #[arg(long = "gate", value_name = "NAME", default_values_t = [CANARY_GATE.to_owned()])]
    gates: Vec<String>,
    /// No gate: the fleet follows the canary by itself.
    #[arg(long, conflicts_with = "gates")]
    no_gate: bool,
}

/// What a node has to show before the next one goes.
#[derive(Debug, Clone, clap::Args)]
struct GreenGate {
    /// How long a node has to be back before it can be green, such as 90, 2m or 1h30m.
    #[arg(long, value_name = "SPAN", default_value = "0", value_parser = seconds)]
    settle: Seconds,
    /// The same for the canary, where it is another one.
    #[arg(long, value_name = "SPAN", value_parser = seconds)]
    canary_settle: Option<Seconds>,
    /// How long rolled nodes are looked at after the last one is green.
    #[arg(long, value_name = "SPAN", default_value_t = SOAK, value_parser = seconds)]
    soak: Seconds,
    /// How long a node may take to become green once it has settled; after that the roll fails. 30m unless it is said.
    #[arg(long, value_name = "SPAN", value_parser = seconds)]
    green_deadline: Option<Seconds>,
    /// The image of a probe, which has to be on the nodes.
    #[arg(long, value_name = "IMAGE", default_value = PROBE_IMAGE)]
    probe_image: String,
    /// How long the container of a probe may take to start; after that the runtime of its node is broken. 60s unless it is
    /// said.
    #[arg(long, value_name = "SPAN", value_parser = seconds)]
    probe_start: Option<Seconds>,
    /// The label of workloads a node waits for. Without it and --others no workload is looked at: a node is green once it
    /// is Ready, shows no fingerprint of a wedged runtime, and a probe ran.
    #[arg(long, value_name = "LABEL=VALUE", value_parser = selector, requires = "others")]
    infra: Option<Selector>,
    /// The label of workloads that are only reported. Each workload carries one of the two, and not both.
    #[arg(long, value_name = "LABEL=VALUE", value_parser = selector, requires = "infra")]
    others: Option<Selector>,
}

/// Where images are pulled from.
#[derive(Debug, Clone, clap::Args)]
struct Pulls {
    /// The label of the registry's pods: the node they are on goes last. app.kubernetes.io/name=zot unless it is said.
    #[arg(long, value_name = "LABEL=VALUE", value_parser = selector)]
    registry: Option<Selector>,
    /// No registry of this cluster is pulled from: no node is kept for last.
    #[arg(long, conflicts_with = "registry")]
    no_registry: bool,
}

/// A project and a target of it.
fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('/') {
        Some((project, target)) if !project.is_empty() && !target.is_empty() && !target.contains('/') => {
            Ok((project.to_owned(), target.to_owned()))
        }
        _ => Err("write it as PROJECT/TARGET".to_owned()),
    }
}

/// A label and its value.
fn selector(text: &str) -> Result<Selector, String> {
    match text.split_once('=') {
        Some((label, value)) if !label.is_empty() && !value.is_empty() && !value.contains('=') => {
            Ok(Selector::new(label, value))
        }
        _ => Err("write it as LABEL=VALUE, such as tier=infra".to_owned()),
    }
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
        let (people, green, pulls) = (&self.people, &self.green, &self.pulls);
        let classes = green.infra.clone().zip(green.others.clone());
        Ok(RollSpec {
            canary: self.canary.clone(),
            nodes: self.nodes.clone(),
            stage_parallelism: self.stage_parallelism,
            concurrency: self.concurrency,
            gates: if people.no_gate { Vec::new() } else { people.gates.clone() },
            settle_seconds: green.settle,
            canary_settle_seconds: green.canary_settle,
            soak_seconds: green.soak,
            registry: pulls.registry.clone().or(RollSpec::default().registry).filter(|_| !pulls.no_registry),
            partition: classes.map(|(infra, others)| Partition { infra, others }),
            boot: Some(job(&self.boot)?),
            verify: self.verify.as_deref().map(job).transpose()?,
            probe_image: green.probe_image.clone(),
            probe_start_seconds: green.probe_start,
            green_deadline_seconds: green.green_deadline,
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::Parser;
    use serde_json::json;

    use super::*;
    use crate::wire::roll::request::{RollNew, call_of};

    #[derive(Debug, clap::Parser)]
    struct Line {
        #[command(flatten)]
        start: StartRoll,
    }

    /// The body that these flags send, and those that every roll has.
    fn sent(more: &[&str]) -> Result<Value, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("boot.yaml");
        std::fs::write(&path, "containers: [{name: boot, image: owner/boot}]").unwrap();
        let boot = path.to_str().unwrap();
        let usual = ["line", "kernel/fleet", "--image", "kernel:1", "--revision", "x", "--boot", boot];
        let line = Line::try_parse_from([&usual[..], more].concat()).map_err(|error| error.to_string())?;
        let (deed, _) = line.start.aim(&World::default()).unwrap();
        let Deed::Verb(verb) = deed else { panic!("no verb") };
        let crate::domain::input::Verb::Roll(verb) = *verb else { panic!("no roll") };
        Ok(call_of(&verb).body)
    }

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

    #[test]
    fn whatever_a_roll_can_be_told_has_a_flag() {
        // F11, F31
        let flags = [
            "--canary",
            "wk-1",
            "--node",
            "wk-2",
            "--node",
            "wk-3",
            "--stage-parallelism",
            "0",
            "--concurrency",
            "1",
            "--gate",
            "canary",
            "--gate",
            "night",
            "--settle",
            "2m",
            "--canary-settle",
            "1h",
            "--soak",
            "10m",
            "--green-deadline",
            "2h",
            "--probe-image",
            "pause:3",
            "--probe-start",
            "90",
            "--infra",
            "tier=infra",
            "--others",
            "tier=app",
            "--registry",
            "app=harbor",
            "--displace",
        ];
        let body = sent(&flags).unwrap();
        let wanted = json!({
            "project": "kernel", "target": "fleet", "image": "kernel:1", "revision": "x", "canary": "wk-1",
            "nodes": ["wk-2", "wk-3"], "stage_parallelism": 0, "concurrency": 1, "gates": ["canary", "night"],
            "settle_seconds": 120, "canary_settle_seconds": 3600, "soak_seconds": 600, "green_deadline_seconds": 7200,
            "probe_image": "pause:3", "probe_start_seconds": 90, "registry": {"label": "app", "value": "harbor"},
            "partition": {
                "infra": {"label": "tier", "value": "infra"}, "others": {"label": "tier", "value": "app"},
            },
            "boot": {"containers": [{"name": "boot", "image": "owner/boot"}]}, "verify": null, "displace": true,
        });
        assert_eq!(body, wanted);
        // Nothing the API takes is left out, but for the reason, which every verb has.
        let fields: BTreeSet<String> =
            schemars::schema_for!(RollNew).as_value()["properties"].as_object().unwrap().keys().cloned().collect();
        let told: BTreeSet<String> = body.as_object().unwrap().keys().cloned().collect();
        assert_eq!(fields.difference(&told).collect::<Vec<_>>(), ["reason"]);
    }

    #[test]
    fn what_is_not_said_is_the_same_as_over_http() {
        let read = |body: Value| {
            let new: RollNew = serde_json::from_value(body).unwrap();
            new.verb(RollId::named("r"))
        };
        let bare = json!({
            "project": "kernel", "target": "fleet", "image": "kernel:1", "revision": "x",
            "boot": {"containers": [{"name": "boot", "image": "owner/boot"}]},
        });
        assert_eq!(read(sent(&[]).unwrap()), read(bare));
        let none = sent(&["--no-gate", "--no-registry"]).unwrap();
        assert_eq!((&none["gates"], &none["registry"]), (&json!([]), &Value::Null));
        let RollVerb::Start { spec, .. } = read(none) else { panic!("no start") };
        assert_eq!(spec.registry, None, "none at all, and not the usual one");
    }

    #[test]
    fn what_cannot_be_meant_names_its_flag_and_how_it_is_written() {
        for (flags, words) in [
            (&["--infra", "infra", "--others", "tier=app"][..], &["--infra", "write it as LABEL=VALUE"][..]),
            (&["--infra", "tier=infra"], &["--others"]),
            (&["--soak", "soon"], &["--soak", "write it like 90, 90s, 2m or 1h30m"]),
            (&["--probe-start", "-1"], &["-1"]),
            (&["--gate", "a", "--no-gate"], &["--no-gate"]),
            (&["--registry", "a=b", "--no-registry"], &["--no-registry"]),
        ] {
            let refused = sent(flags).unwrap_err();
            words.iter().for_each(|word| assert!(refused.contains(word), "no {word} in {refused}"));
        }
    }
}
