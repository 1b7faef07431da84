//! The list of Kura servers: folds, the filter, and how one gets to a row of it.

use super::super::kura::Part;
use super::super::kura::filter::KuraFilter;
use super::super::model::{Model, Screen};
use super::super::sort::Sorting;
use super::{navigate, picture};

/// Folds or unfolds the group of the selected row. Where there is nothing to fold, left goes to the row's group and right
/// to its first row.
pub(super) fn fold(model: &mut Model, unfold: Option<bool>) {
    let Some(part) = model.kura.pick.get() else { return };
    let height = model.list_height(Screen::Kura);
    let Part::Group(id) = part else {
        let group = model.kura.group_of(&model.facts.kura, part).filter(|_| unfold == Some(false));
        if let Some(group) = group {
            model.kura.pick.select(&model.kura.rows, group, height);
        }
        return;
    };
    let Some(unfolded) = model.facts.kura.group(id).map(|group| model.kura.is_unfolded(group)) else { return };
    match unfold {
        Some(true) if unfolded => model.kura.pick.step(&model.kura.rows, 1, height),
        Some(false) if !unfolded => {}
        wanted => {
            model.kura.folds.insert(part, wanted.unwrap_or(!unfolded));
            picture::relist(model);
        }
    }
}

/// Begins at a server that is not as it should be, else at the first one: a heading says least.
pub(super) fn begin(model: &mut Model) {
    model.kura.pick.clear();
    let facts = &model.facts.kura;
    let row = |part: &Part| match part {
        Part::Server(id) => facts.servers.get(id),
        _ => None,
    };
    let rows = &model.kura.rows;
    let wrong = rows.iter().position(|part| row(part).is_some_and(|row| !row.is_well()));
    let at = wrong.or_else(|| rows.iter().position(|part| row(part).is_some()));
    let height = model.list_height(Screen::Kura);
    model.kura.pick.select_at(&model.kura.rows, at.unwrap_or(0), height);
}

/// Narrows the list while it is typed.
///
/// # Errors
/// One sentence where what is typed makes no sense; the list stays as it is.
pub(super) fn narrow(model: &mut Model, typed: &str) -> Result<(), String> {
    let filter = KuraFilter::parse(typed)?;
    if filter == model.kura.filter {
        return Ok(());
    }
    model.kura.filter = filter;
    picture::look_again(model);
    if model.kura.pick.get().is_none() {
        model.kura.pick.clear();
        picture::settle_lists(model);
    }
    Ok(())
}

/// Shows a row, whatever is folded or filtered; of servers that share a cause, all of them and nothing else.
pub(super) fn reveal(model: &mut Model, part: Part) {
    let wanted = match part {
        Part::Cause(id) => model.facts.kura.causes.get(&id).map(|cause| {
            let wait = cause.wait.map(|wait| format!(" wait={}", wait.word())).unwrap_or_default();
            format!("tag={}{wait}", cause.tag)
        }),
        Part::Mesh(id) => model.facts.kura.skewed.get(&id).map(|mesh| format!("tenant={}", mesh.tenant)),
        _ => None,
    };
    navigate::screen(model, Screen::Kura);
    if let Some(filter) = wanted {
        model.kura.pick.clear();
        // A filter that cannot be read leaves the list whole.
        let _ = narrow(model, &filter);
        picture::settle_lists(model);
        return;
    }
    if !select(model, part) {
        (model.kura.filter, model.kura.sorting) = (KuraFilter::default(), Sorting::default());
        let group = model.facts.kura.groups.iter().find(|group| group.members.contains(&part));
        if let Some(group) = group {
            model.kura.folds.insert(Part::Group(group.id), true);
        }
        picture::relist(model);
        select(model, part);
    }
}

fn select(model: &mut Model, part: Part) -> bool {
    let height = model.list_height(Screen::Kura);
    model.kura.pick.select(&model.kura.rows, part, height)
}
