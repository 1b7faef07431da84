//! Probes on a real API server: judged in time, told apart, taken away whatever they come to.

use std::time::Duration;

use kura_console::domain::roll::node::Verdict;
use kura_console::domain::roll::verb::RollVerb;
use kura_console::domain::verdict::Reply;

use super::bed::Bed;

/// Longer than a container may take to start (F11).
const A_MINUTE: Duration = Duration::from_secs(61);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_probe_that_never_starts_is_judged_in_time_and_removed() {
    // F9, F11
    let Some(bed) = Bed::make(2).await else { return };
    let (mute, well) = (bed.fleet.node(1).to_owned(), bed.fleet.node(2).to_owned());
    bed.fleet.script(|script| {
        script.mute.insert(mute.clone());
    });
    let plane = bed.plane().await;
    for node in [&mute, &well] {
        assert_eq!(plane.ask(RollVerb::Probe { node: node.clone() }).await, Reply::Done);
    }
    let found = plane.until("the other one runs", |rolls| rolls.findings.contains_key(&well)).await;
    assert_eq!(found.findings[&well].verdict, Verdict::Proven);
    assert!(!found.findings.contains_key(&mute), "it is waited for");
    let is_out = |bed: &Bed| plane.fleet().pods_on(bed.fleet.node(1)).any(|pod| pod.is_ours());
    bed.until("its pod is seen", async || is_out(&bed)).await;

    bed.clock.pass(A_MINUTE);
    let found = plane.until("it is judged", |rolls| rolls.findings.contains_key(&mute)).await;
    let finding = &found.findings[&mute];
    assert_eq!(finding.verdict, Verdict::Broken);
    assert_eq!(
        finding.reason,
        format!("{mute} is Ready and cannot start containers: its probe did not start within 1m")
    );
    assert!(found.asked.is_empty());
    bed.until_tidy().await;
}

/// At once, and told apart from a node that merely has no room.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_runtime_that_makes_no_containers_fails_a_probe_and_a_full_node_proves_nothing() {
    // F11
    let Some(bed) = Bed::make(2).await else { return };
    let (wedged, full) = (bed.fleet.node(1).to_owned(), bed.fleet.node(2).to_owned());
    bed.fleet.script(|script| {
        script.wedged.insert(wedged.clone());
        script.full.insert(full.clone());
    });
    let plane = bed.plane().await;
    for node in [&wedged, &full] {
        assert_eq!(plane.ask(RollVerb::Probe { node: node.clone() }).await, Reply::Done);
    }
    let found = plane.until("both are judged", |rolls| rolls.findings.len() == 2).await.findings;
    assert_eq!((found[&wedged].verdict, found[&full].verdict), (Verdict::Broken, Verdict::NotProven), "{found:?}");
    assert!(found[&wedged].reason.contains("CreateContainerError"), "{found:?}");
    assert!(found[&full].reason.contains("not admitted (OutOfpods"), "{found:?}");
    bed.until_tidy().await;
}
