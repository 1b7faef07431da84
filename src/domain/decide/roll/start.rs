//! A roll is begun: what was asked for makes sense, nobody else rolls that target, and the fleet can take it.

use std::collections::BTreeSet;

use super::super::super::input::Order;
use super::super::super::observed::Observed;
use super::super::super::roll::change::RollChange;
use super::super::super::roll::fleet_roll::{Ending, Roll, RollState};
use super::super::super::roll::node::StepName;
use super::super::super::roll::partition::Partition;
use super::super::super::roll::quorum::margin_of;
use super::super::super::roll::refusal::RollRefusal;
use super::super::super::roll::rolls::LIVE_MAX;
use super::super::super::roll::sight::FleetSight;
use super::super::super::roll::spec::{
    GATE_DEADLINE_MAX, GATES_MAX, NODES_MAX, PROBE_START_MAX, PROBE_START_MIN, RollSpec, STAGE_PARALLELISM_MAX,
    Selector,
};
use super::super::super::roll::verb::RollVerb;
use super::super::super::span::Seconds;
use super::super::super::verdict::Reply;
use super::super::draft::Draft;
use super::verbs::Done;

/// Longest name of a project, a target, a gate.
const NAME_MAX: usize = 63;

/// Longest image, revision or name of a node.
const TEXT_MAX: usize = 253;

pub(super) fn start(draft: &mut Draft<'_>, observed: &Observed, order: &Order, verb: &RollVerb) -> Done {
    let RollVerb::Start { id, project, target, image, revision, spec, displace } = verb else {
        return Ok(Reply::Done);
    };
    let names = [("project", project), ("target", target)];
    names.iter().try_for_each(|(field, text)| check_name(field, text, NAME_MAX))?;
    [("image", image), ("revision", revision)].iter().try_for_each(|(field, text)| check_text(field, text))?;
    check_spec(spec)?;
    let roll = Roll::new(*id, project, target, revision, (**spec).clone(), draft.now);
    let roll = Roll { image: image.clone(), by: order.by.clone(), ..roll };
    if let Some(sight) = &observed.cluster {
        suits(&roll, &sight.fleet, draft)?;
    }
    make_room(draft, &roll, *displace)?;
    draft.note(RollChange::Started { roll: Box::new(roll) });
    Ok(Reply::Roll(*id))
}

fn bad(field: &'static str, problem: impl Into<String>) -> RollRefusal {
    RollRefusal::BadField { field, problem: problem.into() }
}

/// It can stand in a label, a path and on a screen.
fn check_name(field: &'static str, text: &str, max: usize) -> Result<(), RollRefusal> {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let ends = |c: char| c.is_ascii_alphanumeric();
    let whole = text.chars().all(inner) && text.starts_with(ends) && text.ends_with(ends);
    match text.len() {
        0 => Err(bad(field, "is empty")),
        long if long > max => Err(bad(field, format!("is longer than {max} characters"))),
        _ if !whole => Err(bad(field, format!("{text:?} has a character it cannot have"))),
        _ => Ok(()),
    }
}

fn check_text(field: &'static str, text: &str) -> Result<(), RollRefusal> {
    match text.len() {
        0 => Err(bad(field, "is empty")),
        long if long > TEXT_MAX => Err(bad(field, format!("is longer than {TEXT_MAX} characters"))),
        _ if !text.chars().all(|c| c.is_ascii_graphic()) => Err(bad(field, "has a blank or a control character")),
        _ => Ok(()),
    }
}

fn check_spec(spec: &RollSpec) -> Result<(), RollRefusal> {
    let mut seen = BTreeSet::new();
    for node in spec.canary.iter().chain(&spec.nodes) {
        check_name("nodes", node, TEXT_MAX)?;
    }
    if let Some(twice) = spec.nodes.iter().find(|node| !seen.insert(*node)) {
        return Err(bad("nodes", format!("names {twice} twice")));
    }
    let mut gates = BTreeSet::new();
    for gate in &spec.gates {
        check_name("gates", gate, NAME_MAX)?;
        if !gates.insert(gate.to_ascii_lowercase()) {
            return Err(bad("gates", format!("names {gate} twice")));
        }
    }
    check_gate(spec)?;
    let nodes = spec.all_nodes().len();
    match (nodes, spec) {
        (0, _) => Err(bad("nodes", "names no node")),
        (many, _) if many > NODES_MAX => Err(bad("nodes", format!("names {many} nodes, {NODES_MAX} are the limit"))),
        (_, spec) if spec.gates.len() > GATES_MAX => Err(bad("gates", format!("names more than {GATES_MAX}"))),
        (_, spec) if spec.stage_parallelism > STAGE_PARALLELISM_MAX => {
            Err(bad("stage_parallelism", format!("is more than {STAGE_PARALLELISM_MAX}")))
        }
        (_, spec) if spec.concurrency == 0 => Err(bad("concurrency", "is 0: nobody would ever roll")),
        (nodes, spec) if spec.concurrency > 1 => {
            let tolerated = margin_of(spec).tolerated;
            Err(RollRefusal::TwoAtOnce { concurrency: spec.concurrency, nodes, tolerated })
        }
        (_, spec) if spec.boot.as_ref().is_none_or(|boot| !boot.is_object()) => Err(RollRefusal::NoBoot),
        (_, spec) if spec.verify.as_ref().is_some_and(|verify| !verify.is_object()) => {
            Err(bad("verify", "is the pod spec of a Job"))
        }
        _ => Ok(()),
    }
}

/// What the green gate judges, and how long it waits (F11, F31).
fn check_gate(spec: &RollSpec) -> Result<(), RollRefusal> {
    check_text("probe_image", &spec.probe_image)?;
    spec.registry.iter().try_for_each(|registry| check_selector("registry", registry))?;
    if let Some(Partition { infra, others }) = &spec.partition {
        [infra, others].iter().try_for_each(|class| check_selector("partition", class))?;
        if infra == others {
            return Err(bad("partition", format!("has {infra} twice: whoever carries it would be in both classes")));
        }
    }
    let within = |field, given: Option<Seconds>, least: Seconds, most: Seconds| match given {
        Some(span) if span < least => Err(bad(field, format!("is less than {least}"))),
        Some(span) if span > most => Err(bad(field, format!("is more than {most}"))),
        _ => Ok(()),
    };
    within("probe_start_seconds", spec.probe_start_seconds, PROBE_START_MIN, PROBE_START_MAX)?;
    // A node cannot be proven sooner than a probe can be judged.
    within("green_deadline_seconds", spec.green_deadline_seconds, spec.probed_within(), GATE_DEADLINE_MAX)
}

fn check_selector(field: &'static str, selector: &Selector) -> Result<(), RollRefusal> {
    check_text(field, &selector.label)?;
    check_text(field, &selector.value)
}

/// The nodes are there, the canary does not host the registry, and the workloads are in one class each.
fn suits(roll: &Roll, fleet: &FleetSight, draft: &Draft<'_>) -> Result<(), RollRefusal> {
    if !fleet.is_fresh(draft.now) {
        return Ok(());
    }
    let nodes = roll.spec.all_nodes();
    if let Some(missing) = nodes.iter().find(|node| fleet.nodes.get(node).is_none()) {
        return Err(RollRefusal::NoNode((*missing).to_owned()));
    }
    let registry = roll.spec.registry.as_ref().and_then(|registry| fleet.registry_host(registry));
    if let Some(node) = registry.filter(|node| roll.spec.canary.as_deref() == Some(*node)) {
        return Err(RollRefusal::RegistryIsCanary { node: node.to_owned() });
    }
    let Some(partition) = &roll.spec.partition else { return Ok(()) };
    let mut all = nodes.iter().map(|node| partition.check(fleet.pods_on(node)));
    let fault = all.find_map(Result::err);
    fault.map_or(Ok(()), |fault| Err(RollRefusal::NotPartitioned { fault }))
}

/// One roll per target. The one that goes on makes way only while it waits at a gate or only stages (F53).
fn make_room(draft: &mut Draft<'_>, roll: &Roll, displace: bool) -> Result<(), RollRefusal> {
    let rolls = &draft.world().rolls;
    if rolls.roll(roll.id).is_some() {
        return Err(bad("id", "is that of another roll"));
    }
    let Some(known) = rolls.live(&roll.project, &roll.target).cloned() else {
        let live = rolls.rolls.iter().filter(|roll| roll.is_live()).count();
        return match live >= LIVE_MAX {
            true => Err(RollRefusal::Full { what: "rolls that go on", limit: LIVE_MAX }),
            false => Ok(()),
        };
    };
    if !displace || !is_displaceable(&known) {
        let displaceable = is_displaceable(&known);
        let (revision, state) = (known.revision.clone(), known.state().word());
        return Err(RollRefusal::Live { roll: known.name(), revision, state, displaceable });
    }
    draft.note(RollChange::Ended { roll: known.id, ending: Ending::Displaced { by: roll.id } });
    Ok(())
}

/// It waits at a gate, or no node of it was touched yet.
fn is_displaceable(roll: &Roll) -> bool {
    let touched = roll.nodes.values().any(|node| node.step(StepName::Cordon).is_some());
    roll.state() == RollState::Awaiting || !touched
}
