//! One row in full: the sentence, what to do next, its facts, its results.

use ratatui::layout::Rect;

use super::super::advice::advice;
use super::super::command::Command;
use super::super::facts::{LaneFacts, Node, Row, Tier};
use super::super::glyph::Glyph;
use super::super::keys::Mode;
use super::super::kura::{self, Part};
use super::super::model::{Model, Screen, Subject};
use super::super::saying::say;
use super::super::shelf::{Item, face, rehearsal};
use super::super::snapshot::{RunResult, Snapshot};
use super::super::text::{escape, width as columns, wrap};
use super::super::theme::Role;
use super::super::update::machine_of;
use super::pen::{Pen, Piece, piece};
use super::{brakes, deed, nodes, remedy, roll, row, server};
use crate::domain::explain::Explanation;
use crate::domain::fleet::Machine;
use crate::domain::ids::ReleaseId;
use crate::domain::kura::advice::Advice;
use crate::domain::preflight::Grade;
use crate::domain::release::Outcome;
use crate::domain::span::Seconds;

/// Results that are listed.
const RESULTS_SHOWN: usize = 5;

/// Lines of a log that are shown.
const LOG_SHOWN: usize = 12;

/// Columns of the names of facts.
const LABEL: usize = 10;

/// A line of pieces.
pub(super) type Text = Vec<Piece<'static>>;

/// What the selected row waits for, below the list.
pub(super) fn strip(model: &Model, area: Rect, pen: &mut Pen<'_>) {
    if area.height == 0 {
        return;
    }
    pen.rule(area);
    let Some(picture) = &model.picture else { return };
    let inside = Rect { x: area.x + 1, y: area.y + 1, width: area.width.saturating_sub(2), height: area.height - 1 };
    let gone = match model.screen {
        Screen::Now => model.now_pick.vanished().is_some(),
        Screen::Kura => model.kura.pick.vanished().is_some(),
        Screen::Rolls => model.rolls.pick.vanished().is_some(),
        Screen::Nodes => model.hosts.pick.vanished().is_some(),
        Screen::Releases | Screen::History => {
            model.shelf(model.screen).is_some_and(|shelf| shelf.pick.vanished().is_some())
        }
        Screen::Rollout | Screen::Log => model.tree_pick.vanished().is_some(),
    };
    if gone {
        pen.line(inside, &[piece(Role::Dim, "the selected row is no longer listed")]);
        return;
    }
    let (said, advice) = told(model, picture, model.shown(), pen);
    let rows = usize::from(inside.height);
    let lines = match advice {
        Some(advice) => remedy::brief(model, &said, &advice, (usize::from(inside.width), rows), pen),
        None => brief(&said, usize::from(inside.width), pen),
    };
    show(&lines, 0, inside, pen);
    if lines.len() > rows && rows > 0 {
        let last = Rect { y: inside.bottom() - 1, height: 1, ..inside };
        pen.line_right(last, &[piece(Role::Dim, format!(" {} more", pen.glyph(Glyph::Ellipsis)))]);
    }
}

/// The sentence, what to do, what to verify, and nothing else.
fn brief(said: &Explanation, width: usize, pen: &Pen<'_>) -> Vec<Text> {
    let mut lines = paragraph(Role::Strong, &said.sentence, width);
    lines.extend(said.next.iter().flat_map(|next| item(Glyph::Arrow, Role::Text, next, width, pen)));
    lines.extend(verify(said, width, pen));
    lines
}

/// Shows lines from `top` on; the last page is the end.
pub(super) fn show(lines: &[Text], top: usize, area: Rect, pen: &mut Pen<'_>) {
    let top = top.min(lines.len().saturating_sub(usize::from(area.height)));
    for (y, line) in (area.top()..area.bottom()).zip(&lines[top..]) {
        pen.line(Rect { y, height: 1, ..area }, line);
    }
}

pub(super) fn paragraph(role: Role, text: &str, width: usize) -> Vec<Text> {
    wrap(&escape(text), width).into_iter().map(|line| vec![piece(role, line)]).collect()
}

/// What is said about a row, and when that changes.
pub(super) fn explained(model: &Model, picture: &Snapshot, subject: Subject, pen: &mut Pen<'_>) -> Explanation {
    told(model, picture, subject, pen).0
}

/// The same with what can be done about it.
pub(super) fn told(
    model: &Model,
    picture: &Snapshot,
    subject: Subject,
    pen: &mut Pen<'_>,
) -> (Explanation, Option<Vec<Advice>>) {
    match model.sayings.iter().find(|said| said.subject == subject) {
        Some(said) => {
            if let Some(until) = said.until {
                pen.wake_at(until);
            }
            (said.text.clone(), said.advice.clone())
        }
        None => {
            let moment = pen.now();
            (say(picture, &model.facts, subject, moment), advice(picture, &model.facts, subject, moment))
        }
    }
}

/// Everything about a row.
pub(super) fn lines(model: &Model, subject: Subject, width: usize, pen: &mut Pen<'_>) -> Vec<Text> {
    let Some(picture) = &model.picture else { return Vec::new() };
    let row = subject.row();
    let mut lines = title(model, picture, row);
    let (said, advice) = told(model, picture, subject, pen);
    lines.push(Text::new());
    lines.extend(paragraph(Role::Strong, &said.sentence, width));
    if let Some(since) = said.since {
        lines.push(vec![piece(Role::Dim, format!("since {} ({} ago)", moment(since), age(picture, row, since, pen)))]);
    }
    if let Some(advice) = advice {
        lines.extend(remedy::whole(model, picture, &advice, width, pen));
        lines.extend(match (kura::matter(picture, subject), row) {
            (Some(matter), _) => server::facts(model, picture, matter, width, pen),
            (None, Subject::Node(Node::Roll(id))) => roll::facts(model, picture, id, width, pen),
            (None, Subject::Node(Node::Host(id))) => nodes::facts(model, picture, id, width, pen),
            _ => Vec::new(),
        });
        lines.push(Text::new());
        lines.extend(verbs(model, row));
        return lines;
    }
    lines.extend(said.next.iter().flat_map(|next| item(Glyph::Arrow, Role::Text, next, width, pen)));
    let verify = verify(&said, width, pen);
    if !verify.is_empty() {
        lines.push(Text::new());
        lines.extend(verify);
    }
    let machine = machine_of(model, subject).and_then(|id| picture.world.machines.get(&id));
    lines.extend(machine.into_iter().flat_map(|machine| results(model, machine, width, pen)));
    lines.push(Text::new());
    match row {
        Subject::Node(Node::Machine(id)) => {
            if let Some(((tier, lane, row), machine)) = model.facts.machine(id).zip(machine) {
                lines.extend(machine_facts(picture, tier, lane, row, machine, pen));
            }
            let loose = model.facts.spare.machines.iter().find(|machine| machine.id == id);
            lines.extend(loose.into_iter().flat_map(|machine| brakes::of_loose(machine, pen)));
        }
        Subject::Node(Node::Ring(id)) => {
            lines.extend(brakes::of_ring(picture, id));
            lines.extend(brakes::waves(picture, id, None, pen));
        }
        Subject::Node(Node::Spare | Node::Kura(_) | Node::Roll(_) | Node::Host(_)) => {}
        Subject::Node(Node::Lane(key)) => {
            if let Some((_, lane)) = model.facts.lane(key) {
                lines.extend(lane_facts(picture, lane, pen));
            }
        }
        Subject::Item(Item::Release(id)) => lines.extend(release_facts(picture, id, width, pen)),
        Subject::Item(Item::Deed(revision)) => lines.extend(deed::facts(picture, revision, width, pen)),
        Subject::Item(Item::Rollout(_)) => {}
        Subject::Node(Node::Environment(_)) | Subject::Rollout | Subject::Need(..) | Subject::Nothing => {
            lines.extend(rollout_facts(picture, pen));
        }
    }
    lines.push(Text::new());
    lines.extend(verbs(model, row));
    lines
}

/// Since when it holds; where a gate waits, since when that does.
fn age(picture: &Snapshot, row: Subject, since: jiff::Timestamp, pen: &mut Pen<'_>) -> String {
    let gate = match row {
        Subject::Node(Node::Roll(id)) => picture.world.rolls.roll(id).and_then(|roll| roll.gate.as_ref()),
        _ => None,
    };
    match gate {
        Some(gate) => pen.waited(gate.since),
        None => pen.age(since),
    }
}

/// What to look at once the advice was followed.
fn verify(said: &Explanation, width: usize, pen: &Pen<'_>) -> Vec<Text> {
    if said.verify.is_empty() {
        return Vec::new();
    }
    let mode = said.failure_mode.map(|mode| piece(Role::Dim, format!("  {} {}", mode.id(), mode.title())));
    let heading = [piece(Role::Heading, "THEN VERIFY")].into_iter().chain(mode).collect();
    let checks = said.verify.iter().flat_map(|check| item(Glyph::SlotFree, Role::Text, check, width, pen));
    [heading].into_iter().chain(checks).collect()
}

/// A wrapped text with a mark before its first line.
pub(super) fn item(mark: Glyph, role: Role, text: &str, width: usize, pen: &Pen<'_>) -> Vec<Text> {
    let wrapped = wrap(&escape(text), width.saturating_sub(2));
    let marked = |(n, line): (usize, String)| {
        let mark = if n == 0 { pen.glyph(mark) } else { " " };
        vec![piece(Role::Key, mark), piece(role, format!(" {line}"))]
    };
    wrapped.into_iter().enumerate().map(marked).collect()
}

fn title(model: &Model, picture: &Snapshot, subject: Subject) -> Vec<Text> {
    let world = &picture.world;
    match subject {
        Subject::Node(Node::Kura(part)) => return vec![server::title(model, part)],
        Subject::Node(Node::Roll(id)) => return vec![roll::title(model, id)],
        Subject::Node(Node::Host(id)) => return vec![nodes::title(model, id)],
        _ => {}
    }
    let (kind, name, id) = match subject {
        Subject::Node(Node::Machine(id)) => {
            let name = world.machines.get(&id).map_or("no longer listed", |m| m.hostname.as_str());
            ("machine", name.to_owned(), id.short())
        }
        Subject::Node(Node::Lane((tier, ring))) => {
            ("ring", format!("{} in {}", world.ring_slug(ring), world.environment_slug(tier)), ring.short())
        }
        Subject::Node(Node::Ring(id)) => ("ring", world.ring_slug(id).to_owned(), id.short()),
        Subject::Node(Node::Kura(_) | Node::Roll(_) | Node::Host(_)) => return Vec::new(),
        Subject::Node(Node::Spare) => return vec![vec![piece(Role::Strong, "out of reach of every rollout")]],
        Subject::Node(Node::Environment(id)) => ("environment", world.environment_slug(id).to_owned(), id.short()),
        Subject::Item(item) => {
            let name = face(picture, item).map_or_else(|| "no longer kept".to_owned(), |face| face.name);
            match item {
                Item::Release(id) => ("release", name, id.short()),
                Item::Rollout(id) => ("rollout", name, id.short()),
                Item::Deed(revision) => ("revision", name, revision.to_string()),
            }
        }
        Subject::Rollout | Subject::Need(..) | Subject::Nothing => match world.current() {
            Some(rollout) => ("rollout", world.release_name(rollout.release).to_owned(), rollout.id.short()),
            None => return vec![vec![piece(Role::Strong, "no rollout")]],
        },
    };
    vec![vec![piece(Role::Strong, name), piece(Role::Dim, format!("  {kind} {id}"))]]
}

pub(super) fn fact(label: &str, role: Role, text: impl Into<String>) -> Text {
    vec![piece(Role::Dim, format!("{label:<LABEL$} ")), piece(role, text.into())]
}

/// A fact that is wider than there is room for goes on below itself.
pub(super) fn folded(fact: Text, width: usize) -> Vec<Text> {
    let [label, (role, text)] = &fact[..] else { return vec![fact] };
    let indent = columns(&label.1);
    if indent + columns(text) <= width {
        return vec![fact];
    }
    let lines = wrap(&escape(text), width.saturating_sub(indent)).into_iter().enumerate();
    let head = |n| if n == 0 { label.clone() } else { piece(Role::Dim, " ".repeat(indent)) };
    lines.map(|(n, line)| vec![head(n), piece(*role, line)]).collect()
}

fn machine_facts(
    picture: &Snapshot,
    tier: &Tier,
    lane: &LaneFacts,
    row: &Row,
    machine: &Machine,
    pen: &mut Pen<'_>,
) -> Vec<Text> {
    let (glyph, word, role) = row::machine_look(row);
    let mut lines = vec![fact("state", role, format!("{} {word}", pen.glyph(glyph)))];
    let words = row::machine_words(lane, row, pen);
    if !words.is_empty() {
        let mut line = fact("clock", Role::Text, "");
        line.extend(words);
        lines.push(line);
    }
    let bucket = if row.resting { String::new() } else { format!(", bucket {}", row.row.bucket) };
    lines.push(fact("place", Role::Text, format!("{} in {}{bucket}", lane.slug, tier.slug)));
    lines.push(fact("online", Role::Text, online(row, pen)));
    if let Some(pause) = &machine.paused {
        let why = pause.reason.as_ref().map_or_else(String::new, |r| format!(": {r}"));
        lines.push(fact("paused", Role::Paused, format!("{} ago by {}{why}", pen.age(pause.at), pause.by)));
    }
    if row.row.failures > 0 {
        lines.push(fact("failures", Role::Failed, format!("{} in this generation", row.row.failures)));
    }
    let target = picture.world.current().and_then(|r| picture.world.releases.get(&r.release)?.target_version.as_ref());
    match (&machine.version, target) {
        (Some(at), Some(to)) if at != to => {
            lines.push(fact("version", Role::Text, format!("{at} {} {to}", pen.glyph(Glyph::Arrow))));
        }
        (Some(at), _) => lines.push(fact("version", Role::Text, at.clone())),
        (None, Some(to)) => lines.push(fact("target", Role::Text, to.clone())),
        (None, None) => {}
    }
    if let Some(node) = picture.observed.nodes.get(&machine.node) {
        let ready = if node.ready { "ready" } else { "NOT READY" };
        let cordon = if node.unschedulable { ", cordoned" } else { "" };
        let version = node.version.as_ref().map_or_else(String::new, |v| format!(", {v}"));
        let role = if node.ready && !node.unschedulable { Role::Text } else { Role::Warning };
        lines.push(fact("node", role, format!("{ready}{cordon}{version}")));
    }
    lines
}

fn online(row: &Row, pen: &mut Pen<'_>) -> String {
    match (row.row.is_online, row.row.last_seen_at) {
        (Some(true), _) => "yes".to_owned(),
        (Some(false), Some(at)) => format!("no, last seen {} ago", pen.age(at)),
        (Some(false), None) => "no, never seen".to_owned(),
        (None, _) => "not known yet".to_owned(),
    }
}

fn lane_facts(picture: &Snapshot, lane: &LaneFacts, pen: &mut Pen<'_>) -> Vec<Text> {
    let (glyph, word, role) = row::lane_look(lane.state);
    let mut slots = fact("slots", Role::Text, "");
    slots.extend(row::cells(lane, pen));
    let counts = format!("{} held, {} settling, {} free", lane.slots.holding, lane.slots.settling, lane.slots.free);
    slots.push(piece(Role::Text, counts));
    let mut lines = vec![
        fact("state", role, format!("{} {word}", pen.glyph(glyph))),
        slots,
        fact("queue", Role::Text, format!("{} waiting", lane.queued)),
        fact("done", Role::Text, format!("{} of {}", lane.done, lane.rows.len())),
        fact("failures", Role::Text, lane.failures.to_string()),
    ];
    lines.extend(brakes::of_ring(picture, lane.key.1));
    lines.extend(brakes::waves(picture, lane.key.1, Some(lane), pen));
    lines
}

fn rollout_facts(picture: &Snapshot, pen: &mut Pen<'_>) -> Vec<Text> {
    let Some(rollout) = picture.world.current() else { return Vec::new() };
    let cursor = picture.world.cursor_environment(rollout).map_or("nowhere", |e| e.slug.as_str());
    let mut lines = vec![
        fact("status", Role::Text, rollout.status()),
        fact("protected", Role::Text, if rollout.protected { "yes" } else { "no" }),
        fact("started", Role::Text, format!("{} ago by {}", pen.age(rollout.started_at), rollout.started_by)),
    ];
    if let Some(at) = rollout.reset_at {
        lines.push(fact("reset", Role::Text, format!("{} ago", pen.age(at))));
    }
    lines.push(fact("cursor", Role::Text, cursor));
    if let Some(release) = picture.world.releases.get(&rollout.release) {
        let commit: String = release.commit.chars().take(12).collect();
        lines.push(fact("commit", Role::Text, commit));
        let deadline = release.timeout_seconds;
        let text = if deadline.is_off() { "none".to_owned() } else { format!("{deadline} per run") };
        lines.push(fact("deadline", Role::Text, text));
    }
    lines
}

/// What a release is, and every check before its start that passes; those that do not are its advice.
fn release_facts(picture: &Snapshot, id: ReleaseId, width: usize, pen: &mut Pen<'_>) -> Vec<Text> {
    let Some(release) = picture.world.releases.get(&id) else { return Vec::new() };
    let commit: String = release.commit.chars().take(12).collect();
    let deadline = release.timeout_seconds;
    let deadline = if deadline.is_off() { "none".to_owned() } else { format!("{deadline} per run") };
    let mut lines = vec![
        fact("built", Role::Text, format!("{} ago", pen.age(release.created_at))),
        fact("commit", Role::Text, commit),
        fact("deadline", Role::Text, deadline),
    ];
    if let Some(target) = &release.target_version {
        lines.push(fact("target", Role::Text, target.clone()));
    }
    lines.extend(paragraph(Role::Dim, &release.notes, width));
    let checks = rehearsal(picture, id, pen.now());
    lines.push(Text::new());
    lines.push(vec![piece(Role::Heading, "PASSED BEFORE A START")]);
    let passed = checks.iter().filter(|check| check.grade == Grade::Pass);
    lines.extend(passed.flat_map(|check| item(Glyph::Done, Role::Text, &check.sentence, width, pen)));
    lines
}

/// The last results of a machine, newest first, with the states that failed. Nothing where there are none.
fn results(model: &Model, machine: &Machine, width: usize, pen: &Pen<'_>) -> Vec<Text> {
    let shown: Vec<Text> = match model.results.get(&machine.id).and_then(|kept| kept.answer.as_ref()) {
        None if machine.last_result.is_none() => Vec::new(),
        None => vec![vec![piece(Role::Dim, "being read")]],
        Some(Err(why)) => paragraph(Role::Warning, &format!("cannot be read: {why}"), width),
        Some(Ok(results)) => {
            let newest = results.iter().take(RESULTS_SHOWN).enumerate();
            newest.flat_map(|(n, result)| self::result(result, n == 0, width, pen)).collect()
        }
    };
    if shown.is_empty() {
        return shown;
    }
    [Text::new(), vec![piece(Role::Heading, "RESULTS")]].into_iter().chain(shown).collect()
}

fn result(result: &RunResult, newest: bool, width: usize, pen: &Pen<'_>) -> Vec<Text> {
    let (glyph, word, role) = match result.outcome {
        Outcome::Success => (Glyph::Done, "success", Role::Done),
        Outcome::Failed => (Glyph::Failed, "failed", Role::Failed),
        Outcome::Timeout => (Glyph::Failed, "deadline", Role::Failed),
        Outcome::Canceled => (Glyph::Dot, "withdrawn", Role::Dim),
    };
    let took = Seconds::between(result.started_at, result.finished_at);
    let mut lines = vec![vec![
        piece(role, format!("{} {word:<10}", pen.glyph(glyph))),
        piece(Role::Dim, format!("{}  took {took}, {} changed", moment(result.received_at), result.changed_count)),
    ]];
    for state in &result.failed_states {
        let name = if state.name.is_empty() { &state.id } else { &state.name };
        lines.push(vec![
            piece(Role::Failed, format!("  {}", state.id)),
            piece(Role::Dim, if name == &state.id { String::new() } else { format!("  {name}") }),
        ]);
        for part in state.comment.lines() {
            let part = wrap(&escape(part), width.saturating_sub(4));
            lines.extend(part.into_iter().map(|line| vec![piece(Role::Text, format!("    {line}"))]));
        }
    }
    if newest && result.outcome.is_failure() {
        let tail: Vec<&str> = result.log_tail.lines().collect();
        let from = tail.len().saturating_sub(LOG_SHOWN);
        lines.extend(tail[from..].iter().map(|line| vec![piece(Role::Dim, format!("  {line}"))]));
    }
    lines
}

/// The verbs that can be given for the row, with their keys.
fn verbs(model: &Model, subject: Subject) -> Vec<Text> {
    let commands: &[Command] = match subject {
        Subject::Node(Node::Machine(id)) if model.facts.machine(id).is_none() => {
            &[Command::AssignMachine, Command::RemoveMachine, Command::UnpauseMachine]
        }
        Subject::Node(Node::Machine(_)) => &[Command::PauseMachine, Command::UnpauseMachine, Command::PauseRing],
        Subject::Node(Node::Lane(_) | Node::Ring(_)) => {
            &[Command::PauseRing, Command::UnpauseRing, Command::SetCap, Command::SetLadder]
        }
        Subject::Node(Node::Environment(_)) => &[Command::PauseEnvironment, Command::UnpauseEnvironment],
        Subject::Node(Node::Spare) => &[Command::AddMachine],
        Subject::Node(Node::Kura(Part::Gateway(_))) => &[Command::DeleteGateway, Command::StripFinalizer],
        Subject::Node(Node::Kura(Part::Orphan(_))) => &[Command::DeleteOrphan, Command::ForceReapply],
        Subject::Node(Node::Kura(Part::Server(_))) => {
            &[Command::ForceReapply, Command::Deploy, Command::StripFinalizer, Command::DestroyServer]
        }
        Subject::Node(Node::Kura(_)) => &[Command::ReleaseTag],
        Subject::Node(Node::Roll(_)) => &[Command::Approve, Command::Deny, Command::Abort, Command::StartRoll],
        Subject::Node(Node::Host(_)) => &[Command::Probe, Command::Uncordon],
        Subject::Item(_) => &[Command::Start],
        Subject::Rollout | Subject::Need(..) | Subject::Nothing => &[Command::HaltRollout, Command::Reset],
    };
    let Some(picture) = &model.picture else { return Vec::new() };
    let offered = commands.iter().filter(|command| {
        let deed = super::super::target::aim(**command, subject, &model.facts, &picture.world);
        deed.is_ok_and(|deed| super::super::target::futile(&deed, &picture.world).is_none())
    });
    offered
        .filter_map(|command| {
            let key = model.setup.keymap.keys_of(Mode::List, *command).into_iter().next()?;
            Some(vec![piece(Role::Key, format!("{key:<5}")), piece(Role::Dim, command.spec().hint)])
        })
        .collect()
}

/// A moment in UTC.
pub(super) fn moment(at: jiff::Timestamp) -> String {
    at.strftime("%m-%d %H:%M:%S").to_string()
}
