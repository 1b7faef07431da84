//! The lists of rolls and of nodes: the filter, and how one gets to a row of them.

use super::super::facts::Node;
use super::super::fleet::filter::FleetFilter;
use super::super::model::{Model, Screen};
use super::super::sort::Sorting;
use super::{filters, navigate, picture};
use crate::domain::roll::host::{Host, Runtime};

/// Moves the selection.
pub(super) fn step(model: &mut Model, by: isize) {
    let height = model.list_height(model.screen);
    match model.screen {
        Screen::Nodes => model.hosts.pick.step(&model.hosts.rows, by, height),
        _ => model.rolls.pick.step(&model.rolls.rows, by, height),
    }
}

/// Begins at a node that is not as it should be, else at the first one.
pub(super) fn begin(model: &mut Model) {
    let hosts = &model.facts.fleet.hosts;
    let rolls = model.picture.as_ref().map(|picture| &picture.world.rolls);
    let is_wrong = |host: &Host| {
        let left = rolls.is_some_and(|rolls| host.is_left_cordoned(rolls));
        host.runtime() == Runtime::Broken || host.ready == Some(false) || left
    };
    let at = model.hosts.rows.iter().position(|id| hosts.get(id).is_some_and(is_wrong));
    let height = model.list_height(Screen::Nodes);
    model.hosts.pick.select_at(&model.hosts.rows, at.unwrap_or(0), height);
}

/// Tells the selections that their lists, or the room for them, changed.
pub(super) fn settle(model: &mut Model) {
    let (rolls, nodes) = (model.list_height(Screen::Rolls), model.list_height(Screen::Nodes));
    model.rolls.pick.settle(&model.rolls.rows, rolls);
    model.hosts.pick.settle(&model.hosts.rows, nodes);
}

/// How the list that is shown is sorted.
pub(super) fn sorting(model: &mut Model) -> Option<&mut Sorting> {
    match model.screen {
        Screen::Rolls => Some(&mut model.rolls.sorting),
        Screen::Nodes => Some(&mut model.hosts.sorting),
        _ => None,
    }
}

/// Narrows the list that is shown while it is typed. What was selected and does not pass makes way for the first row.
///
/// # Errors
/// One sentence where what is typed makes no sense; the list stays as it is.
pub(super) fn narrow(model: &mut Model, typed: &str) -> Result<(), String> {
    let (filter, nodes) = (FleetFilter::parse(typed)?, model.screen == Screen::Nodes);
    *(if nodes { &mut model.hosts.filter } else { &mut model.rolls.filter }) = filter;
    picture::relist(model);
    match nodes {
        true if model.hosts.pick.get().is_none() => model.hosts.pick.clear(),
        false if model.rolls.pick.get().is_none() => model.rolls.pick.clear(),
        _ => {}
    }
    picture::settle_lists(model);
    Ok(())
}

/// Shows a row on its screen, whatever is filtered there.
pub(super) fn reveal(model: &mut Model, node: Node) {
    let screen = if matches!(node, Node::Host(_)) { Screen::Nodes } else { Screen::Rolls };
    navigate::screen(model, screen);
    if !select(model, node) {
        filters::clear(model);
        select(model, node);
    }
}

fn select(model: &mut Model, node: Node) -> bool {
    let height = model.list_height(model.screen);
    match node {
        Node::Roll(id) => model.rolls.pick.select(&model.rolls.rows, id, height),
        Node::Host(id) => model.hosts.pick.select(&model.hosts.rows, id, height),
        _ => false,
    }
}
