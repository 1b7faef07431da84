//! One row of the table of Kura servers. Where there is no room for all its columns, what is not as it should be is said
//! in words, the most pressing first.

use ratatui::layout::Rect;

use super::super::glyph::Glyph;
use super::super::kura::row::{BEAT_LATE_AFTER, Drift, ServerRow};
use super::super::kura::short;
use super::super::theme::Role;
use super::pen::{Pen, Piece, piece};
use crate::domain::kura::deployment::DeploymentStatus;
use crate::domain::kura::server::{MovePhase, ServerStatus};
use crate::domain::kura::workload::PausedBy;
use crate::domain::span::Seconds;

/// From this many columns on every fact has a column of its own.
const ALL_COLUMNS: u16 = 112;

/// Below this many columns the tag and the state's word make room.
const FEW_COLUMNS: u16 = 60;

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    State,
    Name,
    Tag,
    Attempt,
    Waits,
    Ready,
    Old,
    Superseded,
    Drift,
    Held,
    Beat,
    Note,
}

/// The columns there is room for, and where they stand; the name, or what is said, gets what is left.
pub(super) fn columns(area: Rect) -> Vec<(Column, Rect)> {
    use Column as C;
    let area = Rect { x: area.x + 2.min(area.width), width: area.width.saturating_sub(3), ..area };
    let widths: &[(Column, u16)] = match area.width {
        ALL_COLUMNS.. => &[
            (C::State, 15),
            (C::Name, 0),
            (C::Tag, 16),
            (C::Attempt, 14),
            (C::Waits, 15),
            (C::Ready, 6),
            (C::Old, 4),
            (C::Superseded, 4),
            (C::Drift, 8),
            (C::Held, 12),
            (C::Beat, 4),
        ],
        FEW_COLUMNS.. => &[(C::State, 15), (C::Name, 19), (C::Tag, 16), (C::Ready, 6), (C::Note, 0)],
        _ => &[(C::State, 2), (C::Name, 19), (C::Note, 0)],
    };
    let fixed: u16 = widths.iter().map(|(_, width)| width).sum();
    let rest = area.width.saturating_sub(fixed);
    let mut x = area.x;
    let mut place = |(column, width): &(Column, u16)| {
        let width = if *width == 0 { rest } else { *width }.min(area.right().saturating_sub(x));
        let gap = u16::from(x + width < area.right());
        let place = Rect { x, width: width.saturating_sub(gap), ..area };
        x += width;
        (*column, place)
    };
    widths.iter().map(&mut place).collect()
}

/// Draws a row.
pub(super) fn draw(row: &ServerRow, area: Rect, pen: &mut Pen<'_>) {
    for (column, place) in columns(area) {
        let one = |pen: &mut Pen<'_>| {
            let pieces = cell(row, column, place.width, pen);
            pen.line(place, &pieces);
        };
        match column {
            // What the control plane decided, and nobody sees in the cluster.
            Column::State | Column::Tag | Column::Attempt | Column::Superseded => pen.as_told(one),
            _ => one(pen),
        }
    }
}

fn cell(row: &ServerRow, column: Column, width: u16, pen: &mut Pen<'_>) -> Vec<Piece<'static>> {
    let nothing = || vec![piece(Role::Dim, "-")];
    match column {
        Column::State => {
            let (glyph, role) = look(row);
            let word = if width > 2 { format!(" {}", row.status.word()) } else { String::new() };
            vec![piece(role, format!("{}{word}", pen.glyph(glyph)))]
        }
        Column::Name => vec![piece(Role::Strong, row.name.clone())],
        Column::Tag => tags(row, width, pen),
        Column::Attempt => row.attempt.as_ref().map_or_else(nothing, |attempt| {
            let role = if attempt.status.is_open() { Role::Text } else { Role::Dim };
            vec![piece(role, format!("{} {}", attempt.status.word(), pen.short_age(attempt.at)))]
        }),
        Column::Waits => row.wait.as_ref().map_or_else(nothing, |wait| {
            vec![piece(Role::Warning, format!("{} {}", short(wait.kind), pen.short_age(wait.since)))]
        }),
        Column::Ready => vec![ready(row)],
        Column::Old => counted(row.on_old_image(), Role::Warning),
        Column::Superseded => counted(row.superseded, if row.left_behind { Role::Warning } else { Role::Text }),
        Column::Drift => vec![match row.drift {
            None => piece(Role::Dim, "?"),
            Some(Drift::None) => piece(Role::Dim, "-"),
            Some(drift) => piece(Role::Warning, drifted(drift)),
        }],
        Column::Held => row.held().map_or_else(nothing, |held| {
            let by = if held.by == PausedBy::Operator { "operator" } else { "controller" };
            let age = held.since.map_or_else(String::new, |at| format!(" {}", pen.short_age(at)));
            vec![piece(Role::Paused, format!("{by}{age}"))]
        }),
        Column::Beat => vec![beat(row, pen)],
        Column::Note => note(row, pen),
    }
}

fn look(row: &ServerRow) -> (Glyph, Role) {
    match row.status {
        ServerStatus::Active if row.dead_node.is_some() => (Glyph::Offline, Role::Failed),
        ServerStatus::Active if row.open().is_some() => (Glyph::Moving, Role::Moving),
        ServerStatus::Active if !row.is_well() => (Glyph::Warning, Role::Warning),
        ServerStatus::Active => (Glyph::Done, Role::Done),
        ServerStatus::Failed => (Glyph::Failed, Role::Failed),
        ServerStatus::Replicating => (Glyph::Failed, Role::Failed),
        ServerStatus::Destroying => (Glyph::Warning, Role::Warning),
        ServerStatus::Provisioning => (Glyph::Queued, Role::Queued),
        ServerStatus::Destroyed => (Glyph::Dot, Role::Dim),
    }
}

/// `0.19.0 → 0.20.0`, the one tag where they agree, and a mark where a person holds it there.
fn tags(row: &ServerRow, width: u16, pen: &Pen<'_>) -> Vec<Piece<'static>> {
    let current = row.current.as_deref().unwrap_or("none");
    let leads = row.open().map(|open| open.tag.as_str()).or(row.target.as_deref()).filter(|tag| *tag != current);
    let pinned = row.pinned_by.as_ref().map(|_| piece(Role::Paused, pen.glyph(Glyph::Paused)));
    let room = usize::from(width).saturating_sub(current.chars().count() + 1);
    let mut pieces = vec![piece(Role::Text, current.to_owned())];
    if let Some(tag) = leads {
        let tag = if tag.chars().count() > room { "newer".to_owned() } else { tag.to_owned() };
        pieces.push(piece(Role::Dim, pen.glyph(Glyph::Arrow)));
        pieces.push(piece(Role::Text, tag));
    }
    pieces.extend(pinned);
    pieces
}

fn ready(row: &ServerRow) -> Piece<'static> {
    match row.ready() {
        None => piece(Role::Warning, format!("?/{}", row.replicas)),
        Some(ready) if ready >= row.replicas => piece(Role::Text, format!("{ready}/{}", row.replicas)),
        Some(ready) => piece(Role::Warning, format!("{ready}/{}", row.replicas)),
    }
}

fn counted(count: usize, role: Role) -> Vec<Piece<'static>> {
    vec![if count == 0 { piece(Role::Dim, "-") } else { piece(role, count.to_string()) }]
}

fn drifted(drift: Drift) -> &'static str {
    match drift {
        Drift::None => "",
        Drift::Edited => "edited",
        Drift::Drifted => "drifted",
        Drift::Missing => "missing",
    }
}

/// An age only once it matters, so that a quiet screen writes nothing.
fn beat(row: &ServerRow, pen: &mut Pen<'_>) -> Piece<'static> {
    let Some(at) = row.beat else { return piece(Role::Dim, "?") };
    match late_beat(row, pen) {
        Some(age) => piece(Role::Warning, age),
        None => {
            pen.wake_at(Seconds(BEAT_LATE_AFTER.0 + 1).after(at));
            piece(Role::Dim, "ok")
        }
    }
}

fn late_beat(row: &ServerRow, pen: &mut Pen<'_>) -> Option<String> {
    let at = row.beat?;
    (Seconds::between(at, pen.now()) > BEAT_LATE_AFTER).then(|| pen.short_age(at))
}

/// What is not as it should be, in words; where everything is, how its last deployment ended.
fn note(row: &ServerRow, pen: &mut Pen<'_>) -> Vec<Piece<'static>> {
    let mut parts: Vec<(Role, String)> = Vec::new();
    let mut say = |role: Role, text: Option<String>| parts.extend(text.map(|text| (role, text)));
    say(Role::Failed, row.dead_node.as_ref().map(|node| format!("{node} is dead")));
    say(Role::Warning, row.wait.as_ref().map(|wait| format!("{} {}", short(wait.kind), pen.short_age(wait.since))));
    let unnamed = row.open().filter(|_| row.wait.is_none());
    say(Role::Text, unnamed.map(|open| format!("{} {}", open.status.word(), pen.short_age(open.at))));
    let failed = row.attempt.as_ref().filter(|attempt| attempt.status == DeploymentStatus::Failed);
    say(Role::Failed, failed.map(|attempt| format!("{} failed {}", attempt.tag, pen.short_age(attempt.at))));
    say(Role::Warning, row.tug.as_ref().map(|(manager, _)| format!("{manager} writes back")));
    say(Role::Failed, (!row.troubles.is_empty()).then(|| "write fails".to_owned()));
    say(Role::Warning, row.drift.filter(|drift| *drift != Drift::None).map(|drift| drifted(drift).to_owned()));
    say(Role::Moving, row.progressing().map(|_| "progressing".to_owned()));
    say(Role::Warning, row.left_behind.then(|| format!("{} superseded", row.superseded)));
    let held = row.held().map(|held| if held.by == PausedBy::Operator { "operator" } else { "controller" });
    say(Role::Paused, held.map(|by| format!("held by {by}")));
    say(Role::Warning, (!row.pinned().is_empty()).then(|| "pinned pod".to_owned()));
    say(Role::Warning, (row.on_old_image() > 0).then(|| format!("{} old", row.on_old_image())));
    say(Role::Dim, (row.moving != MovePhase::None).then(|| row.moving.word().replace('_', " ")));
    say(Role::Warning, late_beat(row, pen).map(|age| format!("controller silent {age}")));
    if parts.is_empty() {
        let last = row.attempt.as_ref().map(|last| format!("{} {}", last.status.word(), pen.short_age(last.at)));
        parts.extend(last.map(|text| (Role::Dim, text)));
    }
    super::row::joined(parts, pen)
}
