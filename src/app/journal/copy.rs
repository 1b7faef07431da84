//! Copy: a journal with its vault, from any kind of store to any other. Run again it goes on where it was.

use super::super::shell::print;
use super::super::store::journal::ServerJournal;
use super::export::PAGE;
use super::place::{AccountArgs, unreadable};
use super::progress::Progress;
use super::verify::{contents_of, secrets_of, verified};
use crate::adapters::journal::open::JournalUrl;
use crate::adapters::journal::tended::{Standing, Tended};
use crate::control::ports::{AppendError, Batch, Head, Journal, JournalError, Vault};
use crate::control::trouble::sentence;
use crate::domain::change::Entry;
use crate::domain::ids::{AccountId, Revision};
use crate::domain::world::World;
use crate::wire::problem::{Problem, ProblemKind};

/// How often it catches up with servers that go on writing before it says that they have to be stopped.
const CATCH_UPS_MAX: usize = 10;

/// Flags.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The journal to read: sqlite:PATH, postgres://USER@HOST/NAME or kubernetes://NAMESPACE/NAME. Servers may go on writing to it.
    #[arg(value_name = "FROM")]
    from: String,
    /// The journal to write. What it holds of the same account already has to be the beginning of what FROM holds.
    #[arg(value_name = "TO")]
    to: String,
    #[command(flatten)]
    account: AccountArgs,
}

/// Runs it. Of each account: the entries, then what the vault holds for them, then both ends are compared. Presence and
/// apply results stay where they are: they are telemetry.
pub(super) async fn run(args: &Args) -> Result<(), Problem> {
    let read = |url: &str| url.parse::<JournalUrl>().map_err(|error| error.problem());
    let (from, place) = (read(&args.from)?, read(&args.to)?);
    if from == place {
        return Err(Problem::new(ProblemKind::Usage, "journal", "FROM and TO are the same journal"));
    }
    let from = ServerJournal::existing(&from).await?;
    let to = ServerJournal::made(&place).await?;
    let mut progress = Progress::start();
    let mut said = String::new();
    for Standing { account, .. } in args.account.of(&from).await? {
        said += &Copying { account, from: &from, to: &to, progress: &mut progress }.run().await?;
    }
    said += &verified(&to, &place.to_string(), &mut progress).await?;
    to.close().await;
    print(said.as_bytes())
}

/// One account on its way.
struct Copying<'a> {
    account: AccountId,
    from: &'a ServerJournal,
    to: &'a ServerJournal,
    progress: &'a mut Progress,
}

impl Copying<'_> {
    async fn run(mut self) -> Result<String, Problem> {
        let before = self.begun().await?;
        let mut copied = 0;
        for _ in 0..CATCH_UPS_MAX {
            copied += self.entries().await?;
            let (here, there) = (self.world(self.from).await?, self.world(self.to).await?);
            if here.revision == there.revision {
                let (contents, secrets) = self.vault(&here).await?;
                self.same(&here, &there).await?;
                self.to.snapshot(self.account, &there).await.map_err(|error| unreadable(&error))?;
                let (account, revision) = (self.account, there.revision);
                let after = if before > 0 { format!(" behind {before}") } else { String::new() };
                return Ok(format!(
                    "{account}: {copied} entries copied{after}, {contents} contents, {secrets} secrets; both ends are \
                     the same at revision {revision}\n"
                ));
            }
        }
        let message = format!("{} goes on being written to faster than it is copied", self.from.place());
        Err(Problem::new(ProblemKind::Unavailable, "journal", message)
            .hint("stop its servers and run this again: it goes on where it was"))
    }

    /// What the other end holds already has to be the same; the last revision of it.
    async fn begun(&mut self) -> Result<Revision, Problem> {
        let (here, there) = (self.head(self.from).await?, self.head(self.to).await?);
        if there.revision == 0 {
            self.begin(here).await?;
            return Ok(0);
        }
        if there.revision > here.revision {
            let why = format!("it is at revision {}, and FROM at {}", there.revision, here.revision);
            return Err(self.other_history(&why));
        }
        if here.oldest > there.revision + 1 {
            let why = format!("it ends at {}, and FROM begins at {} by now", there.revision, here.oldest);
            return Err(self.other_history(&why));
        }
        self.compared(here.oldest.max(there.oldest), there.revision).await?;
        Ok(there.revision)
    }

    async fn begin(&self, here: Head) -> Result<(), Problem> {
        let failed = |error: JournalError| unreadable(&error);
        let base = self.from.world_before_oldest(self.account, here).await.map_err(failed)?;
        let (mut links, mut after) = (Vec::new(), 0);
        loop {
            let page = self.from.archived_links(self.account, after, PAGE).await.map_err(failed)?;
            let Some(last) = page.last() else { break };
            after = last.revision;
            links.extend(page.into_iter().filter(|link| link.revision <= base.revision));
        }
        self.to.begin(self.account, &base, &links).await.map_err(failed)
    }

    /// Entries from `first` to `last` are the same at both ends.
    async fn compared(&mut self, first: Revision, last: Revision) -> Result<(), Problem> {
        let mut after = first.saturating_sub(1);
        while after < last {
            let (here, there) = (self.page(self.from, after).await?, self.page(self.to, after).await?);
            let mut both = here.iter().zip(&there);
            if let Some((entry, _)) = both.clone().find(|(here, there)| here != there) {
                return Err(self.other_history(&format!("entry {} is another one", entry.revision)));
            }
            let Some((entry, _)) = both.next_back() else {
                return Err(self.other_history(&format!("entry {} is missing at one end", after + 1)));
            };
            after = entry.revision;
            self.progress.at(|| format!("{after} of {last} entries compared"));
        }
        Ok(())
    }

    /// Everything that is behind the other end; how many.
    async fn entries(&mut self) -> Result<u64, Problem> {
        let mut copied = 0;
        let mut expected = self.head(self.to).await?.revision;
        loop {
            let entries = self.page(self.from, expected).await?;
            let Some(last) = entries.last().map(|entry| entry.revision) else { return Ok(copied) };
            copied += last - expected;
            let batch = Batch { account: self.account, expected, epoch: None, entries };
            self.to.append(batch).await.map_err(|error| self.not_taken(&error))?;
            expected = last;
            self.progress.at(|| format!("{expected} entries copied"));
        }
    }

    /// Everything the world refers to, each content under the digest it has here.
    async fn vault(&mut self, world: &World) -> Result<(usize, usize), Problem> {
        let (contents, secrets) = (contents_of(world), secrets_of(world));
        if contents.is_empty() && secrets.is_empty() {
            return Ok((0, 0));
        }
        let (vault, place) = self.from.vault()?;
        let Some(vault) = vault else { return Err(missing("the vault", &place)) };
        let other = self.to.made_vault()?;
        for (nth, digest) in contents.iter().enumerate() {
            let content = vault.fetch(digest).await.map_err(|error| unreadable(&error))?;
            let content = content.ok_or_else(|| missing(&format!("the content {digest}"), &place))?;
            other.keep(content).await.map_err(|error| unreadable(&error))?;
            self.progress.at(|| format!("{nth} of {} contents copied", contents.len()));
        }
        for (name, version) in &secrets {
            let value = vault.secret(self.account, *version).await.map_err(|error| unreadable(&error))?;
            let value = value.ok_or_else(|| missing(&format!("the value of secret {name}"), &place))?;
            let kept = other.keep_secret(self.account, *version, value).await;
            kept.map_err(|error| unreadable(&error))?;
        }
        Ok((contents.len(), secrets.len()))
    }

    /// What both ends come to, and what they were written under.
    async fn same(&mut self, here: &World, there: &World) -> Result<(), Problem> {
        if here != there {
            return Err(self.other_history(&format!("at revision {} it comes to another world", here.revision)));
        }
        let (from, to) = (self.head(self.from).await?, self.head(self.to).await?);
        if to.epoch != there.seat.epoch {
            return Err(self.other_history(&format!("its seat is of epoch {}, not of {}", to.epoch, there.seat.epoch)));
        }
        self.compared(from.oldest.max(to.oldest), there.revision).await
    }

    async fn head(&self, journal: &ServerJournal) -> Result<Head, Problem> {
        journal.head(self.account).await.map_err(|error| unreadable(&error))
    }

    async fn world(&self, journal: &ServerJournal) -> Result<World, Problem> {
        journal.load(self.account).await.map_err(|error| unreadable(&error))
    }

    async fn page(&self, journal: &ServerJournal, after: Revision) -> Result<Vec<Entry>, Problem> {
        journal.read(self.account, after, PAGE).await.map_err(|error| unreadable(&error))
    }

    fn other_history(&self, why: &str) -> Problem {
        let message = format!("{} holds another history of account {}: {why}", self.to.place(), self.account);
        Problem::new(ProblemKind::Conflict, "history", message).hint(
            "name a journal that does not hold this account, or one that an earlier copy made and nobody used since",
        )
    }

    fn not_taken(&self, error: &AppendError) -> Problem {
        match error {
            AppendError::Failed(error) => unreadable(error),
            outrun => {
                Problem::new(ProblemKind::Conflict, "journal", format!("{}: {}", self.to.place(), sentence(outrun)))
                    .hint("nobody may write to TO while it is being made")
            }
        }
    }
}

fn missing(what: &str, place: &str) -> Problem {
    Problem::new(ProblemKind::Invalid, "vault", format!("{what} is not in {place}"))
        .hint("see what else is missing: kura-console journal verify")
}
