//! The cluster as it is seen right now: one reading per kind, each as old as it is. Never journaled.

use std::collections::BTreeMap;
use std::ops::Bound;

use imbl::OrdMap;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::roll::sight::FleetSight;
use super::super::span::Seconds;
use super::notice::Notice;
use super::source::{Contact, Source};
use super::traffic::{Certificate, Endpoint, Gateway, Ingress, IngressClass, Service};
use super::workload::{Claim, Instance, Pod, StatefulSet, Volume};

/// Who deletes the not-Ready pods of an image change (K48).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PodDeleter {
    /// This reconciler: `--not-ready-deletion on`, or `auto` where nobody else does.
    #[default]
    Ours,
    /// The instance controller of the cluster: `auto` where it is present.
    Controller,
    /// Nobody: `--not-ready-deletion off`.
    Nobody,
}

/// Which cluster it is, whatever its address or its name in a kubeconfig (A19).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterIdentity {
    /// The uid of its `kube-system` namespace; none where these credentials may not read it.
    pub uid: Option<String>,
    /// What it runs, such as `v1.34.2`.
    pub version: String,
    /// The kubeconfig context it is reached by; none from inside of it.
    pub context: Option<String>,
    /// The namespace of the Kura servers.
    pub namespace: String,
}

/// Everything that is seen of the cluster for Kura servers. Rows share structure, so a clone costs next to nothing.
///
/// One namespace holds all of it. A kind that cannot be read says so in its own `Contact`, and the rest goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sight {
    /// KuraInstances.
    pub instances: Source<Instance>,
    /// KuraGateways.
    pub gateways: Source<Gateway>,
    /// StatefulSets, each of the instance of its name.
    pub sets: Source<StatefulSet>,
    /// Pods of instances.
    pub pods: Source<Pod>,
    /// Claims of those pods.
    pub claims: Source<Claim>,
    /// Volumes those claims are bound to.
    pub volumes: Source<Volume>,
    /// Ingresses of instances.
    pub ingresses: Source<Ingress>,
    /// IngressClasses.
    pub classes: Source<IngressClass>,
    /// Certificates; the cluster may not have the kind.
    pub certificates: Source<Certificate>,
    /// Services of instances and gateways. They explain; nothing is decided on them.
    #[serde(default)]
    pub services: Source<Service>,
    /// What was said of all these lately. It explains; nothing is decided on it.
    #[serde(default)]
    pub notices: Source<Notice>,
    /// How far `Observed.nodes` can be relied on.
    pub nodes: Contact,
    /// Public endpoints by the key of their `Front`, the host name of most; one that was not probed yet is not there.
    pub endpoints: OrdMap<String, Endpoint>,
    /// Who deletes not-Ready pods here (K48).
    pub deleter: PodDeleter,
    /// Which cluster it is; none until it answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<ClusterIdentity>,
    /// Nodes and what runs on them, for fleet rolls.
    #[serde(default)]
    pub fleet: FleetSight,
}

/// Why nothing is seen where there is nothing to look at.
pub const NO_CLUSTER: &str = "no cluster is connected";

/// A probe older than this says nothing any more about an endpoint.
pub const PROBE_STALE_AFTER: Seconds = Seconds(180);

impl Sight {
    /// The last probe of a host, if it is not too old.
    pub fn endpoint(&self, host: &str, now: Timestamp) -> Option<&Endpoint> {
        self.endpoints.get(host).filter(|probe| now < PROBE_STALE_AFTER.after(probe.as_of))
    }

    /// Pods of an instance that are not on their way out, in order of name: those that carry its label and are called
    /// as its StatefulSet calls them, `<instance>-<ordinal>` (K46, K50). Only the rows of that name are looked at.
    pub fn pods_of<'a>(&'a self, instance: &'a str) -> impl Iterator<Item = &'a Pod> {
        let (first, past) = (format!("{instance}-"), format!("{instance}."));
        let ours = move |pod: &&Pod| pod.instance.as_deref() == Some(instance) && !pod.stamp.is_leaving();
        let called = self.pods.rows.range::<_, str>((Bound::Included(first.as_str()), Bound::Excluded(past.as_str())));
        called.map(|(_, pod)| pod).filter(ours)
    }

    /// The same for every instance, in one look through all pods.
    pub fn pods_by_instance(&self) -> BTreeMap<&str, Vec<&Pod>> {
        let staying = self.pods.rows.values().filter(|pod| !pod.stamp.is_leaving());
        let owned = staying.filter_map(|pod| Some((pod.instance.as_deref()?, pod)));
        // Pods of an instance follow each other, but for those that are called otherwise.
        let mut all: BTreeMap<&str, Vec<&Pod>> = BTreeMap::new();
        let mut run: (&str, Vec<&Pod>) = Default::default();
        for (instance, pod) in owned {
            if instance != run.0 {
                let (name, pods) = std::mem::replace(&mut run, (instance, Vec::new()));
                all.entry(name).or_default().extend(pods);
            }
            run.1.push(pod);
        }
        all.entry(run.0).or_default().extend(run.1);
        all.retain(|_, pods| !pods.is_empty());
        all
    }

    /// How things stand with every kind there is; a kind that is not listed here does not compile.
    pub fn contacts_mut(&mut self) -> [&mut Contact; 15] {
        let Self {
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
            endpoints: _,
            deleter: _,
            identity: _,
            fleet: FleetSight { nodes: fleet_nodes, pods: fleet_pods, jobs, home: _ },
        } = self;
        [
            &mut instances.contact,
            &mut gateways.contact,
            &mut sets.contact,
            &mut pods.contact,
            &mut claims.contact,
            &mut volumes.contact,
            &mut ingresses.contact,
            &mut classes.contact,
            &mut certificates.contact,
            &mut services.contact,
            &mut notices.contact,
            nodes,
            &mut fleet_nodes.contact,
            &mut fleet_pods.contact,
            &mut jobs.contact,
        ]
    }

    /// Every kind is lost, whatever it was before: rows are those of when they were read last.
    pub fn lose(&mut self, why: &str) {
        for contact in self.contacts_mut() {
            *contact = Contact::Lost { as_of: contact.read_at(), why: why.to_owned() };
        }
    }

    /// What a person is told of each kind that nothing may be decided on, by the kind's plural.
    pub fn troubles(&self, now: Timestamp) -> Vec<(&'static str, String)> {
        let contacts = [
            ("instances", &self.instances.contact),
            ("gateways", &self.gateways.contact),
            ("statefulsets", &self.sets.contact),
            ("pods", &self.pods.contact),
            ("claims", &self.claims.contact),
            ("volumes", &self.volumes.contact),
            ("ingresses", &self.ingresses.contact),
            ("ingressclasses", &self.classes.contact),
            ("services", &self.services.contact),
            ("events", &self.notices.contact),
            ("nodes", &self.nodes),
        ];
        contacts.into_iter().filter_map(|(kind, contact)| Some((kind, contact.trouble(now)?))).collect()
    }
}
