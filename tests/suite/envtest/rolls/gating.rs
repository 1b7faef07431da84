//! What the gate of a node judges on a real API server: workloads of infra, and nobody else's.

use kura_console::domain::roll::fleet_roll::RollState;
use kura_console::domain::roll::green::reported;
use kura_console::domain::roll::node::StepName;
use kura_console::domain::roll::partition::Partition;
use kura_console::domain::roll::spec::{RollSpec, Selector};
use kura_console::domain::verdict::Reply;

use super::bed::Bed;

/// A workload in no class is no start; one of infra that is not Ready holds its node, one of the others is told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workloads_of_infra_are_waited_for_and_those_of_others_are_told() {
    // F31, F47
    let Some(bed) = Bed::make(1).await else { return };
    let (fleet, node) = (&bed.fleet, bed.fleet.node(1).to_owned());
    let (infra, others) = (Selector::new("class", "infra"), Selector::new("class", "others"));
    let spec = RollSpec { partition: Some(Partition { infra, others }), ..fleet.spec() };
    let plane = bed.plane().await;
    let app = format!("app-{node}");
    let refused = plane.ask_start(spec.clone()).await;
    assert!(matches!(refused, Reply::Refused(_)), "{refused:?}");
    assert!(format!("{refused:?}").contains(&format!("{app} carries neither class nor class")), "{refused:?}");

    fleet.label(&app, ("class", "others")).await;
    fleet.script(|script| script.unready.extend(["dns".to_owned(), "web".to_owned()]));
    fleet.put_daemon("dns", &node, ("class", "infra")).await;
    fleet.put_daemon("web", &node, ("class", "others")).await;
    let is_parted = || plane.fleet().pods_on(&node).filter(|pod| pod.stamp.label("class").is_some()).count() == 3;
    bed.until("each is in one class", async || is_parted()).await;
    plane.start(spec).await;
    let roll = plane.until_told(&format!("{node}: dns is not Ready")).await;
    assert_eq!(roll.state(), RollState::Blocked);
    assert_eq!(roll.progress().phase.as_deref(), Some(StepName::Green.word()));
    assert_eq!(reported(&roll, &node, &plane.fleet()), [format!("{}/web", bed.lease.namespace)]);
    fleet.make_ready("dns").await;
    let roll = plane.until_roll("it is green, whatever the others do", |roll| roll.gate.is_some()).await;
    assert_eq!(roll.reason(), None);
    assert_eq!(plane.fleet().pods_on(&node).filter(|pod| !pod.is_ours()).count(), 2, "daemons are not drained");
}
