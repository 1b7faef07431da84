//! What a process sees of the simulated cluster.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::objects::{Objects, SimChain};
use crate::domain::kura::labels::Labels;
use crate::domain::kura::object::{ObjectKind, Stamp};
use crate::domain::kura::sight::{PodDeleter, Sight};
use crate::domain::kura::source::{Contact, Source};
use crate::domain::kura::traffic::{Certificate, Dns, Endpoint, Ingress, IngressClass, Tls, Up};
use crate::domain::kura::workload::{Claim, Instance, Volume};
use crate::domain::roll::sight::FleetSight;

impl Objects {
    /// Everything as it is at `now`, but for what cannot be read.
    pub fn sight(&self, now: Timestamp) -> Sight {
        let whole = self.whole(now);
        if self.faults.is_empty() {
            return whole;
        }
        use ObjectKind as Kind;
        Sight {
            instances: self.veil(Kind::KuraInstance, whole.instances, now, |sight| &sight.instances),
            gateways: self.veil(Kind::KuraGateway, whole.gateways, now, |sight| &sight.gateways),
            sets: self.veil(Kind::StatefulSet, whole.sets, now, |sight| &sight.sets),
            pods: self.veil(Kind::Pod, whole.pods, now, |sight| &sight.pods),
            claims: self.veil(Kind::PersistentVolumeClaim, whole.claims, now, |sight| &sight.claims),
            volumes: self.veil(Kind::PersistentVolume, whole.volumes, now, |sight| &sight.volumes),
            ingresses: self.veil(Kind::Ingress, whole.ingresses, now, |sight| &sight.ingresses),
            classes: self.veil(Kind::IngressClass, whole.classes, now, |sight| &sight.classes),
            certificates: self.veil(Kind::Certificate, whole.certificates, now, |sight| &sight.certificates),
            fleet: FleetSight {
                nodes: self.veil(Kind::Node, whole.fleet.nodes, now, |sight| &sight.fleet.nodes),
                pods: self.veil(Kind::Pod, whole.fleet.pods, now, |sight| &sight.fleet.pods),
                jobs: self.veil(Kind::Job, whole.fleet.jobs, now, |sight| &sight.fleet.jobs),
                home: whole.fleet.home,
            },
            ..whole
        }
    }

    fn whole(&self, now: Timestamp) -> Sight {
        let pinned = self.pods.keys().map(|name| (format!("data-{name}"), self.claim(name)));
        let volumes = self.pinned.iter().map(|(pod, node)| {
            let volume = Volume { stamp: derived(&format!("pv-{pod}"), now), pinned_to: Some(node.clone()) };
            (format!("pv-{pod}"), volume)
        });
        Sight {
            instances: Source::live(self.instances.iter().map(|(name, live)| (name.clone(), beating(live, now))), now),
            gateways: Source::live(
                self.gateways.iter().map(|(name, (row, alive))| {
                    let mut row = row.clone();
                    row.last_reconciled_at = if *alive { Some(now) } else { row.last_reconciled_at };
                    (name.clone(), row)
                }),
                now,
            ),
            sets: Source::live(self.sets.clone(), now),
            pods: Source::live(self.pods.iter().map(|(name, pod)| (name.clone(), pod.pod.clone())), now),
            claims: Source::live(pinned, now),
            volumes: Source::live(volumes, now),
            ingresses: Source::live(self.ingresses(now), now),
            classes: Source::live(self.classes(now), now),
            certificates: Source::live(self.certificates(now), now),
            services: Source::live([], now),
            notices: Source::live([], now),
            nodes: Contact::Live { as_of: now },
            endpoints: self
                .chains
                .iter()
                .map(|(name, chain)| (chain.host.clone(), self.endpoint(name, chain, now)))
                .collect(),
            deleter: PodDeleter::Ours,
            identity: None,
            fleet: self.fleet_sight(now),
        }
    }

    /// Without an instance the name is gone as well; without a Ready pod nobody stands behind it.
    fn endpoint(&self, instance: &str, chain: &SimChain, now: Timestamp) -> Endpoint {
        let (dns, tls, up) = (chain.dns.clone(), chain.tls.clone(), chain.up.clone());
        let mut ours = self.owned(instance).map(|(_, pod)| pod);
        match self.instances.contains_key(instance) && !self.is_severed(instance, chain) {
            false => Endpoint { as_of: now, dns: Dns::NxDomain, tls: Tls::Unknown, up: Up::Timeout },
            true if up.is_up() && !ours.any(|pod| pod.pod.ready) => {
                Endpoint { as_of: now, dns, tls, up: Up::Status { status: 503 } }
            }
            true => Endpoint { as_of: now, dns, tls, up },
        }
    }

    /// Its way follows its class, and nobody serves that.
    fn is_severed(&self, instance: &str, chain: &SimChain) -> bool {
        let class = self.instances.get(instance).and_then(|live| live.spec.class()).unwrap_or_default();
        chain.follows_class && !self.is_served(class)
    }

    /// A controller runs for a class, unless it is said not to.
    fn is_served(&self, class: &str) -> bool {
        let dead = self.gateways.values().any(|(row, alive)| !alive && row.class.as_deref() == Some(class));
        !self.dead_classes.contains(class) && !dead
    }

    fn claim(&self, pod: &str) -> Claim {
        let volume = self.pinned.get(pod).map(|_| format!("pv-{pod}"));
        Claim { stamp: derived(&format!("data-{pod}"), Timestamp::UNIX_EPOCH), volume }
    }

    fn ingresses(&self, now: Timestamp) -> Vec<(String, Ingress)> {
        let ingress = |(name, chain): (&String, &SimChain)| {
            let live = self.instances.get(name)?;
            let class = live.spec.class().map(str::to_owned);
            let row = Ingress {
                stamp: derived(name, now),
                instance: Some(name.clone()),
                class,
                hosts: vec![chain.host.clone()],
                addresses: chain.address.iter().filter(|_| !self.is_severed(name, chain)).cloned().collect(),
            };
            Some((name.clone(), row))
        };
        self.chains.iter().filter_map(ingress).collect()
    }

    /// A class is there while somebody names it, and where a gateway was given it; its controller runs unless it is said not to.
    fn classes(&self, now: Timestamp) -> Vec<(String, IngressClass)> {
        let named = self.instances.values().filter_map(|live| live.spec.class().map(str::to_owned));
        let names: BTreeSet<String> = named.chain(self.gateway_classes.iter().cloned()).collect();
        let row = |name: String| {
            let alive = self.is_served(&name);
            let (stamp, controller) = (derived(&name, now), "simulated".to_owned());
            (name, IngressClass { stamp, controller, has_controller: Some(alive) })
        };
        names.into_iter().map(row).collect()
    }

    fn certificates(&self, now: Timestamp) -> Vec<(String, Certificate)> {
        let row = |(name, chain): (&String, &SimChain)| {
            let (hosts, ready) = (vec![chain.host.clone()], chain.tls == Tls::Valid);
            (name.clone(), Certificate { stamp: derived(name, now), hosts, ready, message: chain.issuer.clone() })
        };
        self.chains.iter().map(row).collect()
    }
}

/// An instance whose controller is alive was looked at just now.
fn beating(live: &Instance, now: Timestamp) -> Instance {
    Instance { last_reconciled_at: live.last_reconciled_at.map(|_| now), ..live.clone() }
}

/// The stamp of something that nobody writes to.
fn derived(name: &str, at: Timestamp) -> Stamp {
    Stamp {
        name: name.to_owned(),
        uid: format!("uid-of-{name}"),
        resource_version: "1".to_owned(),
        created_at: at,
        deleting_since: None,
        finalizers: Vec::new(),
        labels: Labels::default(),
    }
}
