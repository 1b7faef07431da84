//! Whatever happens in whatever order, the invariants of the rolls hold: the rig checks them after each decision.

use proptest::prelude::*;

use super::rig::{Rig, id, spec};
use crate::domain::roll::node::StepName;
use crate::domain::roll::spec::RollSpec;
use crate::domain::roll::verb::RollVerb;
use crate::domain::world::World;

/// One thing that happens; `pick` says to which node, `how` in which way.
fn happen(rig: &mut Rig, what: u8, pick: usize, how: usize) {
    let node = format!("wk-{}", pick % 4 + 1);
    let name = ["r", "s", "t"][how % 3];
    let step = StepName::ALL[how % 7];
    match what % 14 {
        0 => drop(rig.start_over(
            name,
            ["x", "y"][how % 2],
            RollSpec { stage_parallelism: (how % 3) as u32, ..spec(4) },
            how.is_multiple_of(2),
        )),
        1 | 2 => {
            let revision = rig.world.rolls.live("kernel", "fleet").map(|roll| (roll.id, roll.revision.clone()));
            if let Some((roll, revision)) = revision {
                rig.verb(RollVerb::Approve { roll, gate: "canary".to_owned(), revision, awaiting_since: None });
            }
        }
        3 if how == 3 => drop(rig.verb(RollVerb::Abort { roll: id(name) })),
        4 => rig.put_registry(&node),
        5 => {
            let row = rig.node(&node);
            row.unschedulable = !row.unschedulable;
        }
        6 => {
            let row = rig.node(&node);
            row.ready = !row.ready;
        }
        7 => rig.held.extend([(node, step)]),
        8 => rig.held.clear(),
        9 => drop(rig.stuck.insert(node, ["", "CreateContainerError", "ErrImagePull", "OutOfpods"][how % 4])),
        10 => rig.stuck.clear(),
        11 => drop(rig.verb(RollVerb::Uncordon { node })),
        12 => drop(rig.verb(RollVerb::Probe { node })),
        _ => rig.tick_after(30 + 30 * how as u64),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn no_order_of_things_breaks_an_invariant(
        history in prop::collection::vec((any::<u8>(), 0..4_usize, 0..9_usize), 1..60),
    ) {
        // F23, F28, F35, F39, F50, F53, F60
        let mut rig = Rig::of(4);
        rig.put_registry("wk-3");
        rig.start("r", "x", spec(4));
        for (what, pick, how) in history {
            happen(&mut rig, what, pick, how);
            rig.tick();
        }
        let stored = serde_json::to_value(&rig.world).unwrap();
        prop_assert_eq!(serde_json::from_value::<World>(stored).unwrap().rolls, rig.world.rolls);
    }

    #[test]
    fn whatever_was_in_the_way_once_it_is_gone_a_roll_comes_to_its_end(
        history in prop::collection::vec((4..11_u8, 0..4_usize, 0..9_usize), 1..20),
    ) {
        // F13, F55
        let mut rig = Rig::of(4);
        rig.start("r", "x", RollSpec { registry: None, ..spec(4) });
        for (what, pick, how) in history {
            happen(&mut rig, what, pick, how);
            rig.tick();
        }
        rig.held.clear();
        rig.stuck.clear();
        for n in 1..=4 {
            rig.node(&format!("wk-{n}")).ready = true;
        }
        for _ in 0..300 {
            if rig.roll().gate.is_some() {
                rig.approve("r", "x", None);
            }
            rig.keep_pods(|pod| !pod.is_ours() || pod.started || pod.image_id.is_some());
            rig.drop_open_jobs();
            rig.tick();
        }
        prop_assert!(!rig.roll().is_live(), "{:?} {:?}", rig.state(), rig.reason());
    }
}
