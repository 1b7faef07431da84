//! Whatever happens in whatever order, the invariants of the estate hold.

use proptest::prelude::*;

use super::rig::Rig;
use crate::domain::ids::ServerId;
use crate::domain::kura::object::{ObjectKind, tag_of};
use crate::domain::kura::server::MovePhase;
use crate::domain::kura::step::{Deed, Outcome, Ran};
use crate::domain::kura::traffic::Up;
use crate::domain::kura::verb::KuraVerb;
use crate::domain::world::World;

const TENANTS: [&str; 2] = ["a", "b"];
const TAGS: [&str; 5] = ["0.1.0", "0.2.0", "0.1.9", "sha-x", "0.3.0"];

/// One thing that happens; `pick` says to whom, `how` in which way.
fn happen(rig: &mut Rig, what: u8, pick: usize, how: usize) {
    let tenant = TENANTS[pick % TENANTS.len()];
    let (server, tag) = (ServerId::named(tenant), TAGS[how % TAGS.len()].to_owned());
    let instance = format!("kura-{tenant}-eu");
    match what % 10 {
        0 => drop(rig.verb(KuraVerb::ReleaseTag { tag })),
        1 => drop(rig.verb(KuraVerb::Deploy { server, tag, force: how.is_multiple_of(2) })),
        2 => drop(rig.verb(KuraVerb::ForceReapply { server })),
        3 => {
            let phase = [MovePhase::None, MovePhase::MovingIn][how % 2];
            drop(rig.verb(KuraVerb::MoveServer { server, phase }));
        }
        4 => rig.pods_follow(),
        5 => {
            if let Some(pod) = rig.sight.pods.rows.get_mut(&format!("{instance}-{}", how % 2)) {
                pod.ready = !pod.ready;
            }
        }
        6 => {
            if let Some(probe) = rig.sight.endpoints.get_mut(&format!("{tenant}-eu.kura.tuist.dev")) {
                probe.up = Up::Status { status: [200, 503][how % 2] };
            }
        }
        7 if how.is_multiple_of(4) => drop(rig.sight.instances.rows.remove(&instance)),
        8 if how == 7 => drop(rig.verb(KuraVerb::DestroyServer { server })),
        _ => pass(rig, how),
    }
}

/// A tick, of whose steps some are carried out and some fail; deletes are judged on the reading they were decided on.
fn pass(rig: &mut Rig, how: usize) {
    let mut steps = rig.tick().steps;
    for round in 0..4 {
        steps.iter().for_each(|step| judge(rig, step));
        let run = |(n, step): (usize, crate::domain::kura::step::Step)| {
            let outcome = match (n + how + round) % 5 {
                0 => Outcome::Stale,
                1 => Outcome::Failed { why: "timeout".to_owned() },
                _ => rig.obey(&step),
            };
            Ran { step, outcome }
        };
        let ran: Vec<Ran> = std::mem::take(&mut steps).into_iter().enumerate().map(run).collect();
        rig.look();
        steps = rig.tell(ran).steps;
    }
}

fn judge(rig: &Rig, step: &crate::domain::kura::step::Step) {
    let Deed::Delete { from } = &step.deed else { return };
    if step.object.kind == ObjectKind::Pod {
        let pod = &rig.sight.pods.rows[&step.object.name];
        let template = rig.sight.sets.rows[pod.instance.as_ref().unwrap()].image.clone().unwrap();
        assert!(!pod.ready && *from == pod.stamp.version(), "never a Ready pod, and under its version");
        assert_ne!(pod.image.as_deref().map(tag_of), Some(tag_of(&template)), "never one on the new image");
    }
}

fn check(rig: &Rig, before: &World) {
    for server in rig.world.kura.servers.values() {
        let open = server.deployments.iter().filter(|row| row.status.is_open()).count();
        assert!(open <= 1, "K6: {open} rows are open");
        assert!(server.open().is_none() || !server.status.is_leaving());
        let Some(past) = before.kura.servers.get(&server.id) else { continue };
        for row in past.deployments.iter().filter(|row| !row.status.is_open()) {
            assert_eq!(server.deployment(row.id), Some(row), "K5: what has ended never changes");
        }
        assert!(past.superseded_total.iter().all(|(tag, n)| server.superseded_total.get(tag) >= Some(n)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn no_order_of_things_breaks_an_invariant(
        history in prop::collection::vec((any::<u8>(), 0..4_usize, 0..8_usize), 1..40),
    ) {
        // K5, K6, K16, K37
        let mut rig = Rig::new(&["0.1.0"]);
        TENANTS.iter().for_each(|tenant| rig.add(tenant));
        for (what, pick, how) in history {
            let before = rig.world.clone();
            happen(&mut rig, what, pick, how);
            check(&rig, &before);
        }
        let stored = serde_json::to_value(&rig.world).unwrap();
        prop_assert_eq!(serde_json::from_value::<World>(stored).unwrap().kura, rig.world.kura);
    }
}
