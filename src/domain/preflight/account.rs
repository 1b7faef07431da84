//! Checks of the account: who ticks, what may start by itself, what runs, the release, the names it needs.

use jiff::Timestamp;

use super::check::{Check, Plan};
use crate::domain::fleet::{Account, SwitchedOff};
use crate::domain::observed::Observed;
use crate::domain::span::Seconds;
use crate::domain::world::World;

/// Without ticks nothing promotes and no stall is detected (R88, R171).
pub(super) fn ticks(observed: &Observed, now: Timestamp) -> Check {
    let hint = "check that a control plane holds the seat";
    match observed.last_tick.map(|at| Seconds::between(at, now)) {
        Some(age) if age <= Seconds(90) => Check::pass("ticks", format!("the last tick was {age} ago")),
        Some(age) => Check::fail("ticks", format!("the last tick was {age} ago"), hint),
        None => Check::fail("ticks", "no tick was seen yet", hint),
    }
}

/// They cannot interrupt a window, but start the moment it completes (R122).
pub(super) fn unattended(world: &World) -> Check {
    let on: Vec<&str> =
        [("auto_deploy", world.account.auto_deploy), ("track_config_tags", world.account.track_config_tags)]
            .into_iter()
            .filter_map(|(name, on)| on.then_some(name))
            .collect();
    let before = world.switched_off.as_ref();
    match on.is_empty() {
        true => Check::pass("unattended", before.map_or_else(|| "no unattended starter is on".to_owned(), put_back)),
        false => Check::warn(
            "unattended",
            format!("{} is on: something may start the moment this completes", on.join(" and ")),
            "switch it off, and put the old value back after the verification",
        ),
    }
}

/// What a window turned off is put back when it is verified, and nothing else is turned on (R121).
fn put_back(before: &SwitchedOff) -> String {
    let all = before.missing(&Account::default()).join(" and ");
    format!(
        "no unattended starter is on; {all} was, until {} turned it off: put it back after the verification",
        before.by
    )
}

/// One rollout per account (R90).
pub(super) fn nothing_runs(world: &World) -> Check {
    match world.running() {
        None => Check::pass("idle", "no rollout is running"),
        Some(running) => Check::fail(
            "idle",
            format!("{} by {} is running", world.release_name(running.release), running.started_by),
            "wait for it: superseding it ends its leases",
        ),
    }
}

/// The guard against another explicit start (R91, R103).
pub(super) fn protected(plan: &Plan<'_>) -> Check {
    match plan.protected {
        true => Check::pass("protected", "the rollout will be protected"),
        false => Check::warn("protected", "the rollout will not be protected", "start it protected"),
    }
}

/// R102.
pub(super) fn release(world: &World, plan: &Plan<'_>) -> Check {
    let hint = "build a release and start that";
    match world.releases.get(&plan.release) {
        None => Check::fail("release", "the release does not exist", hint),
        Some(release) if release.yanked.is_some() => {
            Check::fail("release", format!("{} was yanked", release.git_ref), hint)
        }
        Some(release) => Check::pass("release", format!("{} can be started", release.git_ref)),
    }
}

/// What the token's account may do (R163).
const MAINTAINER: &str = "workers drain with the token of the account durantic-node-maintainer, which the control-plane \
                          tier makes: pods list and get, pods/eviction create, nodes get and patch, cluster-wide";

/// What draining needs: the VIP among the values, the token among the secrets (R162, R164).
pub(super) fn values(world: &World, plan: &Plan<'_>) -> Vec<Check> {
    let rings = world.rings.values().map(|ring| &ring.settings.config_values);
    let tiers = world.environments.values().map(|environment| &environment.config_values);
    let vip = rings.chain(tiers).any(|values| values.contains_key("K8S_VIP"));
    let vip = match vip {
        true => Check::pass("vip", "K8S_VIP is set"),
        false => Check::warn(
            "vip",
            "K8S_VIP is in no ring or environment",
            "drain through the VIP, never through the node's own API server",
        ),
    };
    let token = match plan.secrets {
        None if world.secrets.contains_key("K8S_DRAIN_TOKEN") => Check::pass("drain-token", "K8S_DRAIN_TOKEN exists"),
        None => {
            Check::warn("drain-token", "the secrets cannot be listed from here", "check that K8S_DRAIN_TOKEN exists")
        }
        Some(names) if names.iter().any(|name| name == "K8S_DRAIN_TOKEN") => {
            Check::pass("drain-token", "K8S_DRAIN_TOKEN exists")
        }
        Some(_) => Check::warn("drain-token", "there is no secret K8S_DRAIN_TOKEN", MAINTAINER),
    };
    vec![vip, token]
}
