//! The controllers and the kubelet: pods come back, become Ready, and roll one by one behind the readiness gate.

use jiff::Timestamp;

use super::objects::{BACK_AFTER, Objects, READY_AFTER, SimPod, ordinal_of};
use crate::domain::kura::workload::UpdateStrategy;
use crate::domain::span::Seconds;

impl Objects {
    /// Lets everything happen up to and including `now`, in order of time.
    pub fn advance(&mut self, now: Timestamp) {
        self.roll_all(self.until.max(Timestamp::MIN));
        while let Some(at) = self.next_due().filter(|at| *at <= now) {
            self.until = at;
            self.come_back(at);
            self.become_ready(at);
            self.roll_all(at);
        }
        self.until = self.until.max(now);
        self.advance_fleet(now);
    }

    fn next_due(&self) -> Option<Timestamp> {
        let back = self.coming.values().map(|(_, at)| *at);
        let ready = self.pods.values().filter(|pod| !pod.pod.ready && !pod.is_set);
        let ready = ready.filter_map(|pod| Some(Seconds(READY_AFTER).after(pod.pod.started_at?)));
        back.chain(ready).min()
    }

    fn come_back(&mut self, now: Timestamp) {
        let due: Vec<(String, String)> = self
            .coming
            .iter()
            .filter(|(_, (_, at))| *at <= now)
            .map(|(name, (instance, _))| (name.clone(), instance.clone()))
            .collect();
        for (name, instance) in due {
            self.coming.remove(&name);
            self.start_pod(&name, &instance, now);
        }
    }

    fn become_ready(&mut self, now: Timestamp) {
        let is_due = |started: Option<Timestamp>| started.is_some_and(|at| Seconds(READY_AFTER).after(at) <= now);
        let due = self.pods.iter().filter(|(_, pod)| !pod.pod.ready && !pod.is_set && is_due(pod.pod.started_at));
        let due: Vec<String> = due.map(|(name, _)| name.clone()).collect();
        for name in due {
            let version = self.version();
            let Some(pod) = self.pods.get_mut(&name) else { continue };
            pod.pod.ready = true;
            pod.pod.reason = None;
            pod.pod.ready_since = Some(now);
            pod.pod.stamp.resource_version = version;
        }
    }

    fn roll_all(&mut self, now: Timestamp) {
        let instances: Vec<String> = self.sets.keys().cloned().collect();
        instances.iter().for_each(|instance| self.roll(instance, now));
    }

    /// The highest ordinal that is not on the template is replaced once all above it are on it and Ready. One that is
    /// not Ready holds the walk up (kubernetes/kubernetes#67250).
    fn roll(&mut self, instance: &str, now: Timestamp) {
        let Some(set) = self.sets.get(instance) else { return };
        let UpdateStrategy::RollingUpdate { partition } = set.strategy else { return };
        let (image, mut names) = (set.image.clone(), self.pods_of(instance));
        names.sort_by_key(|name| std::cmp::Reverse(ordinal_of(name)));
        if self.coming.values().any(|(owner, _)| owner == instance) {
            return;
        }
        for name in names.into_iter().filter(|name| ordinal_of(name) >= partition) {
            let Some(pod) = self.pods.get(&name) else { continue };
            match (pod.pod.image == image, pod.pod.ready) {
                (true, true) => {}
                (false, true) => return self.delete_pod(&name, now),
                (_, false) => return,
            }
        }
    }

    pub(super) fn pods_of(&self, instance: &str) -> Vec<String> {
        self.owned(instance).map(|(name, _)| name.clone()).collect()
    }

    /// Pods of a StatefulSet: their names begin with its own.
    pub(super) fn owned<'a>(&'a self, instance: &'a str) -> impl Iterator<Item = (&'a String, &'a SimPod)> {
        let near = self.pods.range(instance.to_owned()..).take_while(move |(name, _)| name.starts_with(instance));
        near.filter(move |(_, pod)| pod.pod.instance.as_deref() == Some(instance))
    }

    /// It comes back where its StatefulSet is still there.
    pub fn delete_pod(&mut self, name: &str, now: Timestamp) {
        let Some(gone) = self.pods.remove(name) else { return };
        let owner = gone.pod.instance.filter(|instance| self.sets.contains_key(instance));
        if let Some(instance) = owner {
            self.coming.insert(name.to_owned(), (instance, Seconds(BACK_AFTER).after(now)));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const NAME: &str = "kura-a-eu";

    fn at(second: u64) -> Timestamp {
        Seconds(second).after(Timestamp::UNIX_EPOCH)
    }

    fn manifest(image: &str) -> Value {
        json!({ "spec": { "image": image, "replicas": 3 } })
    }

    /// Three Ready pods on `a` at second 100.
    fn three() -> Objects {
        let mut objects = Objects { until: at(0), ..Objects::default() };
        objects.put_instance(NAME, &manifest("a"), at(0));
        objects.advance(at(100));
        assert!(objects.pods.values().all(|pod| pod.pod.ready));
        objects
    }

    fn shown(objects: &Objects) -> Vec<String> {
        let mark = |pod: bool| if pod { "+" } else { "-" };
        let pod = |pod: &super::super::objects::SimPod| {
            format!(
                "{}{}{}",
                ordinal_of(&pod.pod.stamp.name),
                pod.pod.image.as_deref().unwrap_or("?"),
                mark(pod.pod.ready)
            )
        };
        objects.pods.values().map(pod).collect()
    }

    #[test]
    fn pods_roll_one_by_one_behind_the_gate_the_highest_first() {
        let mut objects = three();
        objects.put_instance(NAME, &manifest("b"), at(100));
        assert_eq!(objects.instances[NAME].observed_image.as_deref(), Some("b"), "reported before any pod runs it");
        for (second, expected) in [
            (104, vec!["0a+", "1a+"]),
            (105, vec!["0a+", "1a+", "2b-"]),
            (134, vec!["0a+", "1a+", "2b-"]),
            (135, vec!["0a+", "2b+"]),
            (170, vec!["1b+", "2b+"]),
            (205, vec!["0b+", "1b+", "2b+"]),
        ] {
            objects.advance(at(second));
            assert_eq!(shown(&objects), expected, "at {second}");
        }
    }

    #[test]
    fn a_pod_that_is_not_ready_holds_the_walk_up_until_it_is_deleted() {
        let mut objects = three();
        let pod = objects.pods.get_mut("kura-a-eu-2").unwrap();
        (pod.pod.ready, pod.is_set) = (false, true);
        objects.put_instance(NAME, &manifest("b"), at(100));
        objects.advance(at(1_000));
        assert_eq!(shown(&objects), ["0a+", "1a+", "2a-"]);
        objects.delete_pod("kura-a-eu-2", at(1_000));
        objects.advance(at(1_034));
        assert_eq!(shown(&objects), ["0a+", "1a+", "2b-"], "a new pod of that name starts afresh");
        objects.advance(at(1_200));
        assert_eq!(shown(&objects), ["0b+", "1b+", "2b+"]);
    }

    #[test]
    fn looking_often_or_seldom_makes_no_difference() {
        let mut often = three();
        let mut seldom = often.clone();
        for objects in [&mut often, &mut seldom] {
            objects.put_instance(NAME, &manifest("b"), at(100));
        }
        (100..160).for_each(|second| often.advance(at(second)));
        seldom.advance(at(159));
        assert_eq!(shown(&often), shown(&seldom));
        let started = |objects: &Objects| objects.pods.values().map(|pod| pod.pod.started_at).collect::<Vec<_>>();
        assert_eq!(started(&often), started(&seldom));
    }
}
