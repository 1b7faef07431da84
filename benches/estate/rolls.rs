//! A roll of 300 nodes with 3,000 pods, at its gate and in its soak, when every node is looked at and probed.

use criterion::Criterion;
use kura_console::domain::ids::RollId;
use kura_console::domain::input::Verb;
use kura_console::domain::observed::Observed;
use kura_console::domain::roll::fleet_roll::{Roll, RollState};
use kura_console::domain::roll::spec::{CANARY_GATE, RollSpec};
use kura_console::domain::roll::verb::RollVerb;
use kura_console::domain::span::Seconds;
use kura_console::sim::cluster::fleet::Pace;
use serde_json::json;

use super::{Estate, measure};

const NODES: usize = 300;

const PODS_PER_NODE: usize = 10;

/// Longer than the bench looks at it.
const SOAK: Seconds = Seconds(24 * 3_600);

pub(crate) fn passes(c: &mut Criterion) {
    let (mut estate, id) = (Estate::bare(), RollId::named("fleet"));
    let at_once = Seconds(0);
    estate.cluster.fleet.pace = Pace { stage: at_once, drain: at_once, boot: at_once, verify: at_once, probe: at_once };
    let names: Vec<String> = (0..NODES).map(|n| format!("wk-{n:03}")).collect();
    names.iter().for_each(|name| estate.cluster.put_node(name, None, estate.now));
    estate.reconcile();
    estate.order(Verb::Roll(start(id, &names)));
    estate.until(id, RollState::Awaiting);
    let observed = with_load(&mut estate);
    measure(c, "idle pass, roll of 300 nodes at its gate, 3,000 pods", &estate, &observed);
    let (gate, revision) = (CANARY_GATE.to_owned(), "r1".to_owned());
    estate.order(Verb::Roll(RollVerb::Approve { roll: id, gate, revision, awaiting_since: None }));
    estate.until(id, RollState::Soaking);
    let observed = with_load(&mut estate);
    measure(c, "idle pass, 300 rolled nodes in their soak, 3,000 pods", &estate, &observed);
}

fn start(id: RollId, names: &[String]) -> RollVerb {
    let spec = RollSpec {
        canary: names.first().cloned(),
        nodes: names[1..].to_vec(),
        stage_parallelism: 50,
        soak_seconds: SOAK,
        registry: None,
        boot: Some(json!({ "containers": [{ "name": "boot", "image": "owner/boot" }] })),
        ..RollSpec::default()
    };
    let (project, target) = ("kernel".to_owned(), "fleet".to_owned());
    let (image, revision) = ("registry/kernel:r1".to_owned(), "r1".to_owned());
    RollVerb::Start { id, project, target, image, revision, spec: Box::new(spec), displace: false }
}

impl Estate {
    /// Goes on until the roll is there, and once more, so that nothing is left to do.
    fn until(&mut self, id: RollId, state: RollState) {
        while self.world.rolls.roll(id).map(Roll::state) != Some(state) {
            self.reconcile();
        }
        self.reconcile();
    }
}

/// What is seen, with as many pods on each node as nodes have.
fn with_load(estate: &mut Estate) -> Observed {
    let mut observed = estate.look();
    if let Some(sight) = &mut observed.cluster {
        let pods = &mut sight.fleet.pods.rows;
        let loads: Vec<_> =
            pods.iter().filter(|(_, pod)| !pod.is_ours()).map(|(key, pod)| (key.clone(), pod.clone())).collect();
        for (key, pod) in loads {
            (1..PODS_PER_NODE).for_each(|n| drop(pods.insert(format!("{key}-{n}"), pod.clone())));
        }
    }
    observed
}
