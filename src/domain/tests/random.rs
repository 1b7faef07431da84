//! Random inputs of every kind: invariants hold after each change, folding is replayable, storing loses nothing.

use proptest::prelude::*;

use super::rig::{Rig, capped, environment, machine, ring};
use crate::domain::change::Level;
use crate::domain::ids::{EnvironmentId, MachineId, RingId};
use crate::domain::input::{Input, RingPatch, Verb};
use crate::domain::observed::Telemetry;
use crate::domain::release::Outcome;
use crate::domain::world::World;

/// One random thing that happens, by small numbers.
fn happen(rig: &mut Rig, kind: u8, pick: u8, seconds: u16) {
    let names = ["cp1", "cp2", "w1", "w2", "x1"];
    let name = names[usize::from(pick) % names.len()];
    let tier = ["cp", "workers"][usize::from(pick) % 2];
    let now = crate::domain::span::Seconds::between(super::rig::epoch(), rig.now).0;
    rig.at(now + u64::from(seconds % 400));
    let known = rig.world.machines.contains_key(&MachineId::named(name));
    let level: Level = [machine(name), ring(tier), environment(tier)][usize::from(pick / 8) % 3];
    let outcome = [Outcome::Success, Outcome::Failed, Outcome::Timeout, Outcome::Canceled][usize::from(pick / 4) % 4];
    let verb = match kind % 16 {
        0..=3 if known => {
            rig.poll(name);
            return;
        }
        4..=5 if known && rig.world.current().is_some() => {
            rig.result(name, outcome);
            return;
        }
        6..=7 => {
            rig.tick();
            return;
        }
        8 => rig.start_verb(["v1", "v2"][usize::from(pick) % 2]),
        9 => Verb::Pause(level),
        10 => Verb::Unpause(level),
        11 => Verb::PatchRing {
            ring: RingId::named(tier),
            patch: RingPatch { max_in_flight: Some(u32::from(pick % 3)), ..RingPatch::default() },
        },
        12 if pick.is_multiple_of(4) => Verb::RemoveMachine { machine: MachineId::named(name) },
        12 => Verb::AddMachine {
            id: MachineId::named(name),
            hostname: name.to_owned(),
            node: None,
            environment: Some(EnvironmentId::named(tier)),
            ring: Some(RingId::named(tier)),
            bucket: Some(pick % 100),
        },
        13 => Verb::AssignMachine {
            machine: MachineId::named(name),
            environment: Some((!pick.is_multiple_of(3)).then(|| EnvironmentId::named(tier))),
            ring: None,
            node: None,
        },
        14 => {
            rig.observed.telemetry = if pick.is_multiple_of(3) { Telemetry::Unreadable } else { Telemetry::Readable };
            return;
        }
        15 if pick.is_multiple_of(5) => match rig.world.current() {
            Some(rollout) => Verb::Halt { rollout: rollout.id },
            None => return,
        },
        15 if known => {
            {
                rig.step(&Input::Rebuilt { machine: MachineId::named(name), version: None });
                return;
            };
        }
        _ => return,
    };
    rig.try_verb(verb);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_happens_breaks_an_invariant(
        things in proptest::collection::vec((any::<u8>(), any::<u8>(), any::<u16>()), 1..150),
    ) {
        // R21, R42, R67, R81, R82, R90, R136: broken_step runs after every one of them
        let mut rig = Rig::cluster(&capped(1, 200, 900, 2));
        rig.start("v1");
        for (kind, pick, seconds) in things {
            happen(&mut rig, kind, pick, seconds);
        }
        let stored = serde_json::to_string(&rig.world).unwrap();
        let loaded: World = serde_json::from_str(&stored).unwrap();
        prop_assert_eq!(&loaded, &rig.world);
        let rows = rig.rows();
        for row in &rows {
            let settled = ["paused", "applied", "queued", "waiting"].contains(&row.state.word());
            prop_assert!(!(row.holds_slot && (settled || row.queue_position.is_some())), "R136: {:?}", row);
            rig.explain(crate::domain::explain::Subject::Machine(row.machine));
        }
        rig.explain(crate::domain::explain::Subject::Rollout);
    }
}
