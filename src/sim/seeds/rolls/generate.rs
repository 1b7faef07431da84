//! From a seed to a fleet and two virtual hours of rolls, people, kubelets, runtimes, other hands and faults.

use serde_json::json;

use super::super::super::post::Faults;
use super::super::generate::Scale;
use super::super::kura::acts::ClusterAct;
use super::super::pen::{Pen, Scribe};
use super::super::plot::{Act, Cast, Happening, Plot};
use super::super::profile::Profile;
use super::acts::{Decision, FleetAct, Nodes, PROJECT, node};
use crate::domain::ids::RollId;
use crate::domain::input::Verb;
use crate::domain::kura::object::ObjectKind;
use crate::domain::roll::node::StepName;
use crate::domain::roll::partition::Partition;
use crate::domain::roll::spec::{RollSpec, Selector};
use crate::domain::roll::verb::RollVerb;
use crate::domain::span::Seconds;
use crate::sim::cluster::faults::Wrong;
use crate::sim::cluster::fleet::{Pace, ProbeFate};

/// Targets of a world: one node at a time, over all of them.
const TARGETS: [&str; 2] = ["a", "b"];

/// Makes the plot of a seed; the same one every time.
pub(in super::super) fn generate(seed: u64, scale: &Scale) -> Plot {
    let mut dice = fastrand::Rng::with_seed(seed ^ 0x726f_6c6c);
    let cast = vec![Cast::SERVER; if dice.u8(..100) < 60 { 2 } else { 1 }];
    let count = dice.usize(2..=scale.nodes);
    let mut writer = Writer { pen: Pen::new(dice, scale.until), count, calm: false };
    let nodes = Some(writer.nodes());
    let script = writer.write(scale);
    let (post, fleet, agents) = (Faults::default(), Vec::new(), Vec::new());
    let (profile, healed_at) = (Profile::Rolls, scale.until);
    Plot { profile, seed, fleet, agents, nodes, families: profile.families(), cast, post, script, healed_at }
}

/// Writes the script of a world.
struct Writer {
    pen: Pen,
    count: usize,
    /// People mostly decide, and little else happens.
    calm: bool,
}

impl Scribe for Writer {
    fn pen(&mut self) -> &mut Pen {
        &mut self.pen
    }

    fn act(&mut self) {
        match self.pen.dice.u8(..100) {
            0..45 if self.calm => self.decide(),
            _ => self.anything(),
        }
    }
}

impl Writer {
    /// The fleet; one in five has no registry, and everything takes its time.
    fn nodes(&mut self) -> Nodes {
        let registry = self.pen.chance(80).then(|| self.pen.dice.usize(1..=self.count));
        let mut span = |most: u64| Seconds(self.pen.dice.u64(1..=most));
        let pace = Pace { stage: span(120), drain: span(60), boot: span(180), verify: span(60), probe: span(20) };
        Nodes { count: self.count, registry, pace }
    }

    /// Rolls from the beginning on, approvals now and then, and in between anything; one world in three is calm.
    fn write(mut self, scale: &Scale) -> Vec<Happening> {
        self.pen.now = self.pen.dice.u64(5..=60);
        self.start(false);
        self.calm = self.pen.chance(33);
        let acts = if self.calm { scale.calm_acts.clone() } else { scale.acts_on_rolls.clone() };
        let acts = self.pen.dice.usize(acts);
        self.acts(acts);
        self.pen.finish()
    }

    /// Anything that people, kubelets or fate may do.
    fn anything(&mut self) {
        match self.pen.dice.u8(..100) {
            0..12 => self.start(true),
            12..34 => self.decide(),
            34..37 => self.probe(),
            37..40 => self.uncordon(),
            40..48 => self.cordon(),
            48..52 => self.wedge(),
            52..56 => self.registry(),
            56..60 => self.flap(),
            60..64 => self.probes(),
            64..67 => self.says(),
            67..69 => self.reboot(),
            69..71 => self.doom(),
            71..74 => self.delete(),
            74..76 => self.fleet(FleetAct::TagMoves, "the tag of the image moves".to_owned()),
            76..80 => self.fleet(FleetAct::Looked, "somebody looks".to_owned()),
            80..87 => self.fault(),
            87..89 => self.pen.part(),
            89..92 => self.pen.spoil_journal(),
            92..96 => self.pen.crash(),
            96..98 => self.pen.freeze(),
            _ => self.pen.cut(),
        }
    }

    fn start(&mut self, may_displace: bool) {
        let (target, spec) = (self.pen.one(&TARGETS), self.spec());
        let displace = may_displace && self.pen.chance(40);
        let n = self.pen.len();
        let (id, revision) = (RollId::named(&format!("r{n}")), format!("rev-{n}"));
        let words = format!(
            "roll {target} at {revision}: canary {:?}, nodes {:?}, gates {:?}, {} staged at a time, displace {displace}",
            spec.canary, spec.nodes, spec.gates, spec.stage_parallelism
        );
        let (project, target, image) = (PROJECT.to_owned(), target.to_owned(), "image".to_owned());
        let verb = RollVerb::Start { id, project, target, image, revision, spec: Box::new(spec), displace };
        self.pen.order(Verb::Roll(verb), words);
    }

    /// Some of the nodes in any order, brakes over their whole ranges.
    fn spec(&mut self) -> RollSpec {
        let mut names: Vec<String> = (1..=self.count).map(node).collect();
        self.pen.dice.shuffle(&mut names);
        names.truncate(self.pen.dice.usize(1..=self.count));
        let canary = self.pen.chance(80).then(|| names.first().cloned()).flatten();
        let keep = self.pen.chance(50) || names.len() == 1;
        let nodes = names.into_iter().skip(usize::from(canary.is_some() && !keep)).collect();
        let gates: [&[&str]; 4] = [&["canary"], &["canary"], &["canary", "fleet"], &[]];
        let gates = self.pen.one(&gates).iter().map(|gate| (*gate).to_owned()).collect();
        let job = |name: &str| json!({ "containers": [{ "name": name, "image": "owner/job" }] });
        RollSpec {
            canary,
            nodes,
            gates,
            stage_parallelism: self.pen.dice.u32(..=3),
            settle_seconds: Seconds(self.pen.one(&[0, 0, 60, 240])),
            canary_settle_seconds: self.pen.chance(30).then_some(Seconds(420)),
            soak_seconds: Seconds(self.pen.one(&[60, 300, 1_200])),
            registry: self.pen.chance(85).then(|| Selector::new("app.kubernetes.io/name", "zot")),
            partition: self
                .pen
                .chance(25)
                .then(|| Partition { infra: Selector::new("tier", "infra"), others: Selector::new("tier", "tenant") }),
            boot: Some(job("boot")),
            verify: self.pen.chance(40).then(|| job("verify")),
            ..RollSpec::default()
        }
    }

    /// Mostly an approval, of whatever waits by then.
    fn decide(&mut self) {
        let decisions = [
            (80, Decision::Approve, "approves"),
            (6, Decision::ApproveStale, "approves what was shown before"),
            (5, Decision::Deny, "denies"),
            (9, Decision::Abort, "aborts"),
        ];
        let (target, mut dice) = (self.pen.one(&TARGETS).to_owned(), self.pen.dice.u8(..100));
        for (share, decision, word) in decisions {
            if dice < share {
                let order = self.pen.signed(Verb::AcceptClock); // the verb is known once it happens
                let act = Act::Decide(target.clone(), decision, order);
                return self.pen.push(self.pen.now, act, format!("somebody {word} the roll of {target}"));
            }
            dice -= share;
        }
    }

    fn probe(&mut self) {
        let node = self.node();
        self.pen.order(Verb::Roll(RollVerb::Probe { node: node.clone() }), format!("probe {node}"));
    }

    fn uncordon(&mut self) {
        let node = self.node();
        self.pen.order(Verb::Roll(RollVerb::Uncordon { node: node.clone() }), format!("give {node} back"));
    }

    /// Somebody else cordons a node or lifts a cordon, whosever it is, and mostly the other way round later.
    fn cordon(&mut self) {
        let (node, bit) = (self.node(), self.pen.chance(50));
        let words = |bit: bool| if bit { "cordons" } else { "lifts the cordon of" };
        self.fleet(FleetAct::Cordon(node.clone(), bit), format!("somebody {} {node}", words(bit)));
        if self.pen.chance(60) {
            self.fleet_later(900, FleetAct::Cordon(node.clone(), !bit), format!("somebody {} {node}", words(!bit)));
        }
    }

    fn wedge(&mut self) {
        let node = self.node();
        self.fleet(FleetAct::Wedged(node.clone(), true), format!("the runtime of {node} wedges"));
        if self.pen.chance(70) {
            self.fleet_later(
                1_500,
                FleetAct::Wedged(node.clone(), false),
                format!("the runtime of {node} works again"),
            );
        }
    }

    fn registry(&mut self) {
        let host = self.pen.chance(60).then(|| self.node());
        self.fleet(FleetAct::Registry(host.clone()), format!("the registry moves to {host:?}"));
        if host.is_none() && self.pen.chance(80) {
            let host = self.node();
            self.fleet_later(900, FleetAct::Registry(Some(host.clone())), format!("the registry is back on {host}"));
        }
    }

    fn flap(&mut self) {
        let node = self.node();
        self.fleet(FleetAct::Ready(node.clone(), false), format!("{node} is not Ready"));
        if self.pen.chance(85) {
            self.fleet_later(600, FleetAct::Ready(node.clone(), true), format!("{node} is Ready"));
        }
    }

    fn probes(&mut self) {
        let (node, stuck) = (self.node(), |reason: &str| ProbeFate::Stuck(reason.to_owned(), String::new()));
        let fates = [
            ProbeFate::Rejected("too many pods".to_owned()),
            ProbeFate::Never,
            stuck("ImagePullBackOff"),
            stuck("CreateContainerError"),
            stuck("RunContainerError"),
        ];
        let fate = self.pen.one(&fates);
        let words = format!("probes on {node}: {fate:?}");
        self.fleet(FleetAct::Probes(node.clone(), Some(fate)), words);
        if self.pen.chance(80) {
            self.fleet_later(900, FleetAct::Probes(node.clone(), None), format!("probes on {node} run"));
        }
    }

    fn says(&mut self) {
        let reasons =
            ["CreateContainerError", "ContainerStatusUnknown", "CreateContainerConfigError", "CrashLoopBackOff"];
        let (node, reason) = (self.node(), self.pen.one(&reasons));
        self.fleet(FleetAct::Says(node.clone(), Some(reason)), format!("what runs on {node} says {reason}"));
        if self.pen.chance(80) {
            self.fleet_later(600, FleetAct::Says(node.clone(), None), format!("what runs on {node} runs"));
        }
    }

    fn reboot(&mut self) {
        let node = self.node();
        self.fleet(FleetAct::Reboots(node.clone()), format!("{node} boots by itself"));
    }

    fn doom(&mut self) {
        let (node, step) = (self.node(), self.pen.one(&[StepName::Boot, StepName::Verify]));
        let words = format!("the next {} of {node} fails", step.word());
        self.fleet(FleetAct::Doomed(node, step), words);
    }

    fn delete(&mut self) {
        let node = self.node();
        self.fleet(FleetAct::Deleted(node.clone()), format!("somebody deletes what was made for {node}"));
    }

    fn fault(&mut self) {
        use ObjectKind as Kind;
        let kind = self.pen.chance(80).then(|| self.pen.one(&[Kind::Node, Kind::Pod, Kind::Job]));
        let verbs = [None, Some("apply"), Some("patch"), Some("evict"), Some("delete"), Some("list"), Some("watch")];
        let verb = self.pen.one(&verbs);
        let all = [Wrong::Error, Wrong::Timeout, Wrong::Conflict, Wrong::Silent, Wrong::Silent, Wrong::Gone];
        let wrong = if self.pen.chance(6) { Wrong::Forbidden } else { self.pen.one(&all) };
        let span = Seconds(self.pen.dice.u64(1..=600));
        let words = format!("{} of {kind:?}: {wrong:?} for {span}", verb.unwrap_or("everything"));
        let act = Act::Cluster(Box::new(ClusterAct::Fault { kind, verb, wrong, span }));
        self.pen.push(self.pen.now, act, words);
    }

    fn node(&mut self) -> String {
        node(self.pen.dice.usize(1..=self.count))
    }

    fn fleet(&mut self, act: FleetAct, words: String) {
        self.pen.push(self.pen.now, Act::Fleet(Box::new(act)), words);
    }

    fn fleet_later(&mut self, at_most: u64, act: FleetAct, words: String) {
        self.pen.later(at_most, Act::Fleet(Box::new(act)), words);
    }
}
