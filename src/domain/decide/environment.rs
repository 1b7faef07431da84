//! Environments: making them and moving them in the promotion path (R77).

use super::super::change::Change;
use super::super::fleet::Environment;
use super::super::ids::EnvironmentId;
use super::super::input::Verb;
use super::super::refusal::Refusal;
use super::super::rollout::Cursor;
use super::super::verdict::Reply;
use super::super::world::{CATALOG_MAX, World};
use super::draft::Draft;
use super::text::{check_label, check_slug};

pub(super) fn create(draft: &mut Draft<'_>, verb: &Verb) -> Reply {
    let Verb::CreateEnvironment { id, slug, name, promotion_order, config_values } = verb else { return Reply::Done };
    if let Err(refusal) = check_create(draft.world(), slug, name) {
        return Reply::Refused(refusal);
    }
    draft.push(Change::EnvironmentCreated {
        environment: Environment {
            id: *id,
            name: name.clone(),
            slug: slug.clone(),
            promotion_order: *promotion_order,
            config_values: config_values.clone(),
            paused: None,
        },
    });
    Reply::Environment(*id)
}

fn check_create(world: &World, slug: &str, name: &str) -> Result<(), Refusal> {
    check_slug(slug)?;
    check_label("name", name)?;
    if world.environments.values().any(|e| e.slug == slug) {
        return Err(Refusal::Duplicate { field: "slug", value: slug.to_owned() });
    }
    if world.environments.len() >= CATALOG_MAX {
        return Err(Refusal::Full { what: "environments", limit: CATALOG_MAX });
    }
    Ok(())
}

pub(super) fn patch(draft: &mut Draft<'_>, verb: &Verb) -> Reply {
    let Verb::PatchEnvironment { environment: id, name, promotion_order, config_values } = verb else {
        return Reply::Done;
    };
    let Some(before) = draft.world().environments.get(id) else { return Reply::Refused(Refusal::NoEnvironment(*id)) };
    let mut after = before.clone();
    after.name = name.clone().unwrap_or(after.name);
    after.promotion_order = promotion_order.unwrap_or(after.promotion_order);
    after.config_values = config_values.clone().unwrap_or(after.config_values);
    if after == *before {
        return Reply::Done;
    }
    if let Err(refusal) = check_label("name", &after.name).and_then(|()| check_stays_open(draft.world(), &after)) {
        return Reply::Refused(refusal);
    }
    draft.push(Change::EnvironmentChanged {
        environment: *id,
        name: after.name,
        promotion_order: after.promotion_order,
        config_values: after.config_values,
    });
    Reply::Done
}

/// An order that would close an environment under a holder is refused; one that opens it is allowed (R77).
fn check_stays_open(world: &World, after: &Environment) -> Result<(), Refusal> {
    let Some(rollout) = world.running() else { return Ok(()) };
    let place = after.promotion_order.map(|order| Cursor { order, slug: after.slug.clone() });
    let stays = place.is_some_and(|place| rollout.cursor.as_ref().is_some_and(|cursor| place <= *cursor));
    let holder = first_holder(world, after.id);
    match holder {
        Some(machine) if world.is_open(rollout, after.id) && !stays => {
            Err(Refusal::ClosesHolder { environment: after.slug.clone(), machine })
        }
        _ => Ok(()),
    }
}

fn first_holder(world: &World, environment: EnvironmentId) -> Option<String> {
    let mut holders = world.lanes().of_environment(environment).flat_map(|(_, lane)| lane.holders.iter());
    holders.next().map(|machine| world.hostname(*machine).to_owned())
}
