//! The order of lists: a key goes through the columns, another turns it round, and it stays as it was left.

use insta::assert_snapshot;

use super::stage::Stage;
use crate::domain::ids::MachineId;

/// Where these stand on the screen, from top to bottom.
fn order<'a>(stage: &Stage, names: &[&'a str]) -> Vec<&'a str> {
    let screen = stage.screen();
    let row = |name: &str| {
        // Sentences name things too, but a cell of a table leaves room behind it.
        screen
            .lines()
            .position(|line| line.contains(&format!(" {name}   ")))
            .unwrap_or_else(|| panic!("no {name}:\n{screen}"))
    };
    let mut found: Vec<(usize, &str)> = names.iter().map(|name| (row(name), *name)).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, name)| name).collect()
}

const TIER: [&str; 3] = ["ash", "birch", "cedar"];

#[test]
fn machines_are_sorted_in_their_ring_and_the_column_is_marked() {
    let mut stage = Stage::rolling(80, 24);
    stage.press("2 j j j");
    let chosen = stage.model.tree_pick.get();
    assert!(!stage.screen().contains('▼'), "the usual order goes without saying");
    stage.press("o");
    assert!(stage.screen().contains("FAIL▼"), "{}", stage.screen());
    stage.press("o O");
    assert_eq!(order(&stage, &TIER), ["cedar", "birch", "ash"]);
    assert!(stage.screen().contains("NAME▲"), "{}", stage.screen());
    assert_eq!(stage.model.tree_pick.get(), chosen, "what was selected stays selected");
    assert_snapshot!("sorted_by_name", stage.screen());
    stage.press("1 2");
    assert_eq!(order(&stage, &TIER), ["cedar", "birch", "ash"], "it is remembered");
    stage.poll("cedar");
    stage.show();
    assert_eq!(order(&stage, &TIER), ["cedar", "birch", "ash"], "a newer picture too");
    stage.press("o");
    assert!(stage.screen().contains("STATE▼"), "{}", stage.screen());
    stage.press("o");
    assert_eq!(order(&stage, &TIER), TIER);
    assert!(!stage.screen().contains('▼'), "round again");
}

#[test]
fn a_verb_meets_the_row_that_is_seen_in_any_order() {
    let mut stage = Stage::rolling(80, 24);
    stage.arm();
    stage.press("2 o o O j j x m");
    let dialog = stage.screen();
    assert!(dialog.contains("Skip machine cedar?"), "{dialog}");
    stage.press("esc");
    let found = stage
        .model
        .lines
        .iter()
        .find(|line| line.node == super::super::facts::Node::Machine(MachineId::named("cedar")));
    assert!(found.is_some());
}

#[test]
fn shelves_are_sorted_each_on_its_own() {
    let mut stage = Stage::fleet(80, 24);
    for name in ["v1.30.9", "hotfix-7"] {
        stage.pass(60);
        stage.release(name);
    }
    stage.show();
    stage.press("6");
    let names = ["v1.31.2", "v1.30.9", "hotfix-7"];
    assert_eq!(order(&stage, &names), ["hotfix-7", "v1.30.9", "v1.31.2"], "the newest first");
    stage.press("o o");
    assert_eq!(order(&stage, &names), ["hotfix-7", "v1.30.9", "v1.31.2"]);
    assert!(stage.screen().contains("RELEASE▼"), "{}", stage.screen());
    stage.press("O");
    assert_eq!(order(&stage, &names), ["v1.31.2", "v1.30.9", "hotfix-7"]);
    stage.press("7");
    assert!(!stage.screen().contains('▼') && !stage.screen().contains('▲'), "{}", stage.screen());
    stage.press("6");
    assert!(stage.screen().contains("RELEASE▲"), "{}", stage.screen());
    stage.press("o o O");
    assert!(stage.screen().contains("AGE▲"), "{}", stage.screen());
    assert_eq!(order(&stage, &names), ["v1.31.2", "v1.30.9", "hotfix-7"], "the oldest first");
}

#[test]
fn lists_with_one_order_say_so() {
    let mut stage = Stage::rolling(80, 24);
    stage.press("o");
    assert!(stage.screen().contains("what is most urgent stays on top here"), "{}", stage.screen());
    stage.press("0 o");
    assert!(stage.screen().contains("in the order of time"), "{}", stage.screen());
}
