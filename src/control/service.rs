//! A service: everything of one account, put together in one way for every host. Who drives its loops is the caller's
//! business: a runtime, a simulator's executor, a test.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::mpsc;

use super::contents::Contents;
use super::desk::Desk;
use super::door::Door;
use super::execute::{Executor, LOTS_WAITING, Lot, run_executor};
use super::host::Host;
use super::local::{Introduction, LocalLink, local_link, paint, run_painter};
use super::lookout::{Lookout, run_lookout};
use super::nudges::Nudges;
use super::observe::Observer;
use super::picture::Picture;
use super::publish::Publisher;
use super::reader::Reader;
use super::render::Renderer;
use super::render::rendering::Rendering;
use super::seat::{Bid, Bidding, Candidate, Held, Looks, run_seat};
use super::stop::Stop;
use super::ticker::{TICK_EVERY, Ticker, run_ticker};
use super::turn::Turns;
use super::turns::run_turns;
use super::upkeep::{run_flush, run_snapshots};
use crate::domain::ids::AccountId;

/// What differs between one service and another.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Period of the tick.
    pub tick_every: Duration,
    /// Whether this process stands for the seat from the start; one that does not ticks only once it is told to.
    pub stands: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tick_every: TICK_EVERY, stands: true }
    }
}

/// A loop that has to be driven until it ends, which it does once the service is stopped.
pub struct Loop {
    /// What it is, for logs and for a simulator's traces.
    pub name: &'static str,
    /// To be polled by whoever likes to.
    pub future: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Loop {
    /// What is driven under this name.
    pub fn new(name: &'static str, future: impl Future<Output = ()> + Send + 'static) -> Self {
        Self { name, future: Box::pin(future) }
    }
}

/// Everything of one account in one process. Cheap to clone.
pub struct Service<H, R = Rendering<H>> {
    host: Arc<H>,
    account: AccountId,
    /// Where inputs go and worlds come from.
    pub door: Door,
    /// Where agents poll and report.
    pub desk: Desk<H, R>,
    /// Who should poll again now.
    pub nudges: Nudges,
    /// The epoch this process holds the seat in.
    pub held: Held,
    /// What this process does about the seat.
    pub bidding: Bidding,
    /// What is seen of the seat while somebody else has it.
    pub looks: Looks,
    /// What the world outside looks like.
    pub observer: Observer<H>,
    /// The wish to stop.
    pub stop: Stop,
}

impl<H, R> Clone for Service<H, R> {
    fn clone(&self) -> Self {
        Self {
            host: Arc::clone(&self.host),
            account: self.account,
            door: self.door.clone(),
            desk: self.desk.clone(),
            nudges: self.nudges.clone(),
            held: self.held.clone(),
            bidding: self.bidding.clone(),
            looks: self.looks.clone(),
            observer: self.observer.clone(),
            stop: self.stop.clone(),
        }
    }
}

impl<H: Host> Service<H> {
    /// A service that renders what is in its Vault for each machine, and the loops to drive.
    pub fn new(host: Arc<H>, account: AccountId, settings: Settings) -> (Self, Vec<Loop>) {
        let (observer, contents) = (Observer::new(Arc::clone(&host), account), Contents::default());
        let renderer = Rendering::new(Arc::clone(&host), account, observer.clone(), contents.clone());
        Self::assembled(host, account, settings, renderer, observer, contents)
    }
}

impl<H: Host, R: Renderer> Service<H, R> {
    /// A service that renders as it is told, and the loops to drive.
    pub fn with_renderer(host: Arc<H>, account: AccountId, settings: Settings, renderer: R) -> (Self, Vec<Loop>) {
        let observer = Observer::new(Arc::clone(&host), account);
        Self::assembled(host, account, settings, renderer, observer, Contents::default())
    }

    fn assembled(
        host: Arc<H>,
        account: AccountId,
        settings: Settings,
        renderer: R,
        observer: Observer<H>,
        contents: Contents,
    ) -> (Self, Vec<Loop>) {
        let publisher = Publisher::new();
        let (door, requests) = Door::new(publisher.subscribe());
        let (nudges, held, stop) = (Nudges::default(), Held::default(), Stop::default());
        let bidding = Bidding::starting_with(if settings.stands { Bid::Stand } else { Bid::Abstain });
        let desk = Desk {
            host: Arc::clone(&host),
            account,
            door: door.clone(),
            nudges: nudges.clone(),
            renderer: Arc::new(renderer),
            contents,
            stop: stop.clone(),
            let_go: Stop::default(),
        };
        let reader = Reader::new(Arc::clone(&host), account, publisher, nudges.clone());
        let (lots, waiting) = mpsc::channel(LOTS_WAITING);
        let turns = Turns { host: Arc::clone(&host), account, observer: observer.clone(), reader, lots };
        let looks = Looks::default();
        let service = Self { host, account, door, desk, nudges, held, bidding, looks, observer, stop };
        let mut loops = vec![Loop::new("turns", run_turns(turns, requests, service.stop.clone()))];
        loops.extend(service.upkeep());
        loops.extend(service.reconciler(settings.tick_every));
        loops.push(service.executor(waiting));
        loops.push(service.lookout());
        (service, loops)
    }

    /// A console's end of this service, and the loop that paints its pictures.
    pub fn link(&self, introduction: Introduction) -> (LocalLink<H>, Loop) {
        let (link, painter) =
            local_link(&self.host, self.account, &self.door, &self.observer, introduction, &self.stop);
        (link, Loop::new("pictures", run_painter(painter)))
    }

    /// What a console would be shown right now.
    pub fn picture(&self, introduction: &Introduction) -> Picture {
        paint(&self.door.published().borrow(), &self.observer, self.host.as_ref(), introduction)
    }

    /// Whose service it is.
    pub fn account(&self) -> AccountId {
        self.account
    }

    /// What it runs on.
    pub fn host(&self) -> &Arc<H> {
        &self.host
    }

    fn upkeep(&self) -> [Loop; 2] {
        let host = || Arc::clone(&self.host);
        [
            Loop::new("snapshots", run_snapshots(host(), self.account, self.door.clone())),
            Loop::new("presence", run_flush(host(), self.stop.clone())),
        ]
    }

    fn executor(&self, lots: mpsc::Receiver<Lot>) -> Loop {
        let (door, held, stop) = (self.door.clone(), self.held.clone(), self.stop.clone());
        Loop::new("executor", run_executor(Executor { host: Arc::clone(&self.host), door, held, lots, stop }))
    }

    fn lookout(&self) -> Loop {
        let (host, account) = (Arc::clone(&self.host), self.account);
        let (door, held, stop) = (self.door.clone(), self.held.clone(), self.stop.clone());
        Loop::new("lookout", run_lookout(Lookout { host, account, door, held, stop }))
    }

    fn reconciler(&self, period: Duration) -> [Loop; 2] {
        let (door, held, stop) = (self.door.clone(), self.held.clone(), self.stop.clone());
        let ticker = Ticker { host: Arc::clone(&self.host), door, held, period, stop };
        let (door, held, stop) = (self.door.clone(), self.held.clone(), self.stop.clone());
        let candidate = Candidate {
            host: Arc::clone(&self.host),
            account: self.account,
            door,
            held,
            bidding: self.bidding.clone(),
            looks: self.looks.clone(),
            observer: self.observer.clone(),
            stop,
        };
        [Loop::new("seat", run_seat(candidate)), Loop::new("ticker", run_ticker(ticker))]
    }
}

/// Drives loops in one place until all of them have come to their end.
pub async fn drive(loops: Vec<Loop>) {
    join_all(loops.into_iter().map(|l| l.future)).await;
}
