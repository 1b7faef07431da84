//! A link beside a cluster that the console looks at by itself. While the control plane answers its picture counts; when
//! it does not, the cluster goes on being seen. If the two ends are different clusters nothing is ordered (A19).

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::control::link::{Answer, Link, SeatOrder};
use crate::control::picture::{Freshness, Picture};
use crate::control::ports::{ApplyResult, Clock, Cluster};
use crate::domain::change::Entry;
use crate::domain::ids::{MachineId, Revision, RolloutId};
use crate::domain::input::Order;
use crate::domain::kura::ends::OwnEnd;

/// What is seen of the cluster within so long is shown in one picture.
const SEEN_AT_ONCE: Duration = Duration::from_millis(50);

/// A link, and what is seen beside it. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Beside<L> {
    link: L,
    pictures: watch::Receiver<Picture>,
}

impl<L: Link> Beside<L> {
    /// The link alone.
    pub fn alone(link: L) -> Self {
        Self { pictures: link.pictures(), link }
    }

    /// Shows both from now on, on the runtime this is called in, until nobody looks any more. `context` is what the
    /// cluster is called here.
    pub fn start<K: Cluster, C: Clock>(link: L, own: K, context: &str, clock: C) -> Self {
        let first = shown(link.pictures().borrow().clone(), &own, context);
        let (sender, pictures) = watch::channel(first);
        tokio::spawn(paint(link.pictures(), own, context.to_owned(), clock, sender));
        Self { link, pictures }
    }
}

async fn paint<K: Cluster, C: Clock>(
    mut pictures: watch::Receiver<Picture>,
    own: K,
    context: String,
    clock: C,
    sender: watch::Sender<Picture>,
) {
    let mut sightings = own.sightings();
    loop {
        let newest = pictures.borrow_and_update().clone();
        sender.send_replace(shown(newest, &own, &context));
        let seen = async {
            sightings.next().await;
            clock.sleep(SEEN_AT_ONCE).await;
        };
        tokio::select! {
            () = sender.closed() => return,
            changed = pictures.changed() => if changed.is_err() { return },
            () = seen => {}
        }
    }
}

/// The control plane's picture, with what this console knows of its own.
fn shown<K: Cluster>(mut picture: Picture, own: &K, context: &str) -> Picture {
    let Some(sight) = own.sight() else { return picture };
    let mut end = OwnEnd::of(context, &sight);
    let is_silent = matches!(picture.api, Freshness::Lost { .. } | Freshness::Refused { .. });
    let is_theirs = divided(&end, &picture).is_none() && picture.glimpse.is_none();
    end.is_shown = is_silent && is_theirs && end.trouble.is_none();
    if end.is_shown {
        Arc::make_mut(&mut picture.observed).cluster = Some(sight);
    }
    picture.own = Some(Arc::new(end));
    picture
}

fn divided(own: &OwnEnd, picture: &Picture) -> Option<String> {
    own.divided_from(picture.observed.cluster.as_ref().and_then(|sight| sight.identity.as_ref()))
}

impl<L: Link> Link for Beside<L> {
    fn pictures(&self) -> watch::Receiver<Picture> {
        self.pictures.clone()
    }

    async fn order(&self, order: Order, planned_at: Option<Revision>) -> Answer {
        let sentence = {
            let picture = self.pictures.borrow();
            picture.own.as_ref().and_then(|own| divided(own, &picture))
        };
        match sentence {
            Some(sentence) => Answer::Refused { sentence, hints: Vec::new() },
            None => self.link.order(order, planned_at).await,
        }
    }

    async fn seat(&self, order: SeatOrder) -> Answer {
        self.link.seat(order).await
    }

    async fn results(&self, rollout: RolloutId, machine: MachineId) -> Result<Vec<ApplyResult>, String> {
        self.link.results(rollout, machine).await
    }

    async fn past(&self, before: Revision) -> Result<Vec<Entry>, String> {
        self.link.past(before).await
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::adapters::clock::SystemClock;
    use crate::control::picture::{Role, SeatView};
    use crate::domain::input::Verb;
    use crate::domain::kura::sight::{ClusterIdentity, Sight};
    use crate::domain::kura::source::{Contact, Source};
    use crate::domain::kura::step::{Outcome, Step};
    use crate::domain::observed::Observed;
    use crate::domain::world::World;

    fn sight(uid: &str) -> Sight {
        let identity = ClusterIdentity { uid: Some(uid.to_owned()), ..ClusterIdentity::default() };
        let live = Contact::Live { as_of: Timestamp::UNIX_EPOCH };
        let instances = Source { contact: live, ..Source::default() };
        Sight { identity: Some(identity), instances, ..Sight::default() }
    }

    fn picture(api: Freshness, uid: &str) -> Picture {
        Picture {
            world: Arc::new(World::default()),
            observed: Arc::new(Observed { cluster: Some(sight(uid)), ..Observed::starting_at(Timestamp::UNIX_EPOCH) }),
            tail: imbl::Vector::new(),
            seat: SeatView::default(),
            api,
            endpoint: "https://cp.example".to_owned(),
            account: "acme".to_owned(),
            role: Role::Owner,
            glimpse: None,
            own: None,
            fallback: None,
        }
    }

    #[derive(Clone)]
    struct Far(watch::Sender<Picture>);

    impl Link for Far {
        fn pictures(&self) -> watch::Receiver<Picture> {
            self.0.subscribe()
        }

        async fn order(&self, _: Order, _: Option<Revision>) -> Answer {
            Answer::Done { sentence: "done".to_owned() }
        }

        async fn results(&self, _: RolloutId, _: MachineId) -> Result<Vec<ApplyResult>, String> {
            Ok(Vec::new())
        }
    }

    struct Near(&'static str);

    impl Cluster for Near {
        fn sight(&self) -> Option<Sight> {
            let mut sight = sight(self.0);
            sight.pods.contact = Contact::Live { as_of: Timestamp::UNIX_EPOCH };
            Some(sight)
        }

        async fn run(&self, _: &Step) -> Outcome {
            Outcome::Done
        }
    }

    async fn ordered(near: &'static str, far: &str) -> (Answer, Picture) {
        let far = Far(watch::Sender::new(picture(Freshness::Live(Timestamp::UNIX_EPOCH), far)));
        let beside = Beside::start(far, Near(near), "prod-a", SystemClock::start());
        let order = Order { verb: Verb::AcceptClock, by: "ann".to_owned(), reason: None, key: None };
        (beside.order(order, None).await, beside.pictures().borrow().clone())
    }

    #[tokio::test]
    async fn verbs_are_off_while_the_two_ends_are_different_clusters_and_looking_goes_on() {
        let (answer, seen) = ordered("a", "b").await;
        assert!(matches!(&answer, Answer::Refused { sentence, .. } if sentence.contains("different clusters")));
        let theirs = seen.observed.cluster.as_ref().unwrap();
        assert_eq!(theirs.pods.contact, Contact::Never, "the control plane's picture is what is looked at");
        assert!(matches!(ordered("a", "a").await.0, Answer::Done { .. }));
    }

    #[tokio::test]
    async fn the_cluster_goes_on_being_seen_when_the_control_plane_is_gone_and_it_is_the_same_one() {
        let lost = || Freshness::Lost { since: Timestamp::UNIX_EPOCH, why: "gone".to_owned(), retry_at: None };
        let own = Contact::Live { as_of: Timestamp::UNIX_EPOCH };
        for (near, contact) in [("a", &own), ("b", &Contact::Never)] {
            let seen = shown(picture(lost(), "a"), &Near(near), "prod-a");
            assert_eq!(seen.observed.cluster.as_ref().unwrap().pods.contact, *contact, "{near}");
            assert_eq!(seen.own.unwrap().is_shown, near == "a");
        }
    }
}
