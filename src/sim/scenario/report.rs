//! What came of a run: every expectation with what was found and what was wanted, for people and for programs.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};

use super::file::act::Expect;
use super::file::expectation::Look;
use super::file::moment::Moment;
use super::file::place::Place;
use super::judge::{Case, Met};
use super::records::Ended;
use super::run::Run;
use super::screens::Consoles;

/// Lines of the log a report ends with.
pub const LOG_TAIL: usize = 20;

/// Characters of what was found that are shown to people.
const SHOWN_MAX: usize = 2_000;

/// One expectation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Checked {
    /// When it failed first, else when it was looked at last, in seconds; null = it was never true that must not be.
    pub at: Option<i64>,
    /// What was looked at.
    pub view: String,
    /// Which part of it.
    pub path: String,
    /// It holds.
    pub ok: bool,
    /// What was found.
    pub found: Vec<Value>,
    /// What was wanted.
    pub wanted: Value,
    /// Where it is written.
    #[serde(skip)]
    pub place: Place,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Name of the scenario.
    pub scenario: String,
    /// Rules it proves.
    pub basis: Vec<String>,
    /// Every expectation held.
    pub passed: bool,
    /// How long it took in virtual time.
    pub virtual_seconds: i64,
    /// Changes since the start.
    pub changes: usize,
    /// Entries of `then`, and every `expect` of `when`, in file order.
    pub expectations: Vec<Checked>,
    /// Entries of `never`.
    pub never: Vec<Checked>,
    /// The end of the log.
    pub log_tail: Vec<String>,
}

impl<C: Consoles> Run<C> {
    /// What came of it so far: of what is expected up to now.
    pub fn report(&self) -> Report {
        let now = self.ground.moment();
        let thens = self.scenario.then.iter().zip(&self.judge.then).filter(|(then, _)| then.end() <= now);
        let mut expectations: Vec<Checked> = thens.map(|(then, case)| seen(&then.look, case, then.end())).collect();
        expectations.extend(self.judge.met.iter().map(met));
        expectations.sort_by_key(|checked| (checked.place, checked.at));
        let never: Vec<Checked> =
            self.scenario.never.iter().zip(&self.judge.never).map(|(never, case)| unseen(&never.look, case)).collect();
        let lines = &self.witness.lines;
        Report {
            scenario: self.scenario.heading.scenario.clone(),
            basis: self.scenario.heading.basis.clone(),
            passed: expectations.iter().chain(&never).all(|checked| checked.ok),
            virtual_seconds: now.0,
            changes: self.witness.entries.len(),
            expectations,
            never,
            log_tail: lines.iter().skip(lines.len().saturating_sub(LOG_TAIL)).cloned().collect(),
        }
    }
}

/// An entry of `then` whose time has come.
fn seen(look: &Look, case: &Case, end: Moment) -> Checked {
    let (at, found) = case.failed.clone().unwrap_or_else(|| (end, case.found.clone()));
    let ok = case.failed.is_none() && case.looks > 0;
    Checked {
        at: Some(at.0),
        view: look.name.clone(),
        path: look.written.clone(),
        ok,
        found,
        wanted: look.wanted(),
        place: look.place,
    }
}

fn unseen(look: &Look, case: &Case) -> Checked {
    let (at, found) = case.failed.clone().map_or((None, Vec::new()), |(at, found)| (Some(at.0), found));
    let ok = case.failed.is_none();
    let (view, path) = (look.name.clone(), look.written.clone());
    Checked { at, view, path, ok, found, wanted: look.wanted(), place: look.place }
}

/// An `expect` of an entry of `when`.
fn met(met: &Met) -> Checked {
    let ended = match met.ended {
        Ended::Done => "ok",
        Ended::Refused => "refused",
        Ended::Unanswered => "unanswered",
    };
    let wanted = match met.wanted {
        Expect::Ok => "ok",
        Expect::Refused => "refused",
    };
    let found = json!({ "do": met.verb, "ended": ended, "status": met.status, "detail": met.why });
    let (view, path) = ("reply".to_owned(), "$".to_owned());
    let (at, ok) = (Some(met.at.0), met.is_ok());
    Checked { at, view, path, ok, found: vec![found], wanted: json!({ "expect": wanted }), place: met.place }
}

impl Report {
    /// For people: one line, and three for each expectation that failed. `file` is how they call the file.
    pub fn text(&self, file: &str) -> String {
        let all = self.expectations.len() + self.never.len();
        let failed: Vec<&Checked> = self.expectations.iter().chain(&self.never).filter(|checked| !checked.ok).collect();
        let took = format!("{} s, {} changes", self.virtual_seconds, self.changes);
        let mut text = match failed.len() {
            0 => format!("ok      {}: {all} expectations held ({took})\n", self.scenario),
            n => format!("FAILED  {}: {n} of {all} expectations failed ({took})\n", self.scenario),
        };
        for checked in failed {
            let at = checked.at.map_or_else(|| "never looked at".to_owned(), |at| format!("at {at}s"));
            let Place { line, column } = checked.place;
            let never = if self.never.contains(checked) { "never: " } else { "" };
            let _ = writeln!(text, "{file}:{line}:{column}: {at}: {never}{} {}", checked.view, checked.path);
            let _ = writeln!(text, "    found   {}", shown(&json!(checked.found)));
            let _ = writeln!(text, "    wanted  {}", shown(&checked.wanted));
        }
        text
    }
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text,
    }
}
