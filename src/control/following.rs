//! Following a repository: what arrives in it while somebody wants unattended starts is built and told to the core, which
//! decides whether it ever starts (R100, R169). Only the holder of the seat follows.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use super::door::{Door, DoorError};
use super::host::Host;
use super::ports::{Clock, Vault};
use super::render::content::ReleaseContent;
use super::render::contract::contract;
use super::render::prepared::Prepared;
use super::seat::Held;
use super::stop::Stop;
use super::trouble::sentence;
use crate::domain::ids::{AccountId, Epoch, ReleaseId, RolloutId};
use crate::domain::input::{Input, Order, Verb};
use crate::domain::span::Seconds;
use crate::domain::verdict::Reply;
use crate::domain::world::World;

/// How often it is looked at, unless the process is told otherwise (R169).
pub const FOLLOW_EVERY: Duration = Duration::from_secs(60);

/// The longest pause after looks that failed.
pub const BACK_OFF_MAX: Duration = Duration::from_secs(15 * 60);

/// Who publishes what arrives.
const BY: &str = "repository";

/// What runs a release that nobody ordered.
const ENGINE: &str = "saltstack";

/// A tag and where it leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// Its name.
    pub name: String,
    /// In full.
    pub commit: String,
    /// When it was made.
    pub made_at: jiff::Timestamp,
}

/// A repository that can be followed. What goes wrong is one sentence, without any password.
pub trait Origin: Clone + Send + Sync + 'static {
    /// Brings what is known of it up to date.
    fn refresh(&self) -> impl Future<Output = Result<(), String>> + Send;

    /// The commit a branch leads to; none = there is no such branch.
    fn tip(&self, branch: &str) -> impl Future<Output = Result<Option<String>, String>> + Send;

    /// Every tag, the newest first.
    fn tags(&self) -> impl Future<Output = Result<Vec<Tag>, String>> + Send;

    /// The content of a commit, for the Vault.
    fn content(&self, git_ref: &str, commit: &str) -> impl Future<Output = Result<Vec<u8>, String>> + Send;

    /// How the last look of an account went; none = well, or nobody looks.
    fn note(&self, account: AccountId, trouble: Option<String>);
}

/// How a repository is followed.
#[derive(Debug, Clone)]
pub struct Following {
    /// The branch whose commits are started.
    pub branch: String,
    /// Between two looks.
    pub period: Duration,
}

/// Follows for one account.
pub struct Follower<H, O> {
    /// What it runs on.
    pub host: Arc<H>,
    /// Whose starts.
    pub account: AccountId,
    /// Where arrivals are told.
    pub door: Door,
    /// Whether this process is the one.
    pub held: Held,
    /// The wish to stop.
    pub stop: Stop,
    /// What is followed.
    pub origin: O,
    /// How.
    pub following: Following,
}

/// What an account wants followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Wanted {
    commits: bool,
    tags: bool,
}

impl Wanted {
    fn of(world: &World) -> Self {
        Self { commits: world.account.auto_deploy, tags: world.account.track_config_tags }
    }

    fn nothing(self) -> bool {
        !self.commits && !self.tags
    }
}

/// Follows whenever the seat is held and somebody wants it, until it is stopped.
pub async fn run_follower<H: Host, O: Origin>(follower: Follower<H, O>) {
    let mut failures = 0;
    while let Some(epoch) = follower.wanted_under().await {
        let looked = follower.look(epoch).await;
        failures = if looked.is_ok() { 0 } else { failures + 1 };
        if let Err(why) = &looked {
            tracing::warn!(account = %follower.account, %why, "the repository could not be followed");
        }
        follower.origin.note(follower.account, looked.err());
        follower.pause(failures).await;
    }
}

impl<H: Host, O: Origin> Follower<H, O> {
    /// Waits until the seat is held and something is wanted. None = stopped first.
    async fn wanted_under(&self) -> Option<Epoch> {
        let (mut epochs, mut published) = (self.held.epochs(), self.door.published());
        let wanted = async {
            loop {
                let epoch = *epochs.wait_for(Option::is_some).await.ok()?;
                let known = published.borrow_and_update().clone();
                if known.is_loaded() && !Wanted::of(&known.world).nothing() {
                    return epoch;
                }
                self.origin.note(self.account, None);
                drop(known);
                published.changed().await.ok()?;
            }
        };
        tokio::select! {
            biased;
            () = self.stop.asked() => None,
            epoch = wanted => epoch,
        }
    }

    /// Until the next look: the period, give or take a tenth, longer after failures, and no longer than somebody wants
    /// something else followed.
    async fn pause(&self, failures: u32) {
        let known = Wanted::of(&self.door.world());
        let mut published = self.door.published();
        tokio::select! {
            biased;
            () = self.stop.asked() => {}
            _ = published.wait_for(|now| Wanted::of(&now.world) != known) => {}
            () = self.host.clock().sleep(self.span(failures)) => {}
        }
    }

    fn span(&self, failures: u32) -> Duration {
        let backed_off = self.following.period.saturating_mul(1 << failures.min(10));
        let span = backed_off.min(BACK_OFF_MAX.max(self.following.period));
        // A number between 0.9 and 1.1, so that servers that started together do not look together.
        let draw = f64::from(self.host.fresh().as_bytes()[0]) / 255.0;
        span.mul_f64(0.9 + 0.2 * draw)
    }

    /// One look. Branch and tags go their own ways: trouble with one is no reason to pass over the other.
    async fn look(&self, epoch: Epoch) -> Result<(), String> {
        self.origin.refresh().await?;
        let wanted = Wanted::of(&self.door.world());
        let commits = if wanted.commits { self.look_at_branch(epoch).await } else { Ok(()) };
        let tags = if wanted.tags { self.look_at_tags(epoch).await } else { Ok(()) };
        commits.and(tags)
    }

    /// The commit that is there when somebody begins to follow is old; every later one is news.
    async fn look_at_branch(&self, epoch: Epoch) -> Result<(), String> {
        let git_ref = self.following.branch.clone();
        let tip = self.origin.tip(&git_ref).await?;
        let commit = tip.ok_or_else(|| format!("there is no branch {git_ref} in the repository"))?;
        let world = self.door.world();
        match &world.seen_commit {
            Some(seen) if seen.commit == commit && seen.git_ref == git_ref => Ok(()),
            Some(seen) if seen.git_ref == git_ref => {
                let release = self.release(epoch, &world, &git_ref, &commit).await?;
                let id = RolloutId(self.host.fresh());
                self.tell(epoch, Input::CommitArrived { id, release }).await
            }
            _ => self.tell(epoch, Input::CommitFound { git_ref, commit }).await,
        }
    }

    /// The newest tag that matches is told once; whether it starts, and when, the sequencer decides.
    async fn look_at_tags(&self, epoch: Epoch) -> Result<(), String> {
        let world = self.door.world();
        let pattern = wildmatch::WildMatch::new(world.account.config_tag_pattern.as_deref().unwrap_or("*"));
        let tags = self.origin.tags().await?;
        let Some(newest) = tags.into_iter().find(|tag| pattern.matches(&tag.name)) else { return Ok(()) };
        let is_it = |release: &&ReleaseId| {
            let known = world.releases.get(*release);
            known.is_some_and(|known| known.git_ref == newest.name && known.commit == newest.commit)
        };
        let is_older = world.newest_tag_at.is_some_and(|newest_at| newest.made_at < newest_at);
        if is_older || world.tags.iter().any(|release| is_it(&release)) {
            return Ok(());
        }
        let release = self.release(epoch, &world, &newest.name, &newest.commit).await?;
        self.tell(epoch, Input::TagArrived { release, made_at: Some(newest.made_at) }).await
    }

    /// The release of a commit: the one that somebody built of it before, else a new one.
    async fn release(&self, epoch: Epoch, world: &World, git_ref: &str, commit: &str) -> Result<ReleaseId, String> {
        let mut known = world.releases.values();
        if let Some(known) = known.find(|known| known.git_ref == git_ref && known.commit == commit) {
            return Ok(known.id);
        }
        let bytes = self.origin.content(git_ref, commit).await?;
        if let Some(content) = ReleaseContent::read(&bytes) {
            Prepared::of(&content).map_err(|bad| format!("{git_ref} cannot be rendered: {bad}"))?;
        }
        let contract = contract(&bytes);
        let content = self.host.vault().keep(bytes).await.map_err(|error| sentence(&error))?;
        let id = ReleaseId(self.host.fresh());
        let verb = Verb::PublishRelease {
            id,
            git_ref: git_ref.to_owned(),
            commit: commit.to_owned(),
            engine: ENGINE.to_owned(),
            timeout_seconds: Seconds(0),
            notes: String::new(),
            target_version: None,
            content,
            contract,
        };
        let order = Order { verb, by: BY.to_owned(), reason: Some(format!("{git_ref} arrived")), key: None };
        self.tell(epoch, Input::Verb(order)).await.map(|()| id)
    }

    /// Has something decided, as long as this process still holds the seat.
    async fn tell(&self, epoch: Epoch, input: Input) -> Result<(), String> {
        match self.door.ask_under(epoch, input).await {
            Ok(Reply::Refused(refusal)) => Err(refusal.to_string()),
            // Whoever holds the seat now looks for itself.
            Ok(_) | Err(DoorError::Deposed) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }
}
