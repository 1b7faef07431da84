//! What can be done about a roll or a node, each with its verb or its exact command, and what to look at afterwards.

use jiff::Timestamp;

use super::super::ids::RollId;
use super::super::kura::advice::Advice;
use super::super::kura::object::ObjectRef;
use super::fleet_roll::{Awaiting, Roll, RollState};
use super::green::Prints;
use super::host::{Cordoned, Host, Runtime};
use super::manifest::job_object;
use super::node::{NodeRoll, Standing, StepName};
use super::order::remaining;
use super::rolls::Rolls;
use super::sight::{FleetSight, JobEnd};
use super::words::{abortion, approval, denial};

fn advice(action: impl Into<String>, verb: Option<&str>, command: Option<String>, verify: impl Into<String>) -> Advice {
    Advice { action: action.into(), verb: verb.map(str::to_owned), command, verify: verify.into() }
}

fn pods_of(node: &str) -> Option<String> {
    Some(format!("kubectl get pods -A -o wide --field-selector spec.nodeName={node}"))
}

fn command_of(verb: &str, node: &str) -> Option<String> {
    Some(format!("kura-console {verb} {node}"))
}

/// What is in the way of a roll, as far as it can be told from what is seen.
enum Plight {
    /// The runtime of a rolled node makes no containers.
    Broken(String),
    /// Nobody can pull from the registry.
    NoRegistry(String),
    /// The Job that boots a node has failed, and the node may still come back.
    Boots(String, ObjectRef),
    /// A node is not Ready, or not there.
    Down(String),
    /// What its sentence says.
    Other,
}

/// About a roll, most useful first.
pub fn of_roll(roll: &Roll, rolls: &Rolls, fleet: Option<&FleetSight>, now: Timestamp) -> Vec<Advice> {
    if fleet.is_none_or(|fleet| !fleet.is_fresh(now)) && roll.is_live() {
        let doctor = Some("kura-console doctor".to_owned());
        return vec![advice("find out what cannot be read, and why", None, doctor, "the fleet is seen again")];
    }
    let mut all = Vec::new();
    if roll.blocked.is_some() {
        all.extend(on_plight(roll, rolls, fleet, now));
    }
    if let Some(gate) = &roll.gate {
        all.extend(at_gate(roll, gate));
    }
    match roll.state() {
        RollState::Blocked => all.push(stop(roll)),
        RollState::Rolling if all.is_empty() => all.push(advice("wait: it goes on by itself", None, None, next(roll))),
        RollState::Soaking => {
            all.push(advice("wait: its nodes are probed until it ends", None, None, "the roll succeeded"));
        }
        RollState::Failed => all.extend(on_failure(roll, rolls)),
        _ => {}
    }
    all.extend(left_cordoned(roll, rolls));
    all
}

/// Approve where nothing is in its way, else only once that is mended.
fn at_gate(roll: &Roll, gate: &Awaiting) -> Vec<Advice> {
    let (name, gate, since) = (roll.name(), &gate.gate, gate.since);
    let next = remaining(roll, roll.registry.as_deref()).first().map_or("nobody", |node| *node).to_owned();
    let action = match &roll.blocked {
        None => format!("approve the {gate} gate: {next} goes next"),
        Some(_) => format!("approve the {gate} gate only once that is over"),
    };
    let open = approval(&name, gate, &roll.revision, since);
    let shut = denial(&name, gate, &roll.revision, since);
    let ends = format!("deny it: the roll ends, {next} and the others are not touched");
    vec![
        advice(action, Some("approve"), Some(open), format!("{next} is cordoned, and proven green before another one")),
        advice(ends, Some("deny"), Some(shut), "the roll is denied, and nobody is cordoned"),
    ]
}

fn stop(roll: &Roll) -> Advice {
    advice("abort it: no node is touched any more", Some("abort"), Some(abortion(roll)), "the roll is aborted")
}

/// What a roll that goes on is seen to do next.
fn next(roll: &Roll) -> String {
    match roll.in_turn() {
        Some(node) => format!("{node} becomes green"),
        None => "a node is in turn".to_owned(),
    }
}

/// A node that another roll has taken over since is that one's.
fn plight(roll: &Roll, rolls: &Rolls, fleet: Option<&FleetSight>, now: Timestamp) -> Plight {
    let (watched, prints) = (rolls.watched(now), fleet.map(Prints::of));
    let is_broken = |(name, (_, node)): &(&String, &(RollId, NodeRoll))| {
        let seen = prints.as_ref().zip(node.back_since()).and_then(|(prints, back)| prints.on(name, back));
        seen.is_some() || node.broken().is_some()
    };
    if let Some((name, _)) = watched.iter().filter(|(_, (id, _))| *id == roll.id).find(is_broken) {
        return Plight::Broken(name.clone());
    }
    let Some(fleet) = fleet else { return Plight::Other };
    let known = roll.spec.registry.as_ref().filter(|_| roll.registry.is_some());
    let lost = known.filter(|registry| fleet.registry_trouble(registry).is_some());
    if let Some(registry) = lost {
        return Plight::NoRegistry(format!("{}={}", registry.label, registry.value));
    }
    if let Some((node, job)) = failed_boot(roll, fleet) {
        return Plight::Boots(node, job);
    }
    let down = |node: &&str| fleet.nodes.get(node).is_none_or(|node| !node.ready);
    let node = roll.spec.all_nodes().into_iter().find(down);
    node.map_or(Plight::Other, |node| Plight::Down(node.to_owned()))
}

fn failed_boot(roll: &Roll, fleet: &FleetSight) -> Option<(String, ObjectRef)> {
    let node = roll.in_turn()?;
    let boots = roll.nodes.get(node)?.standing() == Standing::Running(StepName::Boot);
    let job = job_object(roll, node, StepName::Boot);
    let failed = matches!(fleet.jobs.get(&job.name)?.ended, Some(JobEnd::Failed { .. }));
    (boots && failed).then(|| (node.to_owned(), job))
}

fn on_plight(roll: &Roll, rolls: &Rolls, fleet: Option<&FleetSight>, now: Timestamp) -> Vec<Advice> {
    match plight(roll, rolls, fleet, now) {
        Plight::Broken(node) => on_broken(&node),
        Plight::NoRegistry(label) => {
            let look = Some(format!("kubectl get pods -A -o wide -l {label}"));
            let verify = "a pod of it is Ready; the roll goes on by itself";
            vec![advice("bring the registry back: nobody could pull after a drain", None, look, verify)]
        }
        Plight::Boots(node, job) => {
            let look = Some(format!("kubectl -n kura logs job/{}", job.name));
            let action = format!("read why the boot of {node} failed while its Job is there");
            vec![advice(action, None, look, format!("{node} is back on another boot"))]
        }
        Plight::Down(node) => {
            let look = Some(format!("kubectl describe node {node}"));
            let verify = format!("{node} is Ready; the roll goes on by itself");
            vec![advice(format!("find out why {node} is not Ready"), None, look, verify)]
        }
        Plight::Other => vec![advice("mend what it names: it goes on by itself", None, None, "nothing is in its way")],
    }
}

/// The runtime of a node, by hand; what is mended has to be proven.
fn on_broken(node: &str) -> Vec<Advice> {
    let proven = format!("a probe of {node} is proven");
    vec![
        advice(format!("mend the container runtime of {node}: read what its pods say"), None, pods_of(node), &*proven),
        advice(format!("probe {node} once it is mended"), Some("probe"), command_of("probe", node), proven),
    ]
}

fn on_failure(roll: &Roll, rolls: &Rolls) -> Vec<Advice> {
    let broken = roll.rolled().find(|(_, node)| node.broken().is_some()).map(|(name, _)| name.clone());
    let mut all = broken.map_or_else(Vec::new, |node| on_broken(&node));
    if rolls.live(&roll.project, &roll.target).is_none() {
        let action = "mend what it names, then roll again: green nodes are rolled once more";
        all.push(advice(action, Some("start-roll"), None, "another roll of this fleet goes on"));
    }
    all
}

/// Nodes it left cordoned.
fn left_cordoned(roll: &Roll, rolls: &Rolls) -> Vec<Advice> {
    let left = rolls.ledger.iter().filter(|(_, cordon)| cordon.roll == roll.id && !roll.is_live());
    left.map(|(node, _)| give_back(node)).collect()
}

fn give_back(node: &str) -> Advice {
    let action = format!("give {node} back, if you vouch for it");
    advice(action, Some("uncordon"), command_of("uncordon", node), format!("{node} is schedulable"))
}

/// About a node, most useful first.
pub fn of_host(host: &Host, rolls: &Rolls) -> Vec<Advice> {
    let name = host.name.as_str();
    let mut all = Vec::new();
    if host.ready == Some(false) {
        let look = Some(format!("kubectl describe node {name}"));
        all.push(advice("find out why it is not Ready", None, look, "it is Ready"));
    }
    match host.runtime() {
        Runtime::Broken => all.extend(on_broken(name)),
        Runtime::NotProven => {
            all.push(advice("find out why its probe says nothing", None, pods_of(name), "a probe of it is proven"));
        }
        _ => {}
    }
    if host.is_left_cordoned(rolls) {
        all.push(give_back(name));
    }
    if host.cordoned() == Cordoned::Somebodys && host.in_turn_of.is_none() {
        let lift = Some(format!("kubectl uncordon {name}"));
        all.push(advice("ask who cordoned it: it is theirs to lift", None, lift, "it is schedulable"));
    }
    let unproven = matches!(host.runtime(), Runtime::Passive | Runtime::NotProven);
    if unproven && !host.is_asked && host.in_turn_of.is_none() {
        all.push(advice("probe it", Some("probe"), command_of("probe", name), "a container started on it"));
    }
    all
}
