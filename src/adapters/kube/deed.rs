//! One step carried out, at most once. The cluster fences it: a write to an object that moved on comes to nothing.

use kube::Client;
use kube::core::Request;
use kube::core::params::{DeleteParams, GetParams, Patch, PatchParams, PostParams, Preconditions, PropagationPolicy};
use serde_json::{Value, json};

use super::connection::Connection;
use super::fault::{ClusterFault, HeldField};
use super::place::path;
use crate::control::ports::Clock;
use crate::domain::kura::object::{FIELD_MANAGER, ObjectKind, ObjectRef, Version};
use crate::domain::kura::step::{Deed, FieldConflict, Outcome, Step};

/// Carries steps out in one namespace.
pub(super) struct Hands<'a, C> {
    pub(super) connection: &'a Connection<C>,
    pub(super) namespace: &'a str,
}

impl<C: Clock> Hands<'_, C> {
    /// Does it, and says what came of it.
    pub(super) async fn run(&self, step: &Step) -> Outcome {
        let done = match &step.deed {
            Deed::Apply { manifest, from: None, .. } => self.create(&step.object, manifest).await,
            Deed::Apply { manifest, from: Some(from), force } => self.apply(&step.object, manifest, from, *force).await,
            Deed::Delete { from } => gone_is_done(self.delete(&step.object, from).await),
            Deed::StripFinalizer { from, finalizer } => gone_is_done(self.strip(&step.object, from, finalizer).await),
            Deed::Cordon { from, unschedulable } => self.cordon(&step.object, from, *unschedulable).await,
            Deed::Evict { from, insist } => gone_is_done(self.evict(&step.object, from, *insist).await),
        };
        match done {
            Ok(()) => Outcome::Done,
            Err(fault) => outcome(fault, &step.deed),
        }
    }

    /// A plain create, because an apply cannot be told to leave alone what is there already. The cluster books its fields
    /// under another heading than those of an apply; that is put right at once, or with the next apply. What a roll makes is
    /// never applied again.
    async fn create(&self, object: &ObjectRef, manifest: &Value) -> Result<(), ClusterFault> {
        let params = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
        let body = serde_json::to_vec(manifest).unwrap_or_default();
        let request = self.at(object).create(&params, body);
        let made: Value = self.send(request).await?;
        if !matches!(object.kind, ObjectKind::Pod | ObjectKind::Job) {
            self.claim(object, &made).await;
        }
        Ok(())
    }

    async fn apply(
        &self,
        object: &ObjectRef,
        manifest: &Value,
        from: &Version,
        force: bool,
    ) -> Result<(), ClusterFault> {
        match self.apply_once(object, manifest, from, force).await {
            Err(ClusterFault::Held { fields }) if fields.iter().all(|held| held.manager == FIELD_MANAGER) => {
                let now: Value = self.send(self.at(object).get(&object.name, &GetParams::default())).await?;
                if version_of(&now) != *from {
                    return Err(ClusterFault::Outrun { said: "it changed".to_owned() });
                }
                let ours = self.claim(object, &now).await.ok_or(ClusterFault::Held { fields })?;
                self.apply_once(object, manifest, &ours, force).await.map(drop)
            }
            Ok(written) => {
                self.claim(object, &written).await;
                Ok(())
            }
            Err(fault) => Err(fault),
        }
    }

    async fn apply_once(
        &self,
        object: &ObjectRef,
        manifest: &Value,
        from: &Version,
        force: bool,
    ) -> Result<Value, ClusterFault> {
        let mut wanted = manifest.clone();
        wanted["metadata"]["uid"] = json!(from.uid);
        wanted["metadata"]["resourceVersion"] = json!(from.resource_version);
        let mut params = PatchParams::apply(FIELD_MANAGER);
        params.force = force;
        self.send(self.at(object).patch(&object.name, &params, &Patch::Apply(wanted))).await
    }

    async fn delete(&self, object: &ObjectRef, from: &Version) -> Result<(), ClusterFault> {
        let preconditions =
            Preconditions { uid: Some(from.uid.clone()), resource_version: Some(from.resource_version.clone()) };
        let mut params = DeleteParams::default().preconditions(preconditions);
        // A Job that is deleted without a word about its pods leaves them behind.
        params.propagation_policy = (object.kind == ObjectKind::Job).then_some(PropagationPolicy::Background);
        self.send::<Value>(self.at(object).delete(&object.name, &params)).await.map(drop)
    }

    async fn strip(&self, object: &ObjectRef, from: &Version, finalizer: &str) -> Result<(), ClusterFault> {
        let now: Value = self.send(self.at(object).get(&object.name, &GetParams::default())).await?;
        let finalizers: Vec<&str> =
            now["metadata"]["finalizers"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        if now["metadata"]["uid"] == from.uid && !finalizers.contains(&finalizer) {
            return Ok(());
        }
        let rest: Vec<&str> = finalizers.into_iter().filter(|one| *one != finalizer).collect();
        let patch = json!({"metadata": {
            "uid": from.uid, "resourceVersion": from.resource_version, "finalizers": rest,
        }});
        self.merge(object, &patch).await.map(drop)
    }

    /// The bit, and nothing else of the node.
    async fn cordon(&self, object: &ObjectRef, from: &Version, unschedulable: bool) -> Result<(), ClusterFault> {
        let patch = json!({
            "metadata": { "uid": from.uid, "resourceVersion": from.resource_version },
            "spec": { "unschedulable": unschedulable },
        });
        self.merge(object, &patch).await.map(drop)
    }

    /// Budgets are asked first. One that says no (429) is passed over where that is meant, under the same version (F26).
    async fn evict(&self, object: &ObjectRef, from: &Version, insist: bool) -> Result<(), ClusterFault> {
        let body = json!({
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": { "name": object.name, "namespace": self.namespace_of(object) },
            "deleteOptions": { "preconditions": { "uid": from.uid, "resourceVersion": from.resource_version } },
        });
        let (params, body) = (PostParams::default(), serde_json::to_vec(&body).unwrap_or_default());
        let request = self.at(object).create_subresource("eviction", &object.name, &params, body);
        match self.send::<Value>(request).await {
            Err(ClusterFault::Busy { .. }) if insist => self.delete(object, from).await,
            done => done.map(drop),
        }
    }

    fn namespace_of<'b>(&'b self, object: &'b ObjectRef) -> &'b str {
        object.namespace.as_deref().unwrap_or(self.namespace)
    }

    /// Makes fields that were created ours in the way an apply owns them; without that an apply could neither change nor
    /// drop them. The version after it; none where it was not possible, which the next apply makes good.
    async fn claim(&self, object: &ObjectRef, now: &Value) -> Option<Version> {
        let managers = claimed(now["metadata"]["managedFields"].as_array()?)?;
        let version = version_of(now);
        let patch = json!({"metadata": {
            "uid": version.uid, "resourceVersion": version.resource_version, "managedFields": managers,
        }});
        self.merge(object, &patch).await.ok().map(|after| version_of(&after))
    }

    async fn merge(&self, object: &ObjectRef, patch: &Value) -> Result<Value, ClusterFault> {
        let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
        self.send(self.at(object).patch(&object.name, &params, &Patch::Merge(patch))).await
    }

    fn at(&self, object: &ObjectRef) -> Request {
        Request::new(path(object.kind, self.namespace_of(object)))
    }

    async fn send<T: serde::de::DeserializeOwned>(
        &self,
        request: Result<http::Request<Vec<u8>>, kube::core::request::Error>,
    ) -> Result<T, ClusterFault> {
        let request = request.map_err(kube::Error::BuildRequest);
        self.connection.ask(|client: Client| async move { client.request::<T>(request?).await }).await
    }
}

/// The managers of an object after our plain writes became applies; none where there is nothing to do.
fn claimed(managers: &[Value]) -> Option<Vec<Value>> {
    let ours = |entry: &Value, operation: &str| {
        entry["manager"] == FIELD_MANAGER && entry["operation"] == operation && entry["subresource"].is_null()
    };
    let created = managers.iter().position(|entry| ours(entry, "Update"))?;
    let mut managers = managers.to_vec();
    if managers.iter().any(|entry| ours(entry, "Apply")) {
        managers.remove(created);
    } else {
        managers[created]["operation"] = json!("Apply");
    }
    Some(managers)
}

fn version_of(object: &Value) -> Version {
    let text = |name: &str| object["metadata"][name].as_str().unwrap_or_default().to_owned();
    Version { uid: text("uid"), resource_version: text("resourceVersion") }
}

fn gone_is_done(done: Result<(), ClusterFault>) -> Result<(), ClusterFault> {
    match done {
        Err(ClusterFault::Missing { .. }) => Ok(()),
        done => done,
    }
}

fn outcome(fault: ClusterFault, deed: &Deed) -> Outcome {
    match fault {
        ClusterFault::Outrun { .. } | ClusterFault::Exists { .. } | ClusterFault::Expired { .. } => Outcome::Stale,
        ClusterFault::Missing { .. } if matches!(deed, Deed::Apply { from: Some(_), .. }) => Outcome::Stale,
        ClusterFault::Held { fields } => Outcome::Conflict { fields: conflicts(fields) },
        ClusterFault::Refused { said } => Outcome::Invalid { why: said },
        ClusterFault::Forbidden { said } => Outcome::Forbidden { why: said },
        fault => Outcome::Failed { why: fault.to_string() },
    }
}

fn conflicts(fields: Vec<HeldField>) -> Vec<FieldConflict> {
    let named =
        |held: HeldField| FieldConflict { field: held.field.trim_start_matches('.').to_owned(), manager: held.manager };
    let mut fields: Vec<FieldConflict> = fields.into_iter().map(named).collect();
    fields.sort();
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(manager: &str, operation: &str) -> Value {
        json!({"manager": manager, "operation": operation, "fieldsV1": {"f:spec": {}}})
    }

    #[test]
    fn what_was_created_becomes_what_was_applied() {
        let made = claimed(&[entry("kura-console", "Update"), entry("kubectl-edit", "Update")]).unwrap();
        assert_eq!(made, [entry("kura-console", "Apply"), entry("kubectl-edit", "Update")]);
        let both = claimed(&[entry("kura-console", "Apply"), entry("kura-console", "Update")]).unwrap();
        assert_eq!(both, [entry("kura-console", "Apply")]);
        assert_eq!(claimed(&[entry("kura-console", "Apply"), entry("hpa", "Update")]), None);
    }

    #[test]
    fn conflicts_are_told_in_order_and_without_the_leading_dot() {
        // K28
        let held = |field: &str| HeldField { field: field.to_owned(), manager: "hpa".to_owned() };
        let told = conflicts(vec![held(".spec.replicas"), held(".spec.image")]);
        assert_eq!(told.iter().map(|one| one.field.as_str()).collect::<Vec<_>>(), ["spec.image", "spec.replicas"]);
    }
}
