//! The controller manager rolls a real StatefulSet: what the rules rely on is what Kubernetes does.

use serde_json::{Value, json};

use super::cluster::Lease;
use super::kubelet::{Kubelet, image_of, uid_of};
use super::objects::{claims, image, pods, stateful_sets, workload};
use super::rest::Rest;

const NAME: &str = "kura-acme-eu1";

fn named(ordinal: usize) -> String {
    format!("{NAME}-{ordinal}")
}

fn wears(tag: &str) -> Value {
    json!({"spec": {"template": {"spec": {"containers": [{"name": "kura", "image": image(tag)}]}}}})
}

/// A StatefulSet in a namespace of its own, with the hands of its kubelet.
struct Bed {
    lease: Lease,
    api: Rest,
}

impl Bed {
    /// With as many pods as there are entries, which are Ready as the entries say.
    async fn make(set: Value, ready: &[bool]) -> Option<Self> {
        let lease = Lease::take().await?;
        let bed = Self { api: lease.cluster.admin(), lease };
        bed.api.create(&stateful_sets(bed.namespace()), &set).await.done();
        bed.lease.cluster.until("its pods are there", async || bed.kubelet().pods().await.len() == ready.len()).await;
        for (ordinal, ready) in ready.iter().enumerate() {
            bed.kubelet().run(&named(ordinal), *ready).await;
        }
        let count = ready.iter().filter(|ready| **ready).count();
        let counted = async || bed.set().await["status"]["readyReplicas"].as_u64().unwrap_or(0) == count as u64;
        bed.lease.cluster.until("they are counted", counted).await;
        Some(bed)
    }

    fn namespace(&self) -> &str {
        &self.lease.namespace
    }

    fn kubelet(&self) -> Kubelet<'_> {
        Kubelet::new(&self.api, self.namespace())
    }

    async fn set(&self) -> Value {
        self.api.get(&format!("{}/{NAME}", stateful_sets(self.namespace()))).await.done()
    }

    async fn change_template(&self, tag: &str) {
        self.api.merge(&format!("{}/{NAME}", stateful_sets(self.namespace())), &wears(tag)).await.done();
    }

    async fn delete_pod(&self, ordinal: usize) {
        self.api.delete(&format!("{}/{}", pods(self.namespace()), named(ordinal))).await.done();
    }

    async fn wears(&self, ordinal: usize, tag: &str) -> bool {
        self.kubelet().pod(&named(ordinal)).await.is_some_and(|pod| image_of(&pod) == image(tag))
    }

    async fn until_it_wears(&self, ordinal: usize, tag: &str) {
        let what = format!("pod {ordinal} on {tag}");
        self.lease.cluster.until(&what, async || self.wears(ordinal, tag).await).await;
    }

    /// Until the controller has seen the new template, and counts one pod on it.
    async fn until_one_is_new(&self) {
        let seen = async || {
            let set = self.set().await;
            let status = &set["status"];
            status["observedGeneration"] == set["metadata"]["generation"] && status["updatedReplicas"] == 1
        };
        self.lease.cluster.until("the controller counts one new pod", seen).await;
    }

    async fn claims(&self) -> Vec<String> {
        let list = self.api.get(&claims(self.namespace())).await.done();
        list["items"].as_array().expect("a list").iter().map(uid_of).collect()
    }

    async fn uid(&self, ordinal: usize) -> String {
        uid_of(&self.kubelet().pod(&named(ordinal)).await.expect("a pod"))
    }
}

/// Each Ready pod is replaced once the one before is Ready again, and claims stay.
#[tokio::test]
async fn ready_pods_roll_one_by_one_from_the_last() {
    // K37
    let Some(bed) = Bed::make(workload(NAME, "0.20.0", 2), &[true, true]).await else { return };
    let kept = bed.claims().await;
    assert_eq!(kept.len(), 2);
    bed.change_template("0.21.0").await;
    bed.until_it_wears(1, "0.21.0").await;
    assert!(!bed.wears(0, "0.21.0").await, "the other one waits for it");
    bed.kubelet().run(&named(1), true).await;
    bed.until_it_wears(0, "0.21.0").await;
    assert_eq!(bed.claims().await, kept, "claims are never touched");
}

/// The deadlock that section 4 of the rules is about: a pod that does not become Ready holds the rollout, until somebody
/// deletes those behind it.
#[tokio::test]
async fn pods_that_are_not_ready_wait_for_each_other_until_they_are_deleted() {
    // K35, K36
    let Some(bed) = Bed::make(workload(NAME, "0.20.0", 3), &[true, false, false]).await else { return };
    bed.change_template("0.21.0").await;
    bed.until_it_wears(2, "0.21.0").await;
    bed.until_one_is_new().await;
    assert!(bed.wears(1, "0.20.0").await, "not Ready as the last one is, it holds the others");
    let ready = bed.uid(0).await;
    bed.delete_pod(1).await;
    bed.until_it_wears(1, "0.21.0").await;
    assert_eq!(bed.uid(0).await, ready, "the Ready one was left alone");
}

/// What a fast path has to reckon with: where `updateStrategy` says no more than `RollingUpdate`, Kubernetes makes as many
/// of the lowest ordinals of the old template as it counts pods on it, whichever those are.
#[tokio::test]
async fn without_a_partition_a_deleted_pod_may_come_back_on_the_old_image() {
    // K35, K36
    let mut set = workload(NAME, "0.20.0", 3);
    set["spec"]["updateStrategy"] = json!({"type": "RollingUpdate"});
    let Some(bed) = Bed::make(set, &[false, true, true]).await else { return };
    bed.change_template("0.21.0").await;
    bed.until_it_wears(2, "0.21.0").await;
    bed.until_one_is_new().await;
    let before = bed.uid(0).await;
    bed.delete_pod(0).await;
    let is_back = async || bed.kubelet().pod(&named(0)).await.is_some_and(|pod| uid_of(&pod) != before);
    bed.lease.cluster.until("it is back", is_back).await;
    assert!(bed.wears(0, "0.20.0").await, "the template is new, and the pod is not");
}
