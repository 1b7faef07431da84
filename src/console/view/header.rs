//! The header: whom it talks to, as what, how fresh it is, who ticks, and how much needs a human.

use ratatui::layout::Rect;

use super::super::glyph::Glyph;
use super::super::keys::Mode;
use super::super::layout::{Frame, Room};
use super::super::model::{Model, Screen};
use super::super::need::NeedKind;
use super::super::snapshot::{Freshness, STALE_AFTER, Snapshot, TICK_LATE_AFTER};
use super::super::theme::Role;
use super::pen::{Pen, Piece, piece};
use crate::domain::decide::next_unattended;
use crate::domain::fallback::{Fallback, Rung, Silence};
use crate::domain::span::Seconds;

/// Columns from which on the second row has room for more than what has to be there.
const ROOMY: u16 = 100;

/// Draws the lines on top.
pub(super) fn draw(model: &Model, frame: &Frame, pen: &mut Pen<'_>) {
    let row = |n: u16| Rect { y: frame.header.y + n, height: u16::from(n < frame.header.height), ..frame.header };
    if frame.room == Room::Small {
        let right =
            if model.arming.until(model.now).is_some() { right(armed(model, pen)) } else { right(fresh(model, pen)) };
        both(row(0), &[piece(Role::Strong, format!(" {}", account(model)))], &right, pen);
        return;
    }
    let left = [
        piece(Role::Strong, format!(" {}", account(model))),
        piece(Role::Dim, format!("  {}", endpoint(model))),
        own(model, pen),
    ];
    let freshness = right(fresh(model, pen));
    both(row(0), &left, &freshness, pen);
    let standing = standing(model, row(1).width >= ROOMY, pen);
    let needs = right(needs(model, pen));
    both(row(1), &standing, &needs, pen);
}

fn right(mut pieces: Vec<Piece<'_>>) -> Vec<Piece<'_>> {
    pieces.push(piece(Role::Header, " "));
    pieces
}

/// The right end is never cut; the left one makes room for it.
fn both(area: Rect, left: &[Piece<'_>], right: &[Piece<'_>], pen: &mut Pen<'_>) {
    let taken = pen.line_right(area, right);
    pen.line(Rect { width: area.width.saturating_sub(taken + 1), ..area }, left);
}

fn account(model: &Model) -> &str {
    model.picture.as_ref().map_or("kura-console", |p| p.account.as_str())
}

fn endpoint(model: &Model) -> &str {
    model.picture.as_ref().map_or(model.setup.endpoint.as_str(), |p| p.endpoint.as_str())
}

/// The cluster this console looks at by itself, by the name it is known by here.
fn own(model: &Model, pen: &Pen<'_>) -> Piece<'static> {
    let Some(own) = model.picture.as_ref().and_then(|picture| picture.own.as_ref()) else {
        return piece(Role::Dim, "");
    };
    let dot = pen.glyph(Glyph::Dot);
    match &own.trouble {
        None => piece(Role::Dim, format!(" {dot} {}", own.context)),
        Some(_) => piece(Role::Warning, format!(" {dot} {} is not seen", own.context)),
    }
}

/// How fresh the picture is, in words; an age only once it matters.
fn fresh(model: &Model, pen: &mut Pen<'_>) -> Vec<Piece<'static>> {
    if let Some(silence) = model.picture.as_ref().and_then(|picture| alone(picture)) {
        // The journal is read from here, and is as fresh as it says; the control plane is still what is missing.
        let text = format!("{} api lost {}", pen.glyph(Glyph::Warning), pen.age(silence.since));
        return vec![piece(Role::Halted, text)];
    }
    let api = model.picture.as_ref().map_or(&Freshness::Connecting, |p| &p.api);
    let (glyph, role, text) = match api {
        Freshness::Connecting => (Glyph::Offline, Role::Dim, "connecting".to_owned()),
        Freshness::Live(at) => {
            let stale_at = Seconds(STALE_AFTER.0 + 1).after(*at);
            pen.wake_at(stale_at);
            match Seconds::between(*at, pen.now()) > STALE_AFTER {
                true => (Glyph::Warning, Role::Warning, format!("stale {}", pen.age(*at))),
                false => (Glyph::Moving, Role::Done, "live".to_owned()),
            }
        }
        Freshness::Lost { since, retry_at, .. } => {
            let again = match retry_at {
                Some(at) if *at > pen.now() => format!("next try in {}", pen.left(*at)),
                _ => "retrying".to_owned(),
            };
            (Glyph::Warning, Role::Halted, format!("lost {}, {again}", pen.age(*since)))
        }
        Freshness::Refused { .. } => (Glyph::Failed, Role::Halted, "refused".to_owned()),
    };
    vec![piece(role, format!("{} {text}", pen.glyph(glyph)))]
}

/// The silence of the control plane, while the journal answers in its place.
fn alone(picture: &Snapshot) -> Option<&Silence> {
    let fallback = picture.fallback.as_ref().filter(|fallback| fallback.rung.is_embedded())?;
    fallback.silence.as_ref().filter(|_| matches!(picture.api, Freshness::Live(_)))
}

/// On which rung of the ladder this console stands; while the control plane answers, whether there is one.
fn rung(picture: &Snapshot, is_roomy: bool) -> Option<Piece<'static>> {
    let fallback = picture.fallback.as_ref()?;
    Some(match (&fallback.rung, &fallback.trouble) {
        (Rung::Attached, None) if !fallback.is_looked_at && is_roomy => piece(Role::Dim, "no fallback yet"),
        (Rung::Attached, None) if !fallback.is_looked_at => piece(Role::Dim, "no fallback"),
        (Rung::Attached, None) => piece(Role::Dim, ready(fallback, is_roomy)),
        (Rung::Attached, Some(_)) => piece(Role::Dim, "no fallback"),
        (Rung::Lost, None) => piece(Role::Warning, "opening the journal"),
        (Rung::Lost, Some(_)) => piece(Role::Warning, "no fallback"),
        (Rung::StandingBy(_), _) => piece(Role::Warning, "STANDING BY"),
        (Rung::Waiting(_), _) => piece(Role::Armed, " WAITS FOR THE SEAT "),
        (Rung::Seated(epoch), _) => piece(Role::Armed, format!(" SEAT IS HERE, epoch {epoch} ")),
        (Rung::HandingBack(_), _) => piece(Role::Warning, "handing the seat back"),
    })
}

/// It could be carried on; where there is room for it, over what kind of journal.
fn ready(fallback: &Fallback, is_roomy: bool) -> String {
    let over = fallback.over.as_deref().filter(|_| is_roomy);
    let kind = over.and_then(|over| Some(over.split_once(':')?.0));
    kind.map_or_else(|| "fallback ready".to_owned(), |kind| format!("fallback ready: {kind}"))
}

/// What the person may do right now, and who ticks.
fn standing(model: &Model, is_roomy: bool, pen: &mut Pen<'_>) -> Vec<Piece<'static>> {
    let mut pieces = vec![piece(Role::Header, " ")];
    match model.arming.until(model.now) {
        Some(_) => pieces.extend(armed(model, pen)),
        None => pieces.push(piece(Role::Dim, "READ-ONLY")),
    }
    // Before a first picture nobody knows as what one is let in, or who ticks.
    let Some(picture) = model.picture.as_ref().filter(|p| !p.is_blank()) else { return pieces };
    let dot = format!(" {} ", pen.glyph(Glyph::Dot));
    let rung = rung(picture, is_roomy);
    let is_attached = picture.fallback.as_ref().is_some_and(|fallback| fallback.rung == Rung::Attached);
    if let Some(rung) = rung.clone().filter(|_| !is_attached) {
        pieces.extend([piece(Role::Dim, dot.clone()), rung]);
    }
    if picture.divided().is_some() {
        pieces.push(piece(Role::Halted, format!("{dot}different clusters: verbs are off")));
    }
    if picture.glimpse.is_some() {
        // Neither what this token may do nor who ticks is told.
        pieces.push(piece(Role::Dim, dot.clone()));
        pieces.push(piece(Role::Warning, "basic link: status only, no plans"));
    } else {
        pieces.push(piece(Role::Dim, format!("{dot}{}", picture.access.word())));
        pieces.push(piece(Role::Dim, dot.clone()));
        pieces.push(seat(picture, is_roomy));
    }
    if let Some(rung) = rung.filter(|_| is_attached) {
        pieces.extend([piece(Role::Dim, dot.clone()), rung]);
    }
    if let Some(starter) = unattended(picture) {
        pieces.push(piece(Role::Dim, format!("{dot}{starter}")));
    }
    if let Some(late) = late_tick(picture, pen) {
        pieces.push(piece(Role::Warning, format!("{dot}{late}")));
    }
    pieces
}

/// Who ticks, where there is room for it in which epoch; who did where nobody does.
fn seat(picture: &Snapshot, is_roomy: bool) -> Piece<'static> {
    match (picture.holder(), &picture.seat.holder) {
        (Some(holder), _) if is_roomy => piece(Role::Dim, format!("seat {holder}, epoch {}", picture.seat.epoch)),
        (Some(holder), _) => piece(Role::Dim, format!("seat {holder}")),
        (None, Some(last)) if is_roomy => piece(Role::Warning, format!("seat free, was {last}")),
        (None, Some(_)) => piece(Role::Warning, "seat free"),
        (None, None) => piece(Role::Warning, "nobody holds the seat"),
    }
}

/// What starts next without a person, or what may (R169).
fn unattended(picture: &Snapshot) -> Option<String> {
    if let Some(next) = next_unattended(&picture.world) {
        return Some(format!("{} starts next by itself", picture.world.release_name(next)));
    }
    let may = match (picture.world.account.auto_deploy, picture.world.account.track_config_tags) {
        (true, _) => Some("auto-deploy is on"),
        (false, true) => Some("tags start by themselves"),
        (false, false) => None,
    };
    may.map(str::to_owned)
}

fn armed(model: &Model, pen: &mut Pen<'_>) -> Vec<Piece<'static>> {
    let Some(until) = model.arming.until(model.now) else { return Vec::new() };
    vec![piece(Role::Armed, format!(" ARMED {} ", pen.left(until)))]
}

fn late_tick(picture: &Snapshot, pen: &mut Pen<'_>) -> Option<String> {
    let at = picture.seat.last_tick.filter(|_| picture.api.is_fresh(pen.now()))?;
    picture.world.running()?;
    pen.wake_at(Seconds(TICK_LATE_AFTER.0 + 1).after(at));
    (Seconds::between(at, pen.now()) > TICK_LATE_AFTER).then(|| format!("no tick {}", pen.age(at)))
}

fn needs(model: &Model, pen: &mut Pen<'_>) -> Vec<Piece<'static>> {
    let Some(picture) = model.picture.as_ref().filter(|p| !p.is_blank()) else { return Vec::new() };
    let warned =
        |text: String, pen: &Pen<'_>| vec![piece(Role::Warning, format!("{} {text}", pen.glyph(Glyph::Warning)))];
    // That the control plane is silent was not seen of it: that is so now.
    let seen = model.facts.needs.iter().filter(|need| need.kind != NeedKind::Silent).count();
    match (model.facts.needs.len(), seen, picture.api.is_fresh(pen.now())) {
        (0, _, true) => vec![piece(Role::Dim, "nothing needs you")],
        (0, _, false) => vec![piece(Role::Warning, "what needs you is not known")],
        (_, n, false) if n > 0 => warned(format!("{n} needed you when last seen"), pen),
        (1, ..) => warned("1 needs you".to_owned(), pen),
        (n, ..) => warned(format!("{n} need you"), pen),
    }
}

/// Names of the screens; beside them the most urgent need, wherever one is.
pub(super) fn headline(model: &Model, frame: &Frame, pen: &mut Pen<'_>) {
    if frame.tabs.height == 0 {
        return;
    }
    pen.rule(frame.tabs);
    let screens = [
        (Screen::Now, super::super::command::Command::ScreenNow),
        (Screen::Rollout, super::super::command::Command::ScreenRollout),
        (Screen::Kura, super::super::command::Command::ScreenKura),
        (Screen::Rolls, super::super::command::Command::ScreenRolls),
        (Screen::Nodes, super::super::command::Command::ScreenNodes),
        (Screen::Releases, super::super::command::Command::ScreenReleases),
        (Screen::History, super::super::command::Command::ScreenHistory),
        (Screen::Log, super::super::command::Command::ScreenLog),
    ];
    let mut pieces = vec![piece(Role::Rule, pen.glyph(Glyph::Rule)), piece(Role::Tab, " ")];
    // An account without Kura, or without fleet rolls, is not told of them.
    let is_told = |screen: &Screen| match screen {
        Screen::Kura => !model.facts.kura.is_empty(),
        Screen::Rolls | Screen::Nodes => !model.facts.fleet.is_empty(),
        _ => true,
    };
    for (screen, command) in screens.into_iter().filter(|(screen, _)| *screen == model.screen || is_told(screen)) {
        let key = model.setup.keymap.keys_of(Mode::List, command).into_iter().next().unwrap_or_default();
        let role = if screen == model.screen { Role::TabCurrent } else { Role::Tab };
        pieces.push(piece(Role::Key, key));
        pieces.push(piece(Role::Tab, " "));
        pieces.push(piece(role, command.spec().hint));
        pieces.push(piece(Role::Tab, "  "));
    }
    pieces.pop();
    pieces.push(piece(Role::Tab, " "));
    let used = pen.line(frame.tabs, &pieces);
    let room = Rect { x: frame.tabs.x + used + 1, width: frame.tabs.width.saturating_sub(used + 2), ..frame.tabs };
    match model.facts.needs.first() {
        Some(need) if model.screen != Screen::Now && room.width > 20 => {
            let (glyph, word, role) = need.kind.look();
            let told = |since| match need.kind {
                NeedKind::Gate => pen.waited(since),
                _ => pen.age(since),
            };
            let age = need.since.map(told).map(|age| format!(" {age}")).unwrap_or_default();
            let text = format!(" {} {word} {}{age} {} ", pen.glyph(glyph), need.name, need.text);
            let columns = usize::from(room.width);
            let text = super::super::text::cut(&super::super::text::escape(&text), columns, pen.glyph(Glyph::Ellipsis))
                .into_owned();
            pen.line_right(room, &[piece(role, text)]);
        }
        _ => {}
    }
}
