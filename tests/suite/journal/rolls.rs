//! Material: facts of every kind about a few fleet rolls.

use jiff::Timestamp;
use kura_console::domain::ids::RollId;
use kura_console::domain::kura::object::{ObjectKind, ObjectRef};
use kura_console::domain::roll::change::{CordonEnd, RollChange};
use kura_console::domain::roll::fleet_roll::{Ending, Roll};
use kura_console::domain::roll::node::{StepEnding, StepName, Verdict};
use kura_console::domain::roll::spec::RollSpec;

/// How many kinds of facts there are.
const KINDS: usize = 17;

fn kind_of(change: &RollChange) -> usize {
    match change {
        RollChange::Started { .. } => 0,
        RollChange::RegistrySeen { .. } => 1,
        RollChange::TurnBegan { .. } => 2,
        RollChange::TurnPutBack { .. } => 3,
        RollChange::StepBegan { .. } => 4,
        RollChange::StepEnded { .. } => 5,
        RollChange::CordonTaken { .. } => 6,
        RollChange::CordonEnded { .. } => 7,
        RollChange::Found { .. } => 8,
        RollChange::Blocked { .. } => 9,
        RollChange::GateReached { .. } => 10,
        RollChange::GateApproved { .. } => 11,
        RollChange::SoakBegan { .. } => 12,
        RollChange::Ended { .. } => 13,
        RollChange::ProbeAsked { .. } => 14,
        RollChange::UncordonAsked { .. } => 15,
        RollChange::WriteTroubled { .. } => 16,
    }
}

/// One fact; any `KINDS` that follow each other are all kinds.
pub(crate) fn change(n: u64) -> RollChange {
    let mut all = walk(n);
    all.extend(words(n));
    all.swap_remove(usize::try_from(n).unwrap() % KINDS)
}

fn id(n: u64) -> RollId {
    RollId::named(&format!("roll-{}", n % 3))
}

fn node(n: u64) -> String {
    format!("wk-{}", n % 4 + 1)
}

fn begun(n: u64) -> RollChange {
    let at = Timestamp::from_second(1_700_000_000).unwrap();
    let nodes = (1..=4).map(|n| format!("wk-{n}")).collect();
    let spec = RollSpec { canary: n.is_multiple_of(2).then(|| node(n)), nodes, ..RollSpec::default() };
    let roll = Roll::new(id(n), "kernel", &format!("fleet-{}", n % 3), "x", spec, at);
    RollChange::Started { roll: Box::new(Roll { image: "registry/kernel:x".to_owned(), ..roll }) }
}

fn walk(n: u64) -> Vec<RollChange> {
    let (roll, node) = (id(n), node(n));
    let step = StepName::ALL[usize::try_from(n).unwrap() % StepName::ALL.len()];
    let endings = [
        StepEnding::Done,
        StepEnding::Staged { digest: "sha256:1".to_owned() },
        StepEnding::Skipped { why: "cordoned before the roll".to_owned() },
        StepEnding::Failed { why: "exit code 3".to_owned() },
    ];
    let ending = endings[usize::try_from(n).unwrap() % endings.len()].clone();
    let (boot_id, unschedulable) =
        (n.is_multiple_of(2).then(|| "boot-1".to_owned()), n.is_multiple_of(3).then_some(true));
    let how = [CordonEnd::GivenBack, CordonEnd::Lifted, CordonEnd::Gone][usize::try_from(n).unwrap() % 3];
    vec![
        begun(n),
        RollChange::RegistrySeen { roll, node: n.is_multiple_of(2).then(|| node.clone()) },
        RollChange::TurnBegan { roll, node: node.clone() },
        RollChange::TurnPutBack { roll, node: node.clone() },
        RollChange::StepBegan { roll, node: node.clone(), step, boot_id, unschedulable },
        RollChange::StepEnded { roll, node: node.clone(), step, ending },
        RollChange::CordonTaken { roll, node: node.clone() },
        RollChange::CordonEnded { node, how },
    ]
}

fn words(n: u64) -> Vec<RollChange> {
    let (roll, node) = (id(n), node(n));
    let verdict = [Verdict::Proven, Verdict::Broken, Verdict::NotProven][usize::try_from(n).unwrap() % 3];
    let (by, gate, reason) = ("jane".to_owned(), "canary".to_owned(), format!("{node} says so"));
    let endings = [
        Ending::Succeeded,
        Ending::Failed { reason: reason.clone() },
        Ending::Aborted { by: by.clone(), reason: None },
        Ending::Denied { gate: gate.clone(), by: by.clone(), reason: Some("not today".to_owned()) },
        Ending::Displaced { by: id(n + 1) },
    ];
    let ending = endings[usize::try_from(n).unwrap() % endings.len()].clone();
    let started_at = Timestamp::from_second(1_700_000_060).unwrap();
    let (whose, passive) = (n.is_multiple_of(2).then_some(roll), n.is_multiple_of(5));
    let trouble = n.is_multiple_of(2).then(|| "forbidden: no".to_owned());
    vec![
        RollChange::Found { roll: whose, node: node.clone(), verdict, reason: reason.clone(), started_at, passive },
        RollChange::Blocked { roll, reason: n.is_multiple_of(2).then_some(reason) },
        RollChange::GateReached { roll, gate: gate.clone() },
        RollChange::GateApproved { roll, gate, by: by.clone() },
        RollChange::SoakBegan { roll },
        RollChange::Ended { roll, ending },
        RollChange::ProbeAsked { node: node.clone(), by: by.clone() },
        RollChange::UncordonAsked { node: node.clone(), by },
        RollChange::WriteTroubled { roll, object: ObjectRef::new(ObjectKind::Node, &node), trouble },
    ]
}

#[test]
fn every_kind_of_fact_is_there() {
    let kinds: std::collections::BTreeSet<usize> = (0..17).map(|n| kind_of(&change(n))).collect();
    assert_eq!(kinds.len(), KINDS);
}
