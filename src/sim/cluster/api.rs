//! The API of the simulated cluster: writes under preconditions, conflicts by field, finalizers that hold things up.

use imbl::OrdMap;
use jiff::Timestamp;
use serde_json::Value;

use super::objects::{Objects, Written, merge, ordinal_of, paths};
use crate::domain::kura::object::{
    FIELD_MANAGER, INSTANCE_FINALIZER, ObjectKind, ObjectRef, REVISION_ANNOTATION, Stamp, Version,
};
use crate::domain::kura::step::{Deed, FieldConflict, Outcome, Purpose, Step};
use crate::domain::kura::traffic::{Dns, Gateway, Tls, Up};
use crate::domain::kura::workload::{Instance, Retention, StatefulSet, UpdateStrategy};
use crate::domain::span::Seconds;

/// Whoever is seen for so long on a class stands on it: a process that froze over a decision may have missed it before.
const STANDS_AFTER: Seconds = Seconds(300);

/// The address of an endpoint nobody said anything else about.
pub const ADDRESS: &str = "203.0.113.10";

impl Objects {
    /// Carries a step out for a process, under its preconditions.
    pub fn run(&mut self, step: &Step, now: Timestamp, process: &str) -> Outcome {
        if self.until < now {
            self.advance(now);
        }
        let verb = step.deed.verb();
        if let Some(wrong) = self.write_fault(step.object.kind, verb, now) {
            return wrong;
        }
        if matches!(step.purpose, Purpose::Roll { .. }) {
            return self.run_for_roll(step, now, process);
        }
        let wrong =
            matches!(step.deed, Deed::Delete { .. }).then(|| self.forbidden_delete(&step.object, now)).flatten();
        let outcome = match &step.deed {
            Deed::Apply { manifest, from, force } => self.apply(&step.object, manifest, from.as_ref(), *force, now),
            Deed::Delete { from } => self.delete(&step.object, from, now),
            Deed::StripFinalizer { from, finalizer } => self.strip(&step.object, from, finalizer, now),
            Deed::Cordon { .. } | Deed::Evict { .. } => Outcome::Invalid { why: "only a roll does that".to_owned() },
        };
        if outcome == Outcome::Done {
            let (kind, name) = (step.object.kind, step.object.name.clone());
            let (by, process) = (FIELD_MANAGER.to_owned(), process.to_owned());
            self.breaches.extend(wrong);
            self.written.push(Written { at: now, verb, kind, name, by, process });
            self.advance(now);
        }
        outcome
    }

    /// What no process may ever delete: a Ready pod, a claim, a gateway somebody has stood on for a while (K37, K42, K43).
    fn forbidden_delete(&self, object: &ObjectRef, now: Timestamp) -> Option<String> {
        let users = || {
            let stood =
                |(class, since): &(String, Timestamp)| *class == object.name && STANDS_AFTER.after(*since) <= now;
            self.classes_since.iter().find(|(_, class)| stood(class)).map(|(instance, _)| instance)
        };
        match object.kind {
            ObjectKind::Pod if self.pods.get(&object.name).is_some_and(|pod| pod.pod.ready) => {
                Some(format!("K37: the Ready pod {} was deleted", object.name))
            }
            ObjectKind::PersistentVolumeClaim => Some(format!("K37: the claim {} was deleted", object.name)),
            ObjectKind::KuraGateway | ObjectKind::IngressClass => {
                users().map(|user| format!("K42: {object} was deleted, and {user} stands on it"))
            }
            _ => None,
        }
    }

    /// There is an object that a step would write over. Those of rolls are made under names that are free.
    pub(super) fn is_there(&mut self, step: &Step) -> bool {
        match step.purpose {
            Purpose::Roll { .. } => !matches!(step.deed, Deed::Apply { from: None, .. }),
            _ => self.stamp_of(&step.object).is_some(),
        }
    }

    fn stamp_of(&mut self, object: &ObjectRef) -> Option<&mut Stamp> {
        match object.kind {
            ObjectKind::KuraInstance => self.instances.get_mut(&object.name).map(|row| &mut row.stamp),
            ObjectKind::KuraGateway => self.gateways.get_mut(&object.name).map(|(row, _)| &mut row.stamp),
            ObjectKind::Pod => self.pods.get_mut(&object.name).map(|row| &mut row.pod.stamp),
            _ => None,
        }
    }

    fn apply(
        &mut self,
        object: &ObjectRef,
        manifest: &Value,
        from: Option<&Version>,
        force: bool,
        now: Timestamp,
    ) -> Outcome {
        let known = self.stamp_of(object).map(|stamp| stamp.version());
        if known.as_ref() != from {
            return Outcome::Stale;
        }
        match object.kind {
            ObjectKind::KuraInstance => self.apply_instance(&object.name, manifest, force, now),
            ObjectKind::KuraGateway => {
                self.put_gateway(&object.name, manifest, now);
                Outcome::Done
            }
            other => Outcome::Invalid { why: format!("nobody applies a {other}") },
        }
    }

    fn apply_instance(&mut self, name: &str, manifest: &Value, force: bool, now: Timestamp) -> Outcome {
        let spec = manifest.get("spec").cloned().unwrap_or(Value::Null);
        let ours = paths("spec", &spec);
        if let Some(live) = self.instances.get(name) {
            let owned = |field: &&String| live.foreign.contains_key(*field) && differs(&live.spec, &spec, field);
            let conflict = |field: &String| {
                Some(FieldConflict { field: field.clone(), manager: live.foreign.get(field)?.clone() })
            };
            let fields: Vec<FieldConflict> = ours.iter().filter(owned).filter_map(conflict).collect();
            if !fields.is_empty() && !force {
                return Outcome::Conflict { fields };
            }
        }
        self.put_instance(name, manifest, now);
        Outcome::Done
    }

    /// Puts an instance up as a manifest says; the controller makes the StatefulSet of it in the same instant, and
    /// reports the image at once.
    pub fn put_instance(&mut self, name: &str, manifest: &Value, now: Timestamp) {
        let spec = manifest.get("spec").cloned().unwrap_or(Value::Null);
        let labels = manifest.pointer("/metadata/labels").and_then(|all| serde_json::from_value(all.clone()).ok());
        let fresh = self.stamp(name, now);
        let known = self.instances.remove(name);
        let mut stamp = known.as_ref().map_or_else(|| fresh.clone(), |live| live.stamp.clone());
        stamp.resource_version = fresh.resource_version;
        stamp.labels = labels.unwrap_or_default();
        let (mut live_spec, mut foreign) =
            known.map_or((Value::Null, OrdMap::new()), |live| (live.spec.into(), live.foreign));
        merge(&mut live_spec, &spec);
        paths("spec", &spec).iter().for_each(|field| drop(foreign.remove(field)));
        let live = Instance {
            stamp,
            spec: live_spec.into(),
            revision: annotated(manifest),
            foreign,
            phase: Some("Ready".to_owned()),
            observed_image: None,
            ready_replicas: 0,
            message: None,
            public_url: None,
            last_reconciled_at: Some(now),
            node_port: None,
            progress: None,
        };
        self.instances.insert(name.to_owned(), live);
        self.reconcile(name, now);
    }

    /// What the instance controller does: the template, the replicas, the status.
    pub fn reconcile(&mut self, name: &str, now: Timestamp) {
        let Some(live) = self.instances.get(name) else { return };
        let image = live.spec.image().unwrap_or_default().to_owned();
        let replicas = live.spec.get("replicas").and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
        let class = live.spec.class().unwrap_or_default().to_owned();
        if self.classes_since.get(name).is_none_or(|(known, _)| *known != class) {
            self.classes_since.insert(name.to_owned(), (class, now));
        }
        let (replicas, host) = (replicas.unwrap_or(1), live.spec.get("publicHost").and_then(Value::as_str));
        if let Some(host) = host.map(str::to_owned) {
            let chain = self.chains.entry(name.to_owned()).or_insert_with(|| healthy(&host));
            chain.host = host;
        }
        if !self.sets.contains_key(name) {
            let set = self.new_set(name, replicas, now);
            self.sets.insert(name.to_owned(), set);
        }
        if let Some(set) = self.sets.get_mut(name) {
            (set.image, set.replicas) = (Some(image.clone()), replicas);
        }
        let known: Vec<String> = self.pods_of(name);
        let beyond = |pod: &String| ordinal_of(pod) >= replicas;
        known.iter().filter(|pod| beyond(pod)).for_each(|pod| drop(self.pods.remove(pod)));
        self.coming.retain(|pod, (owner, _)| owner != name || !beyond(pod));
        let missing = (0..replicas).map(|ordinal| format!("{name}-{ordinal}"));
        let missing = missing.filter(|pod| !known.contains(pod) && !self.coming.contains_key(pod));
        missing.collect::<Vec<_>>().iter().for_each(|pod| self.start_pod(pod, name, now));
        let said = self.said_images.get(name).cloned();
        if let Some(live) = self.instances.get_mut(name) {
            live.observed_image = said.or(Some(image));
            live.last_reconciled_at = Some(now);
        }
    }

    fn new_set(&mut self, name: &str, replicas: u32, now: Timestamp) -> StatefulSet {
        StatefulSet {
            stamp: self.stamp(name, now),
            image: None,
            replicas,
            ready_replicas: 0,
            strategy: UpdateStrategy::RollingUpdate { partition: 0 },
            is_bare: false,
            strategy_since: None,
            resize_hold: false,
            claims_when_deleted: Retention::Delete,
            claims_when_scaled: Retention::Retain,
        }
    }

    /// Puts a gateway up as a manifest says; its controller makes the class of it in the same instant.
    pub fn put_gateway(&mut self, name: &str, manifest: &Value, now: Timestamp) {
        let field = |path: &str| manifest.pointer(path).and_then(Value::as_str).map(str::to_owned);
        let labels = manifest.pointer("/metadata/labels").and_then(|all| serde_json::from_value(all.clone()).ok());
        let fresh = self.stamp(name, now);
        let (known, alive) = self.gateways.remove(name).map_or((None, true), |(row, alive)| (Some(row), alive));
        let mut stamp = known.map_or_else(|| fresh.clone(), |row| row.stamp);
        stamp.resource_version = fresh.resource_version;
        stamp.labels = labels.unwrap_or_default();
        let row = Gateway {
            stamp,
            region: field("/spec/region"),
            class: field("/spec/ingressClassName"),
            revision: annotated(manifest),
            phase: Some("Ready".to_owned()),
            ready_replicas: 1,
            message: None,
            last_reconciled_at: Some(now),
        };
        self.gateway_classes.extend(row.class.clone());
        self.gateways.insert(name.to_owned(), (row, alive));
    }

    /// Under UID and resourceVersion; what is gone already is done.
    fn delete(&mut self, object: &ObjectRef, from: &Version, now: Timestamp) -> Outcome {
        let Some(stamp) = self.stamp_of(object) else { return Outcome::Done };
        if stamp.version() != *from {
            return Outcome::Stale;
        }
        self.remove(object, now);
        Outcome::Done
    }

    /// Takes an object away, or marks it where a finalizer holds it up whose controller is gone.
    pub fn remove(&mut self, object: &ObjectRef, now: Timestamp) {
        let version = self.version();
        match object.kind {
            ObjectKind::Pod => self.delete_pod(&object.name, now),
            ObjectKind::KuraGateway => match self.gateways.get_mut(&object.name) {
                Some((row, false)) if !row.stamp.finalizers.is_empty() => {
                    row.stamp.deleting_since.get_or_insert(now);
                    row.stamp.resource_version = version;
                }
                _ => drop(self.gateways.remove(&object.name)),
            },
            ObjectKind::IngressClass => drop(self.gateway_classes.remove(&object.name)),
            ObjectKind::KuraInstance if self.is_held(&object.name) => {
                if let Some(live) = self.instances.get_mut(&object.name) {
                    live.stamp.deleting_since.get_or_insert(now);
                    live.stamp.resource_version = version;
                }
            }
            ObjectKind::KuraInstance => {
                self.classes_since.remove(&object.name);
                self.instances.remove(&object.name);
                self.sets.remove(&object.name);
                let pods = self.pods_of(&object.name);
                pods.iter().for_each(|pod| drop(self.pods.remove(pod)));
                self.coming.retain(|_, (owner, _)| *owner != object.name);
            }
            _ => {}
        }
    }

    fn strip(&mut self, object: &ObjectRef, from: &Version, finalizer: &str, now: Timestamp) -> Outcome {
        let version = self.version();
        let Some(stamp) = self.stamp_of(object) else { return Outcome::Done };
        if stamp.version() != *from {
            return Outcome::Stale;
        }
        stamp.finalizers.retain(|known| known != finalizer);
        stamp.resource_version = version;
        if stamp.is_leaving() && stamp.finalizers.is_empty() {
            self.remove(object, now);
        }
        Outcome::Done
    }

    /// An instance has a finalizer that is not its controller's, which nobody takes off by itself.
    fn is_held(&self, name: &str) -> bool {
        let finalizers = self.instances.get(name).map_or(&[][..], |live| &live.stamp.finalizers);
        finalizers.iter().any(|finalizer| finalizer != INSTANCE_FINALIZER)
    }
}

/// The revision a manifest says it was rendered as.
fn annotated(manifest: &Value) -> Option<String> {
    let noted = manifest.pointer("/metadata/annotations").and_then(|all| all.get(REVISION_ANNOTATION));
    noted.and_then(Value::as_str).map(str::to_owned)
}

fn differs(live: &Value, ours: &Value, field: &str) -> bool {
    let path: String = field.trim_start_matches("spec").split('.').collect::<Vec<_>>().join("/");
    live.pointer(&path) != ours.pointer(&path)
}

/// A chain in which everything holds.
pub(in super::super) fn healthy(host: &str) -> super::objects::SimChain {
    super::objects::SimChain {
        host: host.to_owned(),
        address: Some(ADDRESS.to_owned()),
        dns: Dns::Addresses { addresses: vec![ADDRESS.to_owned()] },
        tls: Tls::Valid,
        issuer: None,
        up: Up::Status { status: 200 },
        follows_class: false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn object() -> ObjectRef {
        ObjectRef::new(ObjectKind::KuraInstance, "kura-a-eu")
    }

    fn apply(objects: &mut Objects, class: &str, from: Option<Version>, force: bool) -> Outcome {
        let manifest = json!({ "spec": { "image": "a", "replicas": 1, "ingressClassName": class } });
        let step = Step { object: object(), deed: Deed::Apply { manifest, from, force }, purpose: Purpose::Asked };
        objects.run(&step, NOW, "serve")
    }

    #[test]
    fn writes_are_taken_under_their_version_only() {
        // K28, K37
        let mut objects = Objects::default();
        assert_eq!(apply(&mut objects, "x", None, false), Outcome::Done);
        assert_eq!(apply(&mut objects, "y", None, false), Outcome::Stale, "somebody was there already");
        let old = objects.instances["kura-a-eu"].stamp.version();
        assert_eq!(apply(&mut objects, "y", Some(old.clone()), false), Outcome::Done);
        assert_eq!(apply(&mut objects, "z", Some(old.clone()), false), Outcome::Stale);
        let delete = Step { object: object(), deed: Deed::Delete { from: old }, purpose: Purpose::Asked };
        assert_eq!(objects.run(&delete, NOW, "serve"), Outcome::Stale);
        assert_eq!(objects.written.len(), 2, "what was not taken was not written");
    }

    #[test]
    fn a_field_of_another_manager_is_a_conflict_that_force_overrides() {
        // K28, K49
        let mut objects = Objects::default();
        apply(&mut objects, "x", None, false);
        let patch = json!({ "spec": { "ingressClassName": "theirs", "somethingNew": 7 } });
        assert!(objects.patch_by(&object(), &patch, "flux", NOW));
        let from = Some(objects.instances["kura-a-eu"].stamp.version());
        let fields = vec![FieldConflict { field: "spec.ingressClassName".to_owned(), manager: "flux".to_owned() }];
        assert_eq!(apply(&mut objects, "x", from.clone(), false), Outcome::Conflict { fields });
        assert_eq!(apply(&mut objects, "x", from, true), Outcome::Done);
        let live = &objects.instances["kura-a-eu"];
        assert_eq!(live.spec["ingressClassName"], "x");
        assert_eq!(live.spec["somethingNew"], 7, "unknown fields stay");
        assert!(!live.foreign.contains_key("spec.ingressClassName"));
    }
}
