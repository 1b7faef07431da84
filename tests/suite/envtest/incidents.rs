//! The incidents of the seeds on a real API server, through the whole loop: each heals, and says why it waits.

use jiff::SignedDuration;
use kura_console::domain::kura::change::KuraChange;
use kura_console::domain::kura::deployment::{Closing, DeploymentStatus};
use kura_console::domain::kura::server::{GatewayMode, Server, ServerSpec, ServerStatus};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::cluster::Lease;
use super::controller::Controller;
use super::kubelet::{Kubelet, uid_of};
use super::objects::{Strategy, claims, gateways, image};
use super::plane::{Ground, Plane, REGION};
use super::rest::Rest;

const CLASSES: &str = "/apis/networking.k8s.io/v1/ingressclasses";

/// One server of a test with everything around it.
pub struct Bed {
    pub lease: Lease,
    pub ground: Ground,
    pub api: Rest,
    name: String,
    strategy: Strategy,
    /// Who gives pods a node, and ends them there.
    kubelet: Option<JoinHandle<()>>,
}

impl Drop for Bed {
    fn drop(&mut self) {
        if let Some(task) = &self.kubelet {
            task.abort();
        }
    }
}

impl Bed {
    /// Nothing is deployed yet; the name of the server leads nowhere.
    pub async fn make() -> Option<Self> {
        let lease = Lease::take().await?;
        let (ground, api) = (Ground::lay(&lease).await, lease.cluster.admin());
        make_class(&api, &shared_class()).await;
        let (strategy, kubelet) = (Strategy::Partitioned, None);
        Some(Self { name: ground.instance(), lease, ground, api, strategy, kubelet })
    }

    /// The same, whose sets roll in that way.
    pub async fn make_rolling(strategy: Strategy) -> Option<Self> {
        let mut bed = Self::make().await?;
        if strategy == Strategy::Bare {
            let (api, namespace) = (bed.api.clone(), bed.ground.namespace.clone());
            bed.kubelet = Some(tokio::spawn(async move { Kubelet::new(&api, &namespace).tend().await }));
        }
        bed.strategy = strategy;
        Some(bed)
    }

    pub fn controller(&self) -> Controller<'_> {
        Controller::new(&self.api, &self.ground.namespace, &self.name).rolling(self.strategy)
    }

    pub async fn until(&self, what: &str, holds: impl AsyncFnMut() -> bool) {
        self.lease.cluster.until(what, holds).await;
    }

    /// Until a field of the instance's spec says so, and the version in which it did.
    pub async fn until_live(&self, field: &str, value: &str) -> u64 {
        let path = self.controller().instance_path();
        let mut version = 0;
        self.until(&format!("{field} is {value}"), async || {
            let live = self.api.get(&path).await.body;
            version = version_of(&live);
            live["spec"][field] == value
        })
        .await;
        version
    }

    /// The instance is applied on that tag; its controller makes so many pods of it.
    pub async fn follow(&self, tag: &str, pods: usize) {
        self.until_live("image", &image(tag)).await;
        let controller = self.controller();
        controller.reconcile().await;
        self.until("its pods are there", async || controller.pods().await.len() == pods).await;
    }

    pub async fn until_on(&self, tag: &str, count: usize) {
        let controller = self.controller();
        let what = format!("{count} pods on {tag}");
        self.until(&what, async || controller.count_on(&image(tag)).await == count).await;
    }

    pub async fn uids(&self) -> Vec<String> {
        self.controller().pods().await.iter().map(uid_of).collect()
    }

    pub async fn claims(&self) -> Vec<String> {
        let list = self.api.get(&claims(&self.ground.namespace)).await.done();
        list["items"].as_array().expect("a list").iter().map(uid_of).collect()
    }

    /// A server that serves this tag with so many pods, all of them Ready.
    pub async fn serving(&self, plane: &Plane, spec: ServerSpec, tag: &str) {
        let pods = usize::try_from(spec.replicas).expect("a few");
        self.ground.resolver.lead_here(&self.ground.host);
        plane.add(&self.ground, spec, tag).await;
        self.follow(tag, pods).await;
        self.controller().run(&vec![true; pods]).await;
        self.controller().give_address("127.0.0.1").await;
        plane.until(&format!("it serves {tag}"), |server| serves(server, tag)).await;
    }
}

pub fn serves(server: &Server, tag: &str) -> bool {
    server.status == ServerStatus::Active && server.open().is_none() && server.current_image_tag.as_deref() == Some(tag)
}

pub fn shared_class() -> String {
    format!("kura-{REGION}")
}

/// Classes are of the whole cluster: another test may have made it.
pub async fn make_class(api: &Rest, name: &str) {
    let class = json!({"metadata": {"name": name}, "spec": {"controller": "example.com/ingress"}});
    let status = api.create(CLASSES, &class).await.status;
    assert!(status == 201 || status == 409, "{status}");
}

/// Versions of one store are numbers that only grow, whatever the object.
fn version_of(object: &Value) -> u64 {
    object["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn history(server: &Server) -> Vec<(&str, DeploymentStatus)> {
    server.deployments.iter().map(|row| (row.image_tag.as_str(), row.status)).collect()
}

async fn applies(plane: &Plane) -> usize {
    plane.facts().await.iter().filter(|(_, fact)| matches!(fact, KuraChange::ManifestApplied { .. })).count()
}

/// seeds/000: 0.19.0 has been open for fourteen hours, both pods grind behind the readiness gate. The control plane is
/// started anew meanwhile, which is no image change. 0.20.0 takes its place in one commit, and both pods go together once
/// the template carries it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fourteen_hours_open_end_with_the_next_release() {
    // K10, K31, K35, K36, K37, K40 (I2)
    fourteen_hours_open(Strategy::Partitioned).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fourteen_hours_open_end_in_the_same_way_where_the_strategy_is_bare() {
    // K10, K31, K35, K36, K37, K40 (I2)
    fourteen_hours_open(Strategy::Bare).await;
}

async fn fourteen_hours_open(strategy: Strategy) {
    let Some(bed) = Bed::make_rolling(strategy).await else { return };
    let controller = bed.controller();
    let past = bed.ground.plane(SignedDuration::from_hours(14)).await;
    bed.serving(&past, bed.ground.spec(2), "0.18.4").await;
    past.release("0.19.0").await;
    bed.follow("0.19.0", 2).await;
    bed.until_on("0.19.0", 1).await;
    // A pod that takes its time to end is no pod any more, and what is left would do: there the walk stops half way.
    if strategy == Strategy::Partitioned {
        controller.run(&[true, true]).await;
        bed.until_on("0.19.0", 2).await;
    }
    controller.run(&[false, false]).await;
    past.until_it_waits("workload_not_ready").await;
    past.stop().await;
    let (pods, kept) = (bed.uids().await, bed.claims().await);

    let plane = bed.ground.plane(SignedDuration::ZERO).await;
    plane.ticks(3).await;
    let open = plane.server().open().expect("it is open").clone();
    assert_eq!((open.image_tag.as_str(), open.status), ("0.19.0", DeploymentStatus::Running));
    assert!(open.inserted_at.as_second() + 13 * 3_600 < plane.now().as_second(), "for fourteen hours");
    assert_eq!(bed.uids().await, pods, "nothing was deleted for a start of the control plane");
    let said = ["serves 0.18.4: 0.19.0 has waited 14h", "for its pods", "release a newer runtime tag", "THEN VERIFY"];
    plane.until_shown("", &said).await;

    plane.release("0.20.0").await;
    bed.until_live("image", &image("0.20.0")).await;
    plane.ticks(3).await;
    assert_eq!(bed.uids().await, pods, "not while the template is the old one");
    plane.until_shown("3", &["0.20.0 has waited", "for its controller to take the object in"]).await;
    controller.reconcile().await;
    bed.until_on("0.20.0", 2).await;
    plane.until_shown("3", &["0.20.0 has waited", "for its pods"]).await;
    assert!(bed.uids().await.iter().all(|uid| !pods.contains(uid)), "both at once, and neither of them Ready");
    assert_eq!(bed.claims().await, kept, "claims are never touched");

    controller.run(&[true, true]).await;
    let server = plane.until("it serves 0.20.0", |server| serves(server, "0.20.0")).await;
    plane.until_shown("3", &["serves 0.20.0"]).await;
    let rows = [DeploymentStatus::Succeeded, DeploymentStatus::Superseded, DeploymentStatus::Succeeded];
    assert_eq!(history(&server), [("0.18.4", rows[0]), ("0.19.0", rows[1]), ("0.20.0", rows[2])]);
    assert_eq!(server.deployments[1].displaced_by.as_deref(), Some("0.20.0"));
    superseded_in_one_commit(&plane).await;
}

async fn superseded_in_one_commit(plane: &Plane) {
    let facts = plane.facts().await;
    let closed = facts.iter().find_map(|(revision, fact)| match fact {
        KuraChange::DeploymentClosed { closing: Closing::Superseded { by }, .. } if by == "0.20.0" => Some(*revision),
        _ => None,
    });
    let opened = facts.iter().find_map(|(revision, fact)| match fact {
        KuraChange::DeploymentOpened { deployment, .. } if deployment.image_tag == "0.20.0" => Some(*revision),
        _ => None,
    });
    let (closed, opened) = (closed.expect("it was closed"), opened.expect("it was opened"));
    assert_eq!(opened, closed + 1, "nothing comes between");
}

/// seeds/001: the renderer leads a server from a gateway of its own, which never gets a controller, to the shared one; the
/// image stays the same, and a deployment waits. The drift heals it with the deployment running, and the gateway that
/// nobody names any more goes after the apply, not before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_manifest_that_changed_alone_heals_a_deployment_that_waits() {
    // K23, K29, K34, K43, K44 (I1)
    let Some(bed) = Bed::make().await else { return };
    let (controller, ground) = (bed.controller(), &bed.ground);
    let own = format!("kgw-{}-{REGION}", ground.tenant);
    make_class(&bed.api, &own).await;
    let past = ground.plane(SignedDuration::from_hours(6)).await;
    past.add(ground, ServerSpec { gateway: GatewayMode::Dedicated, ..ground.spec(2) }, "0.10.15").await;
    bed.follow("0.10.15", 2).await;
    controller.run(&[true, true]).await;
    let gateway = format!("{}/{own}", gateways(&ground.namespace));
    let finalizer = "kuragateways.kura.tuist.dev/finalizer";
    bed.api.merge(&gateway, &json!({"metadata": {"finalizers": [finalizer]}})).await.done();
    let stuck = past.until_it_waits("ingress_class_without_controller").await;
    let deployment = stuck.open().expect("it is open").id;
    past.stop().await;

    let plane = ground.plane(SignedDuration::ZERO).await;
    plane.ticks(3).await;
    let said = ["0.10.15 has waited 6h", "for a controller of its ingress class", &own, "THEN VERIFY"];
    plane.until_shown("", &said).await;
    assert!(bed.api.get(&gateway).await.done()["metadata"]["deletionTimestamp"].is_null(), "the instance names it");
    plane.configure(ground.spec(2)).await;
    let applied = bed.until_live("ingressClassName", &shared_class()).await;
    let leaving = async || !bed.api.get(&gateway).await.body["metadata"]["deletionTimestamp"].is_null();
    bed.until("the gateway is collected", leaving).await;
    let collected = version_of(&bed.api.get(&gateway).await.done());
    assert!(applied < collected, "after the apply: {applied} {collected}");
    plane.ticks(3).await;
    assert_eq!(version_of(&bed.api.get(&gateway).await.done()), collected, "its finalizer is left to a person");
    bed.until("its class is gone", async || bed.api.get(&format!("{CLASSES}/{own}")).await.status == 404).await;

    controller.reconcile().await;
    plane.until_it_waits("ingress_without_address").await;
    plane.until_shown("3", &["0.10.15", "has waited", "for an address of its ingress"]).await;
    controller.give_address("127.0.0.1").await;
    let waiting = plane.until_it_waits("public_host_not_resolvable").await;
    plane.until_shown("3", &["0.10.15", "has waited", "for its public name to resolve"]).await;
    assert_eq!(waiting.open().expect("it is open").id, deployment, "the very deployment that waited");
    ground.resolver.lead_here(&ground.host);
    plane.until("it serves", |server| serves(server, "0.10.15")).await;
    assert_eq!(applies(&plane).await, 2, "once at first, once for the drift");
    bed.api.merge(&gateway, &json!({"metadata": {"finalizers": []}})).await.done();
}

/// The third of its kind: only the live object was edited by hand. Image and revision agree, so that nothing is applied by
/// itself; the force key heals it. A manager that writes the field back and back is named, and left alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_edited_by_hand_is_healed_by_force_and_three_times_is_enough() {
    // K24, K28, K49
    let Some(bed) = Bed::make().await else { return };
    let plane = bed.ground.plane(SignedDuration::ZERO).await;
    bed.serving(&plane, bed.ground.spec(1), "0.20.0").await;
    let by_hand = format!("{}?fieldManager=kubectl-edit", bed.controller().instance_path());
    let edit = json!({"spec": {"ingressClassName": "by-hand", "aFieldOfTomorrow": {"kept": true}}});
    let edited = format!("somebody edited spec.ingressClassName: live by-hand, rendered {}", shared_class());
    for times in 1..=3 {
        bed.api.merge(&by_hand, &edit).await.done();
        let counted =
            |server: &Server| server.foreign.get("spec.ingressClassName").is_some_and(|edit| edit.times == times);
        let server = plane.until("the edit is counted", counted).await;
        assert_eq!(server.foreign["spec.ingressClassName"].manager, "kubectl-edit");
        let before = applies(&plane).await;
        plane.ticks(2).await;
        assert_eq!(applies(&plane).await, before, "image and revision agree");
        match times {
            3 => plane.until_shown("", &["kubectl-edit writes spec.ingressClassName back each time"]).await,
            _ => plane.until_shown("", &[&edited, "so nothing is applied by itself", "force a re-apply"]).await,
        };
        if times < 3 {
            plane.force().await;
            bed.until_live("ingressClassName", &shared_class()).await;
        }
    }
    let kept = bed.controller().instance().await["spec"]["aFieldOfTomorrow"].clone();
    assert_eq!(kept, json!({"kept": true}), "what is not known is not touched");

    let before = applies(&plane).await;
    plane.configure(ServerSpec { storage_size: "40Gi".to_owned(), ..bed.ground.spec(1) }).await;
    plane.ticks(3).await;
    assert_eq!(applies(&plane).await, before, "even drift is not, against somebody who writes back");
    assert_eq!(plane.server().tug_of_war().map(|(field, _)| field.as_str()), Some("spec.ingressClassName"));
    plane.force().await;
    bed.until_live("storageSize", "40Gi").await;
    bed.until_live("ingressClassName", &shared_class()).await;
}

/// Drift in one field while another is held by somebody else: nothing is written, and the server says who holds what.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conflict_is_named_by_field_and_manager_and_writes_nothing() {
    // K28
    let Some(bed) = Bed::make().await else { return };
    let plane = bed.ground.plane(SignedDuration::ZERO).await;
    bed.serving(&plane, bed.ground.spec(1), "0.20.0").await;
    let flux = format!("{}?fieldManager=flux", bed.controller().instance_path());
    bed.api.merge(&flux, &json!({"spec": {"storageSize": "80Gi"}})).await.done();
    plane.configure(ServerSpec { storage_size: "40Gi".to_owned(), ..bed.ground.spec(1) }).await;
    let told = |server: &Server| server.troubles.values().any(|why| why == "spec.storageSize is owned by flux");
    plane.until("the conflict", told).await;
    plane.until_shown("", &["cannot be written: spec.storageSize is owned by flux", "THEN VERIFY"]).await;
    plane.ticks(2).await;
    assert_eq!(bed.controller().instance().await["spec"]["storageSize"], "80Gi");
}
