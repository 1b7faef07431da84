//! What a person does at the console of a rollout: looks for a row, goes to it, answers a dialog.

use std::time::Duration;

use super::super::pty::driver::{Driver, PATIENCE};

/// Marks the selected row.
const SELECTED: char = '❯';

/// A seat is free 15 s after its last sign of life, as the console sees it; then a tick has to come.
pub(crate) const A_WHILE: Duration = Duration::from_secs(60);

/// Rows a list is gone through, at most.
const ROWS_MAX: usize = 30;

/// The row that shows `name`, if one does. Sentences name things too, but a row leaves room behind its first column.
fn row<'a>(screen: &'a str, name: &str) -> Option<&'a str> {
    let cell = format!("{name}  ");
    screen.lines().find(|line| line.trim_start_matches([SELECTED, ' ']).starts_with(&cell))
}

/// Waits until the row of `name` says all of `words`.
pub(crate) fn wait_for_row(console: &mut Driver, name: &str, words: &[&str]) {
    let told = |screen: &str| row(screen, name).is_some_and(|row| words.iter().all(|word| row.contains(word)));
    console.wait_until(&format!("{name} {}", words.join(" ")), PATIENCE, |screen| told(&screen.contents()));
}

/// Arms verbs.
pub(crate) fn arm(console: &mut Driver, reason: &str) {
    console.send("a");
    console.wait_for("Arm verbs");
    console.send(&format!("{reason}\r"));
    console.wait_for("ARMED");
}

/// Arms verbs, reads what the first tick would do, and takes the seat of the usual account; what the page and the
/// question said.
pub(crate) fn take_the_seat(console: &mut Driver, reason: &str) -> [String; 2] {
    arm(console, reason);
    console.send("F");
    let page = console.wait_for("IF IT TOOK THE SEAT NOW");
    console.send("F");
    let question = console.wait_for("Take the seat of account default?");
    console.send("default\r\t\r");
    console.wait_gone("Take the seat");
    console.wait_until("the seat", A_WHILE, |screen| screen.contents().contains("SEAT IS HERE"));
    console.send("\x1b");
    console.wait_gone("FALLBACK");
    [page, question]
}

fn selected(screen: &str) -> Option<&str> {
    screen.lines().find(|line| line.starts_with(SELECTED))
}

/// Goes to the row of `name` with the keys of the list.
pub(crate) fn select(console: &mut Driver, name: &str) {
    console.send("g");
    for _ in 0..ROWS_MAX {
        let text = console.wait_until("a selected row", PATIENCE, |screen| selected(&screen.contents()).is_some());
        let before = selected(&text).unwrap_or_default().to_owned();
        if row(&before, name).is_some() {
            return;
        }
        console.send("j");
        let moved = |screen: &str| selected(screen).is_some_and(|now| first_word(now) != first_word(&before));
        console.wait_until("the selection moves", PATIENCE, |screen| moved(&screen.contents()));
    }
    panic!("there is no row {name}:\n{}", console.text());
}

/// Clocks of a row tick; its name does not.
fn first_word(row: &str) -> &str {
    row.trim_start_matches([SELECTED, '▾', '▸', ' ']).split(' ').next().unwrap_or_default()
}
