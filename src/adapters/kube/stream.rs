//! One kind, followed for ever: all there is, then what changes. Nobody sees half a list. What is cut, silent or refused
//! waits for itself and goes on where it was; what the server forgot begins anew (A20).

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::pin::Pin;
use std::time::Duration;

use futures_util::{Stream, TryStreamExt};
use kube::core::params::WatchParams;
use kube::core::{Request, WatchEvent};

use super::connection::{ANSWER_MAX, Connection, LOGIN_AGAIN_AFTER, Pass};
use super::fault::ClusterFault;
use super::listing::{Listing, ROWS_MAX};
use super::object::Watched;
use crate::adapters::pause::{AFTER_REFUSAL, Pauses};
use crate::control::ports::Clock;

/// How long the server is asked to keep one watch open: less than what drops quiet connections on the way.
pub const WATCH_MAX: Duration = Duration::from_secs(240);

/// How long nothing may come over a watch, bookmarks included, until it is asked for anew. Servers send a bookmark a
/// minute, but none of a kind of which nothing ever happened; what is asked for anew before it counts as stale
/// (`STALE_AFTER`) is known to be so all the time. A wire that is dead is found out by the asking.
pub const IDLE_MAX: Duration = Duration::from_secs(80);

/// A watch that was taken up where it broke has caught up once nothing comes for this long: a server sends what was
/// missed at once.
const CAUGHT_UP_AFTER: Duration = Duration::from_secs(2);

/// The first minor version of Kubernetes whose servers stream a list unless told not to.
const STREAMS_SINCE: u32 = 34;

/// Ends the list in a stream.
const LIST_ENDS: &str = "k8s.io/initial-events-end";

/// What is to know about a kind. Told in order.
#[derive(Debug, Clone, PartialEq)]
pub enum News<R> {
    /// All there is, by name; whatever was known before and is not among it is gone.
    Complete(BTreeMap<String, R>),
    /// It is new, or changed.
    Changed(String, R),
    /// It is gone.
    Gone(String),
    /// Nothing changed, and the server said so.
    Contact,
    /// What is known gets older from here on.
    Lost(ClusterFault),
}

impl<R> News<R> {
    /// The same about another view of the rows.
    pub(super) fn map<S>(self, view: impl Fn(R) -> S) -> News<S> {
        match self {
            Self::Complete(rows) => News::Complete(rows.into_iter().map(|(name, row)| (name, view(row))).collect()),
            Self::Changed(name, row) => News::Changed(name, view(row)),
            Self::Gone(name) => News::Gone(name),
            Self::Contact => News::Contact,
            Self::Lost(fault) => News::Lost(fault),
        }
    }
}

type Rows<T> = BTreeMap<String, <T as Watched>::Row>;
type Events<T> = Pin<Box<dyn Stream<Item = Result<WatchEvent<T>, kube::Error>> + Send>>;

/// How a watch ended.
#[derive(Debug)]
enum End {
    /// The server closed it, as it does.
    Over {
        /// Something came before.
        heard: bool,
    },
    /// What was asked for is not to be had; something else is.
    Again,
    /// As the fault says.
    Broken(ClusterFault),
}

/// Where a kind is, and which of it.
#[derive(Debug, Clone)]
pub struct Place {
    /// The path of all its objects.
    pub path: String,
    /// The namespace that is looked at.
    pub namespace: String,
    /// Only objects with these fields, as the API server picks them.
    pub fields: Option<String>,
    /// Only objects with these labels.
    pub labels: Option<String>,
}

/// Follows one kind.
pub struct Follower<C, T, F> {
    connection: Connection<C>,
    clock: C,
    place: Place,
    /// Whether the server streams lists. Learnt from its version, unlearnt if it refuses.
    streams_lists: bool,
    /// The version everything up to which was told.
    version: Option<String>,
    tell: F,
    kind: PhantomData<fn() -> T>,
}

impl<C, T, F> Follower<C, T, F>
where
    C: Clock,
    T: Watched,
    F: FnMut(News<T::Row>) + Send,
{
    /// Follows a kind on a server of this minor version; what is to know goes to `tell`.
    pub fn new(connection: Connection<C>, place: Place, minor: u32, tell: F) -> Self {
        Self {
            clock: connection.clock().clone(),
            connection,
            place,
            streams_lists: minor >= STREAMS_SINCE,
            version: None,
            tell,
            kind: PhantomData,
        }
    }

    /// For ever. Each kind has pauses of its own, so that one that is refused does not slow the others down.
    pub async fn run(mut self) {
        let mut pauses = Pauses::default();
        loop {
            let end = self.session(&mut pauses).await;
            if let Some(pause) = self.after(end, &mut pauses) {
                self.clock.sleep(pause).await;
            }
        }
    }

    /// How long to wait after a session. The pauses are reset by what comes over a watch, never by a list: whoever only
    /// ever gets lists does not ask for one after the other.
    fn after(&mut self, end: End, pauses: &mut Pauses) -> Option<Duration> {
        match end {
            End::Over { heard: true } | End::Again => None,
            End::Over { heard: false } => Some(pauses.next(fastrand::f64())),
            End::Broken(ClusterFault::Expired { said }) => {
                tracing::debug!(path = self.place.path, said, "listing again");
                self.version = None;
                Some(pauses.next(fastrand::f64()))
            }
            End::Broken(fault) => {
                let pause = pause_after(&fault).unwrap_or_else(|| pauses.next(fastrand::f64()));
                tracing::debug!(path = self.place.path, %fault, ?pause, "a watch was lost");
                (self.tell)(News::Lost(fault));
                Some(pause)
            }
        }
    }

    async fn session(&mut self, pauses: &mut Pauses) -> End {
        if self.version.is_none() && !self.streams_lists {
            match Listing::read::<C, T>(&self.connection, &self.place).await {
                Ok(listing) => self.complete(listing),
                Err(fault) => return End::Broken(fault),
            }
        }
        let end = match self.open().await {
            Ok((pass, events)) => self.follow(&pass, events, pauses).await,
            Err(fault) => End::Broken(fault),
        };
        match end {
            End::Broken(fault) if self.version.is_none() && self.streams_lists && is_a_no(&fault) => {
                tracing::debug!(path = self.place.path, %fault, "this server does not stream lists");
                self.streams_lists = false;
                End::Again
            }
            end => end,
        }
    }

    /// A watch from where we are, or one that begins with everything there is.
    async fn open(&self) -> Result<(Pass, Events<T>), ClusterFault> {
        let mut params = WatchParams::default().timeout(u32::try_from(WATCH_MAX.as_secs()).unwrap_or(u32::MAX));
        params.send_initial_events = self.version.is_none();
        (params.field_selector, params.label_selector) = (self.place.fields.clone(), self.place.labels.clone());
        let request = Request::new(&*self.place.path).watch(&params, self.version.as_deref().unwrap_or_default());
        let request = request.map_err(|error| ClusterFault::Refused { said: error.to_string() })?;
        let pass = self.connection.pass().await?;
        let opened = tokio::select! {
            opened = pass.client().request_events::<T>(request) => opened,
            () = self.clock.sleep(ANSWER_MAX) => return Err(ClusterFault::Silent { after: ANSWER_MAX }),
        };
        match opened {
            Ok(events) => Ok((pass, Box::pin(events))),
            Err(error) => Err(self.connection.understand(&pass, &error).await),
        }
    }

    async fn follow(&mut self, pass: &Pass, mut events: Events<T>, pauses: &mut Pauses) -> End {
        let mut gathered = self.version.is_none().then(BTreeMap::new);
        let mut heard = false;
        loop {
            let patience = if heard || gathered.is_some() { IDLE_MAX } else { CAUGHT_UP_AFTER };
            let event = tokio::select! {
                event = events.try_next() => event,
                () = self.clock.sleep(patience) => match patience {
                    CAUGHT_UP_AFTER => {
                        heard = true;
                        (self.tell)(News::Contact);
                        continue;
                    }
                    _ if gathered.is_some() => return End::Broken(ClusterFault::Silent { after: IDLE_MAX }),
                    _ => return End::Over { heard: true },
                },
            };
            let event = match event {
                Ok(Some(event)) => event,
                Ok(None) if gathered.is_some() => return End::Broken(cut_short()),
                Ok(None) => return End::Over { heard },
                Err(error) => return End::Broken(self.connection.understand(pass, &error).await),
            };
            if let WatchEvent::Error(status) = &event {
                return End::Broken(self.connection.understand(pass, &kube::Error::Api(status.clone())).await);
            }
            if let Err(fault) = self.take(event, &mut gathered) {
                return End::Broken(fault);
            }
            if gathered.is_none() {
                heard = true;
                pauses.reset();
            }
        }
    }

    /// Takes one event into what is being gathered, or tells it.
    fn take(&mut self, event: WatchEvent<T>, gathered: &mut Option<Rows<T>>) -> Result<(), ClusterFault> {
        match event {
            WatchEvent::Added(object) | WatchEvent::Modified(object) => self.upsert(object, gathered)?,
            WatchEvent::Deleted(object) => self.remove(&object, gathered),
            WatchEvent::Bookmark(bookmark) => {
                let version = bookmark.metadata.resource_version;
                let ends = bookmark.metadata.annotations.get(LIST_ENDS).is_some_and(|ends| ends == "true");
                match gathered.take() {
                    Some(rows) if ends => self.complete(Listing { rows, version }),
                    Some(rows) => *gathered = Some(rows),
                    None => {
                        self.version = Some(version);
                        (self.tell)(News::Contact);
                    }
                }
            }
            WatchEvent::Error(_) => {}
        }
        Ok(())
    }

    fn upsert(&mut self, object: T, gathered: &mut Option<Rows<T>>) -> Result<(), ClusterFault> {
        let (name, version) = object.name_and_version();
        let (name, version) = (name.to_owned(), version.to_owned());
        let row = object.row(&self.place.namespace);
        let Some(rows) = gathered else {
            self.version = Some(version);
            (self.tell)(row.map_or_else(|| News::Gone(name.clone()), |row| News::Changed(name.clone(), row)));
            return Ok(());
        };
        match row {
            Some(row) => rows.insert(name, row),
            None => rows.remove(&name),
        };
        if rows.len() > ROWS_MAX { Err(ClusterFault::TooMany { limit: ROWS_MAX }) } else { Ok(()) }
    }

    fn remove(&mut self, object: &T, gathered: &mut Option<Rows<T>>) {
        let (name, version) = object.name_and_version();
        match gathered {
            Some(rows) => {
                rows.remove(name);
            }
            None => {
                self.version = Some(version.to_owned());
                (self.tell)(News::Gone(name.to_owned()));
            }
        }
    }

    fn complete(&mut self, listing: Listing<T::Row>) {
        self.version = Some(listing.version);
        (self.tell)(News::Complete(listing.rows));
    }
}

/// The server does not do it as it was asked for: it is told not to, or what it keeps its objects in cannot.
fn is_a_no(fault: &ClusterFault) -> bool {
    matches!(fault, ClusterFault::Refused { .. } | ClusterFault::Busy { after: None, .. })
}

/// Where the fault says itself how long nothing will change.
fn pause_after(fault: &ClusterFault) -> Option<Duration> {
    match fault {
        ClusterFault::Busy { after, .. } => after.map(|after| after.min(AFTER_REFUSAL)),
        ClusterFault::LogIn { .. } => Some(LOGIN_AGAIN_AFTER),
        fault => fault.is_refusal().then_some(AFTER_REFUSAL),
    }
}

fn cut_short() -> ClusterFault {
    ClusterFault::Unreachable { said: "the list ended before it was complete".to_owned() }
}
