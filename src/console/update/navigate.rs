//! Getting around: lists, folds, pages and screens.

use super::super::command::Command;
use super::super::facts::Node;
use super::super::filter::Filter;
use super::super::kura::Part;
use super::super::layer::{Layer, PageKind};
use super::super::model::{Model, NowRow, Screen, Subject};
use super::super::sort::{By, MACHINES, NODES, ROLLS, SERVERS, SHELF, Sorting};
use super::super::tree::ancestors;
use super::{entry, filters, keys, picture, rolls, servers};

/// Shows a screen; what lies on top of the last one is gone.
pub(super) fn screen(model: &mut Model, screen: Screen) {
    model.layers.retain(|layer| matches!(layer, Layer::Dialog(_)));
    if model.screen != screen
        && let Some(shelf) = model.shelf_mut(screen)
    {
        shelf.pick.clear();
    }
    if model.screen != screen && screen == Screen::Kura {
        servers::begin(model);
    }
    if model.screen != screen && screen == Screen::Nodes {
        rolls::begin(model);
    }
    model.screen = screen;
    picture::settle_lists(model);
}

/// A command in a list.
pub(super) fn list(model: &mut Model, command: Command) {
    let page = isize::try_from(model.list_height(model.screen).saturating_sub(1).max(1)).unwrap_or(1);
    match command {
        Command::Up => step(model, -1),
        Command::Down => step(model, 1),
        Command::PageUp => step(model, -page),
        Command::PageDown => step(model, page),
        Command::First => step(model, isize::MIN),
        Command::Last => step(model, isize::MAX),
        Command::Left => fold(model, Some(false)),
        Command::Right => fold(model, Some(true)),
        Command::Fold => fold(model, None),
        Command::Open => open(model),
        Command::NextPane => keys::open_detail(model),
        Command::Back => back(model),
        _ => {}
    }
}

fn step(model: &mut Model, by: isize) {
    let height = model.list_height(model.screen);
    match model.screen {
        Screen::Now => model.now_pick.step(&model.now_rows, by, height),
        Screen::Rollout => {
            let nodes = nodes(model);
            model.tree_pick.step(&nodes, by, height);
        }
        Screen::Kura => model.kura.pick.step(&model.kura.rows, by, height),
        Screen::Rolls | Screen::Nodes => rolls::step(model, by),
        screen @ (Screen::Releases | Screen::History) => {
            if let Some(shelf) = model.shelf_mut(screen) {
                shelf.pick.step(&shelf.rows, by, height);
            }
        }
        Screen::Log => {
            model.log_pick.step(&model.log_rows, by, height);
            model.log_follows = model.log_pick.index().is_none_or(|at| at + 1 == model.log_rows.len());
        }
    }
}

fn nodes(model: &Model) -> Vec<Node> {
    model.lines.iter().map(|line| line.node).collect()
}

/// Folds or unfolds the selected row. Where there is nothing to fold, left goes to the row above it in the tree and
/// right to its first one.
fn fold(model: &mut Model, unfold: Option<bool>) {
    if model.screen == Screen::Kura {
        return servers::fold(model, unfold);
    }
    let Some(line) = model.tree_pick.index().and_then(|at| model.lines.get(at)).copied() else { return };
    if model.screen != Screen::Rollout {
        return;
    }
    let leaf = matches!(line.node, Node::Machine(_) | Node::Ring(_));
    match unfold {
        Some(false) if leaf || !line.unfolded => {
            if let Some(parent) = ancestors(&model.facts, line.node).last() {
                select(model, *parent);
            }
        }
        Some(true) if line.unfolded => step(model, 1),
        _ if leaf => {}
        unfold => {
            model.folds.insert(line.node, unfold.unwrap_or(!line.unfolded));
            picture::relist(model);
        }
    }
}

fn select(model: &mut Model, node: Node) -> bool {
    let nodes = nodes(model);
    let height = model.list_height(Screen::Rollout);
    model.tree_pick.select(&nodes, node, height)
}

/// Drills in: from a need to its row, from a tier to its rings, from a machine to its detail.
fn open(model: &mut Model) {
    match (model.screen, model.subject()) {
        (Screen::Now, Subject::Node(Node::Kura(part))) => servers::reveal(model, part),
        (Screen::Now, Subject::Node(node @ (Node::Roll(_) | Node::Host(_)))) => rolls::reveal(model, node),
        (Screen::Rolls | Screen::Nodes, Subject::Node(_)) => keys::open_detail(model),
        (Screen::Now, Subject::Node(node)) => reveal(model, node),
        (Screen::Kura, Subject::Node(Node::Kura(Part::Group(_)))) => servers::fold(model, None),
        (Screen::Kura, Subject::Node(_)) => keys::open_detail(model),
        (Screen::Now, Subject::Rollout) => match model.now_pick.get() {
            Some(NowRow::Need(..)) => keys::open_detail(model),
            _ => screen(model, Screen::Rollout),
        },
        (Screen::Releases | Screen::History, Subject::Item(_)) => keys::open_detail(model),
        (Screen::Rollout, Subject::Node(Node::Machine(_) | Node::Ring(_))) => keys::open_detail(model),
        (Screen::Rollout, Subject::Node(_)) => fold(model, None),
        _ => {}
    }
}

/// Shows a row on the rollout screen, whatever is folded or filtered there.
fn reveal(model: &mut Model, node: Node) {
    screen(model, Screen::Rollout);
    if !select(model, node) {
        model.filter = Filter::default();
        for parent in ancestors(&model.facts, node) {
            model.folds.insert(parent, true);
        }
        picture::relist(model);
        select(model, node);
    }
}

/// Sorts the list by its next column, or turns it round. What is selected stays selected.
pub(super) fn sort(model: &mut Model, turned: bool) {
    let changed = |sorting: Sorting, columns: &[By]| if turned { sorting.turned() } else { sorting.next(columns) };
    let told = match model.screen {
        Screen::Rollout => {
            model.sorting = changed(model.sorting, &MACHINES);
            format!("machines of each ring {}", model.sorting.told())
        }
        Screen::Releases | Screen::History => match model.shelf_mut(model.screen) {
            Some(shelf) => {
                shelf.sorting = changed(shelf.sorting, &SHELF);
                shelf.sorting.told()
            }
            None => return,
        },
        Screen::Kura => {
            model.kura.sorting = changed(model.kura.sorting, &SERVERS);
            format!("servers {}", model.kura.sorting.told())
        }
        Screen::Rolls | Screen::Nodes => {
            let (what, columns) =
                if model.screen == Screen::Rolls { ("rolls", &ROLLS[..]) } else { ("nodes", &NODES[..]) };
            let Some(sorting) = rolls::sorting(model) else { return };
            *sorting = changed(*sorting, columns);
            format!("{what} {}", sorting.told())
        }
        Screen::Now => "what is most urgent stays on top here".to_owned(),
        Screen::Log => "the log is in the order of time".to_owned(),
    };
    picture::relist(model);
    entry::hint(model, told);
}

/// Clears the filter, then goes back to the first screen.
fn back(model: &mut Model) {
    if model.status.take().is_some() {
        return;
    }
    match filters::typed(model).is_some_and(|text| !text.is_empty()) {
        true => filters::clear(model),
        false => screen(model, Screen::Now),
    }
}

/// A command in a page; false where it is not one of a page.
pub(super) fn page(model: &mut Model, command: Command) -> bool {
    let height = usize::from(model.frame().body.height).saturating_sub(2).max(1);
    let Some(Layer::Page(page)) = model.layers.last_mut() else { return false };
    match command {
        Command::Up => page.top = page.top.saturating_sub(1),
        Command::Down => page.top = page.top.saturating_add(1),
        Command::PageUp => page.top = page.top.saturating_sub(height),
        Command::PageDown => page.top = page.top.saturating_add(height),
        Command::First => page.top = 0,
        Command::Last => page.top = usize::MAX,
        Command::Help if page.kind == PageKind::Help => drop(model.layers.pop()),
        Command::Back | Command::Open | Command::NextPane | Command::Why => drop(model.layers.pop()),
        _ => return false,
    }
    true
}
