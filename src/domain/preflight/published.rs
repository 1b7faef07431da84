//! Checks of what a release holds: the state contract as far as it can be read, and the names it looks up (R167).

use super::super::release::Release;
use super::super::world::World;
use super::check::{Check, Plan};

/// Breaches and names that are spelled out in one sentence.
const NAMED_MAX: usize = 3;

/// Nothing of this is enforced; a release that was built elsewhere has nothing to be said about.
pub(super) fn all(world: &World, plan: &Plan<'_>) -> Vec<Check> {
    let release = world.releases.get(&plan.release);
    let read = release.filter(|release| !release.contract.is_empty());
    read.map(|release| vec![contract(release), needs(world, release)]).unwrap_or_default()
}

/// R155-R166.
fn contract(release: &Release) -> Check {
    let breaches = &release.contract.warnings;
    if breaches.is_empty() {
        return Check::pass("contract", format!("nothing in {} breaks the state contract", release.git_ref));
    }
    let told = breaches.iter().map(|breach| breach.message.clone()).collect();
    let sentence = format!("{} may break the state contract: {}", release.git_ref, listed(told));
    Check::warn("contract", sentence, "mend the states and build the release again")
}

/// What is looked up and exists for nobody: every machine that needs it would be errored (R148).
fn needs(world: &World, release: &Release) -> Check {
    let missing = release.contract.needs.iter().filter(|name| !exists(world, name)).cloned();
    let missing: Vec<String> = missing.collect();
    if missing.is_empty() {
        return Check::pass("needs", format!("every value and secret that {} looks up exists", release.git_ref));
    }
    let sentence = format!("{} looks up what does not exist: {}", release.git_ref, listed(missing));
    Check::warn("needs", sentence, "set it in a ring or environment, or as a secret: machines that need it are errored")
}

fn exists(world: &World, name: &str) -> bool {
    match name.split_once('.') {
        Some(("secrets", name)) => world.secrets.contains_key(name),
        Some((_, path)) => {
            let rings = world.rings.values().map(|ring| &ring.settings.config_values);
            let mut values = rings.chain(world.environments.values().map(|environment| &environment.config_values));
            let first = path.split('.').next().unwrap_or(path);
            values.any(|values| values.contains_key(path) || values.contains_key(first))
        }
        None => true,
    }
}

fn listed(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(NAMED_MAX);
    names.truncate(NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    names.join(", ") + &more
}
