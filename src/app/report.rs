//! The status of an account as text: the sentence first, then the arithmetic, then who it is about. 80 columns.

use std::collections::BTreeMap;
use std::fmt::Write;

use jiff::Timestamp;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::status::Look;
use crate::domain::rows::RowState;
use crate::domain::span::Seconds;
use crate::wire::status::{RowBody, SlotsBody, StatusBody};

/// The width texts are written for.
const WIDTH: usize = 80;

/// Machines that are listed one by one; of a larger fleet only those that matter now.
const ROWS_MAX: usize = 50;

/// Places of each queue that matter now.
const QUEUE_SHOWN: usize = 3;

/// The whole report. Ends in a line feed.
pub fn text(look: &Look) -> String {
    let mut text = String::new();
    line(&mut text, &format!("account {} at {}", look.account, look.api));
    if let Some(why) = &look.stale {
        wrapped(&mut text, "", &format!("STALE: {why}"));
    }
    match &look.status {
        None => line(&mut text, "no rollout was ever started"),
        Some(status) => line(&mut text, &headline(look, status)),
    }
    line(&mut text, "");
    wrapped(&mut text, "  ", &look.explain.sentence);
    for next in &look.explain.next {
        wrapped(&mut text, "  -> ", next);
    }
    if let Some(status) = &look.status {
        halts(&mut text, status);
        lanes(&mut text, status);
        machines(&mut text, status, look.now);
    }
    text
}

fn headline(look: &Look, status: &StatusBody) -> String {
    let short: String = status.uuid.to_string().chars().take(8).collect();
    let release = look.git_ref.as_deref().unwrap_or("(gone)");
    let protected = if status.protected { ", protected" } else { "" };
    let since = look.started_at.map_or_else(String::new, |at| format!(" {} ago", Seconds::between(at, look.now)));
    let by = look.started_by.as_deref().unwrap_or("somebody");
    format!("rollout {short} of {release}: {}{protected}, started{since} by {by}", status.status)
}

fn halts(text: &mut String, status: &StatusBody) {
    for (ring, reason) in &status.halted_rings {
        wrapped(text, "  HALTED ", &format!("{ring}: {reason}"));
    }
}

fn lanes(text: &mut String, status: &StatusBody) {
    if status.slots.is_empty() {
        return;
    }
    line(text, "");
    line(text, &lane("ENVIRONMENT", "RING", ["CAP", "HOLD", "SETTLE", "FREE", "QUEUE", "DONE"].map(str::to_owned)));
    for slots in &status.slots {
        let rows =
            || status.machines.iter().filter(|row| row.ring == slots.ring && row.environment == slots.environment);
        let queued = rows().filter(|row| row.queue_position.is_some()).count();
        let done = rows().filter(|row| row.state == RowState::Applied).count();
        let is_here = status.current_environment.as_ref() == Some(&slots.environment);
        let name = format!("{}{}", if is_here { "> " } else { "  " }, slots.environment);
        line(text, &lane(&name, &slots.ring, numbers(slots, queued, done, rows().count())));
    }
}

fn numbers(slots: &SlotsBody, queued: usize, done: usize, total: usize) -> [String; 6] {
    let capped = |count: usize| if slots.cap == 0 { "-".to_owned() } else { count.to_string() };
    [
        if slots.cap == 0 { "none".to_owned() } else { slots.cap.to_string() },
        capped(slots.holding),
        slots.settling.to_string(),
        capped(slots.free),
        capped(queued),
        format!("{done}/{total}"),
    ]
}

fn lane(environment: &str, ring: &str, columns: [String; 6]) -> String {
    let [cap, hold, settle, free, queue, done] = columns;
    let (environment, ring) = (fitted(environment, 19), fitted(ring, 17));
    format!("{environment} {ring} {cap:>5} {hold:>5} {settle:>6} {free:>5} {queue:>5} {done:>9}")
}

fn machines(text: &mut String, status: &StatusBody, now: Timestamp) {
    if status.machines.is_empty() {
        return;
    }
    let all = status.machines.len() <= ROWS_MAX;
    let (shown, left): (Vec<&RowBody>, Vec<&RowBody>) = status.machines.iter().partition(|row| all || matters(row));
    line(text, "");
    line(text, &machine("MACHINE", "RING", "STATE", "SLOT OR PLACE", "SEEN"));
    for row in shown.iter().take(ROWS_MAX) {
        line(text, &machine(&row.hostname, &row.ring, row.state.word(), &place(row, now), &seen(row, now)));
    }
    let mut rest: BTreeMap<&str, usize> = BTreeMap::new();
    shown.iter().skip(ROWS_MAX).chain(&left).for_each(|row| *rest.entry(row.state.word()).or_default() += 1);
    if !rest.is_empty() {
        let counts: Vec<String> = rest.iter().map(|(state, count)| format!("{count} {state}")).collect();
        wrapped(text, "and ", &counts.join(", "));
    }
}

/// Whether somebody would miss this row in a large fleet.
fn matters(row: &RowBody) -> bool {
    let at_head = row.queue_position.is_some_and(|position| position <= QUEUE_SHOWN);
    row.holds_slot
        || row.settles_at.is_some()
        || at_head
        || matches!(row.state, RowState::Failed | RowState::Errored | RowState::Paused)
}

fn machine(name: &str, ring: &str, state: &str, place: &str, seen: &str) -> String {
    let text = format!("{} {} {} {} {seen}", fitted(name, 22), fitted(ring, 15), fitted(state, 8), fitted(place, 18));
    text.trim_end().to_owned()
}

fn place(row: &RowBody, now: Timestamp) -> String {
    if let Some(since) = row.held_since {
        return format!("held {}", Seconds::between(since, now));
    }
    if let Some(at) = row.settles_at {
        return format!("settles in {}", Seconds::between(now, at));
    }
    match (&row.render_error, row.queue_position) {
        (Some(missing), _) => missing.clone(),
        (None, Some(position)) => format!("place {position}"),
        (None, None) => String::new(),
    }
}

fn seen(row: &RowBody, now: Timestamp) -> String {
    let age = row.last_seen_at.map(|at| Seconds::between(at, now));
    match (row.is_online, age) {
        (Some(true), Some(age)) => format!("{age} ago"),
        (Some(false), Some(age)) => format!("OFFLINE {age}"),
        (Some(false), None) => "OFFLINE".to_owned(),
        _ => "not known".to_owned(),
    }
}

/// Exactly `width` columns: cut with an ellipsis, or filled up.
fn fitted(text: &str, width: usize) -> String {
    let long = text.width();
    if long <= width {
        return format!("{text}{}", " ".repeat(width - long));
    }
    let mut cut = String::new();
    let mut used = 0;
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if used + wide + 1 > width {
            break;
        }
        used += wide;
        cut.push(c);
    }
    cut.push('…');
    format!("{cut}{}", " ".repeat(width - used - 1))
}

/// A paragraph: the first line begins with `lead`, the others are indented as far.
fn wrapped(text: &mut String, lead: &str, paragraph: &str) {
    let indent = " ".repeat(lead.width());
    let mut current = lead.to_owned();
    let mut is_bare = true;
    for word in paragraph.split_whitespace() {
        if !is_bare && current.width() + 1 + word.width() > WIDTH {
            line(text, &std::mem::replace(&mut current, indent.clone()));
            is_bare = true;
        }
        if !is_bare {
            current.push(' ');
        }
        current.push_str(word);
        is_bare = false;
    }
    line(text, &current);
}

fn line(text: &mut String, line: &str) {
    // Names come from the far end: nothing of it may steer a terminal.
    let safe: String = line.chars().filter(|c| !c.is_control()).collect();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{}", safe.trim_end());
}
