//! A fleet that is rolled by the real program, under the service account that `manifests --fleet-rolls` makes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::SignedDuration;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::super::host::Steered;
use super::super::rolls::fleet::Fleet;
use super::bed::Served;
use super::rights::{doctor_says, introduce};
use crate::e2e::command::{Said, kura};

struct Rolling {
    served: Served,
    fleet: Fleet,
    config: PathBuf,
}

impl Rolling {
    fn start(flags: &[&str]) -> Option<Self> {
        let mut config = PathBuf::new();
        let served = Served::with(&["--tick-seconds", "1"], |lease| {
            // Its own runtime: this is called from none.
            config = Runtime::new().expect("a runtime").block_on(introduce(lease, flags));
            config.clone()
        })?;
        let raised = Fleet::raise(&served.lease, 2, Steered::ahead(SignedDuration::ZERO));
        let fleet = served.runtime.block_on(raised);
        Some(Self { served, fleet, config })
    }

    fn roll(&self) -> String {
        let spec = self.fleet.spec();
        let new = json!({
            "project": "kernel", "target": "fleet", "image": "kernel:1", "revision": "abc123",
            "canary": spec.canary, "nodes": spec.nodes, "boot": spec.boot, "soak_seconds": 1, "reason": "test",
        });
        let made = self.served.plane.post("/api/rolls/", &new);
        format!("/api/rolls/{}", made["uuid"].as_str().expect("a uuid"))
    }

    /// Starts a roll from the command line, as far as its plan.
    fn rehearse(&self) -> Said {
        let folder = tempfile::tempdir().expect("a folder");
        let boot = folder.path().join("boot.yaml");
        std::fs::write(&boot, "containers: [{name: boot, image: owner/boot}]").expect("a file");
        let boot = boot.display().to_string();
        let said = ["start-roll", "kernel/fleet", "--image", "kernel:1", "--revision", "abc123", "--boot", &boot];
        let nodes = ["--canary", self.fleet.node(1), "--node", self.fleet.node(2), "--dry-run"];
        self.type_in(&[&said[..], &nodes].concat())
    }

    fn type_in(&self, arguments: &[&str]) -> Said {
        let folder = tempfile::tempdir().expect("a folder");
        let url = self.served.plane.url();
        let variables =
            [("KURA_CONSOLE_API", url.as_str()), ("KURA_CONSOLE_TOKEN", self.served.plane.token("operator"))];
        kura(folder.path(), &variables, arguments)
    }

    /// What `/metrics` says of rolls, by series: gauges, and how often each histogram was observed.
    fn figures(&self) -> BTreeMap<String, String> {
        let mut all = self.series("");
        all.retain(|series, _| !series.contains("_bucket{") && !series.contains("_sum{"));
        all
    }

    /// Series of rolls whose name ends in that, without what all their names begin with.
    fn series(&self, end: &str) -> BTreeMap<String, String> {
        let plane = &self.served.plane;
        let (status, _, text) = plane.send(plane.request(Method::GET, "/metrics"));
        assert_eq!(status, 200, "{text}");
        let lines = text.lines().filter_map(|line| line.strip_prefix("pipelines_deploy_")?.rsplit_once(' '));
        let ours = lines.filter(|(series, _)| series.split('{').next().is_some_and(|name| name.ends_with(end)));
        ours.map(|(series, value)| (series.to_owned(), value.to_owned())).collect()
    }

    /// Killed, and started again on what it left; until it knows the roll.
    fn start_again(&mut self, roll: &str) {
        self.served.plane.kill();
        self.served.plane.start_again();
        self.served.plane.get_until(roll, "it knows the roll", |body| !body["uuid"].is_null());
    }

    /// What the command line says, on one line.
    fn tell(&self, arguments: &[&str]) -> String {
        let said = self.type_in(arguments);
        assert_eq!(said.code, Some(0), "{said:?}");
        said.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// A plan with every object, a roll with its gate, and a word of the doctor: nothing of it needs more than is printed.
#[test]
fn the_rights_of_manifests_are_enough_to_roll_a_fleet() {
    // F15, F26, F54, F58
    let Some(rolling) = Rolling::start(&["--fleet-rolls"]) else { return };
    let (served, fleet) = (&rolling.served, &rolling.fleet);
    let (canary, other) = (fleet.node(1), fleet.node(2));
    served.plane.get_until("/api/nodes/", "the nodes are seen", |rows| rows.to_string().contains(other));

    let said = rolling.rehearse();
    assert_eq!(said.code, Some(0), "{said:?}");
    let documents: Vec<&str> = said.stdout.split("---\n").skip(1).collect();
    let count = |words: &str| documents.iter().filter(|text| text.contains(words)).count();
    assert_eq!((count("kind: Job"), count("kind: Node"), count("kind: Eviction")), (2, 4, 2), "{}", said.stdout);
    assert_eq!(count(&format!("nodeName: {canary}")), 3, "a pull, a boot, a probe: {}", said.stdout);
    assert!(said.stdout.contains("nothing was changed"), "{}", said.stdout);
    assert!(served.runtime.block_on(fleet.own()).is_empty());

    let roll = rolling.roll();
    let shown = served.plane.get_until(&roll, "it waits at its gate", |body| body["state"] == "awaiting");
    let told = rolling.tell(&["explain", "roll/kernel/fleet"]);
    for words in ["waits at its canary gate", "kura-console approve kernel/fleet canary --revision abc123 --since"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let told = rolling.tell(&["explain", &format!("node/{canary}")]);
    assert!(told.contains("proven: a container started on it"), "{told}");
    assert!(rolling.tell(&["explain", &format!("node/{other}")]).contains("nobody proved that containers start"));

    let approval = json!({"revision": "abc123", "awaiting_since": shown["awaitingSince"], "reason": "looks well"});
    let (status, answer) = served.ask("POST", &format!("{roll}/gates/canary/approve"), &approval);
    assert_eq!(status / 100, 2, "{answer:#}");
    let done = served.plane.get_until(&roll, "it goes through", |body| body["state"] == "succeeded");
    assert_eq!(done["troubles"].as_array().map_or(0, Vec::len), 0, "{done:#}");
    assert_eq!([canary, other].map(|node| fleet.boots(node)), [1, 1]);
    served.runtime.block_on(served.lease.cluster.until("nothing is left", async || fleet.own().await.is_empty()));
    let wanted = ["everything a control plane needs", "everything fleet rolls take", "what runs on them"];
    doctor_says(served, &rolling.config, &wanted);
}

/// What `/metrics` says of a roll, whoever was killed in between: gauges while there is something to say, histograms once.
#[test]
fn the_figures_of_a_roll_come_and_go_and_no_restart_doubles_them() {
    // F35, F36, F39
    let Some(mut rolling) = Rolling::start(&["--fleet-rolls"]) else { return };
    let other = rolling.fleet.node(2).to_owned();
    rolling.served.plane.get_until("/api/nodes/", "the nodes are seen", |rows| rows.to_string().contains(&other));
    assert_eq!(rolling.figures(), BTreeMap::new(), "nothing was rolled yet");
    let roll = rolling.roll();
    let shown = rolling.served.plane.get_until(&roll, "it waits at its gate", |body| body["state"] == "awaiting");
    let fleet = "project=\"kernel\",target=\"fleet\"";
    let progress = [format!("progress_completed{{{fleet}}}"), format!("progress_total{{{fleet}}}")];
    let waits = format!("awaiting_gate{{{fleet},gate=\"canary\"}}");
    let at_gate = BTreeMap::from([
        (progress[0].clone(), "0".to_owned()),
        (progress[1].clone(), "1".to_owned()),
        (waits, "1".to_owned()),
    ]);
    assert_eq!(rolling.figures(), at_gate);
    rolling.start_again(&roll);
    assert_eq!(rolling.figures(), at_gate, "they are told by what is stored");
    assert_eq!(rolling.served.plane.get(&roll)["awaitingSince"], shown["awaitingSince"]);

    let approval = json!({"revision": "abc123", "awaiting_since": shown["awaitingSince"]});
    let (status, answer) = rolling.served.ask("POST", &format!("{roll}/gates/canary/approve"), &approval);
    assert_eq!(status / 100, 2, "{answer:#}");
    let waited = format!("gate_wait_seconds_count{{{fleet},gate=\"canary\"}}");
    let after = rolling.figures();
    assert!(after.get(&waited).is_some_and(|count| count == "1"), "{after:?}");
    assert!(!after.keys().any(|series| series.starts_with("awaiting_gate")), "{after:?}");

    rolling.served.plane.get_until(&roll, "it goes through", |body| body["state"] == "succeeded");
    let mut counted: BTreeMap<String, String> = BTreeMap::from([(waited, "1".to_owned())]);
    for node in [1, 2].map(|number| rolling.fleet.node(number)) {
        for step in ["roll-node", "green"] {
            let series = format!("roll_seconds_count{{{fleet},step=\"{step}\",node=\"{node}\"}}");
            counted.insert(series, "1".to_owned());
        }
    }
    let (ended, sums) = (rolling.figures(), rolling.series("_sum"));
    assert_eq!(ended, counted, "the gauges are gone, each step of each node is there once");
    assert_eq!(sums.len(), counted.len(), "{sums:?}");
    rolling.start_again(&roll);
    rolling.served.plane.get_until("/api/seat", "it ticks", |seat| !seat["last_tick"].is_null());
    assert_eq!((rolling.figures(), rolling.series("_sum")), (ended, sums), "nothing is observed again");
}

/// Without those rights a roll waits and says why; Kura servers go on as ever.
#[test]
fn without_the_rights_a_roll_waits_and_says_so() {
    let Some(rolling) = Rolling::start(&[]) else { return };
    let served = &rolling.served;
    let roll = rolling.roll();
    let told = |body: &Value| body["reason"].as_str().is_some_and(|why| why.contains("pods: forbidden"));
    let shown = served.plane.get_until(&roll, "it says why", told);
    assert_eq!(shown["state"], "rolling", "{shown:#}");
    doctor_says(served, &rolling.config, &["roll no fleets", "no fleet roll goes on: pods: forbidden"]);
    served.release("0.20.0");
    served.server();
    served.applied("0.20.0");
}
