//! A node: whose its cordon is, and what is known of its runtime (F2, F12).

use jiff::Timestamp;

use super::super::observed::Observed;
use super::super::roll::advice::of_host;
use super::super::roll::host::{Cordoned, Host, Runtime, host};
use super::super::roll::rolls::Rolls;
use super::super::world::World;
use super::roll::advised;
use super::sentence::Explanation;

pub(super) fn explain(world: &World, observed: &Observed, name: &str, now: Timestamp) -> Explanation {
    let Some(host) = host(world, observed, name, now) else {
        return Explanation::of(format!("the cluster has no node {name}"));
    };
    let parts: Vec<String> =
        [runtime(&host), turn(&host, &world.rolls), cordon(&host, &world.rolls)].into_iter().flatten().collect();
    let mut said = Explanation::of(parts.join("; "));
    said.since = host.cordon.as_ref().map(|cordon| cordon.at).or(host.finding.as_ref().map(|finding| finding.at));
    advised(said, of_host(&host, &world.rolls))
}

/// Ready is what its kubelet says; only a probe proves that containers start.
fn runtime(host: &Host) -> Option<String> {
    let name = &host.name;
    let ready = match host.ready {
        Some(true) => "is Ready",
        Some(false) => "is not Ready",
        None => "is not seen",
    };
    let reason = host.reason().unwrap_or_default();
    Some(match host.runtime() {
        Runtime::Broken | Runtime::NotProven if reason.starts_with(name.as_str()) => reason.to_owned(),
        Runtime::Broken | Runtime::NotProven => format!("{name} {ready}: {reason}"),
        Runtime::Proven => format!("{name} {ready} and proven: a container started on it"),
        Runtime::Passive => format!("{name} {ready}, which is all that is known: nobody proved that containers start"),
        Runtime::Unknown => format!("{name} is in the books and is not seen"),
    })
}

fn turn(host: &Host, rolls: &Rolls) -> Option<String> {
    let asked = host.is_asked.then(|| "a probe of it is on its way".to_owned());
    let turn = host.in_turn_of.map(|roll| format!("it is in turn of {}", rolls.name(roll)));
    let watched = || host.watched_by.map(|roll| format!("{} looks at it until its soak is over", rolls.name(roll)));
    asked.or(turn).or_else(watched)
}

fn cordon(host: &Host, rolls: &Rolls) -> Option<String> {
    match (host.cordoned(), &host.cordon) {
        (Cordoned::Ours, Some(cordon)) => Some(match &cordon.asked_by {
            Some(by) => format!("{by} asked to give it back, and the next tick does"),
            None if host.is_left_cordoned(rolls) => {
                format!("the roll of {} left it cordoned: it is ours to give back", rolls.name(cordon.roll))
            }
            None => format!("the roll of {} cordoned it, and gives it back", rolls.name(cordon.roll)),
        }),
        (Cordoned::Somebodys, _) => {
            let by = host.cordoned_by.as_deref().unwrap_or("somebody");
            Some(format!("{by} cordoned it, no roll did: it is theirs to lift"))
        }
        _ => None,
    }
}
