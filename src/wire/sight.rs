//! Records of the change stream about the cluster: all that is seen of it, then what is seen otherwise. Nothing of it is
//! kept, so it carries no revision; an edition says which picture a record leads to.

use imbl::OrdMap;
use imbl::ordmap::DiffItem;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::kura::notice::Notice;
use crate::domain::kura::sight::{ClusterIdentity, PodDeleter, Sight};
use crate::domain::kura::source::{Contact, Source};
use crate::domain::kura::traffic::{Certificate, Endpoint, Gateway, Ingress, IngressClass, Service};
use crate::domain::kura::workload::{Claim, Instance, Pod, StatefulSet, Volume};
use crate::domain::observed::{Node, Observed};
use crate::domain::roll::sight::{FleetJob, FleetNode, FleetPod};

/// Name of a record about the cluster; it has no id.
pub const CLUSTER: &str = "cluster";

/// Rows of one kind that are new or changed, and names of those that are gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rows<R: Clone> {
    /// By the name of the object.
    #[serde(skip_serializing_if = "OrdMap::is_empty")]
    pub rows: OrdMap<String, R>,
    /// Names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
    /// How far they can be relied on, where that is otherwise than before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact: Option<Contact>,
}

impl<R: Clone> Default for Rows<R> {
    fn default() -> Self {
        Self { rows: OrdMap::new(), gone: Vec::new(), contact: None }
    }
}

impl<R: Clone> Rows<R> {
    fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.gone.is_empty() && self.contact.is_none()
    }
}

/// What is seen of the cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Parts {
    /// KuraInstances.
    #[serde(skip_serializing_if = "Rows::is_empty")]
    pub instances: Rows<Instance>,
    /// KuraGateways.
    #[serde(skip_serializing_if = "Rows::is_empty")]
    pub gateways: Rows<Gateway>,
    /// StatefulSets.
    #[serde(skip_serializing_if = "Rows::is_empty")]
    pub sets: Rows<StatefulSet>,
    /// Pods.
    #[serde(skip_serializing_if = "Rows::is_empty")]
    pub pods: Rows<Pod>,
    /// Claims of pods.
    #[serde(skip_serializing_if = "Rows::is_empty")]
    pub claims: Rows<Claim>,
    /// Volumes.
    #[serde(skip_serializing_if = "Rows::is_empty")]
    pub volumes: Rows<Volume>,
    /// Ingresses.
    #[serde(skip_serializing_if = "Rows::is_empty")]
    pub ingresses: Rows<Ingress>,
    /// IngressClasses.
    #[serde(skip_serializing_if = "Rows::is_empty")]
    pub classes: Rows<IngressClass>,
    /// Certificates.
    #[serde(skip_serializing_if = "Rows::is_empty")]
    pub certificates: Rows<Certificate>,
    /// Services.
    #[serde(skip_serializing_if = "Rows::is_empty")]
    pub services: Rows<Service>,
    /// What was said of all these.
    #[serde(skip_serializing_if = "Rows::is_empty")]
    pub notices: Rows<Notice>,
    /// Nodes.
    #[serde(skip_serializing_if = "Rows::is_empty")]
    pub nodes: Rows<Node>,
    /// Public endpoints by host name.
    #[serde(skip_serializing_if = "Rows::is_empty")]
    pub endpoints: Rows<Endpoint>,
    /// Nodes of a fleet that is rolled.
    #[serde(skip_serializing_if = "Rows::is_empty")]
    pub fleet_nodes: Rows<FleetNode>,
    /// Pods on them.
    #[serde(skip_serializing_if = "Rows::is_empty")]
    pub fleet_pods: Rows<FleetPod>,
    /// Jobs of rolls.
    #[serde(skip_serializing_if = "Rows::is_empty")]
    pub fleet_jobs: Rows<FleetJob>,
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterBody {
    /// What a reader holds after it took this in. It means something to the process that said it only.
    pub edition: String,
    /// True = this is everything; false = what is otherwise than in the edition before.
    #[serde(default)]
    pub whole: bool,
    /// False = no cluster of Kura servers is connected.
    pub connected: bool,
    /// Which cluster it is; null until it answered.
    #[serde(default)]
    pub identity: Option<ClusterIdentity>,
    /// Who deletes not-Ready pods (K48).
    #[serde(default)]
    pub deleter: PodDeleter,
    /// Rows by kind.
    #[serde(default)]
    #[schemars(with = "serde_json::Value")]
    pub seen: Parts,
    /// The server's clock.
    pub now: Timestamp,
}

/// A picture of the cluster, as one edition has it. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterPicture {
    /// None = no cluster of Kura servers is connected.
    pub sight: Option<Sight>,
    /// Nodes by name.
    pub nodes: OrdMap<String, Node>,
}

/// How much a record has to tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Weight {
    /// Rows in it.
    pub rows: usize,
    /// There is more to it than that what is known is still so.
    pub is_news: bool,
}

impl ClusterPicture {
    /// What `observed` has of it.
    pub fn of(observed: &Observed) -> Self {
        Self { sight: observed.cluster.clone(), nodes: observed.nodes.clone() }
    }

    /// What this one has otherwise than `before`, and how much that is; none = nothing.
    pub fn since(&self, before: &Self) -> Option<(Parts, Weight)> {
        let nothing = Sight::default();
        let (old, new) = (before.sight.as_ref().unwrap_or(&nothing), self.sight.as_ref().unwrap_or(&nothing));
        let mut weight = Weight {
            rows: 0,
            is_news: self.sight.is_some() != before.sight.is_some()
                || old.identity != new.identity
                || old.deleter != new.deleter,
        };
        let parts = between(old, new, (&before.nodes, &self.nodes), &mut weight);
        (weight.is_news || parts != Parts::default()).then_some((parts, weight))
    }

    /// All of it, as a record would tell it to somebody who knows nothing.
    pub fn whole(&self) -> Parts {
        let nothing = Sight::default();
        let sight = self.sight.as_ref().unwrap_or(&nothing);
        let mut parts = between(&nothing, sight, (&OrdMap::new(), &self.nodes), &mut Weight::default());
        parts.nodes.contact = Some(sight.nodes.clone());
        parts
    }
}

fn between(
    old: &Sight,
    new: &Sight,
    (old_nodes, new_nodes): (&OrdMap<String, Node>, &OrdMap<String, Node>),
    weight: &mut Weight,
) -> Parts {
    // A kind that is added has to be told as well: nothing is left out by name.
    let Sight {
        instances,
        gateways,
        sets,
        pods,
        claims,
        volumes,
        ingresses,
        classes,
        certificates,
        services,
        notices,
        nodes,
        endpoints,
        deleter: _,
        identity: _,
        fleet,
    } = new;
    let mut of_nodes = rows(old_nodes, new_nodes, weight, |_, _| false);
    of_nodes.contact = contact(&old.nodes, nodes, weight);
    Parts {
        instances: source(&old.instances, instances, weight),
        gateways: source(&old.gateways, gateways, weight),
        sets: source(&old.sets, sets, weight),
        pods: source(&old.pods, pods, weight),
        claims: source(&old.claims, claims, weight),
        volumes: source(&old.volumes, volumes, weight),
        ingresses: source(&old.ingresses, ingresses, weight),
        classes: source(&old.classes, classes, weight),
        certificates: source(&old.certificates, certificates, weight),
        services: source(&old.services, services, weight),
        notices: source(&old.notices, notices, weight),
        nodes: of_nodes,
        endpoints: rows(&old.endpoints, endpoints, weight, |old, new| {
            Endpoint { as_of: new.as_of, ..old.clone() } == *new
        }),
        fleet_nodes: source_with(&old.fleet.nodes, &fleet.nodes, weight, FleetNode::is_like),
        fleet_pods: source_with(&old.fleet.pods, &fleet.pods, weight, FleetPod::is_like),
        fleet_jobs: source(&old.fleet.jobs, &fleet.jobs, weight),
    }
}

fn source<R: Clone + PartialEq>(old: &Source<R>, new: &Source<R>, weight: &mut Weight) -> Rows<R> {
    source_with(old, new, weight, |_, _| false)
}

/// The same where some differences are told but are no news, such as another version of what says the same.
fn source_with<R: Clone + PartialEq>(
    old: &Source<R>,
    new: &Source<R>,
    weight: &mut Weight,
    is_like: impl Fn(&R, &R) -> bool,
) -> Rows<R> {
    let mut part = rows(&old.rows, &new.rows, weight, is_like);
    part.contact = contact(&old.contact, &new.contact, weight);
    part
}

/// A contact that is live as before is no news, however much time went by.
fn contact(old: &Contact, new: &Contact, weight: &mut Weight) -> Option<Contact> {
    if old == new {
        return None;
    }
    weight.is_news |= !matches!((old, new), (Contact::Live { .. }, Contact::Live { .. }));
    Some(new.clone())
}

/// Rows that differ; `only_older` tells those that were merely looked at again.
fn rows<R: Clone + PartialEq>(
    old: &OrdMap<String, R>,
    new: &OrdMap<String, R>,
    weight: &mut Weight,
    only_older: impl Fn(&R, &R) -> bool,
) -> Rows<R> {
    let mut part = Rows::default();
    for item in old.diff(new) {
        weight.rows += 1;
        weight.is_news |= match item {
            DiffItem::Add(name, row) => part.rows.insert(name.clone(), row.clone()).is_none(),
            DiffItem::Update { old: (_, before), new: (name, row) } => {
                part.rows.insert(name.clone(), row.clone());
                !only_older(before, row)
            }
            DiffItem::Remove(name, _) => {
                part.gone.push(name.clone());
                true
            }
        };
    }
    part
}

impl ClusterBody {
    /// Takes it into what a reader holds.
    pub fn fold(self, observed: &mut Observed) {
        let Self { whole, connected, identity, deleter, seen, .. } = self;
        let mut nodes = if whole { OrdMap::new() } else { std::mem::take(&mut observed.nodes) };
        let mut sight = if whole { Sight::default() } else { observed.cluster.take().unwrap_or_default() };
        take(&mut nodes, &mut sight.nodes, seen.nodes);
        take_source(&mut sight.instances, seen.instances);
        take_source(&mut sight.gateways, seen.gateways);
        take_source(&mut sight.sets, seen.sets);
        take_source(&mut sight.pods, seen.pods);
        take_source(&mut sight.claims, seen.claims);
        take_source(&mut sight.volumes, seen.volumes);
        take_source(&mut sight.ingresses, seen.ingresses);
        take_source(&mut sight.classes, seen.classes);
        take_source(&mut sight.certificates, seen.certificates);
        take_source(&mut sight.services, seen.services);
        take_source(&mut sight.notices, seen.notices);
        take_source(&mut sight.fleet.nodes, seen.fleet_nodes);
        take_source(&mut sight.fleet.pods, seen.fleet_pods);
        take_source(&mut sight.fleet.jobs, seen.fleet_jobs);
        take(&mut sight.endpoints, &mut Contact::Never, seen.endpoints);
        sight.fleet.home = identity.as_ref().map(|identity| identity.namespace.clone());
        (sight.deleter, sight.identity) = (deleter, identity);
        observed.nodes = nodes;
        observed.cluster = connected.then_some(sight);
    }
}

fn take_source<R: Clone>(source: &mut Source<R>, part: Rows<R>) {
    take(&mut source.rows, &mut source.contact, part);
}

fn take<R: Clone>(rows: &mut OrdMap<String, R>, contact: &mut Contact, part: Rows<R>) {
    part.gone.iter().for_each(|name| drop(rows.remove(name)));
    for (name, row) in part.rows {
        rows.insert(name, row);
    }
    if let Some(new) = part.contact {
        *contact = new;
    }
}

/// The frame of a record, ready to be sent.
pub fn cluster_frame(body: &ClusterBody) -> Result<String, serde_json::Error> {
    Ok(format!("event: {CLUSTER}\ndata: {}\n\n", serde_json::to_string(body)?))
}

#[cfg(test)]
mod tests {
    use crate::domain::kura::labels::Labels;

    use super::*;
    use crate::domain::kura::object::Stamp;
    use crate::domain::kura::traffic::{Dns, Tls, Up};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn pod(name: &str, ready: bool) -> (String, Pod) {
        let stamp = Stamp {
            name: name.to_owned(),
            uid: name.to_owned(),
            resource_version: String::new(),
            created_at: at(0),
            deleting_since: None,
            finalizers: Vec::new(),
            labels: Labels::default(),
        };
        let pod = Pod {
            stamp,
            instance: None,
            node: None,
            image: None,
            ready,
            ready_since: None,
            phase: String::new(),
            reason: None,
            started_at: None,
            claims: Vec::new(),
        };
        (name.to_owned(), pod)
    }

    fn picture(pods: &[(&str, bool)], as_of: i64) -> ClusterPicture {
        let rows = pods.iter().map(|(name, ready)| pod(name, *ready));
        let endpoint = Endpoint { as_of: at(as_of), dns: Dns::NxDomain, tls: Tls::Unknown, up: Up::Timeout };
        let sight = Sight {
            pods: Source::live(rows, at(as_of)),
            endpoints: OrdMap::from_iter([("a.example".to_owned(), endpoint)]),
            ..Sight::default()
        };
        let node = Node { ready: true, unschedulable: false, version: None, holds_vip: false };
        ClusterPicture { sight: Some(sight), nodes: OrdMap::from_iter([("n".to_owned(), node)]) }
    }

    fn told(picture: &ClusterPicture, whole: bool, seen: Parts) -> ClusterBody {
        let sight = picture.sight.clone().unwrap_or_default();
        let (identity, deleter) = (sight.identity, sight.deleter);
        let connected = picture.sight.is_some();
        let body = ClusterBody { edition: "x-1".to_owned(), whole, connected, identity, deleter, seen, now: at(9) };
        let frame = cluster_frame(&body).unwrap();
        let data = frame.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
        assert_eq!(serde_json::from_str::<ClusterBody>(data).unwrap(), body, "a reader reads what was written");
        body
    }

    #[test]
    fn a_reader_who_folds_what_it_is_told_holds_what_is_seen() {
        let story = [
            picture(&[("a", false), ("b", false)], 1),
            picture(&[("a", true), ("b", false)], 2),
            picture(&[("b", false), ("c", true)], 3),
            ClusterPicture::default(),
            picture(&[("a", true)], 4),
        ];
        let mut observed = Observed::starting_at(at(0));
        told(&story[0], true, story[0].whole()).fold(&mut observed);
        assert_eq!(ClusterPicture::of(&observed), story[0]);
        for pair in story.windows(2) {
            let (parts, weight) = pair[1].since(&pair[0]).unwrap();
            assert!(weight.is_news, "{parts:?}");
            told(&pair[1], false, parts).fold(&mut observed);
            assert_eq!(ClusterPicture::of(&observed), pair[1]);
        }
        assert_eq!(story[0].since(&story[0]), None);
    }

    #[test]
    fn only_rows_that_differ_are_told() {
        let (before, now) = (picture(&[("a", true), ("b", true)], 1), picture(&[("a", true), ("b", false)], 1));
        let (parts, weight) = now.since(&before).unwrap();
        assert_eq!(parts.pods.rows.keys().collect::<Vec<_>>(), ["b"]);
        assert_eq!(weight, Weight { rows: 1, is_news: true });
        assert!(parts.endpoints.is_empty() && parts.nodes.is_empty());
    }

    #[test]
    fn another_version_of_the_same_is_told_and_is_no_news() {
        // F5
        let fleet_node = |version: &str, ready| {
            let stamp = Stamp { resource_version: version.to_owned(), ..pod("n", true).1.stamp };
            FleetNode {
                stamp,
                ready,
                cordoned_by: None,
                unschedulable: false,
                boot_id: None,
                kernel: None,
                os_image: None,
            }
        };
        let seen = |version, ready| {
            let mut picture = picture(&[], 1);
            let sight = picture.sight.as_mut().unwrap();
            sight.identity = Some(ClusterIdentity { namespace: "kura".to_owned(), ..ClusterIdentity::default() });
            sight.fleet.home = Some("kura".to_owned());
            sight.fleet.nodes = Source::live([("n".to_owned(), fleet_node(version, ready))], at(1));
            picture
        };
        let story = [seen("1", true), seen("2", true), seen("3", false)];
        let mut observed = Observed::starting_at(at(0));
        told(&story[0], true, story[0].whole()).fold(&mut observed);
        for (pair, is_news) in story.windows(2).zip([false, true]) {
            let (parts, weight) = pair[1].since(&pair[0]).unwrap();
            assert_eq!(weight, Weight { rows: 1, is_news });
            told(&pair[1], false, parts).fold(&mut observed);
            assert_eq!(ClusterPicture::of(&observed), pair[1]);
        }
    }

    #[test]
    fn that_what_is_known_is_still_so_is_no_news_and_a_source_that_is_lost_is() {
        let (before, mut now) = (picture(&[("a", true)], 1), picture(&[("a", true)], 2));
        assert_eq!(now.since(&before).unwrap().1, Weight { rows: 1, is_news: false });
        let sight = now.sight.as_mut().unwrap();
        sight.pods.contact = Contact::Lost { as_of: Some(at(1)), why: "reset".to_owned() };
        assert!(now.since(&before).unwrap().1.is_news);
    }
}
