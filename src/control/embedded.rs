//! What a console embeds: a service of its own over the journal, that leaves the seat alone until it is told otherwise.

use std::future::Future;
use std::pin::Pin;

use tokio::sync::watch;

use super::host::Host;
use super::known::Known;
use super::link::Link;
use super::local::LocalLink;
use super::picture::Picture;
use super::render::Renderer;
use super::seat::Bidding;
use super::service::Service;
use crate::domain::fallback::{AgentRoutes, SeatSeen};
use crate::domain::ids::Epoch;

/// What is at hand to carry on with.
pub trait Standby: Send + Sync + 'static {
    /// The console's end of what is embedded.
    type Link: Link;

    /// What people call the journal; none where none was named.
    fn over(&self) -> Option<String>;

    /// The agents' routes, as far as they can be served from here.
    fn agents(&self) -> AgentRoutes;

    /// Whether the journal could be opened from here, and is the one that `known` was seen of. Nothing stays open.
    fn look(&self, known: Option<Known>) -> impl Future<Output = Result<(), String>> + Send + 'static;

    /// Opens it and stands by.
    fn open(&self, known: Option<Known>)
    -> impl Future<Output = Result<Embedded<Self::Link>, String>> + Send + 'static;

    /// Its picture is what is looked at, so its time is the time that is shown.
    fn is_shown(&self) {}
}

/// An embedded service that runs.
pub struct Embedded<L> {
    /// The console's end of it.
    pub link: L,
    /// Its pictures.
    pub(super) pictures: watch::Receiver<Picture>,
    /// What it does about the seat.
    pub(super) bidding: Bidding,
    /// Who orders through it, where that is not for the console to say.
    pub(super) by: Option<String>,
    held: watch::Receiver<Option<Epoch>>,
    seen: watch::Receiver<SeatSeen>,
    process: String,
    /// Ends it in order: what was begun is decided, the seat given back, the journal closed.
    pub(super) close: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl<H: Host> Embedded<LocalLink<H>> {
    /// A service that runs, and a console's end of it.
    pub fn of<R: Renderer>(service: &Service<H, R>, link: LocalLink<H>) -> Self {
        Self {
            pictures: link.pictures(),
            link,
            bidding: service.bidding.clone(),
            by: None,
            held: service.held.epochs(),
            seen: service.looks.seen(),
            process: service.host().process().to_owned(),
            close: Box::pin(async {}),
        }
    }
}

impl<L> Embedded<L> {
    /// Orders through it are by whom the keeper of the journal names.
    #[must_use]
    pub fn ordered_by(self, by: Option<String>) -> Self {
        Self { by, ..self }
    }

    /// What ends it in order, once nobody needs it any more.
    #[must_use]
    pub fn closed_by(self, close: impl Future<Output = ()> + Send + 'static) -> Self {
        Self { close: Box::pin(close), ..self }
    }

    /// The epoch it has the seat in; none while it has it not.
    pub(super) fn epoch(&self) -> Option<Epoch> {
        *self.held.borrow()
    }

    /// The seat as it looks from here.
    pub(super) fn seen(&self) -> SeatSeen {
        self.seen.borrow().clone()
    }

    /// Nobody took the seat since this process had it.
    pub(super) fn is_last_holder(&self) -> bool {
        self.pictures.borrow().world.seat.holder.as_deref() == Some(self.process.as_str())
    }

    /// Returns once something about it is otherwise.
    pub(super) async fn changed(&mut self) {
        let ended = tokio::select! {
            changed = self.pictures.changed() => changed.is_err(),
            changed = self.held.changed() => changed.is_err(),
            changed = self.seen.changed() => changed.is_err(),
        };
        if ended {
            std::future::pending().await
        }
    }
}
