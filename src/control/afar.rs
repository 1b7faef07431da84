//! A service as a console far away has it: its pictures while it answers, and the last one once it does not.

use std::future::{Future, pending};
use std::time::Duration;

use tokio::sync::watch;

use super::host::Host;
use super::link::{Answer, Link, Pictures};
use super::local::{Introduction, LocalLink};
use super::picture::{Freshness, Picture};
use super::ports::{ApplyResult, Clock};
use super::publish::Published;
use super::render::Renderer;
use super::service::Service;
use crate::domain::change::Entry;
use crate::domain::ids::{MachineId, Revision, RolloutId};
use crate::domain::input::Order;

/// How often a console hears that a service lives, where nothing else happens.
const HEARD_EVERY: Duration = Duration::from_secs(1);

/// What is said of one that does not answer.
const GONE: &str = "the control plane is gone";

/// A service, while it answers. Clones are the same one.
#[derive(Clone)]
pub struct Answering<H, R> {
    service: watch::Sender<Option<Service<H, R>>>,
}

impl<H, R> Default for Answering<H, R> {
    fn default() -> Self {
        Self { service: watch::Sender::new(None) }
    }
}

impl<H: Host, R: Renderer> Answering<H, R> {
    /// From now on it is this one; none = nobody answers.
    pub fn set(&self, service: Option<Service<H, R>>) {
        self.service.send_replace(service);
    }
}

/// A console's end of it.
pub struct Afar<H, R> {
    answering: Answering<H, R>,
    introduction: Introduction,
    pictures: Pictures,
}

impl<H, R> Clone for Afar<H, R> {
    fn clone(&self) -> Self {
        let (answering, introduction) =
            (Answering { service: self.answering.service.clone() }, self.introduction.clone());
        Self { answering, introduction, pictures: self.pictures.clone() }
    }
}

/// A console's end of a service, and the loop that keeps its pictures fresh until nobody looks any more. `first` is shown
/// until something is heard.
pub fn afar<H: Host, R: Renderer, C: Clock>(
    answering: &Answering<H, R>,
    introduction: Introduction,
    first: Picture,
    clock: C,
) -> (Afar<H, R>, impl Future<Output = ()> + Send + 'static) {
    let (sender, pictures) = watch::channel(first);
    let hearing = hear(answering.service.subscribe(), introduction.clone(), clock, sender);
    let answering = Answering { service: answering.service.clone() };
    (Afar { answering, introduction, pictures }, hearing)
}

async fn hear<H: Host, R: Renderer, C: Clock>(
    mut answering: watch::Receiver<Option<Service<H, R>>>,
    introduction: Introduction,
    clock: C,
    pictures: watch::Sender<Picture>,
) {
    loop {
        let service = answering.borrow_and_update().clone();
        let published = service.as_ref().map(|service| {
            let mut published = service.door.published();
            published.mark_unchanged();
            published
        });
        pictures.send_modify(|picture| match &service {
            Some(service) => *picture = service.picture(&introduction),
            None if matches!(picture.api, Freshness::Lost { .. }) => {}
            None => {
                picture.api = Freshness::Lost { since: clock.now(), why: GONE.to_owned(), retry_at: None };
            }
        });
        tokio::select! {
            biased;
            () = pictures.closed() => return,
            changed = answering.changed() => if changed.is_err() { return },
            () = news(published) => {}
            () = clock.sleep(HEARD_EVERY) => {}
        }
    }
}

async fn news(published: Option<watch::Receiver<Published>>) {
    let is_over = match published {
        Some(mut published) => published.changed().await.is_err(),
        None => true,
    };
    if is_over {
        pending().await
    }
}

impl<H: Host, R: Renderer> Afar<H, R> {
    fn link(&self) -> Option<LocalLink<H>> {
        let service = self.answering.service.borrow().clone();
        service.map(|service| service.link(self.introduction.clone()).0)
    }
}

impl<H: Host, R: Renderer> Link for Afar<H, R> {
    fn pictures(&self) -> Pictures {
        self.pictures.clone()
    }

    async fn order(&self, order: Order, planned_at: Option<Revision>) -> Answer {
        match self.link() {
            Some(link) => link.order(order, planned_at).await,
            None => Answer::Unsent { why: GONE.to_owned() },
        }
    }

    async fn results(&self, rollout: RolloutId, machine: MachineId) -> Result<Vec<ApplyResult>, String> {
        match self.link() {
            Some(link) => link.results(rollout, machine).await,
            None => Err(GONE.to_owned()),
        }
    }

    async fn past(&self, before: Revision) -> Result<Vec<Entry>, String> {
        match self.link() {
            Some(link) => link.past(before).await,
            None => Err(GONE.to_owned()),
        }
    }
}
