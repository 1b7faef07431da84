//! Rows of the rollout: a tier, a ring with its slots, a machine with its clock.

use ratatui::layout::Rect;

use super::super::facts::{LaneFacts, LaneState, Row, Standing, Tier, Wave};
use super::super::glyph::Glyph;
use super::super::sort::{By, Sorting};
use super::super::spare::{Bare, Loose};
use super::super::theme::Role;
use super::super::tree::{Entry, Line};
use super::pen::{Pen, Piece, piece};
use crate::domain::fleet::Pause;
use crate::domain::rows::RowState;

/// Slots that are drawn one by one; more are written as a number.
const CELLS_MAX: usize = 8;

/// The columns of a list of that width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Columns {
    name: Rect,
    state: Rect,
    what: Rect,
    done: Rect,
    failures: Rect,
}

impl Columns {
    /// Divides the first row of an area. Where there is little room, counts go first.
    pub(super) fn of(area: Rect) -> Self {
        let width = area.width;
        let name = (width * 3 / 10).clamp(14, 40).min(width);
        let state = 11.min(width - name);
        let counts = if width >= 60 { (6, 6) } else { (0, 0) };
        let what = width - name - state - counts.0 - counts.1;
        let mut x = area.x;
        let mut column = |width: u16| {
            let column = Rect { x, width, height: area.height.min(1), ..area };
            x += width;
            column
        };
        let (name, state, what) = (column(name), column(state), column(what));
        Self { name, state, what, done: column(counts.0), failures: column(counts.1) }
    }

    fn at(self, y: u16) -> Self {
        let moved = |column: Rect| Rect { y, ..column };
        Self {
            name: moved(self.name),
            state: moved(self.state),
            what: moved(self.what),
            done: moved(self.done),
            failures: moved(self.failures),
        }
    }
}

/// Headings of the columns; the one the machines are sorted by is marked.
pub(super) fn heading(area: Rect, sorting: Sorting, pen: &mut Pen<'_>) {
    let columns = Columns::of(area);
    pen.line(columns.name, &head("  NAME", sorting, &[By::Name], pen));
    pen.line(columns.state, &head("STATE", sorting, &[By::State], pen));
    pen.line(columns.what, &head("SLOTS AND CLOCKS", sorting, &[By::Usual], pen));
    pen.line_right(columns.done, &head("DONE", sorting, &[], pen));
    // With its mark the whole word has no room beside its neighbour.
    let failures = if sorting.by == By::Failures { "FAIL" } else { "FAILS" };
    pen.line_right(columns.failures, &head(failures, sorting, &[By::Failures], pen));
}

/// A heading, with a mark where the list is sorted by its column. The usual order goes without saying.
pub(super) fn head(text: &'static str, sorting: Sorting, of: &[By], pen: &Pen<'_>) -> [Piece<'static>; 2] {
    let mark = match sorting.turned {
        _ if sorting.is_usual() || !of.contains(&sorting.by) => "",
        false => pen.glyph(Glyph::Sorted),
        true => pen.glyph(Glyph::SortedBack),
    };
    [piece(Role::Heading, text), piece(Role::Key, mark)]
}

/// One row; `selected` says how it is laid over, if it is.
pub(super) fn draw(line: &Line, entry: Entry<'_>, area: Rect, selected: Option<Role>, pen: &mut Pen<'_>) {
    if let Some(role) = selected {
        pen.fill(area, role);
        pen.lay_over(Some(role));
    }
    let columns = Columns::of(area).at(area.y);
    let marker = if selected.is_some() { pen.glyph(Glyph::Selected) } else { " " };
    let fold = pen.glyph(if line.unfolded { Glyph::Unfolded } else { Glyph::Folded });
    let name = |indent: usize, fold: &str, role: Role, name: &str| {
        vec![
            piece(Role::Key, format!("{marker} {}", " ".repeat(indent))),
            piece(Role::Dim, fold.to_owned()),
            piece(role, name.to_owned()),
        ]
    };
    match entry {
        Entry::Tier(tier) => {
            pen.line(columns.name, &name(0, &format!("{fold} "), Role::Strong, &tier.slug));
            self::tier(tier, columns, pen);
        }
        Entry::Lane(_, lane) => {
            pen.line(columns.name, &name(2, &format!("{fold} "), Role::Text, &lane.slug));
            self::lane(lane, columns, pen);
        }
        Entry::Machine(_, lane, row) => {
            pen.line(columns.name, &name(6, "", Role::Text, &row.row.hostname));
            machine(lane, row, columns, pen);
        }
        Entry::Spare(spare) => {
            pen.line(columns.name, &name(0, &format!("{fold} "), Role::Strong, "out of reach"));
            state_cell(columns.state, (Glyph::Waiting, "spare", Role::Dim), pen);
            let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
            let counts = [count(spare.machines.len(), "machine"), count(spare.rings.len(), "empty ring")];
            pen.line(columns.what, &[piece(Role::Dim, counts.join(", "))]);
        }
        Entry::Bare(ring) => {
            pen.line(columns.name, &name(4, "", Role::Text, &ring.slug));
            bare(ring, columns, pen);
        }
        Entry::Loose(machine) => {
            pen.line(columns.name, &name(4, "", Role::Text, &machine.hostname));
            loose(machine, columns, pen);
        }
    }
    pen.lay_over(None);
}

fn state_cell(area: Rect, look: (Glyph, &'static str, Role), pen: &mut Pen<'_>) {
    let (glyph, word, role) = look;
    let glyph = pen.glyph(glyph);
    pen.line(area, &[piece(role, format!("{glyph} {word}"))]);
}

/// A ring without a machine.
fn bare(ring: &Bare, columns: Columns, pen: &mut Pen<'_>) {
    let look = match &ring.paused {
        Some(_) => (Glyph::Paused, "PAUSED", Role::Paused),
        None => (Glyph::Waiting, "ring", Role::Dim),
    };
    state_cell(columns.state, look, pen);
    let pieces = match &ring.paused {
        Some(pause) => vec![piece(Role::Paused, by_whom(pause, pen))],
        None => vec![piece(Role::Dim, format!("{}, no machines", capped(ring.cap)))],
    };
    pen.line(columns.what, &pieces);
}

/// A machine that is out of scope: what it lacks, and whether it is heard.
fn loose(machine: &Loose, columns: Columns, pen: &mut Pen<'_>) {
    let paused = machine.paused.is_some();
    let look = if paused { (Glyph::Paused, "PAUSED", Role::Paused) } else { (Glyph::Waiting, "machine", Role::Dim) };
    state_cell(columns.state, look, pen);
    let mut facts = vec![(Role::Dim, lacking(machine))];
    if machine.is_online == Some(false) {
        let age = machine.last_seen_at.map(|at| format!(" {}", pen.age(at))).unwrap_or_default();
        facts.push((Role::Warning, format!("{} offline{age}", pen.glyph(Glyph::Offline))));
    }
    let pieces = joined(facts, pen);
    pen.line(columns.what, &pieces);
}

/// What a machine that is out of scope does not have.
pub(super) fn lacking(machine: &Loose) -> String {
    match (&machine.environment, &machine.ring) {
        (Some(tier), _) => format!("in {tier}, no ring"),
        (None, Some(ring)) => format!("in {ring}, no environment"),
        (None, None) => "no environment, no ring".to_owned(),
    }
}

/// A cap in words.
pub(super) fn capped(cap: u32) -> String {
    if cap == 0 { "no cap".to_owned() } else { format!("cap {cap}") }
}

fn by_whom(pause: &Pause, pen: &mut Pen<'_>) -> String {
    let why = pause.reason.as_ref().map(|r| format!(": {r}")).unwrap_or_default();
    format!("{} by {}{why}", pen.age(pause.at), pause.by)
}

fn tier(tier: &Tier, columns: Columns, pen: &mut Pen<'_>) {
    let finished = tier.total > 0 && tier.done == tier.total;
    let look = match tier.standing {
        _ if tier.paused.is_some() => (Glyph::Paused, "PAUSED", Role::Paused),
        Standing::Passed if finished => (Glyph::Done, "passed", Role::Done),
        Standing::Passed => (Glyph::Moving, "passed", Role::Warning),
        Standing::Current => (Glyph::Moving, "open", Role::Moving),
        Standing::Ahead => (Glyph::Waiting, "closed", Role::Dim),
        Standing::OutOfPath => (Glyph::Waiting, "no order", Role::Dim),
        Standing::Resting => (Glyph::Waiting, "idle", Role::Dim),
    };
    state_cell(columns.state, look, pen);
    if let Some(pause) = &tier.paused {
        let text = by_whom(pause, pen);
        pen.line(columns.what, &[piece(Role::Paused, text)]);
    } else if tier.total == 0 {
        pen.line(columns.what, &[piece(Role::Dim, "no machines")]);
    }
    if tier.standing != Standing::Resting {
        count(columns.done, tier.done, tier.total, pen);
    }
}

fn count(area: Rect, done: usize, total: usize, pen: &mut Pen<'_>) {
    let role = if total > 0 && done == total { Role::Done } else { Role::Text };
    let counted = format!("{done}/{total}");
    let counted = match counted.len() < usize::from(area.width) || total == 0 {
        true => counted,
        // Whole per cent that are reached: never 100 before everybody is done.
        false => format!("{} %", done * 100 / total),
    };
    pen.line_right(area, &[piece(role, counted)]);
}

/// Shape, word and colour of what a ring does.
pub(super) fn lane_look(state: LaneState) -> (Glyph, &'static str, Role) {
    match state {
        LaneState::Halted => (Glyph::Halted, "HALTED", Role::Halted),
        LaneState::Paused => (Glyph::Paused, "PAUSED", Role::Paused),
        LaneState::Closed => (Glyph::Waiting, "closed", Role::Dim),
        LaneState::Done => (Glyph::Done, "done", Role::Done),
        LaneState::Moving => (Glyph::Moving, "moving", Role::Moving),
        LaneState::Stalled => (Glyph::Offline, "STALLED", Role::Warning),
        LaneState::Settling => (Glyph::Settling, "settling", Role::Settling),
        LaneState::Ready => (Glyph::Queued, "waiting", Role::Queued),
        LaneState::Idle => (Glyph::Waiting, "idle", Role::Dim),
    }
}

fn lane(lane: &LaneFacts, columns: Columns, pen: &mut Pen<'_>) {
    state_cell(columns.state, lane_look(lane.state), pen);
    let mut pieces = cells(lane, pen);
    pieces.extend(lane_words(lane, pen));
    pen.line(columns.what, &pieces);
    if lane.rows.iter().any(|row| row.resting) {
        return;
    }
    count(columns.done, lane.done, lane.rows.len(), pen);
    let role = if lane.failures > 0 { Role::Failed } else { Role::Dim };
    pen.line_right(columns.failures, &[piece(role, format!("{}/{}", lane.failures, lane.threshold))]);
}

/// The slots of a ring as cells: held, settling, free. Nothing where there is no cap, where there are many, or where
/// none is used and none can be.
pub(super) fn cells(lane: &LaneFacts, pen: &Pen<'_>) -> Vec<Piece<'static>> {
    let cap = usize::try_from(lane.slots.cap).unwrap_or(usize::MAX);
    let taken = lane.slots.holding + lane.slots.settling;
    let still = matches!(lane.state, LaneState::Closed | LaneState::Paused | LaneState::Done | LaneState::Idle);
    if cap == 0 || cap.max(taken) > CELLS_MAX || (still && taken == 0) {
        return Vec::new();
    }
    let cells = |glyph: Glyph, n: usize| pen.glyph(glyph).repeat(n);
    vec![
        piece(Role::Moving, cells(Glyph::SlotHeld, lane.slots.holding)),
        piece(Role::Settling, cells(Glyph::SlotSettling, lane.slots.settling)),
        piece(Role::Dim, cells(Glyph::SlotFree, cap.saturating_sub(taken))),
        piece(Role::Dim, " "),
    ]
}

fn lane_words(lane: &LaneFacts, pen: &mut Pen<'_>) -> Vec<Piece<'static>> {
    let mut facts = Vec::new();
    if let Some(pause) = &lane.paused {
        return vec![piece(Role::Paused, by_whom(pause, pen))];
    }
    if let Some(halt) = lane.halted.as_ref().filter(|_| lane.state == LaneState::Halted) {
        return vec![piece(Role::Halted, format!("{} {}", pen.age(halt.at), halt.reason))];
    }
    if lane.rows.iter().any(|row| row.resting) {
        facts.push(capped(lane.slots.cap));
    }
    if let Some(wave) = &lane.wave {
        facts.push(elected(wave, pen));
    }
    match (lane.state, lane.slots.cap, lane.slots.holding) {
        (LaneState::Closed | LaneState::Done | LaneState::Idle, ..) | (LaneState::Paused, _, 0) => {}
        (_, 0, _) => facts.push("no cap".to_owned()),
        (_, cap, 0) if lane.slots.settling == 0 => facts.push(format!("{} of {cap} free", lane.slots.free)),
        (_, _, 0) => {}
        (_, cap, held) => facts.push(format!("{held} of {cap} held")),
    }
    if lane.slots.settling > 0
        && let Some(end) = lane.settles_at
    {
        facts.push(format!("settles {}", pen.left(end)));
    }
    if lane.queued > 0 && lane.state != LaneState::Closed {
        facts.push(format!("{} queued", lane.queued));
    }
    let dot = format!(" {} ", pen.glyph(Glyph::Dot));
    vec![piece(Role::Text, facts.join(&dot))]
}

/// Where a ladder stands (R70).
pub(super) fn elected(wave: &Wave, pen: &mut Pen<'_>) -> String {
    match wave.next_at {
        Some(at) => format!("{} % elected, more in {}", wave.pct, pen.left(at)),
        None => format!("{} % elected, never more", wave.pct),
    }
}

/// Shape, word and colour of a machine.
pub(super) fn machine_look(row: &Row) -> (Glyph, &'static str, Role) {
    let word = row.row.state.word();
    match row.row.state {
        RowState::Paused => (Glyph::Paused, "PAUSED", Role::Paused),
        RowState::Applied if row.row.settles_at.is_some() => (Glyph::Settling, "settling", Role::Settling),
        RowState::Applied => (Glyph::Done, word, Role::Done),
        RowState::Failed => (Glyph::Failed, "FAILED", Role::Failed),
        RowState::Errored => (Glyph::Errored, "ERRORED", Role::Failed),
        RowState::Pending => (Glyph::Moving, word, Role::Moving),
        RowState::Queued => (Glyph::Queued, word, Role::Queued),
        RowState::Waiting if row.resting => (Glyph::Waiting, "idle", Role::Dim),
        RowState::Waiting => (Glyph::Waiting, word, Role::Dim),
    }
}

fn machine(lane: &LaneFacts, row: &Row, columns: Columns, pen: &mut Pen<'_>) {
    state_cell(columns.state, machine_look(row), pen);
    let pieces = machine_words(lane, row, pen);
    pen.line(columns.what, &pieces);
    if row.row.failures > 0 {
        pen.line_right(columns.failures, &[piece(Role::Failed, row.row.failures.to_string())]);
    }
}

/// What a machine waits for, in a few words: slot, queue, window, presence.
pub(super) fn machine_words(lane: &LaneFacts, row: &Row, pen: &mut Pen<'_>) -> Vec<Piece<'static>> {
    let mut facts: Vec<(Role, String)> = Vec::new();
    if row.row.is_online == Some(false) {
        let age = row.row.last_seen_at.map(|at| format!(" {}", pen.age(at))).unwrap_or_default();
        facts.push((Role::Warning, format!("{} offline{age}", pen.glyph(Glyph::Offline))));
    }
    if let Some(since) = row.row.held_since {
        facts.push((Role::Text, format!("holds {}", pen.age(since))));
    }
    if let Some(at) = row.halts_at.filter(|_| lane.state != LaneState::Halted) {
        let role = if pen.now() >= super::super::needs::late_margin(lane.stall).before(at) {
            Role::Warning
        } else {
            Role::Dim
        };
        facts.push((role, format!("halts in {}", pen.left(at))));
    }
    if let Some(why) = row.timer_held {
        facts.push((Role::Paused, why.to_owned()));
    }
    if let Some(position) = row.row.queue_position {
        facts.push((Role::Text, format!("number {position}")));
    }
    if let Some(end) = row.row.settles_at {
        facts.push((Role::Settling, format!("settles {}", pen.left(end))));
    }
    if let Some(missing) = &row.row.render_error {
        facts.push((Role::Failed, format!("missing {}", missing.join(", "))));
    }
    if row.cordoned {
        facts.push((Role::Warning, "node cordoned".to_owned()));
    }
    joined(facts, pen)
}

/// Facts of one line with a dot between.
pub(super) fn joined(facts: Vec<(Role, String)>, pen: &Pen<'_>) -> Vec<Piece<'static>> {
    let dot = format!(" {} ", pen.glyph(Glyph::Dot));
    let mut pieces = Vec::new();
    for (n, (role, text)) in facts.into_iter().enumerate() {
        if n > 0 {
            pieces.push(piece(Role::Dim, dot.clone()));
        }
        pieces.push(piece(role, text));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::super::super::theme::{Depth, Theme};
    use super::*;

    #[test]
    fn halted_stalled_waiting_and_settling_are_told_apart_by_shape_word_and_colour() {
        let states = [LaneState::Halted, LaneState::Stalled, LaneState::Ready, LaneState::Settling, LaneState::Moving]
            .map(lane_look);
        for (n, one) in states.iter().enumerate() {
            for other in &states[n + 1..] {
                assert_ne!(one.1, other.1);
                for ascii in [false, true] {
                    assert_ne!(one.0.text(ascii), other.0.text(ascii), "{one:?} {other:?}");
                }
                for name in Theme::names().filter(|name| *name != "mono") {
                    let theme = Theme::shipped(name, Depth::True).unwrap();
                    assert_ne!(theme.style(one.2), theme.style(other.2), "{name}: {one:?} {other:?}");
                }
            }
        }
    }
}
