//! Verify: everything a journal says about itself is held against everything else it says, and against what must never be
//! true of a world.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::super::shell::print;
use super::super::store::journal::ServerJournal;
use super::export::PAGE;
use super::place::{PlaceArgs, unreadable};
use super::progress::Progress;
use crate::adapters::journal::tended::{Standing, Tended};
use crate::control::ports::{Journal, JournalError, Vault};
use crate::control::trouble::sentence;
use crate::domain::audit::Auditor;
use crate::domain::ids::{Revision, SecretVersion};
use crate::domain::invariants;
use crate::domain::release::Digest;
use crate::domain::world::World;
use crate::wire::problem::{Problem, ProblemKind};

/// Findings that are named behind the first.
const HINTS_MAX: usize = 20;

/// Flags.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    place: PlaceArgs,
}

/// Runs it.
pub(super) async fn run(args: &Args) -> Result<(), Problem> {
    let journal = args.place.open().await?;
    let said = verified(&journal, &journal.place(), &mut Progress::start()).await?;
    print(said.as_bytes())
}

/// What there is, in a line per account; what is wrong with it as a problem that names it all. `place` is what people call
/// the journal.
pub(super) async fn verified(journal: &ServerJournal, place: &str, progress: &mut Progress) -> Result<String, Problem> {
    let mut wrong = journal.faults().await.map_err(|error| unreadable(&error))?;
    let mut said = String::new();
    for standing in journal.accounts().await.map_err(|error| unreadable(&error))? {
        let mut check = Check { journal, standing, wrong: &mut wrong, progress };
        match check.account().await {
            Ok(line) => said += &line,
            Err(error) => wrong.push(format!("account {}: {}", standing.account, sentence(&error))),
        }
    }
    let Some((first, rest)) = wrong.split_first() else { return Ok(said + &format!("{place}: nothing is wrong\n")) };
    let problem = Problem::new(ProblemKind::Invalid, "journal", format!("{place}: {first}"));
    Err(rest.iter().take(HINTS_MAX).fold(problem, Problem::hint))
}

/// One account that is being checked.
struct Check<'a> {
    journal: &'a ServerJournal,
    standing: Standing,
    wrong: &'a mut Vec<String>,
    progress: &'a mut Progress,
}

impl Check<'_> {
    async fn account(&mut self) -> Result<String, JournalError> {
        let Standing { account, head, .. } = self.standing;
        let mut walked = Walked::default();
        let mut world = self.journal.world_before_oldest(account, head).await?;
        self.archived(&world, &mut walked).await?;
        let snapshots: BTreeMap<_, _> = self.journal.snapshots(account).await?.into_iter().collect();
        self.entries(&mut world, &mut walked, &snapshots).await?;
        for broken in invariants::broken(&world) {
            self.find(broken);
        }
        if world.audit != *walked.auditor.head() {
            self.find("the audit's chain does not end where the world says".to_owned());
        }
        if self.journal.load(account).await?.revision < world.revision {
            self.find("loading does not reach the last entry".to_owned());
        }
        let (contents, secrets) = self.vault(&world).await?;
        let Walked { links, .. } = walked;
        let mut line = format!("{account}: revision {}, oldest entry {}, ", world.revision, head.oldest);
        let _ = writeln!(line, "{links} links, {} snapshots, {contents} contents, {secrets} secrets", snapshots.len());
        Ok(line)
    }

    fn find(&mut self, what: String) {
        self.wrong.push(format!("account {}: {what}", self.standing.account));
    }

    /// The chain up to what is still an entry. What archived verbs changed is gone; that they hang together is not.
    async fn archived(&mut self, base: &World, walked: &mut Walked) -> Result<(), JournalError> {
        let mut after = 0;
        loop {
            let links = self.journal.archived_links(self.standing.account, after, PAGE).await?;
            let links: Vec<_> = links.into_iter().filter(|link| link.revision <= base.revision).collect();
            let Some(last) = links.last() else { break };
            after = last.revision;
            for link in &links {
                walked.links += 1;
                self.wrong.extend(walked.auditor.take_link(link).err().map(|broken| broken.to_string()));
            }
        }
        if *walked.auditor.head() != base.audit {
            self.find(format!("links of the audit before revision {} are missing", base.revision + 1));
            walked.auditor = Auditor::behind(base.audit.clone());
        }
        Ok(())
    }

    /// Folds every entry and compares with the snapshots on the way. What is appended meanwhile is left for next time.
    async fn entries(
        &mut self,
        world: &mut World,
        walked: &mut Walked,
        snapshots: &BTreeMap<Revision, Result<World, String>>,
    ) -> Result<(), JournalError> {
        let Standing { account, head, .. } = self.standing;
        self.compare(world, snapshots);
        while world.revision < head.revision {
            let entries = self.journal.read(account, world.revision, PAGE).await?;
            if entries.is_empty() {
                self.find(format!("entry {} is missing, the head stands at {}", world.revision + 1, head.revision));
                break;
            }
            for entry in entries.iter().filter(|entry| entry.revision <= head.revision) {
                world.apply(entry);
                walked.links += u64::from(entry.is_audit());
                self.wrong.extend(walked.auditor.take(entry).err().map(|broken| broken.to_string()));
                self.compare(world, snapshots);
            }
            let revision = world.revision;
            self.progress.at(|| format!("{account}: {revision} of {} entries", head.revision));
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    fn compare(&mut self, world: &World, snapshots: &BTreeMap<Revision, Result<World, String>>) {
        match snapshots.get(&world.revision) {
            Some(Ok(snapshot)) if snapshot != world => {
                self.find(format!("the snapshot of revision {} is not what its entries come to", world.revision));
            }
            Some(Err(error)) => self.find(format!("the snapshot of revision {}: {error}", world.revision)),
            _ => {}
        }
    }

    /// Everything the world refers to is in the vault and is what its name says.
    async fn vault(&mut self, world: &World) -> Result<(usize, usize), JournalError> {
        let (contents, secrets) = (contents_of(world), secrets_of(world));
        if contents.is_empty() && secrets.is_empty() {
            return Ok((0, 0));
        }
        let opened = self.journal.vault();
        let (vault, place) = opened
            .map_err(|problem| JournalError::Store { attempt: "open the vault", source: problem.message.into() })?;
        let Some(vault) = vault else {
            let count = contents.len() + secrets.len();
            self.find(format!("there is no {place}, and {count} contents and secrets should be in it"));
            return Ok((0, 0));
        };
        for (nth, digest) in contents.iter().enumerate() {
            match vault.fetch(digest).await {
                Ok(Some(_)) => {}
                Ok(None) => self.find(format!("the content {digest} is not in {place}")),
                Err(error) => self.find(sentence(&error)),
            }
            self.progress.at(|| format!("{nth} of {} contents", contents.len()));
        }
        for (name, version) in &secrets {
            if vault.secret(self.standing.account, *version).await?.is_none() {
                self.find(format!("the value of secret {name} is not in {place}"));
            }
        }
        Ok((contents.len(), secrets.len()))
    }
}

/// What was seen of the chain.
#[derive(Default)]
struct Walked {
    auditor: Auditor,
    links: u64,
}

/// Every content that somebody can be handed: of releases as they were built, and as rendered for each machine that
/// holds a slot or was served.
pub(super) fn contents_of(world: &World) -> BTreeSet<Digest> {
    let releases = world.releases.values().map(|release| &release.content);
    let machines = world.machines.values().flat_map(|machine| {
        let leased = machine.lease.as_ref().map(|lease| &lease.content);
        leased.into_iter().chain(machine.served.as_ref().map(|served| &served.content))
    });
    releases.chain(machines).cloned().collect()
}

pub(super) fn secrets_of(world: &World) -> Vec<(String, SecretVersion)> {
    world.secrets.iter().map(|(name, mark)| (name.clone(), mark.version)).collect()
}
