//! The screen of nodes: whose cordon it is, what is known of a runtime and how, what a node hosts.

use insta::assert_snapshot;

use super::bed::Bed;
use crate::domain::roll::node::StepName;
use crate::domain::roll::verb::RollVerb;
use crate::domain::tests::roll::rig::Rig;

/// One of everything: a node left cordoned by a roll that was stopped, one that somebody cordoned, one whose runtime is
/// broken, one that is not Ready, the hosts of the registry and of the VIP.
fn everything(width: u16, height: u16) -> Bed {
    let mut bed = Bed::at_gate(width, height);
    bed.approve();
    bed.rig.held.insert(("wk-4".to_owned(), StepName::Boot));
    bed.rig.until(|rig| rig.state_of("wk-4", StepName::Boot).is_some());
    bed.rig.verb(RollVerb::Abort { roll: Bed::roll() });
    bed.rig.node("wk-5").unschedulable = true;
    bed.rig.node("wk-6").ready = false;
    bed.rig.fingerprints("wk-2", 2, "CreateContainerError");
    bed.rig.tick();
    bed.shown()
}

#[test]
fn a_node_says_whose_its_cordon_is_what_its_runtime_is_and_what_it_hosts() {
    // F2, F12
    for (width, height) in [(80, 24), (120, 36)] {
        let mut bed = everything(width, height);
        bed.stage.press("5");
        assert_snapshot!(format!("nodes_{width}x{height}"), bed.stage.screen());
        for part in ["✗ broken", "✓ proven", "· passive", "ours 1m", "somebody's", "registry", "vip", "NOT Ready"]
        {
            bed.says(part);
        }
    }
}

#[test]
fn a_node_in_full_says_what_runs_on_it_and_what_to_do() {
    let mut bed = everything(100, 50);
    bed.stage.press("5 enter");
    assert_snapshot!("node_100x50", bed.stage.screen());
    bed.says("wk-2 cannot start containers: 2 pods say so (2 CreateContainerError)");
    bed.says("kubectl --context oak get pods -A -o wide --field-selector spec.nodeName=wk-2");
    bed.stage.press("esc");
    bed.stage.press("j j enter");
    bed.says("the roll of kernel/fleet left it cordoned: it is ours to give back");
    bed.stage.press("esc");
    bed.stage.press("j enter");
    bed.says("somebody cordoned it, no roll did: it is theirs to lift");
    bed.rig.node("wk-5").cordoned_by = Some("kubectl-cordon".to_owned());
    bed.show();
    bed.says("kubectl-cordon cordoned it, no roll did");
    bed.says("somebody's, set by kubectl-cordon");
}

#[test]
fn nodes_are_filtered_by_what_is_known_of_them() {
    let mut bed = everything(80, 24);
    let shown = |bed: &mut Bed, filter: &str| {
        bed.stage.press("5 /");
        bed.stage.type_text(filter);
        bed.stage.press("enter");
        let names = bed.stage.model.hosts.rows.iter().map(|id| bed.stage.model.facts.fleet.hosts[id].name.clone());
        let names = names.collect::<Vec<_>>().join(" ");
        bed.stage.press("esc");
        names
    };
    assert_eq!(shown(&mut bed, "broken"), "wk-2");
    assert_eq!(shown(&mut bed, "ours"), "wk-4");
    assert_eq!(shown(&mut bed, "somebody's"), "wk-5");
    assert_eq!(shown(&mut bed, "not-ready"), "wk-6");
    assert_eq!(shown(&mut bed, "registry"), "wk-3");
    assert_eq!(shown(&mut bed, "vip"), "wk-2");
    assert_eq!(shown(&mut bed, "!cordoned !broken !not-ready"), "wk-1 wk-3");
    bed.stage.press("o o");
    bed.says("nodes sorted by");
}

#[test]
fn a_proof_of_another_boot_is_none() {
    // F6
    let mut rig = Rig::at_gate(3);
    rig.verb(RollVerb::Probe { node: "wk-2".to_owned() });
    rig.tick();
    rig.tick();
    let mut bed = Bed::of(rig, 80, 24);
    bed.stage.press("5 j");
    bed.says("wk-2 is Ready and proven");
    bed.approve();
    bed.rig.stuck.insert("wk-2".to_owned(), "");
    bed.rig.until(|rig| rig.of_node("wk-2").back_since().is_some());
    bed.show();
    bed.says("wk-2 is Ready, which is all that is known");
}
