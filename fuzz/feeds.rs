//! What is done with bytes that nobody vouches for, and what must hold then. The fuzzer feeds these functions, and a test
//! feeds them the corpora (`tests/suite/house/corpora.rs`).
#![allow(dead_code)] // each fuzz target feeds one of them

use std::sync::Arc;

use jiff::Timestamp;
use kura_console::adapters::journal::kept::{body, world};
use kura_console::adapters::journal::kubernetes::book::read_head;
use kura_console::adapters::journal::row::EntryRow;
use kura_console::adapters::kube::drawer::Kept;
use kura_console::adapters::kube::object::Watched;
use kura_console::adapters::kube::piece::packed;
use kura_console::adapters::kube::rows::certificate::CertificateObject;
use kura_console::adapters::kube::rows::fleet_pod::FleetPodObject;
use kura_console::adapters::kube::rows::gateway::GatewayObject;
use kura_console::adapters::kube::rows::ingress::{ClassObject, IngressObject};
use kura_console::adapters::kube::rows::instance::InstanceObject;
use kura_console::adapters::kube::rows::job::JobObject;
use kura_console::adapters::kube::rows::node::NodeObject;
use kura_console::adapters::kube::rows::notice::NoticeObject;
use kura_console::adapters::kube::rows::pod::PodObject;
use kura_console::adapters::kube::rows::service::ServiceObject;
use kura_console::adapters::kube::rows::stateful_set::SetObject;
use kura_console::adapters::kube::rows::storage::{ClaimObject, VolumeObject};
use kura_console::adapters::remote::replica::Replica;
use kura_console::adapters::remote::stream::{Frame, Parser};
use kura_console::console::finding::Finding;
use kura_console::console::keys::Keymap;
use kura_console::console::theme::{Depth, Theme};
use kura_console::control::picture::{Role, SeatView};
use kura_console::domain::audit::Auditor;
use kura_console::domain::decide::decide;
use kura_console::domain::ids::RolloutId;
use kura_console::domain::input::Input;
use kura_console::domain::invariants::broken;
use kura_console::domain::observed::Observed;
use kura_console::domain::world::World;
use kura_console::sim::scenario::file::node::Node;
use kura_console::sim::scenario::file::place::{Fault, Place};
use kura_console::sim::scenario::file::scenario::Scenario;

/// Texts that are read by people who wrote them are looked at up to here.
const TEXT_MAX: usize = 16 * 1024;

fn now() -> Timestamp {
    Timestamp::from_second(1_767_225_600).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Lines of four columns, as a database has them: at, by, cause, change. A row is an entry or says what is wrong with it;
/// an entry is written as it was read, folds into any world, and a world is decided on and kept. One that no decision makes
/// may be kept otherwise: `journal verify` says which rule it breaks.
pub fn journal_rows(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (mut folded, mut auditor) = (World::default(), Auditor::default());
    for (place, line) in (1..).zip(text.lines().take(64)) {
        let mut columns = line.splitn(4, '\t').map(str::to_owned);
        let mut column = || columns.next().unwrap_or_default();
        let row = EntryRow { revision: place, at: column(), by: column(), cause: column(), change: column() };
        let place = place.unsigned_abs();
        let Ok(entry) = row.entry(place) else { continue };
        let again = EntryRow::of(&entry).and_then(|row| row.entry(place));
        assert_eq!(again.as_ref().ok(), Some(&entry), "it is not written as it was read");
        drop(auditor.take(&entry));
        folded.apply(&entry);
    }
    let tick = Input::Tick { fresh: RolloutId::named("fresh") };
    drop(decide(&folded, &Observed::starting_at(now()), &tick, now()));
    let kept = body("keep it", &folded).expect("a world can be written");
    let kept = world(&kept).expect("a world can be read");
    assert!(kept == folded || !broken(&folded).is_empty(), "a snapshot is not the sound world it was made of");
}

/// The head of an account in a cluster and the entries that it carries, as a line and lines; or an object as somebody made
/// it. It says what is wrong with it, or where it stands: then the entries stand in order, end there, and are folded.
pub fn cluster_journal(bytes: &[u8]) {
    let (head, tail) = bytes.split_at(bytes.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1));
    let kept = |tail: Vec<u8>| Kept {
        name: "head".to_owned(),
        bytes: [("head".to_owned(), head.to_vec()), ("tail".to_owned(), tail)].into(),
        ..Kept::default()
    };
    drop(read_head(&kept(tail.to_vec())));
    let Ok((head, entries)) = read_head(&kept(packed(tail))) else { return };
    assert!(head.oldest <= head.revision + 1, "it begins behind its end");
    let mut folded = World::default();
    for (entry, place) in entries.iter().rev().zip((0..=head.revision).rev()) {
        assert_eq!(entry.revision, place, "an entry stands at another place");
    }
    entries.iter().for_each(|entry| folded.apply(entry));
}

/// However a stream is cut, it has the same frames; and a replica folds them, or says why not.
pub fn change_stream(bytes: &[u8]) {
    let whole = frames(&[bytes]);
    let (first, rest) = bytes.split_at(bytes.len() / 3);
    let (second, third) = rest.split_at(rest.len() / 2);
    assert_eq!(frames(&[first, second, third]), whole, "where it is cut makes a difference");
    let each: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(frames(&each), whole, "where it is cut makes a difference");
    let mut replica = Replica {
        world: Arc::default(),
        observed: Arc::new(Observed::starting_at(now())),
        edition: None,
        tail: Default::default(),
        seat: SeatView { holder: None, epoch: 0, last_tick: None },
        trouble: None,
        account: "fuzzed".to_owned(),
        role: Role::Owner,
        said_at: now(),
    };
    for frame in whole.into_iter().flatten() {
        drop(replica.fold(&frame).map_err(|gap| gap.to_string()));
    }
}

fn frames(pieces: &[&[u8]]) -> Option<Vec<Frame>> {
    let mut parser = Parser::default();
    let mut frames = Vec::new();
    for piece in pieces {
        frames.extend(parser.push(piece).ok()?);
    }
    Some(frames)
}

/// A scenario, or a fault with its place in the file.
pub fn scenario_files(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    if let Ok(node) = Node::parse(text) {
        drop(node.to_json());
    }
    if let Err(Fault { place: Place { line, column }, .. }) = Scenario::parse(text) {
        in_it(text, line, column);
    }
}

/// A keymap, or all its faults with their places. Whatever is bound can be pressed.
pub fn keymaps(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    match Keymap::parse(text) {
        Ok(keymap) => drop(keymap.prefixes().map(|(chords, title)| (chords.len(), title.len())).collect::<Vec<_>>()),
        Err(findings) => told(text, &findings),
    }
}

/// A theme for every kind of terminal, or all its faults with their places, the same for each.
pub fn themes(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let depths = [Depth::Mono, Depth::Sixteen, Depth::Indexed, Depth::True];
    let read = depths.map(|depth| Theme::parse(text, depth).map(drop));
    assert!(read.iter().all(|one| *one == read[0]), "whether it can be read depends on the terminal");
    if let Err(findings) = &read[0] {
        told(text, findings);
    }
}

/// An object of each kind that is looked at, or no object at all. A name that is kept is the name it came with.
pub fn cluster_objects(bytes: &[u8]) {
    watched::<CertificateObject>(bytes);
    watched::<FleetPodObject>(bytes);
    watched::<GatewayObject>(bytes);
    watched::<IngressObject>(bytes);
    watched::<ClassObject>(bytes);
    watched::<InstanceObject>(bytes);
    watched::<JobObject>(bytes);
    watched::<NodeObject>(bytes);
    watched::<NoticeObject>(bytes);
    watched::<PodObject>(bytes);
    watched::<ServiceObject>(bytes);
    watched::<SetObject>(bytes);
    watched::<ClaimObject>(bytes);
    watched::<VolumeObject>(bytes);
}

/// What is kept of it is the same every time, so that nothing that did not change is news.
fn watched<T: Watched>(bytes: &[u8]) {
    let Ok(object) = serde_json::from_slice::<T>(bytes) else { return };
    let (row, again) = (object.clone().row("kura"), object.row("kura"));
    if let (Some(row), Some(again)) = (row, again) {
        assert!(!T::is_news(&row, &again), "the same object is news");
    }
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|text| text.len() <= TEXT_MAX)
}

fn told(text: &str, findings: &[Finding]) {
    assert!(!findings.is_empty(), "it is refused, and nobody says why");
    for Finding { line, column, message } in findings {
        assert!(!message.is_empty(), "a fault without a word");
        in_it(text, *line, *column);
    }
}

/// A place of a text: from 1, the line after the last one included; 0 is the text as a whole.
fn in_it(text: &str, line: u64, column: u64) {
    let lines = u64::try_from(text.split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']).count()).unwrap_or(u64::MAX);
    assert!(line <= lines + 1, "line {line} of {lines}");
    assert!((line == 0) == (column == 0), "line {line}, column {column}");
}
