//! A Kura server: what its deployment waits for, or why nothing is deployed to it (K29, K31, §10).

use jiff::Timestamp;

use super::super::ids::ServerId;
use super::super::kura::advice::{Advice, of_server};
use super::super::kura::chain::{LinkName, Standing, chain};
use super::super::kura::deployment::{Deployment, DeploymentStatus, Wait};
use super::super::kura::drift::is_edited;
use super::super::kura::ends::aimed;
use super::super::kura::incidents::workload;
use super::super::kura::server::{Server, ServerStatus};
use super::super::kura::sight::{NO_CLUSTER, Sight};
use super::super::kura::ways::Ways;
use super::super::kura::words::{held, left_behind, moving, unwritten, written_back};
use super::super::observed::Observed;
use super::super::world::World;
use super::sentence::Explanation;

/// Advice that is told at once.
const ADVICE_MAX: usize = 6;

pub(super) fn explain(world: &World, observed: &Observed, id: ServerId, now: Timestamp) -> Explanation {
    let Some(server) = world.kura.servers.get(&id) else {
        return Explanation::of("this server does not exist");
    };
    let nothing = Sight::default();
    let sight = observed.cluster.as_ref().unwrap_or(&nothing);
    let said = match server.open() {
        _ if server.status.is_leaving() => leaving(server, sight),
        Some(open) => deploying(server, open),
        None => resting(world, server, sight, now),
    };
    let said = advised(said, of_server(server, &workload(server, sight, now), reads_otherwise(server, sight)), sight);
    doubted(remarked(said, server), observed, now)
}

/// Its live object reads otherwise than what is rendered although the revision agrees.
fn reads_otherwise(server: &Server, sight: &Sight) -> bool {
    let both = server.wanted_tag().zip(sight.instances.get(&server.instance_name));
    both.is_some_and(|(tag, live)| is_edited(server, tag, live))
}

/// Being taken down: on its instance first, then on the gateways only it used (K51).
fn leaving(server: &Server, sight: &Sight) -> Explanation {
    let name = server.name();
    if server.status == ServerStatus::Destroyed {
        return Explanation::of(format!("{name} is destroyed"));
    }
    let Some(live) = sight.instances.get(&server.instance_name) else {
        return Explanation::of(format!("{name} is being taken down: its gateways are next"));
    };
    let held = match live.stamp.finalizers.as_slice() {
        [] => String::new(),
        finalizers => format!(", which waits for {}", finalizers.join(", ")),
    };
    Explanation::of(format!("{name} is being taken down: its instance is still there{held}"))
        .on(&server.instance_name)
        .since(live.stamp.deleting_since)
}

/// On the first broken link, since when that is the one (K29).
fn deploying(server: &Server, open: &Deployment) -> Explanation {
    let (name, tag) = (server.name(), &open.image_tag);
    match (&open.wait, open.status) {
        (Some(Wait { kind, since, detail }), _) => {
            Explanation::of(format!("{name} waits on its way to {tag}: {detail}")).on(kind.word()).since(Some(*since))
        }
        (None, DeploymentStatus::Pending) => {
            let said = format!("{name} is scheduled for {tag}: the next pass applies it");
            Explanation::of(said).on(&server.instance_name).since(Some(open.inserted_at))
        }
        (None, _) => {
            let said = format!("{name} is on its way to {tag}: its endpoint is about to be probed");
            Explanation::of(said).on("public_endpoint").since(open.started_at)
        }
    }
}

/// Nothing is open: it serves, or nobody deploys to it, or its last attempt failed.
fn resting(world: &World, server: &Server, sight: &Sight, now: Timestamp) -> Explanation {
    let (name, last) = (server.name(), server.deployments.last());
    if let Some(moving) = moving(server) {
        return Explanation::of(format!("{name}: {moving}")).on(server.move_phase.word());
    }
    if let Some(row) = last.filter(|row| row.status == DeploymentStatus::Failed) {
        let why = row.error.as_deref().unwrap_or("no reason was kept");
        return Explanation::of(format!("the deployment of {} to {name} failed: {why}", row.image_tag))
            .since(row.finished_at)
            .next(&["deploy the tag again, or a newer one: nothing retries it by itself"]);
    }
    let Some(tag) = server.current_image_tag.as_deref() else {
        let waits = match world.kura.target() {
            Some(tag) => format!("{name} is new: the next tick schedules {tag}"),
            None => format!("{name} is new and waits until a runtime tag is released"),
        };
        return Explanation::of(waits).since(Some(server.inserted_at));
    };
    match server.status {
        ServerStatus::Active => serving(server, tag),
        _ => broken(server, tag, sight, now),
    }
}

fn serving(server: &Server, tag: &str) -> Explanation {
    let name = server.name();
    match &server.pin {
        None => Explanation::of(format!("{name} serves {tag}")),
        Some(pin) => Explanation::of(format!("{name} serves {tag}: {}", held(pin))).on(&pin.by).since(Some(pin.at)),
    }
}

/// It served, and does not: the first link that does not hold says why.
fn broken(server: &Server, tag: &str, sight: &Sight, now: Timestamp) -> Explanation {
    let links = chain(server, tag, &Ways::of(sight), now);
    let first = links.iter().find_map(|link| match &link.standing {
        Standing::Broken { wait, detail } => Some((wait.word(), detail.as_str())),
        _ => None,
    });
    let name = server.name();
    match first {
        Some((on, detail)) => Explanation::of(format!("{name} does not serve {tag}: {detail}")).on(on),
        None => {
            let up = links.iter().any(|link| link.link == LinkName::Up && link.standing == Standing::Whole);
            let why = if up { "its endpoint answers again" } else { "why cannot be told now" };
            Explanation::of(format!("{name} does not serve {tag}: {why}"))
        }
    }
}

/// What stands beside the sentence: writes that do not succeed, who writes back, who is left behind (K20, K28).
fn remarked(mut said: Explanation, server: &Server) -> Explanation {
    for beside in [written_back(server), unwritten(server), left_behind(server)].into_iter().flatten() {
        said.sentence += &format!("; {beside}");
    }
    if let Some((_, edit)) = server.tug_of_war() {
        said.on = Some(edit.manager.clone());
    }
    said
}

/// Nothing is decided on what cannot be read, and that is said with its age (K27).
fn doubted(mut said: Explanation, observed: &Observed, now: Timestamp) -> Explanation {
    let trouble = match &observed.cluster {
        None => Some(NO_CLUSTER.to_owned()),
        Some(sight) => sight.instances.contact.trouble(now).map(|trouble| format!("instances: {trouble}")),
    };
    if let Some(trouble) = trouble {
        said.sentence += &format!("; the cluster cannot be judged now: {trouble}");
    }
    said
}

/// Commands mean the cluster they are about (A19).
fn advised(mut said: Explanation, advice: Vec<Advice>, sight: &Sight) -> Explanation {
    let aim = |command: &str| sight.identity.as_ref().map_or_else(|| command.to_owned(), |at| aimed(command, at));
    for one in advice.into_iter().take(ADVICE_MAX) {
        let command = one.command.map_or(String::new(), |command| format!(": {}", aim(&command)));
        said.next.push(format!("{}{command}", one.action));
        if !said.verify.contains(&one.verify) {
            said.verify.push(one.verify);
        }
    }
    said
}
