//! A fleet under test that does at once what it is told, unless a test holds it up.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::json;

use crate::domain::change::Change;
use crate::domain::decide::decide;
use crate::domain::ids::{RollId, RolloutId};
use crate::domain::input::{Input, Order, Verb};
use crate::domain::invariants::broken_step;
use crate::domain::kura::labels::Labels;
use crate::domain::kura::object::{ObjectKind, Stamp};
use crate::domain::kura::sight::Sight;
use crate::domain::kura::source::Contact;
use crate::domain::kura::step::{Deed, Outcome, Purpose, Ran, Step};
use crate::domain::observed::Observed;
use crate::domain::refusal::Refusal;
use crate::domain::roll::change::RollChange;
use crate::domain::roll::fleet_roll::{Roll, RollState};
use crate::domain::roll::invariants::broken_writes;
use crate::domain::roll::manifest::STEP_LABEL;
use crate::domain::roll::node::{NodeRoll, StepName, StepState};
use crate::domain::roll::sight::{FleetJob, FleetNode, FleetPod, FleetSight, JobEnd};
use crate::domain::roll::spec::RollSpec;
use crate::domain::roll::verb::RollVerb;
use crate::domain::span::Seconds;
use crate::domain::verdict::{Reply, Verdict};
use crate::domain::world::World;

pub(crate) struct Rig {
    pub(crate) world: World,
    pub(crate) fleet: FleetSight,
    pub(crate) now: Timestamp,
    /// Every step that was ever decided.
    pub(crate) steps: Vec<Step>,
    /// Steps whose effect is held up.
    pub(crate) held: BTreeSet<(String, StepName)>,
    /// Nodes that cannot pull.
    pub(crate) no_pull: BTreeSet<String>,
    /// Verbs of the API that fail.
    pub(super) failing: BTreeSet<&'static str>,
    /// Verbs of the API that may not be used.
    pub(super) forbidden: BTreeSet<&'static str>,
    /// What probes on a node wait for; empty = nothing at all.
    pub(crate) stuck: BTreeMap<String, &'static str>,
    versions: u64,
}

pub(crate) const ROLL: &str = "r";

pub(crate) fn id(name: &str) -> RollId {
    RollId::named(name)
}

impl Rig {
    /// `wk-1` to `wk-n`, each with one workload.
    pub(crate) fn of(nodes: usize) -> Self {
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        let mut rig = Self {
            world: World::default(),
            fleet: FleetSight::default(),
            now,
            steps: Vec::new(),
            held: BTreeSet::new(),
            no_pull: BTreeSet::new(),
            failing: BTreeSet::new(),
            forbidden: BTreeSet::new(),
            stuck: BTreeMap::new(),
            versions: 0,
        };
        for n in 1..=nodes {
            rig.put_node(&format!("wk-{n}"));
        }
        rig.look();
        rig
    }

    /// The same, with a roll that has begun: `wk-1` is the canary, the others are the fleet.
    pub(crate) fn rolling(nodes: usize) -> Self {
        let mut rig = Self::of(nodes);
        assert_eq!(rig.start(ROLL, "x", spec(nodes)), Reply::Roll(id(ROLL)));
        rig
    }

    /// The same, at its gate.
    pub(crate) fn at_gate(nodes: usize) -> Self {
        let mut rig = Self::rolling(nodes);
        rig.until(|rig| rig.roll().gate.is_some());
        rig
    }

    fn put_node(&mut self, name: &str) {
        let stamp = self.stamp(name);
        let (boot_id, cordoned_by) = (Some("boot-1".to_owned()), None);
        let (ready, unschedulable, kernel, os_image) = (true, false, None, None);
        let node = FleetNode { stamp, ready, unschedulable, cordoned_by, boot_id, kernel, os_image };
        self.fleet.nodes.rows.insert(name.to_owned(), node);
        self.put_pod(&format!("app-{name}"), name, &[]);
    }

    pub(crate) fn stamp(&mut self, name: &str) -> Stamp {
        self.versions += 1;
        Stamp {
            name: name.to_owned(),
            uid: format!("uid-{}", self.versions),
            resource_version: self.versions.to_string(),
            created_at: self.now,
            deleting_since: None,
            finalizers: Vec::new(),
            labels: Labels::default(),
        }
    }

    /// Something that runs on a node.
    pub(crate) fn put_pod(&mut self, name: &str, node: &str, labels: &[(&str, &str)]) -> &mut FleetPod {
        let mut stamp = self.stamp(name);
        stamp.labels = labels.iter().map(|(label, value)| ((*label).to_owned(), (*value).to_owned())).collect();
        let pod = FleetPod {
            stamp,
            namespace: "apps".to_owned(),
            node: Some(node.to_owned()),
            phase: "Running".to_owned(),
            ready: true,
            started: true,
            reason: None,
            message: None,
            since: None,
            sent_at: None,
            image_id: None,
            owner: Some("ReplicaSet".to_owned()),
        };
        self.fleet.pods.rows.entry(format!("apps/{name}")).or_insert(pod)
    }

    /// Pods on a node that cannot be made, as of now.
    pub(crate) fn fingerprints(&mut self, node: &str, count: usize, reason: &str) {
        let now = self.now;
        for n in 0..count {
            let pod = self.put_pod(&format!("{node}-{reason}-{n}").to_lowercase(), node, &[]);
            (pod.ready, pod.started, pod.reason, pod.since) = (false, false, Some(reason.to_owned()), Some(now));
        }
    }

    /// The registry runs on this node.
    pub(crate) fn put_registry(&mut self, node: &str) {
        self.fleet.pods.rows.remove("apps/zot");
        self.put_pod("zot", node, &[("app.kubernetes.io/name", "zot")]);
    }

    pub(crate) fn node(&mut self, name: &str) -> &mut FleetNode {
        self.versions += 1;
        let version = self.versions.to_string();
        let node = self.fleet.nodes.rows.get_mut(name).unwrap();
        node.stamp.resource_version = version;
        node
    }

    pub(crate) fn roll(&self) -> &Roll {
        self.world.rolls.roll(id(ROLL)).unwrap()
    }

    pub(crate) fn of_node(&self, name: &str) -> &NodeRoll {
        &self.roll().nodes[name]
    }

    pub(crate) fn state(&self) -> RollState {
        self.roll().state()
    }

    pub(crate) fn reason(&self) -> String {
        self.roll().reason().unwrap_or_default()
    }

    pub(crate) fn state_of(&self, node: &str, step: StepName) -> Option<StepState> {
        self.of_node(node).step(step).map(|row| row.state)
    }

    /// Nodes in the order in which their turn came.
    pub(crate) fn turns(&self) -> Vec<&str> {
        self.roll().turns.iter().map(|turn| turn.node.as_str()).collect()
    }

    pub(crate) fn start(&mut self, name: &str, revision: &str, spec: RollSpec) -> Reply {
        self.start_over(name, revision, spec, false)
    }

    pub(crate) fn start_over(&mut self, name: &str, revision: &str, spec: RollSpec, displace: bool) -> Reply {
        self.start_at("fleet", name, revision, spec, displace)
    }

    pub(crate) fn start_at(
        &mut self,
        target: &str,
        name: &str,
        revision: &str,
        spec: RollSpec,
        displace: bool,
    ) -> Reply {
        let (project, target, image) = ("kernel".to_owned(), target.to_owned(), format!("registry/kernel:{revision}"));
        let (id, revision, spec) = (id(name), revision.to_owned(), Box::new(spec));
        self.verb(RollVerb::Start { id, project, target, image, revision, spec, displace })
    }

    pub(crate) fn approve(&mut self, name: &str, revision: &str, since: Option<Timestamp>) -> Reply {
        let (gate, revision) = ("canary".to_owned(), revision.to_owned());
        self.verb(RollVerb::Approve { roll: id(name), gate, revision, awaiting_since: since })
    }

    pub(crate) fn verb(&mut self, verb: RollVerb) -> Reply {
        let reason = Some("tested".to_owned());
        self.decide(&Input::Verb(Order { verb: Verb::Roll(verb), by: "jane".to_owned(), reason, key: None })).reply
    }

    pub(crate) fn observed(&self) -> Observed {
        let mut observed = Observed::starting_at(self.now);
        observed.cluster = Some(Sight { fleet: self.fleet.clone(), ..Sight::default() });
        observed
    }

    /// Everything is read at this moment.
    pub(crate) fn look(&mut self) {
        let live = Contact::Live { as_of: self.now };
        self.fleet.nodes.contact = live.clone();
        self.fleet.pods.contact = live.clone();
        self.fleet.jobs.contact = live;
    }

    pub(crate) fn decide(&mut self, input: &Input) -> Verdict {
        let observed = self.observed();
        let verdict = decide(&self.world, &observed, input, self.now);
        assert_eq!(verdict, decide(&self.world, &observed, input, self.now), "deciding it again gives the same");
        let before = self.world.clone();
        for entry in input.author(&self.world, "serve").entries(&self.world, &verdict.changes, self.now) {
            self.world.apply(&entry);
        }
        let faults = broken_step(&before, &self.world, &verdict.changes, self.now);
        assert!(faults.is_empty(), "{faults:?} after {input:?}");
        let faults = broken_writes(&self.world.rolls, &verdict.steps);
        assert!(faults.is_empty(), "{faults:?} after {input:?}");
        self.steps.extend(verdict.steps.iter().cloned());
        verdict
    }

    pub(crate) fn pass_time(&mut self, seconds: u64) {
        self.now = Seconds(seconds).after(self.now);
    }

    /// A tick a minute later, and everything that follows from it.
    pub(crate) fn tick(&mut self) {
        self.tick_after(60);
    }

    pub(crate) fn tick_after(&mut self, seconds: u64) {
        self.pass_time(seconds);
        self.look();
        let mut steps = self.decide(&Input::Tick { fresh: RolloutId::named("unused") }).steps;
        let mut tried = BTreeSet::new();
        for _ in 0..32 {
            if steps.is_empty() {
                return;
            }
            let run = |step: Step| {
                let outcome = self.obey(&step);
                Ran { step, outcome }
            };
            let ran: Vec<Ran> = steps.into_iter().map(run).collect();
            self.look();
            let told = Input::Seen { ran: ran.clone(), tried: tried.clone() };
            tried.extend(ran.into_iter().map(|one| one.step.object));
            steps = self.decide(&told).steps;
        }
        panic!("it never comes to rest: {steps:?}");
    }

    /// Ticks until something holds.
    pub(crate) fn until(&mut self, holds: impl Fn(&Self) -> bool) {
        for _ in 0..400 {
            if holds(self) {
                return;
            }
            self.tick();
        }
        panic!("it never came to that: {} {:?}", self.state().word(), self.reason());
    }

    /// Carries a step out as a cluster would that is in no hurry to hold anything up.
    pub(crate) fn obey(&mut self, step: &Step) -> Outcome {
        let Purpose::Roll { node, .. } = &step.purpose else { panic!("{step:?}") };
        let why = || "the API server says no".to_owned();
        if self.failing.contains(step.deed.verb()) {
            return Outcome::Failed { why: why() };
        }
        if self.forbidden.contains(step.deed.verb()) {
            return Outcome::Forbidden { why: why() };
        }
        let key = format!("{}/{}", step.object.namespace.as_deref().unwrap_or("kura"), step.object.name);
        match &step.deed {
            Deed::Apply { manifest, .. } if step.object.kind == ObjectKind::Job => {
                let labels = serde_json::from_value(manifest["metadata"]["labels"].clone()).unwrap();
                self.run_job(&step.object.name, node, labels);
            }
            Deed::Apply { manifest, .. } => {
                let labels = serde_json::from_value(manifest["metadata"]["labels"].clone()).unwrap();
                self.run_pod(&step.object.name, node, labels);
            }
            Deed::Delete { .. } => {
                self.fleet.pods.rows.remove(&key);
                self.fleet.jobs.rows.remove(&step.object.name);
            }
            Deed::Evict { .. } if self.held.contains(&(node.clone(), StepName::Drain)) => {}
            Deed::Evict { .. } => drop(self.fleet.pods.rows.remove(&key)),
            Deed::Cordon { from, unschedulable } => {
                if self.fleet.nodes.rows[node].stamp.version() != *from {
                    return Outcome::Stale;
                }
                if *unschedulable && self.held.contains(&(node.clone(), StepName::Cordon)) {
                    return Outcome::Failed { why: why() };
                }
                self.node(node).unschedulable = *unschedulable;
            }
            Deed::StripFinalizer { .. } => panic!("{step:?}"),
        }
        Outcome::Done
    }

    fn run_pod(&mut self, name: &str, node: &str, labels: BTreeMap<String, String>) {
        let mut stamp = self.stamp(name);
        let is_stage = labels[STEP_LABEL] == "stage";
        stamp.labels = labels.into();
        let mut pod = FleetPod {
            stamp,
            namespace: "kura".to_owned(),
            node: Some(node.to_owned()),
            phase: "Pending".to_owned(),
            ready: false,
            started: false,
            reason: None,
            message: None,
            since: Some(self.now),
            sent_at: None,
            image_id: None,
            owner: None,
        };
        match (is_stage, self.stuck.get(node)) {
            (true, _) if self.held.contains(&(node.to_owned(), StepName::Stage)) => {}
            (true, _) if self.no_pull.contains(node) => pod.reason = Some("ErrImagePull".to_owned()),
            (true, _) => pod.image_id = Some("sha256:1".to_owned()),
            (false, Some(&"")) => {}
            (false, Some(&"OutOfpods")) => {
                (pod.phase, pod.reason) = ("Failed".to_owned(), Some("OutOfpods".to_owned()));
            }
            (false, Some(reason)) => pod.reason = Some((*reason).to_owned()),
            (false, None) => (pod.phase, pod.started, pod.ready) = ("Running".to_owned(), true, true),
        }
        self.fleet.pods.rows.insert(format!("kura/{name}"), pod);
    }

    fn run_job(&mut self, name: &str, node: &str, labels: BTreeMap<String, String>) {
        let mut stamp = self.stamp(name);
        let step = if labels[STEP_LABEL] == "boot" { StepName::Boot } else { StepName::Verify };
        stamp.labels = labels.into();
        let held = self.held.contains(&(node.to_owned(), step));
        self.fleet.jobs.rows.insert(name.to_owned(), FleetJob { stamp, ended: (!held).then_some(JobEnd::Complete) });
        if step == StepName::Boot && !held {
            let boot = format!("boot-{}", self.versions);
            self.node(node).boot_id = Some(boot);
        }
    }

    /// Takes away every pod that is not to be kept.
    pub(crate) fn keep_pods(&mut self, keep: impl Fn(&FleetPod) -> bool) {
        let rows = self.fleet.pods.rows.iter().filter(|(_, pod)| keep(pod));
        self.fleet.pods.rows = rows.map(|(key, pod)| (key.clone(), pod.clone())).collect();
    }

    /// Every Job that has not ended is done.
    pub(super) fn end_jobs(&mut self) {
        let ended = |job: &FleetJob| FleetJob { ended: job.ended.clone().or(Some(JobEnd::Complete)), ..job.clone() };
        self.fleet.jobs.rows = self.fleet.jobs.rows.iter().map(|(name, job)| (name.clone(), ended(job))).collect();
    }

    /// Every Job is done, and a node is on another boot.
    pub(super) fn end_boot(&mut self, node: &str) {
        self.end_jobs();
        self.node(node).boot_id = Some("boot-held".to_owned());
    }

    /// Every Job ended badly, at this moment.
    pub(super) fn fail_jobs(&mut self, at: Option<Timestamp>) {
        let ended = Some(JobEnd::Failed { message: "exit code 3".to_owned(), at });
        let failed = |job: &FleetJob| FleetJob { ended: ended.clone(), ..job.clone() };
        self.fleet.jobs.rows = self.fleet.jobs.rows.iter().map(|(name, job)| (name.clone(), failed(job))).collect();
    }

    /// Takes away every Job that has not ended.
    pub(crate) fn drop_open_jobs(&mut self) {
        let rows = self.fleet.jobs.rows.iter().filter(|(_, job)| job.ended.is_some());
        self.fleet.jobs.rows = rows.map(|(key, job)| (key.clone(), job.clone())).collect();
    }

    /// Steps so far that touch a node, as `verb kind name`.
    pub(crate) fn touched(&self, node: &str) -> Vec<String> {
        let of = |step: &&Step| matches!(&step.purpose, Purpose::Roll { node: of, .. } if of == node);
        let told = |step: &Step| format!("{} {}", step.deed.verb(), step.object);
        self.steps.iter().filter(of).map(told).collect()
    }

    /// Pods of ours that are there.
    pub(crate) fn ours(&self) -> Vec<&str> {
        self.fleet.pods.rows.values().filter(|pod| pod.is_ours()).map(|pod| pod.stamp.name.as_str()).collect()
    }
}

/// `wk-1` is the canary of `nodes`, the others are the fleet.
pub(crate) fn spec(nodes: usize) -> RollSpec {
    RollSpec {
        canary: Some("wk-1".to_owned()),
        nodes: (2..=nodes).map(|n| format!("wk-{n}")).collect(),
        boot: Some(json!({ "containers": [{ "name": "boot", "image": "owner/boot" }] })),
        ..RollSpec::default()
    }
}

pub(crate) fn refused(reply: Reply) -> Refusal {
    match reply {
        Reply::Refused(refusal) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}

/// The facts about rolls of a verdict.
pub(crate) fn facts(verdict: &Verdict) -> Vec<&RollChange> {
    verdict.changes.iter().filter_map(fact).collect()
}

fn fact(change: &Change) -> Option<&RollChange> {
    match change {
        Change::Roll(change) => Some(change),
        _ => None,
    }
}
