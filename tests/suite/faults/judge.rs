//! After whatever happened: the journal is read as a person would, and held against everything that must be true of it.

use std::collections::BTreeMap;
use std::path::Path;

use kura_console::domain::audit::Fate;
use kura_console::domain::change::{Cause, Change, Entry};
use kura_console::domain::invariants::broken_step;
use kura_console::domain::world::World;

use super::super::e2e::command::{Said, kura};
use super::super::e2e::plane::Plane;
use super::load::Story;

/// What a journal tells.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// Epochs of the seat, in the order they were taken.
    pub(super) epochs: Vec<u64>,
    /// Who took them.
    pub(super) holders: Vec<String>,
    /// Slots that were granted.
    pub(super) grants: usize,
    /// Who decided a tick that changed something, by epoch.
    pub(super) ticked: BTreeMap<u64, String>,
    /// How often what changed, by epoch and cause.
    pub(super) told: BTreeMap<String, usize>,
}

/// Fails unless the journal is whole, tells one straight story by the rules, and has everything that was acknowledged,
/// once.
pub(super) fn judge(folder: &Path, url: &str, story: &Story) -> Judged {
    let said = about(folder, url, &["journal", "verify"]);
    assert!(said.stdout.contains("nothing is wrong"), "{said:?}");
    let said = about(folder, url, &["audit", "verify", "--journal", url, "--account", "default"]);
    assert!(said.stdout.contains("none broken"), "{said:?}");
    let exported = about(folder, url, &["journal", "export"]).stdout;
    let entries: Vec<Entry> =
        exported.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect();
    done_once(&entries, story);
    let judged = straight(&entries);
    by_the_rules(&entries);
    judged
}

/// The same of a journal in the folder of a control plane that told nobody anything worth remembering.
pub(super) fn judge_beside(plane: &Plane) {
    judge(plane.folder(), "sqlite:kura.db", &Story::default());
}

fn about(folder: &Path, url: &str, arguments: &[&str]) -> Said {
    let said = kura(folder, &[("KURA_CONSOLE_JOURNAL", url)], arguments);
    assert_eq!(said.code, Some(0), "{arguments:?}: {said:?}");
    said
}

/// R93: what was acknowledged is there once; what nobody was told the end of is there once at the most.
fn done_once(entries: &[Entry], story: &Story) {
    let mut done: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in entries {
        let Cause::Verb { key: Some(key), .. } = &entry.cause else { continue };
        if matches!(&entry.change, Change::Audited { link } if link.fate == Fate::Done) {
            *done.entry(key).or_default() += 1;
        }
    }
    for key in &story.acknowledged {
        assert_eq!(done.get(key.as_str()), Some(&1), "{key} was acknowledged; of {story:?}");
    }
    for key in &story.unsure {
        assert!(done.get(key.as_str()).is_none_or(|times| *times == 1), "{key} was done {done:?}");
    }
}

/// R28: epochs only ever grow, and whatever needs the seat was decided by whoever held it.
fn straight(entries: &[Entry]) -> Judged {
    let mut judged = Judged::default();
    for (place, entry) in (1..).zip(entries) {
        assert_eq!(entry.revision, place, "an entry is missing");
        match &entry.change {
            Change::SeatTaken { epoch, holder, .. } => {
                assert!(judged.epochs.last().is_none_or(|last| last < epoch), "{entry:?} after {judged:?}");
                judged.epochs.push(*epoch);
                judged.holders.push(holder.clone());
            }
            Change::LeaseGranted { .. } => judged.grants += 1,
            _ => {}
        }
        let text = serde_json::to_value(entry).expect("an entry can be written");
        let (cause, change) = (&text["cause"]["kind"], &text["change"]["kind"]);
        *judged.told.entry(format!("{:?}: {cause} {change}", judged.epochs.last())).or_default() += 1;
        if matches!(entry.cause, Cause::Tick | Cause::Seen) {
            let (epoch, holder) = (judged.epochs.last(), judged.holders.last());
            assert_eq!(holder, Some(&entry.by), "{entry:?} was decided without the seat: {judged:?}");
            judged.ticked.insert(*epoch.expect("an epoch"), entry.by.clone());
        }
    }
    judged
}

/// Every rule that holds after each verdict; and no machine is granted a slot that it has.
fn by_the_rules(entries: &[Entry]) {
    let mut world = World::default();
    for verdict in entries.chunk_by(|a, b| (a.at, &a.by, &a.cause) == (b.at, &b.by, &b.cause)) {
        let before = world.clone();
        for entry in verdict {
            if let Change::LeaseGranted { machine, .. } = &entry.change {
                let holds = world.machines.get(machine).is_some_and(|machine| machine.lease.is_some());
                assert!(!holds, "a second slot for the same machine: {entry:?}");
            }
            world.apply(entry);
        }
        let changes: Vec<Change> = verdict.iter().map(|entry| entry.change.clone()).collect();
        let broken = broken_step(&before, &world, &changes, verdict[0].at);
        assert!(broken.is_empty(), "{broken:?} after {verdict:?}");
    }
}
