//! Rows that are taken over from the picture before are those that would be made anew: the facts compare both whenever they
//! take something over.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;

use super::bed::{Bed, row};
use crate::domain::input::{Order, Verb};
use crate::domain::kura::source::Contact;
use crate::domain::kura::verb::KuraVerb;

const SERVERS: [(&str, &str); 3] = [("ash", "eu"), ("birch", "eu"), ("cedar", "us")];

/// Whether it is taken or refused.
fn order(bed: &mut Bed, verb: KuraVerb) {
    bed.stage.order(Order { verb: Verb::Kura(verb), by: "op-a".to_owned(), reason: None, key: None });
}

/// One thing that happens in a turn; `pick` says to whom, `how` in which way. What changes of an instance changes its
/// version.
fn happen(bed: &mut Bed, turn: usize, what: u8, pick: usize, how: usize) {
    let (tenant, region) = SERVERS[pick % SERVERS.len()];
    let (id, instance) = (Bed::id(&format!("{tenant}-{region}")), format!("kura-{tenant}-{region}"));
    let pod = format!("{instance}-{}", how % 2);
    let tag = format!("0.{}.0", 19 + how % 3);
    let (now, sight) = (bed.stage.now, &mut bed.sight);
    match what % 16 {
        0 => order(bed, KuraVerb::ReleaseTag { tag }),
        1 => order(bed, KuraVerb::ForceReapply { server: id }),
        2 => order(bed, KuraVerb::Deploy { server: id, tag, force: true }),
        3 => drop(sight.instances.rows.remove(&instance)),
        4 => {
            if let Some(live) = sight.instances.rows.get_mut(&instance) {
                live.revision = None;
                live.stamp.resource_version = format!("edited-{turn}");
            }
        }
        5 => drop(sight.sets.rows.get_mut(&instance).map(|set| set.replicas = u32::try_from(how).unwrap_or(1))),
        6 => drop(sight.pods.rows.get_mut(&pod).map(|pod| pod.ready = !pod.ready)),
        7 => drop(sight.pods.rows.get_mut(&pod).map(|pod| pod.image = Some(tag))),
        8 => drop(sight.pods.rows.remove(&pod)),
        9 => drop(sight.pods.rows.get_mut(&pod).map(|pod| pod.node = Some("node-0".to_owned()))),
        10 => sight.instances.rows.extend([row("kura-nobody-eu", json!({"spec": {"image": tag}}))]),
        11 => {
            let fields =
                json!({"instance": instance, "image": tag, "ready": how.is_multiple_of(2), "phase": "Pending"});
            sight.pods.rows.extend([row(&format!("{instance}-{}", 2 + how % 2), fields)]);
        }
        12 => {
            let contact = [&mut sight.instances.contact, &mut sight.pods.contact, &mut sight.sets.contact]
                .into_iter()
                .nth(how % 3);
            let told = [
                Contact::Never,
                Contact::Lost { as_of: Some(now), why: "gone".to_owned() },
                Contact::Live { as_of: now },
            ];
            contact.into_iter().for_each(|contact| *contact = told[pick % 3].clone());
        }
        13 => {
            let observed = Arc::make_mut(&mut bed.stage.picture.observed);
            if let Some(node) = observed.nodes.get_mut("node-0") {
                node.ready = how.is_multiple_of(2);
            }
        }
        14 => {
            bed.agree();
            let names: Vec<String> = bed.sight.instances.rows.keys().cloned().collect();
            for name in names {
                if let Some(live) = bed.sight.instances.rows.get_mut(&name) {
                    live.stamp.resource_version = format!("agreed-{turn}");
                }
            }
        }
        _ => bed.pass(u64::try_from(how * 100).unwrap_or(1)),
    }
    bed.see();
    bed.stage.show();
}

#[test]
fn whatever_changes_alone_is_noticed() {
    for what in 0..16 {
        for (pick, how) in [(0, 0), (0, 1), (1, 2), (2, 1)] {
            let mut bed = Bed::serving(100, 30, &SERVERS).shown();
            happen(&mut bed, 0, what, pick, how);
            assert!(!bed.stage.model.facts.kura.is_empty());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_taken_over_is_what_would_be_made_anew(
        history in prop::collection::vec((any::<u8>(), 0..3_usize, 0..8_usize), 1..30),
    ) {
        let mut bed = Bed::serving(100, 30, &SERVERS).shown();
        for (turn, (what, pick, how)) in history.into_iter().enumerate() {
            happen(&mut bed, turn, what, pick, how);
        }
        prop_assert!(!bed.stage.model.facts.kura.is_empty());
    }
}
