//! The status of an account as text: the sentence first, then the arithmetic, then who it is about. 80 columns.

use std::collections::BTreeMap;
use std::fmt::Write;

use jiff::Timestamp;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::status::Look;
use crate::domain::failure_mode::FailureMode;
use crate::domain::roll::words::{approval, awaiting, position, waited};
use crate::domain::rows::RowState;
use crate::domain::span::Seconds;
use crate::wire::explain::ExplanationBody;
use crate::wire::roll::shown::RollBody;
use crate::wire::status::{RowBody, SlotsBody, StatusBody};

/// The width texts are written for.
pub(super) const WIDTH: usize = 80;

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
    if let Some(status) = &look.status {
        line(&mut text, &headline(look, status));
    }
    look.rolls.iter().for_each(|roll| of_roll(&mut text, roll, look.now));
    if !look.lacks.is_empty() {
        line(&mut text, "BASIC LINK: this control plane tells only its status, so this is not known:");
        look.lacks.iter().for_each(|lack| wrapped(&mut text, "  - ", lack));
    }
    line(&mut text, "");
    wrapped(&mut text, "  ", &look.explain.sentence);
    for next in &look.explain.next {
        wrapped(&mut text, "  -> ", next);
    }
    verification(&mut text, &look.explain);
    if let Some(status) = &look.status {
        halts(&mut text, status);
        lanes(&mut text, status);
        machines(&mut text, status, look.now);
    }
    text
}

/// A fleet roll: where it stands, and where a gate waits for a person the exact command that opens it (F42, F45).
fn of_roll(text: &mut String, roll: &RollBody, now: Timestamp) {
    let name = format!("{}/{}", roll.project, roll.target);
    let place = position(&roll.progress, "·");
    wrapped(text, "", &format!("roll {name} of {}: {}, {place}", roll.revision, roll.state.word()));
    if let Some((gate, since)) = roll.awaiting_gate.as_ref().zip(roll.awaiting_since) {
        line(text, &format!("  {}", awaiting(gate, &waited(since, now))));
        line(text, &format!("  -> {}", approval(&name, gate, &roll.revision, since)));
    }
    if let Some(reason) = &roll.reason {
        wrapped(text, "  BLOCKED ", reason);
    }
}

/// The row of the table of failure modes that holds, and what to look at once its advice was followed.
fn verification(text: &mut String, said: &ExplanationBody) {
    let known = FailureMode::ALL.into_iter().find(|mode| Some(mode.id()) == said.failure_mode);
    let Some(mode) = known else { return };
    wrapped(text, "  ", &format!("then verify ({} {}):", mode.id(), mode.title()));
    for check in &said.verify {
        wrapped(text, "  [ ] ", check);
    }
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
    let text = format!("{} {} {} {} {seen}", fitted(name, 21), fitted(ring, 14), fitted(state, 8), fitted(place, 17));
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
        (None, None) if row.holds_slot => "holds a slot".to_owned(),
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
pub(super) fn wrapped(text: &mut String, lead: &str, paragraph: &str) {
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

pub(super) fn line(text: &mut String, line: &str) {
    // Names come from the far end: nothing of it may steer a terminal.
    let safe: String = line.chars().filter(|c| !c.is_control()).collect();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{}", safe.trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::{MachineId, ReleaseId, RolloutId};
    use crate::wire::status::Blocking;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_000_000 + seconds).unwrap()
    }

    fn machine(n: usize, state: RowState) -> RowBody {
        RowBody {
            hostname: format!("machine-{n}-with-a-name-that-is-much-too-long.example"),
            uuid: MachineId::named(&n.to_string()),
            environment: "oak-workers-in-the-far-east".to_owned(),
            ring: "oak".to_owned(),
            bucket: 0,
            eligible: true,
            state,
            holds_slot: state == RowState::Pending,
            queue_position: (state == RowState::Queued).then_some(n),
            held_since: (state == RowState::Pending).then(|| at(-250)),
            settles_at: None,
            render_error: (state == RowState::Errored).then(|| "missing: K8S_VIP".to_owned()),
            failures: 0,
            is_online: Some(n.is_multiple_of(2)),
            last_seen_at: Some(at(-400)),
        }
    }

    fn look(machines: Vec<RowBody>) -> Look {
        let slots = SlotsBody {
            ring: "oak".to_owned(),
            environment: "oak-workers-in-the-far-east".to_owned(),
            cap: 1,
            holding: 1,
            settling: 0,
            free: 0,
        };
        let status = StatusBody {
            uuid: RolloutId::named("r1"),
            config_release_uuid: ReleaseId::named("v1"),
            status: "running".to_owned(),
            protected: true,
            current_environment: Some("oak-workers-in-the-far-east".to_owned()),
            halted_rings: [("oak".to_owned(), "birch held its slot for 1h 30m and is offline. ".repeat(4))].into(),
            stall_reason: None,
            stall_kind: None,
            counts_approximate: false,
            holding_slots: 1,
            settling: 0,
            blocking: Blocking::default(),
            slots: vec![slots],
            total: machines.len(),
            limit: machines.len(),
            machines,
            revision: 7,
        };
        Look {
            account: "default".to_owned(),
            api: "http://127.0.0.1:7777".to_owned(),
            explain: ExplanationBody {
                sentence: "machine-1 holds the slot and \u{1b}[2J is not seen. ".repeat(5),
                since: None,
                on: None,
                failure_mode: None,
                next: vec!["wait".to_owned()],
                verify: Vec::new(),
            },
            status: Some(status),
            git_ref: Some("v1.31.4-upgrade".to_owned()),
            started_by: Some("ann".to_owned()),
            started_at: Some(at(-600)),
            now: at(0),
            stale: None,
            rolls: Vec::new(),
            lacks: Vec::new(),
        }
    }

    #[test]
    fn it_fits_eighty_columns_and_steers_no_terminal() {
        let states = [RowState::Pending, RowState::Queued, RowState::Errored, RowState::Applied, RowState::Waiting];
        let text = text(&look(states.iter().enumerate().map(|(n, state)| machine(n + 1, *state)).collect()));
        assert!(text.lines().all(|line| line.width() <= WIDTH), "{text}");
        assert!(!text.contains('\u{1b}'));
        for part in
            ["held 4m 10s", "place 2", "missing: K8S_VIP", "OFFLINE 6m 40s", "HALTED oak: birch", "started 10m ago"]
        {
            assert!(text.contains(part), "no {part} in\n{text}");
        }
    }

    #[test]
    fn of_a_large_fleet_only_what_matters_now_is_listed() {
        let mut machines: Vec<RowBody> = (1..=400).map(|n| machine(n, RowState::Applied)).collect();
        machines.extend((1..=400).map(|n| machine(n, RowState::Queued)));
        machines.push(machine(801, RowState::Pending));
        let text = text(&look(machines));
        let listed = text.lines().filter(|line| line.starts_with("machine-")).count();
        assert_eq!(listed, 1 + QUEUE_SHOWN);
        assert!(text.contains("and 400 applied, 397 queued"), "{text}");
        assert!(text.contains("400/801"), "{text}");
    }

    #[test]
    fn before_the_first_rollout_there_is_still_a_sentence() {
        let mut nothing = look(Vec::new());
        nothing.status = None;
        nothing.explain.sentence = "no rollout was ever started".to_owned();
        let text = text(&nothing);
        assert_eq!(text.matches("no rollout was ever started").count(), 1, "{text}");
        assert!(text.contains("-> wait") && !text.contains("verify"), "{text}");
    }

    #[test]
    fn a_failure_mode_is_named_with_what_to_do_and_what_to_verify() {
        let mode = FailureMode::DrainBlocked;
        let mut blocked = look(Vec::new());
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        blocked.explain.failure_mode = Some(mode.id());
        (blocked.explain.next, blocked.explain.verify) = (texts(mode.next()), texts(mode.verify()));
        let text = text(&blocked);
        assert!(text.contains("then verify (FM-3 drain blocked):"), "{text}");
        for part in mode.next().iter().chain(mode.verify()) {
            assert!(text.contains(part), "no {part} in\n{text}");
        }
        assert_eq!(text.matches("[ ]").count(), mode.verify().len());
    }

    #[test]
    fn a_gate_says_for_how_long_and_with_which_command_it_opens() {
        // F42, F43, F45, F59
        use crate::domain::ids::RollId;
        use crate::domain::roll::fleet_roll::{Awaiting, Roll};
        use crate::domain::roll::spec::RollSpec;
        let started = Timestamp::from_second(1_800_000_000).unwrap();
        let spec = RollSpec { canary: Some("wk-1".to_owned()), nodes: vec!["wk-2".to_owned()], ..RollSpec::default() };
        let roll = Roll::new(RollId::named("r"), "kernel", "fleet", "seanfarm32", spec, started);
        let gate = Some(Awaiting { gate: "canary".to_owned(), since: started });
        let now = Seconds(14 * 60 + 59).after(started);
        let body = RollBody::of(&crate::domain::observed::Observed::starting_at(now), &Roll { gate, ..roll }, now);
        let mut text = String::new();
        of_roll(&mut text, &body, now);
        assert!(text.contains("AWAITING CANARY 14m\n"), "{text}");
        let command = "kura-console approve kernel/fleet canary --revision seanfarm32 --since 2027-01-15T08:00:00Z\n";
        assert!(text.contains(command), "one line, to be copied: {text}");
        assert!(text.contains("0/1"), "{text}");
    }
}
