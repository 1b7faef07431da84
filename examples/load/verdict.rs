//! The journal afterwards: every grant in it was served, every run that was served is in it, none is there twice, and no
//! ring ever had more holders than its cap.

use std::collections::BTreeMap;
use std::path::Path;

use kura_console::adapters::journal::sqlite::journal::SqliteJournal;
use kura_console::control::ports::Journal;
use kura_console::domain::change::Change;
use kura_console::domain::ids::{AccountId, Generation, MachineId};
use kura_console::domain::invariants::broken;
use kura_console::domain::world::World;
use uuid::Uuid;

use super::Fallible;

/// Entries read at a time.
const PAGE: usize = 5_000;

/// What the journal says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Verdict {
    pub(crate) entries: u64,
    pub(crate) grants: u64,
    pub(crate) most_at_once: usize,
    /// What must not be; empty where all is well.
    pub(crate) faults: Vec<String>,
}

/// Folds the whole journal and compares it with what the agents were served.
pub(crate) async fn of(path: &Path, served: &BTreeMap<Uuid, BTreeMap<u64, u64>>, cap: u32) -> Fallible<Verdict> {
    let journal = SqliteJournal::open(path).await?;
    // The one account of a tokens file that was just made.
    let account = AccountId::named("default");
    let (mut world, mut verdict) = (World::default(), Verdict::default());
    let mut granted: BTreeMap<(Uuid, Generation), u64> = BTreeMap::new();
    loop {
        let page = journal.read(account, world.revision, PAGE).await?;
        if page.is_empty() {
            break;
        }
        for entry in &page {
            world.apply(entry);
            if let Change::LeaseGranted { machine, rollout, .. } = &entry.change {
                let generation = world.rollout(*rollout).map_or(0, |rollout| rollout.generation);
                *granted.entry((machine.0, generation)).or_default() += 1;
                verdict.see_holders(&world, *machine, cap);
            }
        }
        verdict.entries = world.revision;
    }
    journal.close().await?;
    verdict.grants = granted.values().sum();
    verdict.compare(&granted, served, &world);
    verdict.faults.extend(broken(&world));
    Ok(verdict)
}

impl Verdict {
    fn see_holders(&mut self, world: &World, machine: MachineId, cap: u32) {
        let place = world.machines.get(&machine).and_then(|machine| machine.place());
        let holders = place.and_then(|key| world.lane(key)).map_or(0, |lane| lane.holders.len());
        self.most_at_once = self.most_at_once.max(holders);
        if holders > usize::try_from(cap).unwrap_or(usize::MAX) {
            self.faults.push(format!("{holders} holders at once at revision {}", world.revision));
        }
    }

    fn compare(
        &mut self,
        granted: &BTreeMap<(Uuid, Generation), u64>,
        served: &BTreeMap<Uuid, BTreeMap<u64, u64>>,
        world: &World,
    ) {
        for ((machine, generation), count) in granted {
            if *count != 1 {
                self.faults.push(format!("{machine} was granted {count} times in generation {generation}"));
            }
            // A grant whose answer was under way when the run was cut off is still held: not lost.
            let seen = served.get(machine).and_then(|served| served.get(generation)).copied().unwrap_or(0);
            let held = world.machines.get(&MachineId(*machine)).is_some_and(|machine| machine.lease.is_some());
            if seen != 1 && !(seen == 0 && held) {
                self.faults.push(format!("{machine} was granted once and served {seen} times"));
            }
        }
        for (machine, generations) in served {
            for generation in generations.keys() {
                if !granted.contains_key(&(*machine, *generation)) {
                    self.faults.push(format!("{machine} was served in generation {generation} without a grant"));
                }
            }
        }
    }
}
