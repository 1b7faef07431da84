//! Image changes on a real StatefulSet, through the whole loop: who is deleted, who walks, who is left alone.

use jiff::SignedDuration;
use kura_console::domain::kura::deployment::DeploymentStatus;
use serde_json::{Value, json};

use super::cluster::Cluster;
use super::controller::Controller;
use super::incidents::{Bed, make_class, serves, shared_class};
use super::kubelet::{Kubelet, image_of, uid_of};
use super::objects::{Strategy, image};
use super::plane::{Ground, Plane};
use super::rest::Rest;

const NAMESPACE: &str = "default";

/// A cluster of one's own, parts of which may be killed, and a server with two pods in it.
struct Mortal {
    cluster: Cluster,
    ground: Ground,
    api: Rest,
    name: String,
    strategy: Strategy,
    plane: Plane,
}

impl Mortal {
    /// It serves 0.20.0, and its set rolls in that way.
    async fn serving(folder: &str, strategy: Strategy) -> Option<Self> {
        let cluster = Cluster::start(folder).await?;
        cluster.define().await;
        let (ground, api) = (Ground::lay_in(NAMESPACE, cluster.admin_config()).await, cluster.admin());
        make_class(&api, &shared_class()).await;
        let plane = ground.plane_with_server(2, "0.20.0").await;
        let mortal = Self { cluster, name: ground.instance(), ground, api, strategy, plane };
        let controller = mortal.controller();
        mortal.until_applied("0.20.0").await;
        controller.reconcile().await;
        mortal.cluster.until("two pods", async || controller.pods().await.len() == 2).await;
        controller.run(&[true, true]).await;
        controller.give_address("127.0.0.1").await;
        mortal.ground.resolver.lead_here(&mortal.ground.host);
        mortal.plane.until("it serves", |server| serves(server, "0.20.0")).await;
        Some(mortal)
    }

    fn controller(&self) -> Controller<'_> {
        Controller::new(&self.api, NAMESPACE, &self.name).rolling(self.strategy)
    }

    /// Until the instance is on that tag.
    async fn until_applied(&self, tag: &str) {
        let (live, image) = (self.controller().instance_path(), image(tag));
        self.cluster.until(tag, async || self.api.get(&live).await.body["spec"]["image"] == image.as_str()).await;
    }
}

fn on(pods: &[Value], ordinal: usize) -> (&str, String) {
    (image_of(&pods[ordinal]), uid_of(&pods[ordinal]))
}

/// Five replicas, three of them not Ready: those go together at once. The Ready ones walk, one by one, each behind the
/// readiness of the ones before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_that_are_not_ready_go_together_and_ready_ones_one_by_one() {
    // K35, K36, K37 (A04)
    let Some(bed) = Bed::make().await else { return };
    let (controller, new) = (bed.controller(), image("0.21.0"));
    let plane = bed.ground.plane(SignedDuration::ZERO).await;
    bed.serving(&plane, bed.ground.spec(5), "0.20.0").await;
    controller.run(&[true, false, true, false, false]).await;
    let (before, kept) = (controller.pods().await, bed.claims().await);
    plane.release("0.21.0").await;
    bed.follow("0.21.0", 5).await;

    bed.until_on("0.21.0", 3).await;
    let pods = controller.pods().await;
    assert_eq!((on(&pods, 0), on(&pods, 2)), (on(&before, 0), on(&before, 2)), "the Ready ones are left alone");
    assert!([1, 3, 4].iter().all(|ordinal| image_of(&pods[*ordinal]) == new), "the others are new, none of them Ready");
    controller.run(&[true, false, true, true, true]).await;
    bed.until_on("0.21.0", 4).await;
    let pods = controller.pods().await;
    assert_eq!(on(&pods, 0), on(&before, 0), "it waits for those before it");
    controller.run(&[true, true, true, true, true]).await;
    bed.until_on("0.21.0", 5).await;
    controller.run(&[true; 5]).await;
    plane.until("it serves 0.21.0", |server| serves(server, "0.21.0")).await;
    assert_eq!(bed.claims().await, kept, "claims are never touched");
}

/// The same where the strategy is bare: Kubernetes makes the lowest ordinals of the old template for as long as as many
/// pods of it are left, so that 1 comes back as it was, and is left to be. It goes again as soon as one of the Ready ones
/// above it has walked, and waits for nobody to be Ready.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_the_strategy_is_bare_a_pod_that_came_back_old_goes_again_once_that_helps() {
    // K35, K36, K37 (A04)
    let Some(bed) = Bed::make_rolling(Strategy::Bare).await else { return };
    let (controller, new) = (bed.controller(), image("0.21.0"));
    let plane = bed.ground.plane(SignedDuration::ZERO).await;
    bed.serving(&plane, bed.ground.spec(5), "0.20.0").await;
    controller.run(&[true, false, true, false, false]).await;
    let (before, kept) = (controller.pods().await, bed.claims().await);
    plane.release("0.21.0").await;
    bed.until_live("image", &new).await;
    controller.reconcile().await;

    bed.until_on("0.21.0", 2).await;
    bed.until("all five are there", async || controller.pods().await.len() == 5).await;
    let pods = controller.pods().await;
    assert_eq!((on(&pods, 0), on(&pods, 2)), (on(&before, 0), on(&before, 2)), "the Ready ones are left alone");
    assert!([3, 4].iter().all(|ordinal| image_of(&pods[*ordinal]) == new), "both at once, and neither of them Ready");
    let back = on(&pods, 1);
    assert!(back.0 == image("0.20.0") && back.1 != on(&before, 1).1, "1 came back as it was");
    controller.run(&[true, false, true, false, false]).await;
    plane.ticks(5).await;
    assert_eq!(on(&controller.pods().await, 1), on(&pods, 1), "it would come back old again, so it is left alone");

    controller.run(&[true, false, true, true, true]).await;
    bed.until_on("0.21.0", 4).await;
    let pods = controller.pods().await;
    assert_eq!(on(&pods, 0), on(&before, 0), "2 walked, 1 went with it, and 0 waits for both");
    controller.run(&[true; 5]).await;
    bed.until_on("0.21.0", 5).await;
    controller.run(&[true; 5]).await;
    plane.until("it serves 0.21.0", |server| serves(server, "0.21.0")).await;
    assert_eq!(bed.claims().await, kept, "claims are never touched");
}

/// Nobody makes pods while those that are not Ready are deleted. Whoever makes them later counts what there was before,
/// and makes all of them of the old template: deleted once each, they would wait for each other for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_that_are_made_of_the_old_template_after_all_go_again_until_they_are_new() {
    // K35, K36 (I2)
    let Some(mortal) = Mortal::serving("tending-controllers", Strategy::Bare).await else { return };
    let Mortal { cluster, api, plane, .. } = &mortal;
    let controller = mortal.controller();
    let kubelet = api.clone();
    let kubelet = tokio::spawn(async move { Kubelet::new(&kubelet, NAMESPACE).tend().await });
    controller.run(&[false, false]).await;

    cluster.kill_controllers();
    plane.release("0.21.0").await;
    mortal.until_applied("0.21.0").await;
    controller.reconcile().await;
    cluster.until("both are gone", async || Kubelet::new(api, NAMESPACE).pods().await.is_empty()).await;
    cluster.start_controllers();
    cluster.until("both are new", async || controller.count_on(&image("0.21.0")).await == 2).await;
    let deleted = plane.server().deleted_total.get("0.21.0").copied().unwrap_or_default();
    assert!(deleted > 2, "{deleted}: none came back on the old image, so that this shows nothing");
    controller.run(&[true, true]).await;
    plane.until("it serves", |server| serves(server, "0.21.0")).await;
    kubelet.abort();
}

/// What an operator holds back is left alone, and goes on once it is let go: it was not marked as done meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_operator_holds_back_is_left_alone_until_it_is_let_go() {
    // K38 (I7)
    let Some(bed) = Bed::make().await else { return };
    let controller = bed.controller();
    let plane = bed.ground.plane(SignedDuration::ZERO).await;
    bed.serving(&plane, bed.ground.spec(2), "0.20.0").await;
    let strategy = async |strategy: Value| {
        let path = format!("{}?fieldManager=kubectl-edit", controller.set_path());
        bed.api.merge(&path, &json!({"spec": {"updateStrategy": strategy}})).await.done();
    };
    let on_delete = json!({"type": "OnDelete", "rollingUpdate": null});
    let partition = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 2}});
    for (tag, hold) in [("0.21.0", on_delete), ("0.22.0", partition)] {
        strategy(hold).await;
        controller.run(&[false, false]).await;
        let before = bed.uids().await;
        plane.release(tag).await;
        bed.follow(tag, 2).await;
        plane.ticks(4).await;
        assert_eq!(bed.uids().await, before, "{tag} is held back");
        strategy(json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}})).await;
        bed.until_on(tag, 2).await;
        controller.run(&[true, true]).await;
        plane.until(tag, |server| serves(server, tag)).await;
    }
}

/// The API server is gone while a release comes: what is wanted is written down nevertheless, nothing fails of it, and
/// what is owed is done once the server is back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_release_that_comes_while_the_api_server_is_dead_is_carried_out_after_it() {
    // K27, K9 (A20)
    let Some(mortal) = Mortal::serving("tending-killed", Strategy::Partitioned).await else { return };
    let Mortal { cluster, plane, .. } = &mortal;
    let controller = mortal.controller();

    cluster.kill_api_server();
    plane.release("0.21.0").await;
    plane.until("it is scheduled", |server| server.open().is_some_and(|open| open.image_tag == "0.21.0")).await;
    plane.ticks(4).await;
    let open = plane.server().open().expect("nothing failed of it").clone();
    assert_eq!((open.status, open.applied), (DeploymentStatus::Pending, false));

    cluster.restart_api_server().await;
    mortal.until_applied("0.21.0").await;
    controller.reconcile().await;
    cluster.until("one is new", async || controller.count_on(&image("0.21.0")).await == 1).await;
    controller.run(&[true, true]).await;
    cluster.until("both are new", async || controller.count_on(&image("0.21.0")).await == 2).await;
    controller.run(&[true, true]).await;
    plane.until("it serves", |server| serves(server, "0.21.0")).await;
    let sight = plane.sight();
    assert_eq!((sight.instances.rows.len(), sight.pods.rows.len()), (1, 2), "no ghosts");
}
