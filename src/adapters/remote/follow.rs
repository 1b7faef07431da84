//! Follows a control plane for as long as somebody looks: load, stream, lose, wait, go on where it was lost.

use std::sync::Arc;
use std::time::Duration;

use imbl::Vector;
use jiff::{SignedDuration, Timestamp};
use reqwest::Response;
use tokio::sync::watch;

use super::basic::reading::{NOT_OURS, offers_no_world};
use super::basic::sketch::Sketch;
use super::basic::watch::Reader;
use super::client::{Client, Failure};
use super::far_clock::FarClock;
use super::replica::Replica;
use super::stream::Parser;
use crate::adapters::pause::{AFTER_REFUSAL, Pauses};
use crate::control::picture::{Freshness, Picture, Role, SeatView, TAIL_KEPT};
use crate::control::ports::Clock;
use crate::wire::problem::{Problem, ProblemKind};
use crate::wire::stream::{PATH as CHANGES_PATH, SILENCE_SECONDS};
use crate::wire::world::{PATH as WORLD_PATH, WorldBody};

/// Keeps a link's pictures fresh.
pub(super) struct Follower<C> {
    pub(super) client: Client,
    pub(super) clock: FarClock<C>,
    pub(super) pictures: watch::Sender<Picture>,
    pub(super) replica: Option<Replica>,
    /// For a control plane that offers no world.
    pub(super) reader: Reader,
    /// Since when nothing comes.
    pub(super) lost_since: Option<Timestamp>,
}

/// How a session came to its end.
enum End {
    /// The replica cannot go on from where it is.
    Stale(String),
    /// The connection.
    Lost(Problem),
    /// The far end answers, and says no.
    Refused(Problem),
}

impl<C: Clock> Follower<C> {
    /// Runs until nobody holds a link any more.
    pub(super) async fn run(mut self) {
        let nobody = self.pictures.clone();
        tokio::select! {
            () = nobody.closed() => {}
            () = self.follow() => {}
        }
    }

    async fn follow(&mut self) {
        let mut pauses = Pauses::default();
        loop {
            let end = self.session(&mut pauses).await;
            let pause = match &end {
                End::Refused(_) => AFTER_REFUSAL,
                _ => pauses.next(fastrand::f64()),
            };
            self.say(end, pause);
            self.clock.sleep(pause).await;
        }
    }

    /// Loads the world unless there is one to go on from, and follows the changes until something breaks.
    async fn session(&mut self, pauses: &mut Pauses) -> End {
        if self.replica.is_none() {
            let path = format!("{WORLD_PATH}?tail={TAIL_KEPT}");
            match self.client.get::<WorldBody>(&path).await {
                Ok(body) => {
                    self.clock.hear(body.now);
                    self.replica = Some(Replica::load(body));
                }
                Err(failure) if offers_no_world(&failure) => return self.glimpse(pauses).await,
                Err(failure) => return end_of(failure),
            }
            self.show_live();
        }
        let stream = match self.open().await {
            Ok(stream) => stream,
            Err(end) => return end,
        };
        let end = self.read(stream, pauses).await;
        if let End::Stale(why) = &end {
            tracing::info!(%why, "loading the world again");
            self.replica = None;
        }
        end
    }

    /// Reads the status again and again, until that fails or it is time to look whether more is offered by now.
    async fn glimpse(&mut self, pauses: &mut Pauses) -> End {
        loop {
            match self.reader.read(&self.client, &self.clock).await {
                Ok(sketch) => self.show_sketch(sketch),
                Err(failure) => {
                    self.reader.forget();
                    return end_of(failure);
                }
            }
            pauses.reset();
            self.reader.pause(&self.clock).await;
            if self.reader.is_due() {
                return End::Stale("looking whether it offers its world by now".to_owned());
            }
        }
    }

    /// Goes on from where the replica is.
    async fn open(&mut self) -> Result<Response, End> {
        let known = self.replica.as_ref();
        let revision = known.map_or(0, |replica| replica.world.revision);
        let cluster = known.and_then(|replica| replica.edition.as_ref());
        let cluster = cluster.map(|edition| format!("&cluster={edition}")).unwrap_or_default();
        match self.client.stream(&format!("{CHANGES_PATH}?after={revision}{cluster}")).await {
            Ok(stream) => Ok(stream),
            Err(Failure::Answered(problem)) if problem.kind == ProblemKind::Gone => {
                self.replica = None;
                Err(End::Stale(problem.message))
            }
            Err(failure) => Err(end_of(failure)),
        }
    }

    /// Folds what comes, and shows it. A stream over which nothing comes is lost, however open it looks.
    async fn read(&mut self, mut stream: Response, pauses: &mut Pauses) -> End {
        let mut parser = Parser::default();
        loop {
            let chunk = tokio::select! {
                chunk = stream.chunk() => chunk,
                () = self.clock.sleep(Duration::from_secs(SILENCE_SECONDS)) => {
                    return End::Lost(self.broken(&format!("nothing came for {SILENCE_SECONDS} s")));
                }
            };
            let chunk = match chunk {
                Ok(Some(chunk)) => chunk,
                Ok(None) => return End::Lost(self.broken("it ended the change stream")),
                Err(error) => return End::Lost(self.broken(&error.without_url().to_string())),
            };
            let frames = match parser.push(&chunk) {
                Ok(frames) => frames,
                Err(error) => return End::Lost(self.broken(&error.to_string())),
            };
            pauses.reset();
            let Some(replica) = &mut self.replica else { return End::Stale("there is no replica".to_owned()) };
            let said_at = replica.said_at;
            for frame in &frames {
                if let Err(gap) = replica.fold(frame) {
                    return End::Stale(gap.to_string());
                }
            }
            if replica.said_at != said_at {
                self.clock.hear(replica.said_at);
            }
            self.show_live();
        }
    }

    /// Shows the replica as it is, live as of now unless the far end's own journal is in trouble.
    fn show_live(&mut self) {
        let Some(replica) = &self.replica else { return };
        self.lost_since = None;
        let now = self.clock.now();
        let api = match &replica.trouble {
            None => Freshness::Live(now),
            Some(trouble) => {
                let why = format!("the control plane answers, but its journal does not: {}", trouble.why);
                Freshness::Lost { since: trouble.since, why, retry_at: None }
            }
        };
        let Replica { world, observed, tail, seat, account, role, .. } = replica.clone();
        self.pictures.send_modify(|picture| {
            let endpoint = std::mem::take(&mut picture.endpoint);
            let (glimpse, own, fallback) = (None, None, None);
            *picture = Picture { world, observed, tail, seat, api, endpoint, account, role, glimpse, own, fallback };
        });
    }

    /// Shows what was sketched. The same world stays the same, so that nothing is made anew for it.
    fn show_sketch(&mut self, sketch: Sketch) {
        self.lost_since = None;
        let now = self.clock.now();
        self.pictures.send_modify(|picture| {
            if *picture.world != sketch.world {
                picture.world = Arc::new(sketch.world);
            }
            picture.observed = Arc::new(sketch.observed);
            picture.tail = Vector::new();
            // Neither who ticks nor what this token may do is told: what it may not do is refused there.
            (picture.seat, picture.role) = (SeatView::default(), Role::Owner);
            (picture.api, picture.account) = (Freshness::Live(now), sketch.account);
            if picture.glimpse.as_deref() != Some(&sketch.glimpse) {
                picture.glimpse = Some(Arc::new(sketch.glimpse));
            }
        });
    }

    /// Says how it stands; the last picture stays.
    fn say(&mut self, end: End, pause: Duration) {
        let now = self.clock.now();
        let retry_at = SignedDuration::try_from(pause).ok().and_then(|pause| now.checked_add(pause).ok());
        let api = match end {
            End::Refused(problem) => {
                let hint = problem.hints.first().cloned().unwrap_or_default();
                Freshness::Refused { why: problem.message, hint }
            }
            End::Lost(problem) => {
                let since = *self.lost_since.get_or_insert(now);
                Freshness::Lost { since, why: problem.message, retry_at }
            }
            // The far end is there; the picture is only a moment behind.
            End::Stale(_) => return,
        };
        self.pictures.send_modify(|picture| picture.api = api);
    }

    fn broken(&self, why: &str) -> Problem {
        let message = format!("{} fell silent: {why}", self.client.endpoint());
        Problem::new(ProblemKind::Unreachable, "unreachable", message)
    }
}

fn end_of(failure: Failure) -> End {
    match failure {
        Failure::Answered(problem) => match problem.kind {
            ProblemKind::Unauthenticated | ProblemKind::Forbidden => End::Refused(with_hint(
                problem,
                "check KURA_CONSOLE_TOKEN, --token-file or --token-command: readers need a viewer, operator or owner token",
            )),
            // What has no account is none, and it is not there by waiting; what it says of itself says what to do.
            ProblemKind::NotFound if problem.code == NOT_OURS || !problem.hints.is_empty() => End::Refused(problem),
            ProblemKind::NotFound => End::Refused(with_hint(problem, "check the address and its version")),
            _ => End::Lost(problem),
        },
        Failure::Unsent(problem) | Failure::Lost(problem) => End::Lost(problem),
    }
}

fn with_hint(mut problem: Problem, hint: &str) -> Problem {
    problem.hints.insert(0, hint.to_owned());
    problem
}
