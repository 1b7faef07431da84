//! The filter of each screen, as typed: the one table of who has one.

use super::super::filter::Filter;
use super::super::model::{Model, Screen};
use super::{picture, rolls, servers};

/// The filter of the screen that is shown; none where nothing can be filtered.
pub(in super::super) fn typed(model: &Model) -> Option<&str> {
    match model.screen {
        Screen::Rollout => Some(&model.filter.text),
        Screen::Kura => Some(&model.kura.filter.text),
        Screen::Rolls => Some(&model.rolls.filter.text),
        Screen::Nodes => Some(&model.hosts.filter.text),
        Screen::Releases | Screen::History => model.shelf(model.screen).map(|shelf| shelf.filter.as_str()),
        Screen::Now | Screen::Log => None,
    }
}

/// Narrows the list that is shown while it is typed. What was selected and does not pass makes way for the first row.
///
/// # Errors
/// One sentence where what is typed makes no sense; the list stays as it is.
pub(super) fn narrow(model: &mut Model, typed: &str) -> Result<(), String> {
    match model.screen {
        Screen::Rollout => machines(model, Filter::parse(typed)?),
        Screen::Kura => servers::narrow(model, typed)?,
        Screen::Rolls | Screen::Nodes => rolls::narrow(model, typed)?,
        Screen::Releases | Screen::History => shelf(model, typed),
        Screen::Now | Screen::Log => {}
    }
    Ok(())
}

/// Everything passes.
pub(super) fn clear(model: &mut Model) {
    // No filter is one that can be read.
    let _ = narrow(model, "");
}

fn machines(model: &mut Model, filter: Filter) {
    if model.filter == filter {
        return;
    }
    model.filter = filter;
    let selected = model.tree_pick.get();
    picture::look_again(model);
    if selected.is_none() || model.tree_pick.get().is_none() {
        model.tree_pick.clear();
        picture::settle_lists(model);
    }
}

/// On a shelf every word has to be somewhere in the row.
fn shelf(model: &mut Model, words: &str) {
    let screen = model.screen;
    let Some(shelf) = model.shelf_mut(screen) else { return };
    shelf.filter = words.trim().to_owned();
    picture::relist(model);
    if let Some(shelf) = model.shelf_mut(screen).filter(|shelf| shelf.pick.get().is_none()) {
        shelf.pick.clear();
        picture::settle_lists(model);
    }
}
