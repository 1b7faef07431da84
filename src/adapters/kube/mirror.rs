//! The cluster as it was seen last: one stream for each kind, folded into one picture that costs nothing to copy.

use imbl::OrdMap;
use jiff::Timestamp;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::connection::Connection;
use super::fault::ClusterFault;
use super::object::Watched;
use super::place::{everywhere, path};
use super::rows::certificate::CertificateObject;
use super::rows::fleet_pod::FleetPodObject;
use super::rows::gateway::GatewayObject;
use super::rows::ingress::{ClassObject, IngressObject};
use super::rows::instance::InstanceObject;
use super::rows::job::JobObject;
use super::rows::node::{NodeObject, NodeRow};
use super::rows::notice::NoticeObject;
use super::rows::pod::PodObject;
use super::rows::service::ServiceObject;
use super::rows::stateful_set::SetObject;
use super::rows::storage::{ClaimObject, VolumeObject};
use super::stream::{Follower, News, Place};
use crate::control::ports::Clock;
use crate::domain::kura::notice::bound;
use crate::domain::kura::object::{MANAGED_BY_LABEL, ObjectKind};
use crate::domain::kura::render::MANAGED_BY;
use crate::domain::kura::sight::Sight;
use crate::domain::kura::source::Contact;
use crate::domain::observed::Node;
use crate::domain::roll::manifest::ROLL_LABEL;

/// What is known.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// For Kura servers.
    pub sight: Sight,
    /// Nodes by name, for everybody.
    pub nodes: OrdMap<String, Node>,
}

/// Pods that are on a node: what waits for one says nothing of any.
const ON_A_NODE: &str = "spec.nodeName!=";

/// One kind in it.
type Part<'a, R> = (&'a mut OrdMap<String, R>, &'a mut Contact);

/// One kind that is followed.
struct Kind {
    /// As the log calls it.
    told: &'static str,
    place: Place,
    minor: u32,
}

/// Sets of streams over one namespace of one cluster.
pub(super) struct Mirror<C> {
    pub(super) connection: Connection<C>,
    pub(super) namespace: String,
    pub(super) seen: watch::Sender<Seen>,
}

impl<C: Clock> Mirror<C> {
    /// Follows every kind on a server of this minor version, until it is dropped.
    pub(super) fn follow(&self, minor: u32) -> JoinSet<()> {
        let mut streams = JoinSet::new();
        let all = &mut streams;
        let of = |kind| self.kind(kind, minor);
        self.watch::<InstanceObject>(all, of(ObjectKind::KuraInstance), |seen| part(&mut seen.sight.instances));
        self.watch::<GatewayObject>(all, of(ObjectKind::KuraGateway), |seen| part(&mut seen.sight.gateways));
        self.watch::<SetObject>(all, of(ObjectKind::StatefulSet), |seen| part(&mut seen.sight.sets));
        self.watch::<PodObject>(all, of(ObjectKind::Pod), |seen| part(&mut seen.sight.pods));
        self.watch::<ClaimObject>(all, of(ObjectKind::PersistentVolumeClaim), |seen| part(&mut seen.sight.claims));
        self.watch::<VolumeObject>(all, of(ObjectKind::PersistentVolume), |seen| part(&mut seen.sight.volumes));
        self.watch::<IngressObject>(all, of(ObjectKind::Ingress), |seen| part(&mut seen.sight.ingresses));
        self.watch::<ClassObject>(all, of(ObjectKind::IngressClass), |seen| part(&mut seen.sight.classes));
        self.watch::<CertificateObject>(all, of(ObjectKind::Certificate), |seen| part(&mut seen.sight.certificates));
        self.watch::<ServiceObject>(all, of(ObjectKind::Service), |seen| part(&mut seen.sight.services));
        self.watch_bounded::<NoticeObject>(all, of(ObjectKind::Notice), |seen| part(&mut seen.sight.notices), bound);
        self.watch_nodes(all, of(ObjectKind::Node));
        self.watch::<FleetPodObject>(all, self.pods_on_nodes(minor), |seen| part(&mut seen.sight.fleet.pods));
        self.watch::<JobObject>(all, self.own_jobs(minor), |seen| part(&mut seen.sight.fleet.jobs));
        streams
    }

    fn kind(&self, kind: ObjectKind, minor: u32) -> Kind {
        let (path, namespace) = (path(kind, &self.namespace), self.namespace.clone());
        Kind { told: kind.name(), place: Place { path, namespace, fields: None, labels: None }, minor }
    }

    /// Wherever they live: a roll drains and looks at whatever runs on its nodes (F5, F26).
    fn pods_on_nodes(&self, minor: u32) -> Kind {
        let usual = self.kind(ObjectKind::Pod, minor).place;
        let (path, fields) = (everywhere(ObjectKind::Pod), Some(ON_A_NODE.to_owned()));
        Kind { told: "Pod on a node", place: Place { path, fields, ..usual }, minor }
    }

    /// Jobs that rolls made, and no one else's.
    fn own_jobs(&self, minor: u32) -> Kind {
        let usual = self.kind(ObjectKind::Job, minor).place;
        let labels = Some(format!("{MANAGED_BY_LABEL}={MANAGED_BY},{ROLL_LABEL}"));
        Kind { told: "Job of a roll", place: Place { labels, ..usual }, minor }
    }

    fn watch<T: Watched>(
        &self,
        streams: &mut JoinSet<()>,
        kind: Kind,
        part: for<'a> fn(&'a mut Seen) -> Part<'a, T::Row>,
    ) {
        self.watch_bounded::<T>(streams, kind, part, |_| {});
    }

    /// The same for a kind of which not everything is kept: after each piece of news `bound` drops what is too much.
    fn watch_bounded<T: Watched>(
        &self,
        streams: &mut JoinSet<()>,
        kind: Kind,
        part: for<'a> fn(&'a mut Seen) -> Part<'a, T::Row>,
        bound: fn(&mut OrdMap<String, T::Row>),
    ) {
        let (seen, clock, told) = (self.seen.clone(), self.connection.clock().clone(), kind.told);
        let tell = move |news| {
            let now = clock.now();
            seen.send_if_modified(|seen| {
                let before = part(seen).1.clone();
                let modified = fold(part(seen), news, now, T::is_news);
                if modified {
                    bound(part(seen).0);
                }
                report(told, &before, part(seen).1);
                modified
            });
        };
        streams.spawn(Follower::<C, T, _>::new(self.connection.clone(), kind.place, kind.minor, tell).run());
    }

    /// One stream for two readers: whoever rolls a fleet has to know more of a node, and of which version it is.
    fn watch_nodes(&self, streams: &mut JoinSet<()>, kind: Kind) {
        let (seen, clock, told) = (self.seen.clone(), self.connection.clock().clone(), kind.told);
        let tell = move |news: News<NodeRow>| {
            let now = clock.now();
            let (plain, fleet) = (news.clone().map(|row| row.node), news.map(|row| row.fleet));
            seen.send_if_modified(|seen| {
                let before = seen.sight.nodes.clone();
                let plain = fold((&mut seen.nodes, &mut seen.sight.nodes), plain, now, |before, now| before != now);
                let of_fleet = part(&mut seen.sight.fleet.nodes);
                let fleet = fold(of_fleet, fleet, now, |before, now| !before.is_like(now));
                report(told, &before, &seen.sight.nodes);
                plain || fleet
            });
        };
        streams.spawn(Follower::<C, NodeObject, _>::new(self.connection.clone(), kind.place, kind.minor, tell).run());
    }
}

/// The log hears of a kind when it is not read any more, and when it is again.
fn report(kind: &str, before: &Contact, after: &Contact) {
    if std::mem::discriminant(before) == std::mem::discriminant(after) {
        return;
    }
    match after {
        Contact::Lost { why, .. } => tracing::warn!(kind, why, "the stream was lost; it is taken up again"),
        Contact::Forbidden { why, .. } => tracing::warn!(kind, why, "forbidden; the rest goes on"),
        Contact::Absent { .. } => tracing::info!(kind, "the cluster does not have this kind"),
        Contact::Live { .. } | Contact::Never => tracing::info!(kind, "read completely, and followed"),
    }
}

fn part<R: Clone>(source: &mut crate::domain::kura::source::Source<R>) -> Part<'_, R> {
    (&mut source.rows, &mut source.contact)
}

/// Takes news in. True if a reader would see a difference beyond the age of what it knows; `is_news` says whether two rows
/// have one.
fn fold<R: Clone>(
    (rows, contact): Part<'_, R>,
    news: News<R>,
    now: Timestamp,
    is_news: impl Fn(&R, &R) -> bool,
) -> bool {
    let was_live = matches!(contact, Contact::Live { .. });
    let live = Contact::Live { as_of: now };
    match news {
        News::Complete(all) => {
            *rows = all.into_iter().collect();
            *contact = live;
        }
        News::Changed(name, row) => {
            *contact = live;
            let told = rows.get(&name).is_none_or(|known| is_news(known, &row));
            rows.insert(name, row);
            return !was_live || told;
        }
        News::Gone(name) => {
            let was_there = rows.remove(&name).is_some();
            *contact = live;
            return was_there || !was_live;
        }
        News::Contact => {
            *contact = live;
            return !was_live;
        }
        News::Lost(fault) => lose(rows, contact, &fault, now),
    }
    true
}

/// What was refused or is not there leaves no rows behind; what was merely lost keeps them, with their age.
fn lose<R: Clone>(rows: &mut OrdMap<String, R>, contact: &mut Contact, fault: &ClusterFault, now: Timestamp) {
    *contact = match fault {
        ClusterFault::Forbidden { said } => Contact::Forbidden { as_of: now, why: said.clone() },
        ClusterFault::Missing { .. } => Contact::Absent { as_of: now },
        fault => Contact::Lost { as_of: contact.read_at(), why: fault.to_string() },
    };
    if matches!(contact, Contact::Forbidden { .. } | Contact::Absent { .. }) {
        rows.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn take(part: Part<'_, u8>, news: News<u8>, now: Timestamp) -> bool {
        fold(part, news, now, |before, now| before != now)
    }

    fn folded(news: Vec<(i64, News<u8>)>) -> (OrdMap<String, u8>, Contact) {
        let (mut rows, mut contact) = (OrdMap::new(), Contact::Never);
        for (second, one) in news {
            take((&mut rows, &mut contact), one, at(second));
        }
        (rows, contact)
    }

    fn complete(rows: &[(&str, u8)]) -> News<u8> {
        News::Complete(rows.iter().map(|(name, row)| ((*name).to_owned(), *row)).collect::<BTreeMap<_, _>>())
    }

    #[test]
    fn a_relist_leaves_no_ghosts() {
        let (rows, contact) = folded(vec![
            (1, complete(&[("a", 1), ("b", 1)])),
            (2, News::Lost(ClusterFault::Unreachable { said: "reset".to_owned() })),
            (3, complete(&[("b", 2)])),
        ]);
        assert_eq!(rows.into_iter().collect::<Vec<_>>(), [("b".to_owned(), 2)]);
        assert_eq!(contact, Contact::Live { as_of: at(3) });
    }

    #[test]
    fn what_is_lost_keeps_its_rows_and_the_time_of_the_last_contact() {
        let (rows, contact) = folded(vec![
            (1, complete(&[("a", 1)])),
            (60, News::Contact),
            (180, News::Lost(ClusterFault::Silent { after: std::time::Duration::from_secs(120) })),
        ]);
        assert_eq!(rows.len(), 1);
        assert_eq!(contact, Contact::Lost { as_of: Some(at(60)), why: "nothing came for 120 s".to_owned() });
    }

    #[test]
    fn what_is_forbidden_or_absent_has_no_rows() {
        let forbidden = ClusterFault::Forbidden { said: "pods is forbidden".to_owned() };
        let (rows, contact) = folded(vec![(1, complete(&[("a", 1)])), (2, News::Lost(forbidden))]);
        assert!(rows.is_empty());
        assert_eq!(contact, Contact::Forbidden { as_of: at(2), why: "pods is forbidden".to_owned() });
        let missing = ClusterFault::Missing { said: String::new() };
        assert_eq!(folded(vec![(3, News::Lost(missing))]).1, Contact::Absent { as_of: at(3) });
    }

    #[test]
    fn nobody_is_woken_by_a_sign_of_life() {
        let (mut rows, mut contact) = (OrdMap::new(), Contact::Never);
        assert!(take((&mut rows, &mut contact), complete(&[("a", 1)]), at(1)));
        assert!(!take((&mut rows, &mut contact), News::Contact, at(61)));
        assert_eq!(contact, Contact::Live { as_of: at(61) });
        assert!(!take((&mut rows, &mut contact), News::Gone("b".to_owned()), at(62)));
        assert!(!take((&mut rows, &mut contact), News::Changed("a".to_owned(), 1), at(63)), "nothing a row tells");
        assert!(!fold((&mut rows, &mut contact), News::Changed("a".to_owned(), 2), at(64), |_, _| false));
        assert_eq!(rows["a"], 2, "it is kept, though nobody is told");
    }
}
