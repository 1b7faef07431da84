//! Steps of fleet rolls at the simulated API, and answers to them that a file gives.

use jiff::Timestamp;
use serde_json::Value;

use super::fleet::{FleetSimJob, FleetSimPod, ProbeFate, StepFate, stuck};
use super::objects::{Objects, Written};
use crate::domain::kura::object::{FIELD_MANAGER, ObjectKind, ObjectRef, Version};
use crate::domain::kura::step::{Deed, Outcome, Purpose, RollWork, Step};
use crate::domain::roll::manifest::{ASKED, ROLL_LABEL, SENT_ANNOTATION, STEP_LABEL};
use crate::domain::roll::node::StepName;
use crate::domain::roll::sight::FleetJob;

/// Who cordons nodes beside us.
pub const SOMEBODY: &str = "kubectl-cordon";

/// What a write came to, and the verb it came down to; none = it was there already, and nothing is written.
type Taken = Result<Option<&'static str>, Outcome>;

impl Objects {
    /// Carries a step of a roll out, under its preconditions.
    pub(super) fn run_for_roll(&mut self, step: &Step, now: Timestamp, process: &str) -> Outcome {
        let Purpose::Roll { node, work, .. } = &step.purpose else { return Outcome::Stale };
        if let RollWork::Step(name) = work
            && let Some(why) = self.fleet.refused.remove(&(node.clone(), *name))
        {
            return Outcome::Invalid { why };
        }
        let wrong = self.forbidden(step, node, *work, now);
        let taken = match &step.deed {
            Deed::Apply { manifest, .. } if step.object.kind == ObjectKind::Job => {
                self.make_job(&step.object, manifest, node, *work, now)
            }
            Deed::Apply { manifest, .. } => self.make_pod(&step.object, manifest, node, now),
            Deed::Delete { from } => self.take_away(&step.object, from),
            Deed::Cordon { from, unschedulable } => self.cordon(node, from, *unschedulable, *work, now),
            Deed::Evict { from, insist } => self.evict(&step.object, node, from, *insist, now),
            Deed::StripFinalizer { .. } => Err(Outcome::Stale),
        };
        match taken {
            Err(outcome) => outcome,
            Ok(verb) => {
                self.breaches.extend(wrong.filter(|_| verb.is_some()));
                self.written.extend(verb.map(|verb| {
                    let (kind, name) = (step.object.kind, step.object.name.clone());
                    Written { at: now, verb, kind, name, by: FIELD_MANAGER.to_owned(), process: process.to_owned() }
                }));
                self.advance_fleet(now);
                Outcome::Done
            }
        }
    }

    fn begin(&mut self, node: &str, step: StepName) {
        self.fleet.begun.insert((node.to_owned(), step));
    }

    fn make_pod(&mut self, object: &ObjectRef, manifest: &Value, node: &str, now: Timestamp) -> Taken {
        let key = format!("kura/{}", object.name);
        if self.fleet.pods.contains_key(&key) {
            return Err(Outcome::Stale);
        }
        let mut pod = self.running_pod("kura", &object.name, node, now);
        (pod.phase, pod.started, pod.ready) = ("Pending".to_owned(), false, false);
        let labels = manifest.pointer("/metadata/labels").and_then(|all| serde_json::from_value(all.clone()).ok());
        pod.stamp.labels = labels.unwrap_or_default();
        let sent_at = manifest.pointer("/metadata/annotations").and_then(|all| all.get(SENT_ANNOTATION));
        pod.sent_at = sent_at.and_then(Value::as_str).and_then(|text| text.parse().ok());
        let image = manifest.pointer("/spec/containers/0/image").and_then(Value::as_str).unwrap_or_default();
        pod.stamp.labels.insert("image", image);
        if self.fleet.mends_when_asked && pod.stamp.label(ROLL_LABEL) == Some(ASKED) {
            self.fleet.wedged.remove(node);
        }
        let is_stage = pod.stamp.label(STEP_LABEL) == Some(StepName::Stage.word());
        let after = if is_stage { self.fleet.pace.stage } else { self.fleet.pace.probe };
        let due = (!self.fleet.is_manual).then(|| after.after(now));
        self.fleet.pods.insert(key.clone(), FleetSimPod { pod, due, gone: None, sticks: false, budget: false });
        if is_stage {
            self.begin(node, StepName::Stage);
        } else {
            self.answer_probe(&key, now);
        }
        Ok(Some("create"))
    }

    fn make_job(&mut self, object: &ObjectRef, manifest: &Value, node: &str, work: RollWork, now: Timestamp) -> Taken {
        if self.fleet.jobs.contains_key(&object.name) {
            return Err(Outcome::Stale);
        }
        let step = if work == RollWork::Step(StepName::Boot) { StepName::Boot } else { StepName::Verify };
        let mut stamp = self.stamp(&object.name, now);
        let labels = manifest.pointer("/metadata/labels").and_then(|all| serde_json::from_value(all.clone()).ok());
        stamp.labels = labels.unwrap_or_default();
        let after = if step == StepName::Boot { self.fleet.pace.boot } else { self.fleet.pace.verify };
        let due = (!self.fleet.is_manual).then(|| after.after(now));
        self.fleet.jobs_made.insert(object.name.clone());
        let job = FleetSimJob { job: FleetJob { stamp, ended: None }, node: node.to_owned(), step, due };
        self.fleet.jobs.insert(object.name.clone(), job);
        if step == StepName::Boot && !self.fleet.is_manual {
            self.fleet.edit(node, |node| node.ready = false);
        }
        self.begin(node, step);
        Ok(Some("create"))
    }

    /// Under UID and resourceVersion; what is gone already is done.
    fn take_away(&mut self, object: &ObjectRef, from: &Version) -> Taken {
        let key = format!("{}/{}", object.namespace.as_deref().unwrap_or("kura"), object.name);
        let pod = self.fleet.pods.get(&key).map(|pod| pod.pod.stamp.version());
        let job = self.fleet.jobs.get(&object.name).map(|job| job.job.stamp.version());
        match (object.kind, pod, job) {
            (ObjectKind::Pod, None, _) | (ObjectKind::Job, _, None) => Ok(None),
            (ObjectKind::Pod, Some(version), _) | (ObjectKind::Job, _, Some(version)) if version != *from => {
                Err(Outcome::Stale)
            }
            (ObjectKind::Job, ..) => {
                self.fleet.jobs.remove(&object.name);
                Ok(Some("delete"))
            }
            _ => {
                self.fleet.pods.remove(&key);
                Ok(Some("delete"))
            }
        }
    }

    fn cordon(&mut self, name: &str, from: &Version, unschedulable: bool, work: RollWork, now: Timestamp) -> Taken {
        let seen = self.fleet_sight(Timestamp::UNIX_EPOCH).nodes.get(name).map(|node| node.stamp.version());
        if seen.as_ref() != Some(from) {
            return Err(Outcome::Stale);
        }
        let step = if unschedulable { StepName::Cordon } else { StepName::Uncordon };
        if self.fleet.is_manual && work == RollWork::Step(step) {
            let fresh = self.fleet.begun.insert((name.to_owned(), step));
            return Ok(fresh.then_some("patch"));
        }
        self.fleet.set_cordon(name, unschedulable, FIELD_MANAGER, now);
        Ok(Some("patch"))
    }

    /// A budget is asked first; where that is meant, its no is passed over (F26).
    fn evict(&mut self, object: &ObjectRef, node: &str, from: &Version, insist: bool, now: Timestamp) -> Taken {
        let key = format!("{}/{}", object.namespace.as_deref().unwrap_or("kura"), object.name);
        let drain = self.fleet.pace.drain.after(now);
        let (manual, version) = (self.fleet.is_manual, self.version());
        let Some(pod) = self.fleet.pods.get_mut(&key) else { return self.evict_of_instance(&object.name, from, now) };
        if pod.pod.stamp.version() != *from {
            return Err(Outcome::Stale);
        }
        if pod.budget && !insist {
            return Err(Outcome::Failed { why: "429: it would violate the pod's disruption budget".to_owned() });
        }
        let verb = if pod.budget { "delete" } else { "evict" };
        if pod.budget {
            self.leave(&key, now);
        } else if manual {
            let fresh = self.fleet.begun.insert((node.to_owned(), StepName::Drain));
            return Ok(fresh.then_some(verb));
        } else {
            pod.gone = Some(drain);
            (pod.pod.stamp.deleting_since, pod.pod.stamp.resource_version) = (Some(now), version);
        }
        Ok(Some(verb))
    }

    fn evict_of_instance(&mut self, name: &str, from: &Version, now: Timestamp) -> Taken {
        let Some(pod) = self.pods.get(name) else { return Ok(None) };
        if pod.pod.stamp.version() != *from {
            return Err(Outcome::Stale);
        }
        self.delete_pod(name, now);
        Ok(Some("evict"))
    }

    /// Somebody else drains a node and respects budgets: false where one says no.
    pub fn drain_by(&mut self, node: &str) -> bool {
        !self.fleet.pods.values().any(|pod| pod.budget && pod.pod.node.as_deref() == Some(node))
    }

    /// Somebody else's hand on a node: its cordon, or a whole drain. False where there is no such node, or a budget says no.
    pub(super) fn patch_node(&mut self, name: &str, patch: &Value, now: Timestamp) -> bool {
        if self.fleet.node(name).is_none() {
            return false;
        }
        if patch.get("drain").and_then(Value::as_bool) == Some(true) {
            return self.drain_by(name);
        }
        let bit = patch.pointer("/spec/unschedulable").and_then(Value::as_bool);
        bit.into_iter().for_each(|bit| self.fleet.set_cordon(name, bit, SOMEBODY, now));
        bit.is_some()
    }

    /// What a probe comes to that is out, where a file says so.
    pub fn answer_probe(&mut self, key: &str, now: Timestamp) {
        let version = self.version();
        let Some(pod) = self.fleet.pods.get_mut(key).filter(|pod| !pod.pod.started && pod.pod.reason.is_none()) else {
            return;
        };
        let Some(node) = pod.pod.node.clone() else { return };
        let fate = self.fleet.probes.get(&node);
        let wedged = self.fleet.wedged.contains(&node) && self.fleet.is_manual;
        if fate.is_none() && !wedged {
            return;
        }
        pod.due = None;
        pod.pod.stamp.resource_version = version;
        pod.pod.since = Some(now);
        match fate {
            _ if wedged => stuck(&mut pod.pod, "CreateContainerError", "context deadline exceeded"),
            Some(ProbeFate::Running) => {
                (pod.pod.phase, pod.pod.started, pod.pod.ready) = ("Running".to_owned(), true, true);
            }
            Some(ProbeFate::Stuck(reason, message)) => stuck(&mut pod.pod, reason, message),
            Some(ProbeFate::Rejected(message)) => {
                pod.pod.phase = "Failed".to_owned();
                stuck(&mut pod.pod, "OutOfpods", message);
            }
            Some(ProbeFate::Never) | None => {}
        }
    }

    /// From now on probes on a node come to this; the one that is out as well.
    pub fn probes_come_to(&mut self, node: &str, fate: ProbeFate, now: Timestamp) {
        self.fleet.probes.insert(node.to_owned(), fate);
        let is_probe = |pod: &FleetSimPod| pod.pod.stamp.label(STEP_LABEL) == Some("probe");
        let here = |pod: &FleetSimPod| is_probe(pod) && pod.pod.node.as_deref() == Some(node);
        let out: Vec<String> =
            self.fleet.pods.iter().filter(|(_, pod)| here(pod)).map(|(key, _)| key.clone()).collect();
        out.iter().for_each(|key| self.answer_probe(key, now));
    }

    /// A step ends like this: at once where it was begun, else once it is.
    pub fn step_comes_to(&mut self, node: &str, step: StepName, fate: StepFate) {
        self.fleet.fates.entry((node.to_owned(), step)).or_default().push_back(fate);
    }

    /// Answers that have a step by now take effect. False where there was none.
    pub fn deliver(&mut self, now: Timestamp) -> bool {
        let begun: Vec<(String, StepName)> = self.fleet.begun.iter().cloned().collect();
        let mut some = false;
        for key in begun {
            let fate = self.fleet.fates.get_mut(&key).and_then(std::collections::VecDeque::pop_front);
            let Some(fate) = fate else { continue };
            self.fleet.begun.remove(&key);
            self.come_to(&key.0, key.1, &fate, now);
            some = true;
        }
        some
    }

    fn come_to(&mut self, node: &str, step: StepName, fate: &StepFate, now: Timestamp) {
        match step {
            StepName::Stage => self.stage_comes_to(node, fate, now),
            StepName::Boot | StepName::Verify => {
                let job = self.fleet.jobs.iter().find(|(_, job)| job.node == node && job.step == step);
                let name = job.map(|(name, _)| name.clone());
                name.into_iter().for_each(|name| self.end_job(&name, fate, now));
            }
            _ if !fate.ok => drop(self.fleet.refused.insert((node.to_owned(), step), fate.message.clone())),
            StepName::Cordon => self.fleet.set_cordon(node, true, FIELD_MANAGER, now),
            StepName::Uncordon => {
                self.fleet.set_cordon(node, false, FIELD_MANAGER, now);
                self.advance_fleet(now);
            }
            StepName::Drain => {
                let here = |pod: &FleetSimPod| pod.pod.node.as_deref() == Some(node) && pod.pod.is_drained();
                let gone: Vec<String> =
                    self.fleet.pods.iter().filter(|(_, pod)| here(pod)).map(|(key, _)| key.clone()).collect();
                gone.iter().for_each(|key| self.leave(key, now));
            }
            StepName::Green => {}
        }
    }

    fn stage_comes_to(&mut self, node: &str, fate: &StepFate, now: Timestamp) {
        let version = self.version();
        let open = |pod: &&mut FleetSimPod| {
            let is_stage = pod.pod.stamp.label(STEP_LABEL) == Some(StepName::Stage.word());
            is_stage && pod.pod.node.as_deref() == Some(node) && pod.pod.image_id.is_none() && pod.pod.reason.is_none()
        };
        let Some(key) = self.fleet.pods.iter_mut().find_map(|(key, pod)| open(&pod).then(|| key.clone())) else {
            return;
        };
        let digest = self.digest_at(&key);
        let Some(pod) = self.fleet.pods.get_mut(&key) else { return };
        pod.due = None;
        pod.pod.stamp.resource_version = version;
        pod.pod.since = Some(now);
        if fate.ok {
            pod.pod.phase = "Succeeded".to_owned();
            pod.pod.image_id = Some(digest);
        } else {
            stuck(&mut pod.pod, "ErrImagePull", &fate.message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evict(objects: &Objects, insist: bool) -> Step {
        let from = objects.fleet.pods["zot/zot-0"].pod.stamp.version();
        let object = ObjectRef::within(ObjectKind::Pod, "zot", "zot-0");
        let purpose = Purpose::Roll { roll: None, node: "wk-1".to_owned(), work: RollWork::Step(StepName::Drain) };
        Step { object, deed: Deed::Evict { from, insist }, purpose }
    }

    #[test]
    fn a_budget_turns_every_drain_away_but_that_of_a_roll() {
        // F26, F29
        let (mut objects, now) = (Objects::default(), Timestamp::UNIX_EPOCH);
        ["wk-1", "wk-2"].iter().for_each(|node| objects.put_node(node, None, now));
        objects.put_registry(Some("wk-1"), now);
        assert!(!objects.drain_by("wk-1") && objects.drain_by("wk-2"));
        let kind = evict(&objects, false);
        assert!(matches!(objects.run(&kind, now, "serve"), Outcome::Failed { why } if why.contains("429")));
        assert_eq!(objects.fleet.pods["zot/zot-0"].pod.node.as_deref(), Some("wk-1"));
        let meant = evict(&objects, true);
        assert_eq!(objects.run(&meant, now, "serve"), Outcome::Done);
        assert_eq!(objects.fleet.pods["zot/zot-0"].pod.node.as_deref(), Some("wk-2"), "it moved");
        assert_eq!(objects.written.last().unwrap().verb, "delete");
    }

    #[test]
    fn whoever_saw_a_pod_before_it_was_evicted_evicts_it_no_more() {
        // F26, A21
        let (mut objects, now) = (Objects::default(), Timestamp::UNIX_EPOCH);
        objects.put_node("wk-1", None, now);
        let (key, seen) =
            objects.fleet.pods.iter().map(|(key, pod)| (key.clone(), pod.pod.stamp.clone())).next().unwrap();
        let step = Step {
            object: ObjectRef::within(ObjectKind::Pod, key.split('/').next().unwrap(), &seen.name),
            deed: Deed::Evict { from: seen.version(), insist: true },
            purpose: Purpose::Roll { roll: None, node: "wk-1".to_owned(), work: RollWork::Step(StepName::Drain) },
        };
        assert_eq!(objects.run(&step, now, "one"), Outcome::Done);
        assert_eq!(objects.fleet.pods[&key].pod.stamp.deleting_since, Some(now));
        assert_eq!(objects.run(&step, now, "another"), Outcome::Stale);
    }

    #[test]
    fn a_cordon_is_taken_under_its_version_only() {
        // A11
        let (mut objects, now) = (Objects::default(), Timestamp::UNIX_EPOCH);
        objects.put_node("wk-1", None, now);
        let seen = objects.fleet_sight(now).nodes.get("wk-1").unwrap().stamp.version();
        let cordon = |from: &Version| Step {
            object: ObjectRef::new(ObjectKind::Node, "wk-1"),
            deed: Deed::Cordon { from: from.clone(), unschedulable: true },
            purpose: Purpose::Roll { roll: None, node: "wk-1".to_owned(), work: RollWork::GiveBack },
        };
        assert_eq!(objects.run(&cordon(&seen), now, "serve"), Outcome::Done);
        assert_eq!(objects.run(&cordon(&seen), now, "serve"), Outcome::Stale, "somebody was there meanwhile");
    }
}
