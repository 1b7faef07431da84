//! The simulated cluster behind the port: each process has a line to it of its own, which can be cut.

use super::super::clock::VirtualClock;
use super::super::journal::Line;
use super::super::pending::pend_once;
use super::super::shared::Shared;
use super::objects::Objects;
use crate::control::ports::{Clock, Cluster, Herald, Sightings};
use crate::domain::kura::object::ObjectKind;
use crate::domain::kura::sight::Sight;
use crate::domain::kura::step::{Outcome, Step};

/// The cluster as one process reaches it.
#[derive(Debug, Clone)]
pub struct SimCluster {
    objects: Shared<Objects>,
    clock: VirtualClock,
    line: Line,
    process: String,
    last: Shared<Option<Sight>>,
    herald: Herald,
}

impl SimCluster {
    /// The end of `process`.
    pub fn new(objects: Shared<Objects>, clock: VirtualClock, line: Line, process: &str) -> Self {
        let (last, herald) = (Shared::default(), Herald::default());
        Self { objects, clock, line, process: process.to_owned(), last, herald }
    }

    /// News of it come by this herald.
    #[must_use]
    pub fn heard_by(self, herald: Herald) -> Self {
        Self { herald, ..self }
    }
}

impl Cluster for SimCluster {
    fn sight(&self) -> Option<Sight> {
        let now = self.clock.steady();
        if self.line.is_cut(now) {
            return self.last.with(|last| last.clone()).map(lost);
        }
        let seen = self.objects.with(|objects| {
            objects.is_connected.then(|| {
                objects.advance(now);
                objects.sight(self.clock.now())
            })
        });
        self.last.with(|last| last.clone_from(&seen));
        seen
    }

    async fn run(&self, step: &Step) -> Outcome {
        pend_once().await;
        let now = self.clock.steady();
        if self.line.is_cut(now) {
            return Outcome::Failed { why: "the API server cannot be reached".to_owned() };
        }
        self.objects.with(|objects| objects.run(step, now, &self.process))
    }

    fn sightings(&self) -> Sightings {
        self.herald.sightings()
    }
}

/// The same rows, of streams that broke.
fn lost(mut sight: Sight) -> Sight {
    sight.lose("the API server cannot be reached");
    sight
}

/// The kind that a scenario or a person means by a word such as `pods` or `KuraInstance`.
pub fn kind_of(word: &str) -> Option<ObjectKind> {
    let plain = word.to_ascii_lowercase();
    let single = if plain.ends_with("sses") { plain.trim_end_matches("es") } else { plain.trim_end_matches('s') };
    Some(match single {
        "kurainstance" | "instance" | "kura" => ObjectKind::KuraInstance,
        "kuragateway" | "gateway" | "kuragw" => ObjectKind::KuraGateway,
        "statefulset" | "set" => ObjectKind::StatefulSet,
        "pod" => ObjectKind::Pod,
        "ingre" | "ingress" => ObjectKind::Ingress,
        "ingresscla" | "ingressclass" | "cla" | "class" => ObjectKind::IngressClass,
        "persistentvolumeclaim" | "claim" | "pvc" => ObjectKind::PersistentVolumeClaim,
        "persistentvolume" | "volume" | "pv" => ObjectKind::PersistentVolume,
        "certificate" => ObjectKind::Certificate,
        "node" => ObjectKind::Node,
        "service" => ObjectKind::Service,
        "event" => ObjectKind::Notice,
        "job" => ObjectKind::Job,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_known_by_its_name_in_one_and_many() {
        let words =
            ["KuraInstance", "instances", "pods", "Pod", "ingress", "ingresses", "IngressClass", "ingressclasses"];
        let kinds: Vec<Option<ObjectKind>> = words.iter().map(|word| kind_of(word)).collect();
        use ObjectKind as Kind;
        let expected = [
            Kind::KuraInstance,
            Kind::KuraInstance,
            Kind::Pod,
            Kind::Pod,
            Kind::Ingress,
            Kind::Ingress,
            Kind::IngressClass,
            Kind::IngressClass,
        ];
        assert_eq!(kinds, expected.map(Some));
        assert_eq!(kind_of("sofa"), None);
    }
}
