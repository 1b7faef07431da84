//! What happens to the simulated cluster from outside: other people's hands, pods that change by themselves, the network.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::api::healthy;
use super::objects::{Objects, merge, ordinal_of, paths};
use crate::domain::kura::object::{MANAGED_BY_LABEL, ObjectKind, ObjectRef, REVISION_ANNOTATION};
use crate::domain::kura::traffic::{Dns, Tls, Up};
use crate::domain::kura::workload::{Progress, UpdateStrategy};

/// What becomes of a pod.
#[derive(Debug, Clone, Default)]
pub struct PodChange {
    /// It is Ready, and so it stays.
    pub ready: Option<bool>,
    /// Its image.
    pub image: Option<String>,
    /// Why it is not Ready.
    pub reason: Option<String>,
    /// Where it runs, or is tied to.
    pub node: Option<String>,
    /// When it started.
    pub started: Option<Timestamp>,
}

impl Objects {
    /// A pod changes; what is set of its readiness stays so. One that was not there is from now on.
    pub fn change_pod(&mut self, name: &str, change: PodChange, now: Timestamp) {
        self.advance(now);
        self.coming.remove(name);
        if !self.pods.contains_key(name) {
            let owner = name.rsplit_once('-').map_or(name, |(owner, _)| owner).to_owned();
            self.start_pod(name, &owner, now);
        }
        let version = self.version();
        let Some(pod) = self.pods.get_mut(name) else { return };
        pod.pod.stamp.resource_version = version;
        if let Some(ready) = change.ready {
            pod.is_set = true;
            if pod.pod.ready != ready {
                pod.pod.ready_since = Some(now);
            }
            pod.pod.ready = ready;
            pod.pod.reason = None;
        }
        pod.pod.image = change.image.or(pod.pod.image.take());
        pod.pod.started_at = change.started.or(pod.pod.started_at);
        pod.pod.node = change.node.or(pod.pod.node.take());
        let waits = |reason: &str| ["Pending", "Unschedulable", "pinned"].iter().any(|word| reason.contains(word));
        if change.reason.is_some() {
            self.fleet.said.insert(name.to_owned(), change.started.unwrap_or(now));
        }
        if let Some(reason) = change.reason {
            if waits(&reason) {
                pod.pod.phase = "Pending".to_owned();
                self.pinned.extend(pod.pod.node.clone().map(|node| (name.to_owned(), node)));
            }
            pod.pod.reason = Some(reason);
        }
    }

    /// An instance says something else of itself. False where there is none, or no such thing to say.
    pub fn change_instance(&mut self, name: &str, field: &str, value: &Value, now: Timestamp) -> bool {
        self.advance(now);
        let version = self.version();
        let text = value.as_str().map(str::to_owned);
        if field == "observed_image" {
            self.said_images.extend(text.clone().map(|image| (name.to_owned(), image)));
        }
        if field == "update_paused" {
            return self.pause_update(name, text.as_deref(), now);
        }
        let Some(live) = self.instances.get_mut(name) else { return false };
        live.stamp.resource_version = version;
        match field {
            "observed_image" => live.observed_image = text,
            "message" => live.message = text,
            "phase" => live.phase = text,
            "progress" => live.progress = text.map(|text| Progress { text, at: now }),
            "finalizers" => live.stamp.finalizers = serde_json::from_value(value.clone()).unwrap_or_default(),
            "ready" => return self.ready_pods(name, value.as_u64().unwrap_or(0), now),
            "managed_by" => {
                live.stamp.labels.extend(text.map(|by| (MANAGED_BY_LABEL.to_owned(), by)));
            }
            field => {
                live.spec.edit(|spec| merge(spec, &json!({ field: value })));
                self.reconcile(name, now);
            }
        }
        true
    }

    /// The lowest ordinals are Ready, the others are not, and so it stays.
    fn ready_pods(&mut self, name: &str, ready: u64, now: Timestamp) -> bool {
        for pod in self.pods_of(name) {
            let is_ready = u64::from(ordinal_of(&pod)) < ready;
            self.change_pod(&pod, PodChange { ready: Some(is_ready), ..PodChange::default() }, now);
        }
        true
    }

    /// Holds the update of an instance back, or lets it go on.
    pub fn pause_update(&mut self, name: &str, by: Option<&str>, now: Timestamp) -> bool {
        let Some(set) = self.sets.get_mut(name) else { return false };
        set.strategy = match by {
            Some(_) => UpdateStrategy::OnDelete,
            None => UpdateStrategy::RollingUpdate { partition: 0 },
        };
        set.resize_hold = by == Some("controller");
        set.strategy_since = Some(now);
        true
    }

    /// Somebody else's hand: a merge patch under another field manager. False where there is no such object.
    pub fn patch_by(&mut self, object: &ObjectRef, patch: &Value, manager: &str, now: Timestamp) -> bool {
        self.advance(now);
        let version = self.version();
        match object.kind {
            ObjectKind::KuraInstance => {
                let Some(live) = self.instances.get_mut(&object.name) else { return false };
                live.stamp.resource_version = version;
                if let Some(spec) = patch.get("spec") {
                    live.spec.edit(|all| merge(all, spec));
                    let touched = paths("spec", spec);
                    live.foreign.extend(touched.into_iter().map(|field| (field, manager.to_owned())));
                }
                let noted = patch.pointer("/metadata/annotations").and_then(|all| all.get(REVISION_ANNOTATION));
                if let Some(revision) = noted {
                    live.revision = revision.as_str().map(str::to_owned);
                }
                patch_stamp(&mut live.stamp, patch);
                self.reconcile(&object.name, now);
            }
            ObjectKind::KuraGateway => {
                let Some((row, _)) = self.gateways.get_mut(&object.name) else { return false };
                row.stamp.resource_version = version;
                let class = patch.pointer("/spec/ingressClassName").and_then(Value::as_str);
                row.class = class.map(str::to_owned).or(row.class.take());
                patch_stamp(&mut row.stamp, patch);
            }
            ObjectKind::StatefulSet => return self.patch_set(&object.name, patch, now),
            ObjectKind::Node => return self.patch_node(&object.name, patch, now),
            _ => return false,
        }
        true
    }

    fn patch_set(&mut self, name: &str, patch: &Value, now: Timestamp) -> bool {
        let Some(set) = self.sets.get_mut(name) else { return false };
        let partition = patch.pointer("/spec/updateStrategy/rollingUpdate/partition").and_then(Value::as_u64);
        let partition = partition.and_then(|n| u32::try_from(n).ok());
        match patch.pointer("/spec/updateStrategy/type").and_then(Value::as_str) {
            Some("OnDelete") => set.strategy = UpdateStrategy::OnDelete,
            Some(_) => set.strategy = UpdateStrategy::RollingUpdate { partition: partition.unwrap_or(0) },
            None => {
                set.strategy = partition.map_or(set.strategy, |partition| UpdateStrategy::RollingUpdate { partition });
            }
        }
        let hold = patch.pointer("/metadata/annotations").and_then(|all| all.get("kura.tuist.dev/resize-rollout-hold"));
        set.resize_hold = hold.map_or(set.resize_hold, |hold| !hold.is_null());
        set.strategy_since = Some(now);
        true
    }

    /// Somebody else deletes it. False where there is no such object.
    pub fn delete_by(&mut self, object: &ObjectRef, now: Timestamp) -> bool {
        self.advance(now);
        let there = match object.kind {
            ObjectKind::KuraInstance => self.instances.contains_key(&object.name),
            ObjectKind::KuraGateway => self.gateways.contains_key(&object.name),
            ObjectKind::Pod => self.pods.contains_key(&object.name),
            ObjectKind::StatefulSet => return self.delete_set(&object.name, now),
            _ => false,
        };
        if there {
            self.remove(object, now);
        }
        there
    }

    /// A StatefulSet goes with its pods; the controller of its instance makes it anew.
    fn delete_set(&mut self, name: &str, now: Timestamp) -> bool {
        let there = self.sets.remove(name).is_some();
        self.pods_of(name).iter().for_each(|pod| drop(self.pods.remove(pod)));
        self.reconcile(name, now);
        there
    }

    /// The way to an instance changes; none = that link stays as it is.
    pub fn change_link(&mut self, instance: &str, change: LinkChange) {
        if let Some(alive) = change.class {
            let class = self.instances.get(instance).and_then(|live| live.spec.class());
            if let Some(class) = class.map(str::to_owned) {
                match alive {
                    true => drop(self.dead_classes.remove(&class)),
                    false => drop(self.dead_classes.insert(class)),
                }
            }
        }
        let chain = self.chains.entry(instance.to_owned()).or_insert_with(|| healthy(""));
        chain.address = change.address.unwrap_or(chain.address.take());
        chain.dns = change.dns.unwrap_or_else(|| chain.dns.clone());
        chain.up = change.up.unwrap_or_else(|| chain.up.clone());
        if let Some(good) = change.certificate {
            chain.issuer.clone_from(&good);
            chain.tls = good.map_or(Tls::Valid, |why| Tls::Invalid { why });
        }
    }
}

/// What becomes of the way to an instance.
#[derive(Debug, Clone, Default)]
pub struct LinkChange {
    /// A controller runs for the class the instance names.
    pub class: Option<bool>,
    /// The address of its ingress.
    pub address: Option<Option<String>>,
    /// What a resolver says.
    pub dns: Option<Dns>,
    /// What is wrong with the certificate; an inner none = nothing.
    pub certificate: Option<Option<String>>,
    /// What `/up` answers.
    pub up: Option<Up>,
}

fn patch_stamp(stamp: &mut crate::domain::kura::object::Stamp, patch: &Value) {
    if let Some(finalizers) = patch.pointer("/metadata/finalizers") {
        stamp.finalizers = serde_json::from_value(finalizers.clone()).unwrap_or_default();
    }
    if let Some(Value::Object(labels)) = patch.pointer("/metadata/labels") {
        for (label, value) in labels {
            match value.as_str() {
                Some(value) => stamp.labels.insert(label.clone(), value),
                None => stamp.labels.remove(label),
            }
        }
    }
}
