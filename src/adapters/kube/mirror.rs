//! The cluster as it was seen last: one stream for each kind, folded into one picture that costs nothing to copy.

use imbl::OrdMap;
use jiff::Timestamp;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::connection::Connection;
use super::fault::ClusterFault;
use super::object::Watched;
use super::place::path;
use super::rows::certificate::CertificateObject;
use super::rows::gateway::GatewayObject;
use super::rows::ingress::{ClassObject, IngressObject};
use super::rows::instance::InstanceObject;
use super::rows::node::NodeObject;
use super::rows::notice::NoticeObject;
use super::rows::pod::PodObject;
use super::rows::service::ServiceObject;
use super::rows::stateful_set::SetObject;
use super::rows::storage::{ClaimObject, VolumeObject};
use super::stream::{Follower, News, Place};
use crate::control::ports::Clock;
use crate::domain::kura::notice::bound;
use crate::domain::kura::object::ObjectKind;
use crate::domain::kura::sight::Sight;
use crate::domain::kura::source::Contact;
use crate::domain::observed::Node;

/// What is known.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// For Kura servers.
    pub sight: Sight,
    /// Nodes by name, for everybody.
    pub nodes: OrdMap<String, Node>,
}

/// One kind in it.
type Part<'a, R> = (&'a mut OrdMap<String, R>, &'a mut Contact);

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
        self.watch::<InstanceObject>(all, ObjectKind::KuraInstance, minor, |seen| part(&mut seen.sight.instances));
        self.watch::<GatewayObject>(all, ObjectKind::KuraGateway, minor, |seen| part(&mut seen.sight.gateways));
        self.watch::<SetObject>(all, ObjectKind::StatefulSet, minor, |seen| part(&mut seen.sight.sets));
        self.watch::<PodObject>(all, ObjectKind::Pod, minor, |seen| part(&mut seen.sight.pods));
        self.watch::<ClaimObject>(all, ObjectKind::PersistentVolumeClaim, minor, |seen| part(&mut seen.sight.claims));
        self.watch::<VolumeObject>(all, ObjectKind::PersistentVolume, minor, |seen| part(&mut seen.sight.volumes));
        self.watch::<IngressObject>(all, ObjectKind::Ingress, minor, |seen| part(&mut seen.sight.ingresses));
        self.watch::<ClassObject>(all, ObjectKind::IngressClass, minor, |seen| part(&mut seen.sight.classes));
        self.watch::<CertificateObject>(all, ObjectKind::Certificate, minor, |seen| part(&mut seen.sight.certificates));
        self.watch::<ServiceObject>(all, ObjectKind::Service, minor, |seen| part(&mut seen.sight.services));
        self.watch_bounded::<NoticeObject>(all, ObjectKind::Notice, minor, |seen| part(&mut seen.sight.notices), bound);
        self.watch::<NodeObject>(all, ObjectKind::Node, minor, |seen| (&mut seen.nodes, &mut seen.sight.nodes));
        streams
    }

    fn watch<T: Watched<Row: PartialEq>>(
        &self,
        streams: &mut JoinSet<()>,
        kind: ObjectKind,
        minor: u32,
        part: for<'a> fn(&'a mut Seen) -> Part<'a, T::Row>,
    ) {
        self.watch_bounded::<T>(streams, kind, minor, part, |_| {});
    }

    /// The same for a kind of which not everything is kept: after each piece of news `bound` drops what is too much.
    fn watch_bounded<T: Watched<Row: PartialEq>>(
        &self,
        streams: &mut JoinSet<()>,
        kind: ObjectKind,
        minor: u32,
        part: for<'a> fn(&'a mut Seen) -> Part<'a, T::Row>,
        bound: fn(&mut OrdMap<String, T::Row>),
    ) {
        let place = Place { path: path(kind, &self.namespace), namespace: self.namespace.clone() };
        let (seen, clock) = (self.seen.clone(), self.connection.clock().clone());
        let tell = move |news| {
            let now = clock.now();
            seen.send_if_modified(|seen| {
                let before = part(seen).1.clone();
                let modified = fold(part(seen), news, now);
                if modified {
                    bound(part(seen).0);
                }
                report(kind, &before, part(seen).1);
                modified
            });
        };
        streams.spawn(Follower::<C, T, _>::new(self.connection.clone(), &place, minor, tell).run());
    }
}

/// Every kind of a picture is lost, whatever it was before.
pub(super) fn lose_all(sight: &mut Sight, why: &str) {
    let contacts = [
        &mut sight.instances.contact,
        &mut sight.gateways.contact,
        &mut sight.sets.contact,
        &mut sight.pods.contact,
        &mut sight.claims.contact,
        &mut sight.volumes.contact,
        &mut sight.ingresses.contact,
        &mut sight.classes.contact,
        &mut sight.certificates.contact,
        &mut sight.services.contact,
        &mut sight.notices.contact,
        &mut sight.nodes,
    ];
    for contact in contacts {
        *contact = Contact::Lost { as_of: contact.read_at(), why: why.to_owned() };
    }
}

/// The log hears of a kind when it is not read any more, and when it is again.
fn report(kind: ObjectKind, before: &Contact, after: &Contact) {
    if std::mem::discriminant(before) == std::mem::discriminant(after) {
        return;
    }
    match after {
        Contact::Lost { why, .. } => tracing::warn!(%kind, why, "the stream was lost; it is taken up again"),
        Contact::Forbidden { why, .. } => tracing::warn!(%kind, why, "forbidden; the rest goes on"),
        Contact::Absent { .. } => tracing::info!(%kind, "the cluster does not have this kind"),
        Contact::Live { .. } | Contact::Never => tracing::info!(%kind, "read completely, and followed"),
    }
}

fn part<R: Clone>(source: &mut crate::domain::kura::source::Source<R>) -> Part<'_, R> {
    (&mut source.rows, &mut source.contact)
}

/// Takes news in. True if a reader would see a difference beyond the age of what it knows.
fn fold<R: Clone + PartialEq>((rows, contact): Part<'_, R>, news: News<R>, now: Timestamp) -> bool {
    let was_live = matches!(contact, Contact::Live { .. });
    let live = Contact::Live { as_of: now };
    match news {
        News::Complete(all) => {
            *rows = all.into_iter().collect();
            *contact = live;
        }
        News::Changed(name, row) => {
            *contact = live;
            if was_live && rows.get(&name) == Some(&row) {
                return false;
            }
            rows.insert(name, row);
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

    fn folded(news: Vec<(i64, News<u8>)>) -> (OrdMap<String, u8>, Contact) {
        let (mut rows, mut contact) = (OrdMap::new(), Contact::Never);
        for (second, one) in news {
            fold((&mut rows, &mut contact), one, at(second));
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
        assert!(fold((&mut rows, &mut contact), complete(&[("a", 1)]), at(1)));
        assert!(!fold((&mut rows, &mut contact), News::Contact, at(61)));
        assert_eq!(contact, Contact::Live { as_of: at(61) });
        assert!(!fold((&mut rows, &mut contact), News::Gone("b".to_owned()), at(62)));
        assert!(!fold((&mut rows, &mut contact), News::Changed("a".to_owned(), 1), at(63)), "nothing a row tells");
    }
}
