//! Climbing the ladder of a console: looks at both ends, opens the journal where one is silent, bids for the seat as it was
//! told to, hands it back, and says on each picture where it stands.

use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;

use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot, watch};

use super::embedded::{Embedded, Standby};
use super::known::Known;
use super::ladder::{
    HAND_BACK_AFTER, HAND_OVER_LIMIT, LOOK_EVERY, Near, OPEN_AGAIN_AFTER, Resolve, STAND_BY_AFTER, TAKE_LIMIT, Wished,
};
use super::link::{Answer, Link, SeatWish};
use super::picture::{Freshness, Picture};
use super::ports::Clock;
use super::seat::Bid;
use super::time::{later, until};
use crate::domain::fallback::{Fallback, Rung, Silence};

/// A journal that is being opened.
type Opening<N> = Pin<Box<dyn Future<Output = Result<Embedded<N>, String>> + Send>>;

/// A look from afar that is under way.
type Looking = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// Where the ladder is climbed.
pub(super) struct Climber<F, S: Standby, C> {
    far: F,
    standby: S,
    clock: C,
    resolve: Resolve,
    pictures: watch::Sender<Picture>,
    near: watch::Sender<Option<Near<S::Link>>>,
    wished: mpsc::Receiver<Wished>,
    /// Whether this console could carry on over the journal, as it was found last; none = not looked yet.
    possible: Option<Result<(), String>>,
    /// When that is looked at again.
    look_at: Option<Timestamp>,
    /// When the journal is opened again, where it could not be.
    open_at: Option<Timestamp>,
    silent_since: Option<Timestamp>,
    /// Since when the control plane answers again while the journal is still open here.
    back_since: Option<Timestamp>,
    embedded: Option<Embedded<S::Link>>,
    /// This console bids for the seat.
    stands: bool,
    /// A person left the seat: it is not taken again by itself.
    left: bool,
    handing_since: Option<Timestamp>,
    /// Whoever asked for the seat and waits, until when.
    asked: Option<(oneshot::Sender<Answer>, Timestamp)>,
    hears_wishes: bool,
}

/// What happened.
enum News<N> {
    /// Something that is looked at anyway.
    Look,
    Opened(Result<Embedded<N>, String>),
    Looked(Result<(), String>),
    Wish(Wished),
    /// Nobody looks any more.
    Nobody,
}

impl<F: Link, S: Standby, C: Clock> Climber<F, S, C> {
    /// On the lowest rung.
    pub(super) fn of(
        (far, standby, clock, resolve): (F, S, C, Resolve),
        pictures: watch::Sender<Picture>,
        near: watch::Sender<Option<Near<S::Link>>>,
        wished: mpsc::Receiver<Wished>,
    ) -> Self {
        Self {
            far,
            standby,
            clock,
            resolve,
            pictures,
            near,
            wished,
            possible: None,
            look_at: None,
            open_at: None,
            silent_since: None,
            back_since: None,
            embedded: None,
            stands: false,
            left: false,
            handing_since: None,
            asked: None,
            hears_wishes: true,
        }
    }

    /// Until nobody looks any more; then what is held is given back.
    pub(super) async fn climb(mut self) {
        let mut far = self.far.pictures();
        let (mut opening, mut looking): (Option<Opening<S::Link>>, Option<Looking>) = (None, None);
        loop {
            self.step(&far.borrow_and_update().clone());
            if self.is_handed_over() {
                self.close().await;
                continue;
            }
            self.begin(&mut opening, &mut looking);
            match self.next(&mut far, &mut opening, &mut looking).await {
                News::Look => {}
                News::Opened(opened) => {
                    opening = None;
                    self.opened(opened);
                }
                News::Looked(found) => {
                    looking = None;
                    self.possible = Some(found);
                }
                News::Wish(wished) => self.wish(wished),
                News::Nobody => break,
            }
        }
        self.close().await;
    }

    fn now(&self) -> Timestamp {
        self.clock.steady()
    }

    /// Waits for whatever may lead to another rung.
    async fn next(
        &mut self,
        far: &mut watch::Receiver<Picture>,
        opening: &mut Option<Opening<S::Link>>,
        looking: &mut Option<Looking>,
    ) -> News<S::Link> {
        let due = self.due().map(|due| until(due, self.now()));
        let clock = self.clock.clone();
        let time = async {
            match due {
                Some(span) => clock.sleep(span).await,
                None => pending().await,
            }
        };
        let nobody = self.pictures.clone();
        let embedded = &mut self.embedded;
        let near = async {
            match embedded {
                Some(embedded) => embedded.changed().await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            () = nobody.closed() => News::Nobody,
            wished = self.wished.recv(), if self.hears_wishes => match wished {
                Some(wished) => News::Wish(wished),
                None => {
                    self.hears_wishes = false;
                    News::Look
                }
            },
            opened = ready(opening) => News::Opened(opened),
            found = ready(looking) => News::Looked(found),
            changed = far.changed() => if changed.is_ok() { News::Look } else { News::Nobody },
            () = near => News::Look,
            () = time => News::Look,
        }
    }

    /// The next moment at which time alone changes something.
    fn due(&self) -> Option<Timestamp> {
        let silent = self.silent_since;
        let stand_by = silent.filter(|_| self.embedded.is_none()).map(|since| later(since, STAND_BY_AFTER));
        let auto = self.auto_at();
        let back = self.back_since.map(|since| later(since, HAND_BACK_AFTER));
        let over = self.handing_since.map(|since| later(since, HAND_OVER_LIMIT));
        let asked = self.asked.as_ref().map(|(_, deadline)| *deadline);
        let now = self.now();
        let open = self.open_at.filter(|_| silent.is_some() && self.embedded.is_none());
        let look = self.look_at.filter(|_| silent.is_none() && self.embedded.is_none());
        let moments = [stand_by, auto, back, over, asked, open, look];
        moments.into_iter().flatten().filter(|at| *at > now).min()
    }

    /// When the seat is stood for without a person; none where it is not, or is already.
    fn auto_at(&self) -> Option<Timestamp> {
        let Resolve::Auto(grace) = self.resolve else { return None };
        let waits = !self.left && !self.stands && self.possible.as_ref().is_none_or(Result::is_ok);
        self.silent_since.filter(|_| waits).map(|since| later(since, grace))
    }

    /// Looks at both ends, bids as it is due, and shows what there is.
    fn step(&mut self, far: &Picture) {
        let now = self.now();
        let is_silent = matches!(far.api, Freshness::Lost { .. });
        self.silent_since = if is_silent { self.silent_since.or(Some(now)) } else { None };
        self.back_since = match &self.embedded {
            Some(_) if !is_silent => self.back_since.or(Some(now)),
            _ => None,
        };
        if is_silent {
            self.handing_since = None;
        } else {
            self.left = false;
        }
        if self.auto_at().is_some_and(|at| at <= now) && self.embedded.is_some() {
            tracing::warn!("the control plane is silent: this console stands for the seat by itself");
            self.stand();
        }
        self.hand_back(far, now);
        self.answer(now);
        self.show(far);
    }

    /// The control plane answers again, and for long enough.
    fn hand_back(&mut self, far: &Picture, now: Timestamp) {
        let Some(since) = self.back_since else { return };
        let is_held = self.embedded.as_ref().is_some_and(|embedded| embedded.epoch().is_some());
        let is_due = self.handing_since.is_none() && now >= later(since, HAND_BACK_AFTER);
        if !is_due || (is_held && !self.is_same(far)) {
            return;
        }
        tracing::warn!(is_held, "the control plane is back");
        self.handing_since = Some(now);
        self.bid(Bid::Abstain);
    }

    /// It reads the journal that is read here: it knows of the seat what is known here.
    fn is_same(&self, far: &Picture) -> bool {
        let Some(embedded) = &self.embedded else { return false };
        far.glimpse.is_none() && far.world.seat == embedded.pictures.borrow().world.seat
    }

    fn stand(&mut self) {
        self.stands = true;
        self.bid(Bid::Stand);
    }

    fn bid(&mut self, bid: Bid) {
        if bid == Bid::Abstain {
            self.stands = false;
            self.wait_no_more();
        }
        if let Some(embedded) = &self.embedded {
            embedded.bidding.set(bid);
        }
    }

    /// Nobody has to be waited for any more: the seat is somebody else's, or nobody took it in time.
    fn is_handed_over(&self) -> bool {
        let (Some(since), Some(embedded)) = (self.handing_since, &self.embedded) else { return false };
        let is_held = embedded.epoch().is_some();
        let is_over = self.now() >= later(since, HAND_OVER_LIMIT);
        let is_taken = !embedded.is_last_holder();
        !is_held && (is_taken || is_over)
    }

    /// Opens the journal where the control plane is silent for long enough; looks at it from time to time where not.
    fn begin(&mut self, opening: &mut Option<Opening<S::Link>>, looking: &mut Option<Looking>) {
        if self.resolve == Resolve::Off || self.standby.over().is_none() || opening.is_some() || looking.is_some() {
            return;
        }
        let now = self.now();
        let is_due = |at: Option<Timestamp>| at.is_none_or(|at| at <= now);
        let (known, is_seen) = {
            let picture = self.pictures.borrow();
            let known = Known::of(&picture);
            let is_seen = known.is_some() || picture.glimpse.is_some();
            (known, is_seen)
        };
        match (&self.embedded, self.silent_since) {
            (Some(_), _) => {}
            (None, Some(since)) if now >= later(since, STAND_BY_AFTER) => {
                if is_due(self.open_at) {
                    self.open_at = Some(later(now, OPEN_AGAIN_AFTER));
                    *opening = Some(Box::pin(self.standby.open(known)));
                }
            }
            (None, Some(_)) => {}
            (None, None) if is_due(self.look_at) && is_seen => {
                self.look_at = Some(later(now, LOOK_EVERY));
                *looking = Some(Box::pin(self.standby.look(known)));
            }
            (None, None) => {}
        }
    }

    fn opened(&mut self, opened: Result<Embedded<S::Link>, String>) {
        match opened {
            Ok(embedded) => {
                tracing::warn!("the control plane is silent: this console reads the journal and stands by");
                self.possible = Some(Ok(()));
                self.open_at = None;
                self.embedded = Some(embedded);
            }
            Err(why) => {
                tracing::warn!(%why, "the journal cannot be read from here");
                self.possible = Some(Err(why));
            }
        }
    }

    /// Gives back what is held, and closes the journal.
    async fn close(&mut self) {
        self.near.send_replace(None);
        (self.stands, self.handing_since, self.back_since) = (false, None, None);
        self.wait_no_more();
        if let Some(embedded) = self.embedded.take() {
            embedded.close.await;
            tracing::info!("the journal is closed again");
        }
    }

    fn wish(&mut self, Wished { order, answer }: Wished) {
        let now = self.now();
        let refused = |sentence: &str| Answer::Refused { sentence: sentence.to_owned(), hints: Vec::new() };
        let said = match (order.wish, &self.embedded) {
            (_, None) => refused("the journal is not read from here, so there is no seat to take or leave"),
            (SeatWish::Leave, Some(embedded)) if embedded.epoch().is_none() && !self.stands => {
                refused("the seat is not here")
            }
            (SeatWish::Leave, Some(_)) => {
                tracing::warn!(by = order.by, reason = order.reason, "the seat is left");
                self.left = true;
                self.bid(Bid::Abstain);
                Answer::Done { sentence: "the seat is left: nobody reconciles until somebody takes it".to_owned() }
            }
            (SeatWish::Take, Some(_)) if self.silent_since.is_none() => {
                refused("the control plane answers: the seat stays with it")
            }
            (SeatWish::Take, Some(_)) => {
                tracing::warn!(by = order.by, reason = order.reason, "this console stands for the seat");
                self.left = false;
                self.stand();
                self.asked = Some((answer, later(now, TAKE_LIMIT)));
                return;
            }
        };
        // Whoever asked may have left meanwhile.
        let _ = answer.send(said);
    }

    /// Tells whoever asked for the seat what came of it.
    fn answer(&mut self, now: Timestamp) {
        let Some((_, deadline)) = &self.asked else { return };
        let embedded = self.embedded.as_ref();
        let said = match embedded.and_then(Embedded::epoch) {
            Some(epoch) => {
                Answer::Done { sentence: format!("the seat is here, epoch {epoch}: this console reconciles") }
            }
            None if now < *deadline => return,
            None => {
                let seen = embedded.map(Embedded::seen).unwrap_or_default();
                let why =
                    seen.untaken.as_ref().map(|why| format!(" (it could not be taken: {why})")).unwrap_or_default();
                Answer::Done { sentence: format!("this console waits for the seat: {seen}{why}") }
            }
        };
        if let Some((answer, _)) = self.asked.take() {
            let _ = answer.send(said);
        }
    }

    /// Whoever asked for the seat does not get it any more.
    fn wait_no_more(&mut self) {
        if let Some((answer, _)) = self.asked.take() {
            let sentence = "the seat was not taken, and this console does not wait for it any more".to_owned();
            let _ = answer.send(Answer::Refused { sentence, hints: Vec::new() });
        }
    }

    /// The far end's picture, or that of the embedded one while that end is silent.
    fn show(&mut self, far: &Picture) {
        let rung = self.rung();
        let embedded = self.embedded.as_ref().filter(|_| rung.is_embedded());
        let mut picture = match embedded {
            Some(embedded) => Picture { own: far.own.clone(), ..embedded.pictures.borrow().clone() },
            None => far.clone(),
        };
        if embedded.is_some() {
            self.standby.is_shown();
        }
        let is_near = self.near.borrow().is_some();
        if is_near != embedded.is_some() {
            self.near.send_replace(embedded.map(|one| Near { link: one.link.clone(), by: one.by.clone() }));
        }
        picture.fallback = Some(Arc::new(self.fallback(far, rung)));
        self.pictures.send_replace(picture);
    }

    fn rung(&self) -> Rung {
        match (&self.embedded, self.handing_since, self.silent_since) {
            (Some(embedded), Some(_), _) => Rung::HandingBack(embedded.seen().epoch),
            (Some(embedded), None, _) => match embedded.epoch() {
                Some(epoch) => Rung::Seated(epoch),
                None if self.stands => Rung::Waiting(embedded.seen()),
                None => Rung::StandingBy(embedded.seen()),
            },
            (None, _, Some(_)) => Rung::Lost,
            (None, _, None) => Rung::Attached,
        }
    }

    fn fallback(&self, far: &Picture, rung: Rung) -> Fallback {
        let over = self.standby.over();
        let trouble = match (&over, &self.possible, self.resolve) {
            (_, _, Resolve::Off) => Some("it is turned off: --fallback manual turns it on".to_owned()),
            (None, ..) => Some("no journal was named: --journal URL, as serve names it".to_owned()),
            (Some(_), Some(Err(why)), _) => Some(why.clone()),
            _ => self.stranger(far),
        };
        let silence = match &far.api {
            Freshness::Lost { since, why, retry_at } => {
                Some(Silence { since: *since, why: why.clone(), retry_at: *retry_at })
            }
            _ => None,
        };
        let is_looked_at = trouble.is_some() || self.possible.is_some();
        let agents = self.standby.agents();
        Fallback { over, trouble, is_looked_at, agents, rung, silence, auto_at: self.auto_at() }
    }

    /// A control plane that is back and keeps another journal gets no seat of this one.
    fn stranger(&self, far: &Picture) -> Option<String> {
        let since = self.back_since.filter(|_| self.handing_since.is_none())?;
        let is_late = self.now() >= later(since, HAND_BACK_AFTER);
        let is_held = self.embedded.as_ref().is_some_and(|embedded| embedded.epoch().is_some());
        (is_late && is_held && !self.is_same(far)).then(|| {
            let whose = if far.glimpse.is_some() {
                "does not tell which journal it reads"
            } else {
                "does not read this journal"
            };
            format!("the control plane that answers {whose}: the seat stays here until you leave it")
        })
    }
}

/// What is under way, once it is done; never where nothing is.
async fn ready<T>(under_way: &mut Option<Pin<Box<dyn Future<Output = T> + Send>>>) -> T {
    match under_way {
        Some(future) => future.await,
        None => pending().await,
    }
}
