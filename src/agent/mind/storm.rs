//! What an agent never does, whatever happens to it in whatever order.

use proptest::prelude::*;

use super::scene::{Scene, offer};
use crate::agent::heard::Setback;

#[derive(Debug, Clone, Copy)]
enum Blow {
    Serve { release: usize, ahead: u64, cancel: bool },
    ServeNothing,
    Setback,
    Spawn,
    End(i32),
    Deliver,
    Refuse,
    Lose,
    Wait(u64),
    Sleep,
    Restart,
}

fn blow() -> impl Strategy<Value = Blow> {
    prop_oneof![
        6 => (0..3_usize, 0..3_u64, any::<bool>()).prop_map(|(release, ahead, cancel)| Blow::Serve { release, ahead, cancel }),
        2 => Just(Blow::ServeNothing),
        1 => Just(Blow::Setback),
        3 => Just(Blow::Spawn),
        6 => (0..2_i32).prop_map(Blow::End),
        5 => Just(Blow::Deliver),
        1 => Just(Blow::Refuse),
        1 => Just(Blow::Lose),
        3 => (0..2_000_u64).prop_map(Blow::Wait),
        5 => Just(Blow::Sleep),
        1 => Just(Blow::Restart),
    ]
}

/// Deals a blow where it can happen. Generations never go back, and one generation has one release, as R63 says.
fn deal(scene: &mut Scene, blow: Blow, newest: &mut (usize, u64)) {
    match blow {
        Blow::Serve { release, ahead, cancel } if scene.asked.is_some() => {
            if ahead > 0 {
                *newest = (release, newest.1 + ahead);
            }
            scene.answer_with(Some(offer(["a", "b", "c"][newest.0], newest.1)), cancel);
        }
        Blow::ServeNothing if scene.asked.is_some() => scene.answer(None),
        Blow::Setback if scene.asked.is_some() => scene.no_answer(Setback::Away),
        Blow::Spawn if scene.run.is_some() && scene.mind.memory().run.as_ref().is_some_and(|r| r.process.is_none()) => {
            scene.spawned();
        }
        Blow::End(code) if scene.run.is_some() => drop(scene.ends(code)),
        Blow::Deliver if scene.sent.is_some() => scene.delivered(),
        Blow::Refuse if scene.sent.is_some() => scene.refused(),
        Blow::Lose if scene.sent.is_some() => scene.undelivered(Setback::Away),
        Blow::Wait(seconds) => scene.wait(seconds),
        Blow::Sleep if scene.mind.wake_at().is_some() => scene.sleep(),
        Blow::Restart => scene.restart(),
        _ => {}
    }
}

proptest! {
    /// R57, R62, R63: the scene checks after every step; see there for what.
    #[test]
    fn whatever_happens(retries in 0..3_u32, blows in proptest::collection::vec(blow(), 0..120)) {
        let mut scene = Scene::new(retries);
        let mut newest = (0, 1);
        for blow in blows {
            deal(&mut scene, blow, &mut newest);
        }
        // once the world is kind again the machine gets to where it is wanted, unless it latched there
        let wanted = offer("a", newest.1 + 5);
        for _ in 0..40 {
            if scene.run.is_some() {
                scene.ends(0);
            } else if scene.sent.is_some() {
                scene.delivered();
            } else if scene.asked.is_some() {
                scene.answer(Some(wanted.clone()));
            } else {
                scene.sleep();
            }
        }
        prop_assert_eq!(scene.mind.memory().applied.as_ref().map(|a| a.edition), Some(wanted.edition));
    }
}
