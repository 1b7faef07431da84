//! Kura servers: one row for each with everything an operator must see of it (§8), and the selected one explained.

use ratatui::layout::Rect;

use super::super::facts::Node;
use super::super::glyph::Glyph;
use super::super::kura::facts::{GatewayRow, Group, GroupKind};
use super::super::kura::{Part, Veiled, counted, open_ones, remedies};
use super::super::layout::{Frame, Room};
use super::super::model::{Model, Subject};
use super::super::snapshot::Access;
use super::super::sort::By;
use super::super::theme::Role;
use super::detail::{self, Text};
use super::pen::{Pen, Piece, piece};
use super::row::head;
use super::server_row::{self, Column};
use super::{remedy, server, table};
use crate::domain::kura::orphans::{Direction, Orphan};

/// Draws the screen.
pub(super) fn draw(model: &Model, frame: &Frame, pen: &mut Pen<'_>) {
    let split = frame.table(model.facts.kura.veiled.len());
    summary(model, split.summary, pen);
    if split.heading.height > 0 {
        heading(model, split.heading, pen);
    }
    if model.kura.rows.is_empty() {
        pen.line(split.list, &[piece(Role::Dim, empty(model))]);
        // Nothing is selected: whatever could be said is about something else.
        return pen.rule(split.detail);
    }
    let list = (&*model.kura.rows, &model.kura.pick);
    table::rows(model, list, split.list, pen, |part, place, pen| one(model, part, place, pen));
    match frame.room {
        Room::Wide => both(model, split.detail, pen),
        _ => detail::strip(model, split.detail, pen),
    }
}

fn empty(model: &Model) -> String {
    let picture = model.picture.as_ref();
    let glimpsed = picture.is_some_and(|picture| picture.glimpse.is_some());
    let looks = picture.is_some_and(|picture| picture.access == Access::Viewer);
    let text = match (model.kura.filter.is_empty(), glimpsed, looks) {
        (false, ..) => "nothing passes the filter",
        (true, true, _) => "basic link: this control plane does not list any",
        (true, false, true) => "no server yet; an operator adds them, your token can look",
        (true, false, false) => "no server yet; add one: kura-console add-server TENANT REGION",
    };
    format!("  {text}")
}

/// How many there are and serve, what they are led to; what cannot be relied on is said below.
fn summary(model: &Model, area: Rect, pen: &mut Pen<'_>) {
    let facts = &model.facts.kura;
    let [all, serving, open] = facts.counts();
    let first = Rect { height: area.height.min(1), ..area };
    let role = if serving == all { Role::Done } else { Role::Warning };
    let taken = pen.line_right(first, &[piece(role, format!("{serving}/{all} serve ")), piece(Role::Text, "")]);
    let newest = match &facts.target {
        Some(tag) => vec![piece(Role::Dim, " newest tag "), piece(Role::Strong, tag.clone())],
        None => vec![piece(Role::Dim, " no runtime tag was released yet")],
    };
    let mut pieces: Vec<Piece<'_>> = newest;
    if open > 0 {
        pieces.push(piece(Role::Dim, format!(" {} {}", pen.glyph(Glyph::Dot), open_ones(open))));
    }
    pen.line(Rect { width: area.width.saturating_sub(taken + 1), ..first }, &pieces);
    if area.height > 1 {
        veiled(&facts.veiled, Rect { y: area.y + 1, height: 1, ..area }, pen);
    }
}

/// What cannot be relied on, with its age.
pub(super) fn veiled(sources: &[Veiled], area: Rect, pen: &mut Pen<'_>) {
    let mut parts = Vec::new();
    for one in sources {
        let age = one.as_of.map_or_else(String::new, |at| format!(" {}", pen.age(at)));
        let why = one.why.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
        parts.push(format!("{} {}{age}{why}", one.kind, one.word).trim_start().to_owned());
    }
    let text = format!(" {} {}", pen.glyph(Glyph::Warning), parts.join(", "));
    pen.line(area, &[piece(Role::Warning, text)]);
}

fn heading(model: &Model, area: Rect, pen: &mut Pen<'_>) {
    for (column, place) in server_row::columns(area) {
        let (title, by): (&str, &[By]) = match column {
            Column::State => ("STATUS", &[By::State]),
            Column::Name => ("SERVER", &[By::Name]),
            Column::Tag => ("TAG", &[By::Tag]),
            Column::Attempt => ("DEPLOYMENT", &[By::Age]),
            Column::Waits => ("WAITS FOR", &[By::Waits]),
            Column::Ready => ("READY", &[By::Ready]),
            Column::Old => ("OLD", &[By::Old]),
            Column::Superseded => ("SUP", &[By::Superseded]),
            Column::Drift => ("DRIFT", &[By::Drift]),
            Column::Held => ("HELD BY", &[By::Held]),
            Column::Beat => ("BEAT", &[By::Beat]),
            Column::Note => ("WHAT IT WAITS FOR", &[By::Waits, By::Age, By::Superseded]),
        };
        pen.line(place, &head(title, model.kura.sorting, by, pen));
    }
}

fn one(model: &Model, part: Part, area: Rect, pen: &mut Pen<'_>) {
    let inside = Rect { x: area.x + 2.min(area.width), width: area.width.saturating_sub(3), ..area };
    let facts = &model.facts.kura;
    match part {
        Part::Group(id) => {
            if let Some(known) = facts.group(id) {
                group(model, known, inside, pen);
            }
        }
        Part::Server(id) => {
            if let Some(row) = facts.servers.get(&id) {
                server_row::draw(row, area, pen);
            }
        }
        Part::Gateway(id) => facts.gateways.get(&id).into_iter().for_each(|row| gateway(row, inside, pen)),
        Part::Orphan(id) => facts.orphans.get(&id).into_iter().for_each(|row| orphan(row, inside, pen)),
        Part::Cause(_) | Part::Mesh(_) | Part::Estate => {}
    }
}

fn group(model: &Model, group: &Group, area: Rect, pen: &mut Pen<'_>) {
    let count = group.members.len();
    let fold = if model.kura.is_unfolded(group) { Glyph::Unfolded } else { Glyph::Folded };
    let servers = counted(count, "server");
    let (role, name, rest) = match group.kind {
        GroupKind::DeadNode => {
            (Role::Failed, format!("{} is not Ready", group.name), format!("{servers}, one incident"))
        }
        GroupKind::Region => (Role::Heading, group.name.clone(), servers),
        GroupKind::Gateways => (Role::Heading, "gateways unused or stuck".to_owned(), count.to_string()),
        GroupKind::Orphans => (Role::Heading, "orphans".to_owned(), count.to_string()),
    };
    let pieces =
        [piece(Role::Dim, format!("{} ", pen.glyph(fold))), piece(role, name), piece(Role::Dim, format!("  {rest}"))];
    pen.line(area, &pieces);
}

fn gateway(row: &GatewayRow, area: Rect, pen: &mut Pen<'_>) {
    let (look, note) = match row.leaving_since {
        Some(since) => {
            let beat = row.beat.map_or_else(|| "never heard".to_owned(), |at| format!("silent {}", pen.short_age(at)));
            let held = counted(row.finalizers.len(), "finalizer");
            let text = format!("leaving {}, held by {held}, controller {beat}", pen.short_age(since));
            ((Glyph::Warning, "stuck", Role::Warning), text)
        }
        None => {
            ((Glyph::Queued, "unused", Role::Queued), format!("nobody names it, {} old", pen.short_age(row.created_at)))
        }
    };
    loose(look, &row.name, note, area, pen);
}

fn orphan(row: &Orphan, area: Rect, pen: &mut Pen<'_>) {
    let note = match row.direction {
        Direction::InstanceWithoutRow => "it runs, and no server claims it",
        Direction::RowWithoutInstance => "a server claims it, and it does not run",
    };
    loose((Glyph::Warning, "orphan", Role::Warning), &row.name, note.to_owned(), area, pen);
}

/// A row that is no server: state, name, and the rest of the line.
fn loose(look: (Glyph, &str, Role), name: &str, note: String, area: Rect, pen: &mut Pen<'_>) {
    let (glyph, word, role) = look;
    pen.line(area, &[piece(role, format!("{} {word}", pen.glyph(glyph)))]);
    let rest = Rect { x: area.x + 15.min(area.width), width: area.width.saturating_sub(15), ..area };
    pen.line(rest, &[piece(Role::Strong, name.to_owned()), piece(Role::Text, format!("  {note}"))]);
}

/// The selected row below a wide table: what is said and what to do on the left, how it stands on the right.
fn both(model: &Model, area: Rect, pen: &mut Pen<'_>) {
    if area.height == 0 {
        return;
    }
    let left = Rect { width: area.width / 2, ..area };
    detail::strip(model, left, pen);
    let right = Rect { x: left.right(), width: area.width - left.width, ..area };
    pen.rule(right);
    let inside =
        Rect { x: right.x + 1, y: right.y + 1, width: right.width.saturating_sub(2), height: right.height - 1 };
    let lines = beside(model, usize::from(inside.width), pen);
    for y in inside.top()..inside.bottom() {
        let bar = pen.glyph(Glyph::Bar);
        pen.line(Rect { x: right.x, y, width: 1, height: 1 }, &[piece(Role::Rule, bar)]);
    }
    detail::show(&lines, 0, Rect { x: inside.x + 1, width: inside.width.saturating_sub(1), ..inside }, pen);
}

fn beside(model: &Model, width: usize, pen: &mut Pen<'_>) -> Vec<Text> {
    let (Some(picture), Subject::Node(Node::Kura(part))) = (&model.picture, model.shown()) else { return Vec::new() };
    let Part::Server(id) = part else {
        let matter = (None, Some(part));
        let advice = remedies(picture, &model.facts.kura, matter);
        let mut lines = remedy::whole(model, picture, &advice, width, pen);
        lines.extend(server::facts(model, picture, matter, width, pen));
        return lines;
    };
    let Some(server) = picture.world.kura.servers.get(&id) else { return Vec::new() };
    let sight = picture.observed.cluster.as_ref();
    let mut lines = vec![vec![piece(Role::Heading, "ENDPOINT CHAIN")]];
    lines.extend(server::endpoint(server, sight, width, pen));
    let pods = sight.into_iter().flat_map(|sight| sight.pods_of(&server.instance_name));
    let pods: Vec<Text> = pods.flat_map(|pod| server::of_pod(pod, server, width, pen)).collect();
    if !pods.is_empty() {
        lines.push(Text::new());
        lines.push(vec![piece(Role::Heading, "PODS")]);
        lines.extend(pods);
    }
    lines
}
