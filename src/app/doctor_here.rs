//! This end: the terminal, the paths, and whether there is a way around the control plane.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::termios::{isatty, tcgetwinsize};

use super::doctor::Finding;
use super::look::{depth, speaks_unicode};
use crate::console::theme::Depth;
use crate::terminal::logfile::state_directory;

/// The smallest terminal that screens are made for: columns and rows.
const SMALLEST: (u16, u16) = (80, 24);

/// Everything about this end.
pub fn here() -> Vec<Finding> {
    let variable = |name: &str| std::env::var(name).ok();
    vec![terminal(&variable), size(), colours(&variable), locale(&variable), config(&variable), log()]
}

type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;

fn terminal(variable: Variable<'_>) -> Finding {
    of_terminal(isatty(std::io::stdout()), variable("TERM").filter(|term| !term.is_empty()).as_deref())
}

/// Whoever writes into a pipe or a file wants no screen, so that alone is nothing to warn of.
fn of_terminal(is_terminal: bool, term: Option<&str>) -> Finding {
    match (is_terminal, term) {
        (false, _) => Finding::ok("terminal", "this goes to none; only the screen needs one (over SSH: ssh -t)"),
        (true, Some(term)) if term != "dumb" => Finding::ok("terminal", format!("TERM is {term}")),
        (true, term) => Finding::warn(
            "terminal",
            format!("TERM is {}: no screen can be drawn", term.unwrap_or("not set")),
            "set TERM to what your terminal is, such as xterm-256color; status and the lists need none",
        ),
    }
}

fn size() -> Finding {
    let (columns, rows) = SMALLEST;
    match tcgetwinsize(std::io::stdout()) {
        Ok(size) if size.ws_col >= columns && size.ws_row >= rows => {
            Finding::ok("size", format!("{} columns, {} rows", size.ws_col, size.ws_row))
        }
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => Finding::warn(
            "size",
            format!("{} columns, {} rows", size.ws_col, size.ws_row),
            format!("below {columns} by {rows} screens leave things out"),
        ),
        _ => Finding::ok("size", format!("not told: {columns} columns, {rows} rows are taken")),
    }
}

fn colours(variable: Variable<'_>) -> Finding {
    let told = match depth(variable) {
        Depth::True => "16 million",
        Depth::Indexed => "256",
        Depth::Sixteen => "16",
        Depth::Mono => "none: everything is told by words and glyphs",
    };
    let asked = variable("NO_COLOR").is_some_and(|value| !value.is_empty());
    Finding::ok("colours", if asked { format!("{told} (NO_COLOR is set)") } else { told.to_owned() })
}

fn locale(variable: Variable<'_>) -> Finding {
    match speaks_unicode(variable) {
        true => Finding::ok("locale", "UTF-8"),
        false => Finding::warn("locale", "not UTF-8: glyphs are ASCII", "set LC_ALL=C.UTF-8"),
    }
}

fn config(variable: Variable<'_>) -> Finding {
    let set = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")));
    let Some(place) = base.map(|base| base.join("kura-console")) else {
        return Finding::warn("config", "neither XDG_CONFIG_HOME nor HOME is set", "flags and variables are enough");
    };
    let file = place.join("config.yaml");
    match file.exists() {
        true => Finding::warn(
            "config",
            format!("{} is there, and this version reads flags and variables only", file.display()),
            "set KURA_CONSOLE_API and KURA_CONSOLE_TOKEN",
        ),
        false => Finding::ok("config", format!("flags and variables; nothing in {}", place.display())),
    }
}

/// Where the log goes. Nothing is made or written to find out.
fn log() -> Finding {
    let Some(place) = state_directory() else {
        let said = "neither XDG_STATE_HOME nor HOME is set: the log is kept on the log screen only";
        return Finding::warn("log", said, "name a file with --log-file");
    };
    let there = place.ancestors().find(|place| place.exists()).unwrap_or(Path::new("/"));
    match access(there, Access::WRITE_OK | Access::EXEC_OK) {
        Ok(()) => Finding::ok("log", format!("one file per day in {}", place.display())),
        Err(error) => Finding::warn(
            "log",
            format!("{} cannot be written ({error}): the log is kept on the log screen only", there.display()),
            "a read-only home is fine; for a file use --log-file or XDG_STATE_HOME",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::doctor::Verdict;
    use super::*;

    fn set<'a>(pairs: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |name| pairs.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn colours_and_the_locale_are_those_of_the_screen() {
        assert_eq!(colours(&set(&[("TERM", "xterm-256color")])).said, "256");
        assert!(colours(&set(&[("TERM", "xterm-256color"), ("NO_COLOR", "1")])).said.contains("NO_COLOR is set"));
        assert_eq!(locale(&set(&[("LANG", "C")])).verdict, Verdict::Warn);
        assert_eq!(locale(&set(&[("LANG", "C.UTF-8")])).verdict, Verdict::Ok);
    }

    #[test]
    fn a_terminal_is_spoken_of_where_it_matters() {
        for term in [None, Some("dumb"), Some("xterm")] {
            assert_eq!(of_terminal(false, term).verdict, Verdict::Ok, "{term:?} in a pipe");
        }
        assert_eq!(of_terminal(true, Some("xterm")).said, "TERM is xterm");
        for term in [None, Some("dumb")] {
            assert_eq!(of_terminal(true, term).verdict, Verdict::Warn, "{term:?}");
        }
    }

    #[test]
    fn without_a_home_there_is_a_way_on() {
        assert_eq!(config(&set(&[])).verdict, Verdict::Warn);
        assert!(config(&set(&[("XDG_CONFIG_HOME", "/nowhere")])).said.contains("/nowhere/kura-console"));
    }
}
