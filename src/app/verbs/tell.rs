//! Verbs in words: what would follow, what came of it. Nothing from outside gets to the terminal as it is.

use std::io::{self, Write};

use crate::app::shell;
use crate::app::status::{Output, yaml};
use crate::console::text::{escape, wrap};
use crate::domain::glimpse::Glimpse;
use crate::domain::preflight::{Check, Grade};
use crate::wire::plan::{LineKind, MovedBody, PlanBody};
use crate::wire::problem::{Problem, ProblemKind};

use super::aim::Aimed;
use super::record::{Outcome, Record};

/// The width texts are written for.
const WIDTH: usize = 80;

/// Columns of the word in front of a line.
const WORD: usize = 9;

/// The headline, and everything that would follow.
pub fn plan(record: &Record, headline: &str, api: &str, uncaps: bool) -> String {
    let mut text = line("", &format!("{headline} in account {} at {api}", record.account));
    match &record.plan {
        Some(plan) if plan.lines.is_empty() => text += &indented("stays", "nothing else follows from it now"),
        Some(plan) => {
            text += &plan.lines.iter().map(|line| indented(word(line.kind), &line.text)).collect::<String>();
            if uncaps {
                text += &uncapped(plan, &record.target);
            }
        }
        None => text += &indented("warns", "what would follow is not known; a stop waits for nobody"),
    }
    text + &record.checks.iter().map(|check| indented("warns", &finding(check))).collect::<String>()
}

/// The headline, and what stands where a plan would: over a basic link nothing is known of what would follow.
pub fn unplanned(record: &Record, headline: &str, api: &str, glimpse: &Glimpse) -> String {
    let mut text = line("", &format!("{headline} in account {} at {api}", record.account));
    text += &indented("warns", "basic link: the control plane cannot rehearse, so what would follow is not known");
    text += &indented(
        "warns",
        "that somebody else acts meanwhile is not noticed; if its answer is lost it is not sent again",
    );
    if let Some(reason) = &glimpse.stall_reason {
        text += &indented("stays", reason);
    }
    text
}

fn word(kind: LineKind) -> &'static str {
    match kind {
        LineKind::Ends => "ends",
        LineKind::Starts => "starts",
        LineKind::Stays => "stays",
        LineKind::Warns => "warns",
    }
}

/// Everybody who starts once the cap is gone, and what holds the line instead.
fn uncapped(plan: &PlanBody, ring: &Aimed) -> String {
    let names: Vec<&str> = plan.starts_next.iter().map(|machine| machine.hostname.as_str()).collect();
    if names.is_empty() {
        return indented("starts", "nobody starts right now");
    }
    let instead = format!(
        "to hold the line instead, pause {} (the holder's run is cancelled too), or pause each machine that waits \
         (the holder finishes): kura-console pause machine NAME",
        ring.told()
    );
    indented("starts", &format!("now: {}", names.join(", "))) + &indented("instead", &instead)
}

fn finding(check: &Check) -> String {
    let word = if check.grade == Grade::Fail { "fails" } else { "warns" };
    let hint = check.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!("{} {word}: {}{hint}", check.id, check.sentence)
}

/// What has changed since a plan was made.
pub fn moved(moved: &[MovedBody]) -> String {
    let said = |moved: &MovedBody| {
        format!("{} {}, by {} at revision {}", moved.thing.name, moved.what, moved.by, moved.revision)
    };
    moved.iter().map(|moved| indented("moved", &said(moved))).collect()
}

/// What is true now, and where the new thing is found.
pub fn done(sentence: &str, record: &Record) -> String {
    let made = record.answer.as_ref().filter(|_| record.target.uuid.is_none());
    let uuid = made.and_then(|answer| answer["uuid"].as_str()).map(|uuid| format!(" as {uuid}")).unwrap_or_default();
    let revision = record.revision.map(|revision| format!(", at revision {revision}")).unwrap_or_default();
    let again = if record.replayed { " (it was done before under this key, and not again)" } else { "" };
    line("", &format!("{sentence}{uuid}{revision}{again}"))
}

/// The objects that would be written, each as a YAML document, in order.
///
/// # Errors
/// Where one cannot be written as YAML.
pub fn writes(record: &Record) -> Result<String, Problem> {
    let unwritable = |why: String| Problem::new(ProblemKind::Internal, "plan", format!("it cannot be written: {why}"));
    let objects = record.plan.iter().flat_map(|plan| &plan.writes);
    let documents: Result<Vec<String>, String> = objects.map(yaml).collect();
    let text = documents.map_err(unwritable)?.concat();
    Ok(text.lines().map(|line| format!("{}\n", escape(line))).collect())
}

/// What a dry run ends with.
pub fn planned(record: &Record) -> String {
    let revision = record.revision.map(|revision| format!(" at revision {revision}")).unwrap_or_default();
    line("", &format!("planned{revision}; nothing was changed"))
}

fn line(lead: &str, text: &str) -> String {
    indented_by(lead, 0, text)
}

fn indented(word: &str, text: &str) -> String {
    indented_by(&format!("  {word:<width$}", width = WORD - 2), WORD, text)
}

fn indented_by(lead: &str, columns: usize, text: &str) -> String {
    let lines = wrap(&escape(text), WIDTH - columns);
    let lead = |n: usize| if n == 0 { lead.to_owned() } else { " ".repeat(columns) };
    lines.iter().enumerate().map(|(n, line)| format!("{}{line}\n", lead(n))).collect()
}

/// Says something while it goes on, to whoever looks. A standard error that is gone is no reason to stop.
pub fn aside(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// The same, as one line of its own.
pub fn note(text: &str) {
    aside(&line("", text));
}

/// Prints the document, where a document is wanted.
///
/// # Errors
/// Where it cannot be written.
pub fn document(record: &Record, output: Output) -> Result<(), Problem> {
    let unwritable =
        |why: String| Problem::new(ProblemKind::Internal, "stdout", format!("nothing can be printed: {why}"));
    let text = match output {
        Output::Text => return Ok(()),
        Output::Yaml => yaml(record).map_err(unwritable)?,
        Output::Json => serde_json::to_string(record).map_err(|error| unwritable(error.to_string()))? + "\n",
    };
    shell::print(text.as_bytes())
}

/// How far a verb came that was not done.
pub fn outcome(problem: &Problem) -> Outcome {
    match (problem.kind, problem.code.as_str()) {
        (_, crate::wire::call::UNKNOWN_OUTCOME) => Outcome::Unknown,
        (_, "not_confirmed" | "no_terminal") => Outcome::Left,
        (ProblemKind::Moved, _) => Outcome::Moved,
        (ProblemKind::Unreachable | ProblemKind::Unavailable | ProblemKind::TooMany, _) => Outcome::Unsent,
        _ => Outcome::Refused,
    }
}
