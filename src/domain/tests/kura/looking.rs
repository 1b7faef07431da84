//! What can be said about an estate: skew, dead nodes, pins, advice (K8, K29, section 9 and 10).

use super::rig::Rig;
use crate::domain::kura::advice::{Incident, on_incident, on_wait};
use crate::domain::kura::deployment::WaitKind;
use crate::domain::kura::incidents::{dead_nodes, workload};
use crate::domain::kura::skew::meshes;
use crate::domain::kura::workload::{Claim, PausedBy, UpdateStrategy, Volume};
use crate::domain::observed::Node;

#[test]
fn a_mesh_of_more_than_two_versions_or_of_two_that_are_no_neighbours_is_a_warning() {
    // K8
    let mut rig = Rig::serving(&["0.20.0", "0.21.0"], "0.19.0");
    let seen = |rig: &Rig| meshes(&rig.world.kura, &rig.sight.pods_by_instance()).remove(0);
    assert_eq!((seen(&rig).tags, seen(&rig).warning), (vec!["0.19.0".to_owned()], None));
    rig.pod("kura-acme-eu", 1, "0.20.0", true);
    assert_eq!(seen(&rig).warning, None, "one version of skew is the budget");
    rig.pod("kura-acme-eu", 1, "0.21.0", true);
    assert_eq!(seen(&rig).warning.as_deref(), Some("0.19.0 and 0.21.0 are no neighbours"));
    rig.pod("kura-acme-eu", 2, "0.20.0", true);
    assert_eq!(seen(&rig).warning.as_deref(), Some("3 versions at once: 0.19.0, 0.20.0, 0.21.0"));
}

#[test]
fn instances_on_one_dead_node_are_one_incident() {
    // (I8)
    let mut rig = Rig::new(&["0.19.0"]);
    ["a", "b", "c"].iter().for_each(|tenant| rig.add(tenant));
    rig.settle();
    for pod in rig.sight.pods.rows.clone().keys().filter(|name| !name.contains("-c-")) {
        rig.sight.pods.rows.get_mut(pod).unwrap().node = Some("node-9".to_owned());
    }
    let dead = Node { ready: false, unschedulable: false, version: None, holds_vip: false };
    let alive = Node { ready: true, ..dead.clone() };
    let nodes = [("node-9", dead), ("node-0", alive)].map(|(name, node)| (name.to_owned(), node)).into_iter().collect();
    let found = dead_nodes(&rig.sight, &nodes);
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].node.as_str(), &found[0].instances[..]),
        ("node-9", &["kura-a-eu", "kura-b-eu"].map(str::to_owned)[..])
    );
    rig.sight.pods.rows.get_mut("kura-b-eu-1").unwrap().node = Some("node-0".to_owned());
    let found = dead_nodes(&rig.sight, &nodes);
    assert_eq!(found[0].instances, ["kura-a-eu"], "whoever has a pod elsewhere is not down with it");
}

#[test]
fn a_pod_that_its_volume_ties_to_a_node_is_shown_with_it() {
    // (I6)
    let mut rig = Rig::serving(&[], "0.19.0");
    let pod = rig.sight.pods.rows.get_mut("kura-acme-eu-1").unwrap();
    (pod.ready, pod.node, pod.phase) = (false, None, "Pending".to_owned());
    (pod.reason, pod.claims) = (Some("Unschedulable".to_owned()), vec!["data-1".to_owned()]);
    let stamp = pod.stamp.clone();
    let claim = Claim { stamp: stamp.clone(), volume: Some("pv-7".to_owned()) };
    rig.sight.claims.rows.insert("data-1".to_owned(), claim);
    let volume = Volume { stamp, pinned_to: Some("node-3".to_owned()) };
    rig.sight.volumes.rows.insert("pv-7".to_owned(), volume);
    rig.pass_time(2 * 86_400);
    let seen = workload(rig.server("acme"), &rig.sight, rig.now);
    let [pinned] = &seen.pinned[..] else { panic!("{seen:?}") };
    assert_eq!((pinned.pod.as_str(), pinned.node.as_str()), ("kura-acme-eu-1", "node-3"));
    assert_eq!((rig.now.as_second() - pinned.since.as_second(), seen.ready, seen.replicas), (2 * 86_400, 1, 2));
}

#[test]
fn a_held_update_is_shown_with_who_holds_it_and_since_when() {
    // K38 (I7)
    let mut rig = Rig::serving(&[], "0.19.0");
    let since = Some(rig.now);
    let set = rig.sight.sets.rows.get_mut("kura-acme-eu").unwrap();
    (set.strategy, set.strategy_since) = (UpdateStrategy::OnDelete, since);
    let held = workload(rig.server("acme"), &rig.sight, rig.now).held.unwrap();
    assert_eq!((held.by, held.since), (PausedBy::Operator, since));
}

#[test]
fn every_wait_and_every_incident_has_an_answer_and_what_to_verify_after_it() {
    // K29, K30
    let rig = Rig::serving(&[], "0.19.0");
    let server = rig.server("acme");
    for kind in WaitKind::ALL {
        let advice = on_wait(server, kind);
        assert!(!advice.is_empty() && advice.iter().all(|one| !one.action.is_empty() && !one.verify.is_empty()));
    }
    let incidents = [
        Incident::LeftBehind,
        Incident::Pinned { pod: "p" },
        Incident::HeldByOperator,
        Incident::DeadNode { node: "n" },
        Incident::UnusedGateway { gateway: "g" },
        Incident::StuckGateway { gateway: "g" },
        Incident::WrittenBack { manager: "m" },
        Incident::Orphan { instance: "i" },
    ];
    let told: Vec<String> = incidents.map(|incident| on_incident(Some(server), incident).action).to_vec();
    let distinct: std::collections::BTreeSet<&String> = told.iter().collect();
    assert_eq!(distinct.len(), told.len());
    let wedge = on_wait(server, WaitKind::IngressClassWithoutController);
    let commands: Vec<&str> = wedge.iter().filter_map(|one| one.command.as_deref()).collect();
    assert_eq!(commands.len(), 2, "the runbook's two manual recoveries; the third is a newer tag");
    assert!(commands[0].contains("patch kurainstance kura-acme-eu") && commands[0].contains("\"kura-eu\""));
    assert!(commands[1].ends_with("delete kurainstance kura-acme-eu"));
    assert!(wedge.iter().any(|one| one.verb.as_deref() == Some("deploy")));
}

#[test]
fn only_pods_of_the_instance_are_its_pods() {
    // K33, K35
    let mut rig = Rig::serving(&[], "0.19.0");
    rig.pod("kura-acme-eu-west", 0, "0.18.0", false);
    let mut stray = rig.sight.pods.rows["kura-acme-eu-0"].clone();
    stray.stamp.name = "debug-of-acme".to_owned();
    rig.sight.pods.rows.insert("debug-of-acme".to_owned(), stray);
    let leaving = rig.sight.pods.rows.get_mut("kura-acme-eu-1").unwrap();
    leaving.stamp.deleting_since = Some(rig.now);
    let names =
        |instance: &str| -> Vec<String> { rig.sight.pods_of(instance).map(|pod| pod.stamp.name.clone()).collect() };
    assert_eq!(names("kura-acme-eu"), ["kura-acme-eu-0"], "by its label, and as its StatefulSet calls it");
    assert_eq!(names("kura-acme-eu-west"), ["kura-acme-eu-west-0"]);
}
