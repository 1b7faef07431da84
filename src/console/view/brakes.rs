//! The brakes of a ring, the waves of its ladder, and what a machine out of scope lacks.

use super::super::facts::LaneFacts;
use super::super::glyph::Glyph;
use super::super::snapshot::Snapshot;
use super::super::spare::Loose;
use super::super::theme::Role;
use super::detail::{Text, fact};
use super::pen::{Pen, piece};
use super::row::lacking;
use crate::domain::fleet::{RingSettings, Rung};
use crate::domain::ids::RingId;
use crate::domain::span::Seconds;

/// What serialises a ring.
pub(super) fn of_ring(picture: &Snapshot, id: RingId) -> Vec<Text> {
    let Some(settings) = picture.world.rings.get(&id).map(|ring| &ring.settings) else { return Vec::new() };
    let cap = if settings.max_in_flight == 0 { "none".to_owned() } else { settings.max_in_flight.to_string() };
    vec![
        fact("cap", Role::Text, cap),
        fact("settle", Role::Text, off(settings.min_settle_seconds)),
        fact("stall", Role::Text, off(settings.stall_timeout_seconds)),
        fact("threshold", Role::Text, failures(settings)),
    ]
}

fn off(span: Seconds) -> String {
    if span.is_off() { "off".to_owned() } else { span.to_string() }
}

fn failures(settings: &RingSettings) -> String {
    match settings.failure_count_threshold {
        1 => "1 failure halts it".to_owned(),
        count => format!("{count} failures halt it"),
    }
}

/// A ladder that elects everybody at once is one line, any other one is a line for each of its waves (R70).
pub(super) fn waves(picture: &Snapshot, ring: RingId, lane: Option<&LaneFacts>, pen: &mut Pen<'_>) -> Vec<Text> {
    let Some(settings) = picture.world.rings.get(&ring).map(|ring| &ring.settings) else { return Vec::new() };
    if let [Rung { after_seconds: 0, pct: 100 }] = settings.wave_ladder[..] {
        return vec![fact("ladder", Role::Text, "everybody at once")];
    }
    let rollout = picture.world.current();
    let opened = lane.zip(rollout).and_then(|(lane, rollout)| rollout.opened.get(&lane.key.0)).copied();
    let elected = lane.and_then(|lane| lane.wave).map_or(100, |wave| wave.pct);
    let mut lines = vec![Text::new(), vec![piece(Role::Heading, "WAVES OF THE LADDER")]];
    for rung in &settings.wave_ladder {
        let after = Seconds(rung.after_seconds);
        let of = lane.filter(|lane| !lane.rows.iter().any(|row| row.resting)).map_or_else(String::new, |lane| {
            let elected = lane.rows.iter().filter(|row| row.row.bucket < rung.pct).count();
            format!(", {elected} of {} machines", lane.rows.len())
        });
        let (glyph, role, when) = match opened.map(|at| after.after(at)) {
            Some(at) if at > pen.now() => (Glyph::Waiting, Role::Text, format!("in {}", pen.left(at))),
            Some(_) if rung.pct <= elected => (Glyph::Done, Role::Done, "elected".to_owned()),
            _ if after.is_off() => (Glyph::Waiting, Role::Dim, "as its environment opens".to_owned()),
            _ => (Glyph::Waiting, Role::Dim, format!("{after} after its environment opens")),
        };
        lines.push(vec![
            piece(role, format!("{} {:>3} %", pen.glyph(glyph), rung.pct)),
            piece(Role::Text, format!("  {when}{of}")),
        ]);
    }
    if settings.wave_ladder.iter().all(|rung| rung.pct < 100) {
        let text = format!("{} it never elects everybody: its environment never completes", pen.glyph(Glyph::Warning));
        lines.push(vec![piece(Role::Warning, text)]);
    }
    lines
}

/// A machine that is out of scope.
pub(super) fn of_loose(machine: &Loose, pen: &mut Pen<'_>) -> Vec<Text> {
    let online = match (machine.is_online, machine.last_seen_at) {
        (Some(true), _) => "yes".to_owned(),
        (Some(false), Some(at)) => format!("no, last seen {} ago", pen.age(at)),
        (Some(false), None) => "no, never seen".to_owned(),
        (None, _) => "not known yet".to_owned(),
    };
    let mut lines = vec![fact("place", Role::Text, lacking(machine)), fact("online", Role::Text, online)];
    if let Some(pause) = &machine.paused {
        let why = pause.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        lines.push(fact("paused", Role::Paused, format!("{} ago by {}{why}", pen.age(pause.at), pause.by)));
    }
    lines
}
