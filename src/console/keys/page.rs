//! docs/keys.md: every command with its keys in every keymap, made from the tables so that it is never typed twice.

use std::fmt::Write as _;

use super::super::command::{COMMANDS, Group, Reach, Spec};
use super::keymap::{Keymap, Mode};

/// The page, in Markdown.
pub fn page() -> String {
    let keymaps: Vec<(&str, Keymap)> =
        Keymap::names().filter_map(|name| Some((name, Keymap::shipped(name)?))).collect();
    let mut page = String::from(INTRODUCTION);
    for group in Group::ALL {
        let _ = write!(page, "\n## {}\n\n| command | does |", group.title());
        for (name, _) in &keymaps {
            let _ = write!(page, " {name} |");
        }
        page.push_str("\n|---|---|");
        keymaps.iter().for_each(|_| page.push_str("---|"));
        page.push('\n');
        for spec in COMMANDS.iter().filter(|spec| spec.group == group) {
            let _ = write!(page, "| `{}` | {}{} |", spec.name, spec.about, needs(spec));
            for (_, keymap) in &keymaps {
                let _ = write!(page, " {} |", cell(keymap, spec));
            }
            page.push('\n');
        }
    }
    page
}

const INTRODUCTION: &str = "# Keys

Made from the command table and the built-in keymaps by a test; do not edit. A keymap file of your own is written like
those in `keymaps/`: it may say `inherits: default` and name only what differs; `none` takes a key away.

`ctrl-c` always quits and `ctrl-z` always suspends; no keymap can bind them, nor what terminals, screen and tmux take for
themselves (`ctrl-a`, `ctrl-b`, `ctrl-s`, `ctrl-q`). Every screen, view and verb, bound or not, can be given by its name after `:`.
";

fn needs(spec: &Spec) -> &'static str {
    match spec.reach {
        Reach::Act if spec.name != "arm" => " Needs arming.",
        _ => "",
    }
}

/// The keys of one command, with the modes in which they count where those differ from `any` and `list`.
fn cell(keymap: &Keymap, spec: &Spec) -> String {
    let mut keys: Vec<String> = Vec::new();
    for mode in [Mode::List, Mode::Page, Mode::Dialog, Mode::Text] {
        for key in keymap.keys_of(mode, spec.command) {
            let shown = format!("`{}`", key.replace('|', "\\|"));
            if !keys.contains(&shown) {
                keys.push(shown);
            }
        }
    }
    if keys.is_empty() { "-".to_owned() } else { keys.join(" ") }
}
