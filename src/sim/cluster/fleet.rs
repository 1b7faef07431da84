//! The fleet of the simulated cluster: nodes that boot, pods that are pulled, probed and drained, budgets, a registry.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use imbl::OrdMap;
use jiff::Timestamp;

use super::super::shared::Shared;
use super::objects::Objects;
use crate::domain::kura::labels::Labels;
use crate::domain::kura::object::Stamp;
use crate::domain::observed::Node;
use crate::domain::roll::node::StepName;
use crate::domain::roll::sight::{FleetJob, FleetNode, FleetPod, FleetSight, JobEnd};
use crate::domain::span::Seconds;

/// The namespace of whatever belongs to nobody here.
pub const ELSEWHERE: &str = "default";

/// The namespace and the name of the registry's one pod.
pub const REGISTRY: (&str, &str) = ("zot", "zot-0");

/// How long things take that answer by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// A pull.
    pub stage: Seconds,
    /// From the eviction of what runs on a node until all of it is gone.
    pub drain: Seconds,
    /// A boot.
    pub boot: Seconds,
    /// The owner's check.
    pub verify: Seconds,
    /// Until the container of a probe runs.
    pub probe: Seconds,
}

impl Default for Pace {
    fn default() -> Self {
        Self { stage: Seconds(60), drain: Seconds(30), boot: Seconds(120), verify: Seconds(10), probe: Seconds(2) }
    }
}

/// What a probe comes to, where a file says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProbeFate {
    /// Its container runs.
    Running,
    /// It waits, or has failed, for this reason.
    Stuck(String, String),
    /// The kubelet does not admit it.
    Rejected(String),
    /// Nothing happens.
    Never,
}

/// How a step of a roll ends, where a file says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepFate {
    /// It is done.
    pub ok: bool,
    /// What is said about it.
    pub message: String,
}

/// A pod with what becomes of it.
#[derive(Debug, Clone)]
pub struct FleetSimPod {
    /// As the API shows it.
    pub pod: FleetPod,
    /// When its image is there, or its container runs.
    pub due: Option<Timestamp>,
    /// When it is gone.
    pub gone: Option<Timestamp>,
    /// It comes back on the same node as soon as that can be scheduled to.
    pub sticks: bool,
    /// A budget protects it: an eviction is refused.
    pub budget: bool,
}

/// A Job with what becomes of it.
#[derive(Debug, Clone)]
pub struct FleetSimJob {
    /// As the API shows it.
    pub job: FleetJob,
    /// Its node.
    pub node: String,
    /// Its step.
    pub step: StepName,
    /// When it ends.
    pub due: Option<Timestamp>,
}

/// Everything of the fleet.
#[derive(Debug, Clone, Default)]
pub struct Fleet {
    /// Nodes by name, as everybody sees them.
    pub nodes: Shared<OrdMap<String, Node>>,
    /// How often each was booted.
    pub boots: BTreeMap<String, u64>,
    /// How often anybody changed each.
    pub edits: BTreeMap<String, u64>,
    /// Who cordoned each that is cordoned, where that is known.
    pub cordoned_by: BTreeMap<String, String>,
    /// Since when each can be scheduled to again.
    pub lifted_at: BTreeMap<String, Timestamp>,
    /// Nodes whose runtime makes no containers any more.
    pub wedged: BTreeSet<String>,
    /// Pods by namespace and name, beside those of instances.
    pub pods: BTreeMap<String, FleetSimPod>,
    /// Jobs by name.
    pub jobs: BTreeMap<String, FleetSimJob>,
    /// Loads that wait for their node.
    pub away: BTreeSet<String>,
    /// The registry was drained and waits for a node that can have it.
    pub registry_waits: bool,
    /// Since when pods of instances say what they say.
    pub said: BTreeMap<String, Timestamp>,
    /// Namespaces of given pods.
    pub namespaces: BTreeMap<String, String>,
    /// How long things take.
    pub pace: Pace,
    /// Nothing answers by itself.
    pub is_manual: bool,
    /// Steps that were begun and have no answer yet.
    pub begun: BTreeSet<(String, StepName)>,
    /// Answers that wait for their step.
    pub fates: BTreeMap<(String, StepName), VecDeque<StepFate>>,
    /// Steps whose next write is refused, and how.
    pub refused: BTreeMap<(String, StepName), String>,
    /// What probes come to, by node.
    pub probes: BTreeMap<String, ProbeFate>,
    /// Steps whose next Job fails.
    pub doomed: BTreeSet<(String, StepName)>,
    /// How often the tag of the image was moved to another digest.
    pub tag_moves: u64,
    /// Labels of everything that runs here by itself.
    pub labels: BTreeMap<String, String>,
    /// Every Job that was ever made.
    pub jobs_made: BTreeSet<String>,
    /// Whoever asks for a probe of a wedged node has mended it.
    pub mends_when_asked: bool,
    /// Where the registry comes back, and when.
    pub registry_back: Option<(String, Timestamp)>,
}

impl Fleet {
    /// A node, by name.
    pub fn node(&self, name: &str) -> Option<Node> {
        self.nodes.with(|nodes| nodes.get(name).cloned())
    }

    /// Changes a node that is there.
    pub fn edit(&mut self, name: &str, edit: impl FnOnce(&mut Node)) {
        *self.edits.entry(name.to_owned()).or_default() += 1;
        self.nodes.with(|nodes| nodes.get_mut(name).into_iter().for_each(once(edit)));
    }

    /// Somebody cordons a node, or gives it back.
    pub fn set_cordon(&mut self, name: &str, unschedulable: bool, by: &str, now: Timestamp) {
        self.edit(name, |node| node.unschedulable = unschedulable);
        if unschedulable {
            self.cordoned_by.insert(name.to_owned(), by.to_owned());
            self.lifted_at.remove(name);
        } else {
            self.cordoned_by.remove(name);
            self.lifted_at.insert(name.to_owned(), now);
        }
    }

    /// What an image is pulled as: its tag may be moved, a digest stays what it is.
    pub fn digest_of(&self, image: &str) -> String {
        match image.contains('@') {
            true => image.to_owned(),
            false => format!("{image}@sha256:{}", self.tag_moves),
        }
    }

    /// Something else runs on it.
    pub fn is_usable(&self, name: &str) -> bool {
        self.node(name).is_some_and(|node| node.ready && !node.unschedulable)
    }

    /// The registry can be pulled from.
    pub fn can_pull(&self) -> bool {
        let key = format!("{}/{}", REGISTRY.0, REGISTRY.1);
        !self.registry_waits
            && self.pods.get(&key).is_none_or(|pod| {
                let node = pod.pod.node.as_deref().and_then(|node| self.node(node));
                pod.pod.ready && node.is_some_and(|node| node.ready)
            })
    }
}

/// Something that is there at most once is changed at most once.
pub(super) fn once<T>(edit: impl FnOnce(&mut T)) -> impl FnMut(&mut T) {
    let mut edit = Some(edit);
    move |thing| edit.take().into_iter().for_each(|edit| edit(thing))
}

impl Objects {
    /// Puts a node up, with something that runs on it.
    pub fn put_node(&mut self, name: &str, node: Option<Node>, at: Timestamp) {
        let usual = Node { ready: true, unschedulable: false, version: None, holds_vip: false };
        self.fleet.nodes.with(|nodes| {
            nodes.entry(name.to_owned()).or_insert(node.unwrap_or(usual));
        });
        self.fleet.boots.entry(name.to_owned()).or_insert(1);
        let load = format!("load-{name}");
        if !self.fleet.pods.contains_key(&format!("{ELSEWHERE}/{load}")) && !self.fleet.away.contains(name) {
            self.put_load(name, at);
        }
    }

    fn put_load(&mut self, node: &str, at: Timestamp) {
        let name = format!("load-{node}");
        let mut pod = self.running_pod(ELSEWHERE, &name, node, at);
        pod.stamp.labels = self.fleet.labels.clone().into();
        pod.owner = Some("ReplicaSet".to_owned());
        let key = format!("{ELSEWHERE}/{name}");
        self.fleet.pods.insert(key, FleetSimPod { pod, due: None, gone: None, sticks: true, budget: false });
    }

    /// Puts the registry on a node; it has one replica and a budget that wants it to stay.
    pub fn put_registry(&mut self, node: Option<&str>, at: Timestamp) {
        let key = format!("{}/{}", REGISTRY.0, REGISTRY.1);
        self.fleet.registry_waits = false;
        let Some(node) = node else { return drop(self.fleet.pods.remove(&key)) };
        let mut pod = self.running_pod(REGISTRY.0, REGISTRY.1, node, at);
        pod.stamp.labels = self.fleet.labels.clone().into();
        pod.stamp.labels.insert("app.kubernetes.io/name", "zot");
        pod.owner = Some("StatefulSet".to_owned());
        self.fleet.pods.insert(key, FleetSimPod { pod, due: None, gone: None, sticks: false, budget: true });
    }

    /// The registry is lost and is on this node again so much later.
    pub fn registry_comes_back(&mut self, node: &str, after: Seconds) {
        self.fleet.registry_back = Some((node.to_owned(), after.after(self.until)));
    }

    pub(super) fn running_pod(&mut self, namespace: &str, name: &str, node: &str, at: Timestamp) -> FleetPod {
        FleetPod {
            stamp: self.stamp(name, at),
            namespace: namespace.to_owned(),
            node: Some(node.to_owned()),
            phase: "Running".to_owned(),
            ready: true,
            started: true,
            reason: None,
            message: None,
            since: None,
            sent_at: None,
            image_id: None,
            owner: None,
        }
    }

    /// Everything of the fleet as it is at `now`.
    pub(super) fn fleet_sight(&self, now: Timestamp) -> FleetSight {
        use crate::domain::kura::source::Source;
        let nodes = self.fleet.nodes.with(|nodes| nodes.clone());
        let node = |(name, node): (&String, &Node)| (name.clone(), self.seen_node(name, node));
        let own = self.fleet.pods.iter().map(|(key, pod)| (key.clone(), self.seen_pod(&pod.pod)));
        let jobs = self.fleet.jobs.iter().map(|(name, job)| (name.clone(), job.job.clone()));
        FleetSight {
            nodes: Source::live(nodes.iter().map(node).collect::<Vec<_>>(), now),
            pods: Source::live(own.chain(self.pods_of_instances()).collect::<Vec<_>>(), now),
            jobs: Source::live(jobs.collect::<Vec<_>>(), now),
            home: None,
        }
    }

    /// A version for each way a node can be.
    fn seen_node(&self, name: &str, node: &Node) -> FleetNode {
        let boots = self.fleet.boots.get(name).copied().unwrap_or(1);
        let edits = self.fleet.edits.get(name).copied().unwrap_or(0);
        let resource_version = format!("{boots}-{edits}-{}-{}", u8::from(node.ready), u8::from(node.unschedulable));
        let stamp = Stamp {
            name: name.to_owned(),
            uid: format!("uid-of-{name}"),
            resource_version,
            created_at: Timestamp::UNIX_EPOCH,
            deleting_since: None,
            finalizers: Vec::new(),
            labels: Labels::default(),
        };
        FleetNode {
            stamp,
            ready: node.ready,
            unschedulable: node.unschedulable,
            cordoned_by: self.fleet.cordoned_by.get(name).filter(|_| node.unschedulable).cloned(),
            boot_id: Some(format!("boot-{boots}")),
            kernel: None,
            os_image: None,
        }
    }

    /// What stands on a node that is not Ready is not Ready either.
    fn seen_pod(&self, pod: &FleetPod) -> FleetPod {
        let node = pod.node.as_deref().and_then(|node| self.fleet.node(node));
        FleetPod { ready: pod.ready && node.is_none_or(|node| node.ready), ..pod.clone() }
    }

    fn pods_of_instances(&self) -> impl Iterator<Item = (String, FleetPod)> {
        self.pods.iter().map(|(name, known)| {
            let pod = &known.pod;
            let namespace = self.fleet.namespaces.get(name).map_or("kura", String::as_str);
            let plain = pod.reason.as_deref().unwrap_or_default();
            let reason = plain.split([':', ' ']).next().filter(|word| !word.is_empty()).map(str::to_owned);
            let row = FleetPod {
                stamp: pod.stamp.clone(),
                namespace: namespace.to_owned(),
                node: pod.node.clone(),
                phase: pod.phase.clone(),
                ready: pod.ready,
                started: pod.ready,
                reason,
                message: None,
                since: self.fleet.said.get(name).copied(),
                sent_at: None,
                image_id: None,
                owner: Some("StatefulSet".to_owned()),
            };
            (format!("{namespace}/{name}"), row)
        })
    }

    /// Lets everything of the fleet happen that is due.
    pub(super) fn advance_fleet(&mut self, now: Timestamp) {
        let gone: Vec<String> = due_keys(&self.fleet.pods, |pod| pod.gone, now);
        for key in gone {
            self.leave(&key, now);
        }
        let settled: Vec<String> = due_keys(&self.fleet.pods, |pod| pod.due, now);
        for key in settled {
            self.settle_pod(&key, now);
        }
        let jobs: Vec<String> = due_keys(&self.fleet.jobs, |job| job.due, now);
        for name in jobs {
            let step = self.fleet.jobs.get(&name).map(|job| (job.node.clone(), job.step));
            let fails = step.is_some_and(|step| self.fleet.doomed.remove(&step));
            let message = if fails { "exit code 1" } else { "" };
            self.end_job(&name, &StepFate { ok: !fails, message: message.to_owned() }, now);
        }
        if let Some((node, _)) = self.fleet.registry_back.take_if(|(_, at)| *at <= now) {
            self.put_registry(Some(&node), now);
        }
        let back: Vec<String> = self.fleet.away.iter().filter(|node| self.fleet.is_usable(node)).cloned().collect();
        for node in back {
            self.fleet.away.remove(&node);
            self.put_load(&node, now);
        }
        if self.fleet.registry_waits {
            self.place_registry(None, now);
        }
    }

    /// The registry goes where it can, and waits where it can nowhere.
    fn place_registry(&mut self, away_from: Option<&str>, now: Timestamp) {
        let names = self.fleet.nodes.with(|nodes| nodes.keys().cloned().collect::<Vec<_>>());
        let next = names.into_iter().find(|name| Some(name.as_str()) != away_from && self.fleet.is_usable(name));
        self.put_registry(next.as_deref(), now);
        self.fleet.registry_waits = next.is_none();
    }

    /// A pod is gone: what sticks waits for its node, the registry goes where it can.
    pub(super) fn leave(&mut self, key: &str, now: Timestamp) {
        let Some(pod) = self.fleet.pods.remove(key) else { return };
        let Some(node) = pod.pod.node else { return };
        if pod.sticks {
            self.fleet.away.insert(node);
        } else if pod.budget {
            self.place_registry(Some(&node), now);
        }
    }

    /// A pull ends, or the container of a probe starts: unless the runtime is wedged, or nobody can pull.
    fn settle_pod(&mut self, key: &str, now: Timestamp) {
        let Some(node) = self.fleet.pods.get(key).and_then(|pod| pod.pod.node.clone()) else { return };
        let (wedged, pulls) = (self.fleet.wedged.contains(&node), self.fleet.can_pull());
        let (version, digest) = (self.version(), self.digest_at(key));
        let Some(pod) = self.fleet.pods.get_mut(key) else { return };
        pod.due = None;
        pod.pod.stamp.resource_version = version;
        pod.pod.since = Some(now);
        let is_stage = pod.pod.stamp.label(crate::domain::roll::manifest::STEP_LABEL) == Some(StepName::Stage.word());
        match (is_stage, pulls, wedged) {
            (true, false, _) => stuck(&mut pod.pod, "ErrImagePull", "the registry does not answer"),
            (true, true, _) => {
                pod.pod.phase = "Succeeded".to_owned();
                pod.pod.image_id = Some(digest);
            }
            (false, _, true) => stuck(&mut pod.pod, "CreateContainerError", "context deadline exceeded"),
            (false, ..) => (pod.pod.phase, pod.pod.started, pod.pod.ready) = ("Running".to_owned(), true, true),
        }
    }

    /// What the image of a pod is pulled as.
    pub(super) fn digest_at(&self, key: &str) -> String {
        let image = self.fleet.pods.get(key).and_then(|pod| pod.pod.stamp.label("image")).unwrap_or("image");
        self.fleet.digest_of(image)
    }

    /// A Job ends; one that boots brings its node up again.
    pub(super) fn end_job(&mut self, name: &str, fate: &StepFate, now: Timestamp) {
        let version = self.version();
        let Some(job) = self.fleet.jobs.get_mut(name) else { return };
        job.due = None;
        job.job.stamp.resource_version = version;
        let (message, at) = (fate.message.clone(), Some(now));
        job.job.ended = Some(if fate.ok { JobEnd::Complete } else { JobEnd::Failed { message, at } });
        let (node, boots) = (job.node.clone(), job.step == StepName::Boot && fate.ok);
        if boots {
            *self.fleet.boots.entry(node.clone()).or_insert(1) += 1;
            self.fleet.edit(&node, |node| node.ready = true);
        }
    }
}

pub(super) fn stuck(pod: &mut FleetPod, reason: &str, message: &str) {
    pod.reason = Some(reason.to_owned());
    pod.message = Some(message.to_owned()).filter(|text| !text.is_empty());
}

fn due_keys<T>(rows: &BTreeMap<String, T>, due: impl Fn(&T) -> Option<Timestamp>, now: Timestamp) -> Vec<String> {
    rows.iter().filter(|(_, row)| due(row).is_some_and(|at| at <= now)).map(|(key, _)| key.clone()).collect()
}
