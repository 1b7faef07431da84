//! The simulated cluster behind the port: each process has a line to it of its own, which can be cut.

use jiff::Timestamp;

use super::super::clock::VirtualClock;
use super::super::journal::SimJournal;
use super::super::line::Line;
use super::super::shared::Shared;
use super::super::toll::Mishap;
use super::super::trail::{Call, Point};
use super::fences::Answered;
use super::objects::{LateStep, Objects};
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
    /// What was seen last, and when.
    last: Shared<Option<(Timestamp, Sight)>>,
    herald: Herald,
    journal: SimJournal,
}

impl SimCluster {
    /// The end of `process`. The journal is the witness's: who had the seat when a write was taken.
    pub fn new(objects: Shared<Objects>, journal: SimJournal, clock: VirtualClock, line: Line, process: &str) -> Self {
        let (last, herald) = (Shared::default(), Herald::default());
        Self { objects, clock, line, process: process.to_owned(), last, herald, journal }
    }

    /// News of it come by this herald.
    #[must_use]
    pub fn heard_by(self, herald: Herald) -> Self {
        Self { herald, ..self }
    }

    /// What was seen last, where it is to serve for longer.
    fn kept(&self, now: Timestamp) -> Option<Sight> {
        let lag = self.line.lag(now)?;
        let (_, sight) = self.last.with(|last| last.clone()).filter(|(at, _)| now < lag.after(*at))?;
        self.journal.toll().with(|toll| toll.count(Mishap::StaleSight));
        Some(sight)
    }

    /// Does a step for a process, and notes who had the seat.
    fn carry_out(&self, step: &Step, now: Timestamp, process: &str, was_under_way: bool) -> Outcome {
        let (seat, toll) = (self.journal.epochs_of(process), self.journal.toll());
        self.objects.with(|objects| {
            let (writes, was_there) = (objects.written.len(), objects.is_there(step));
            let outcome = objects.run(step, now, process);
            let wrote = objects.written.len() > writes;
            let answered =
                Answered { step, outcome: &outcome, wrote, was_there, was_under_way, at: now, process, seat };
            let breach = objects.fences.note(&answered, &toll);
            objects.breaches.extend(breach);
            outcome
        })
    }

    /// Writes arrive whose callers have given up; nobody hears what becomes of them.
    pub fn land(&self) {
        let now = self.clock.instant();
        let due = self.objects.with(|objects| objects.take_late(now));
        due.iter().for_each(|late| drop(self.carry_out(&late.step, now, &late.process, true)));
    }
}

impl Cluster for SimCluster {
    fn sight(&self) -> Option<Sight> {
        let now = self.clock.instant();
        if self.line.is_cut(now) {
            return self.last.with(|last| last.clone()).map(|(_, sight)| lost(sight));
        }
        if let Some(kept) = self.kept(now) {
            return Some(kept);
        }
        self.land();
        let seen = self.objects.with(|objects| {
            objects.is_connected.then(|| {
                objects.advance(now);
                objects.sight(self.clock.now())
            })
        });
        self.last.with(|last| *last = seen.clone().map(|seen| (now, seen)));
        seen
    }

    async fn run(&self, step: &Step) -> Outcome {
        let toll = self.journal.toll();
        if self.line.reach(&self.clock, Call::Write).await.is_err() {
            return Outcome::Failed { why: "the API server cannot be reached".to_owned() };
        }
        let now = self.clock.instant();
        if let Some(late) = self.line.lateness(now) {
            toll.with(|toll| toll.count(Mishap::LateDeed));
            let late = LateStep { due: late.after(now), step: step.clone(), process: self.process.clone() };
            self.objects.with(|objects| objects.late.push(late));
            return Outcome::Failed { why: "the API server did not answer in time".to_owned() };
        }
        self.land();
        let outcome = self.carry_out(step, now, &self.process, false);
        let point = match &outcome {
            Outcome::Done => Point::Done,
            Outcome::Failed { .. } => Point::Failed,
            _ => Point::Refused,
        };
        if self.line.answer(&self.clock, Call::Write, point).await.is_err() {
            toll.with(|toll| toll.count(Mishap::LostOutcome));
            return Outcome::Failed { why: "the API server's answer got lost".to_owned() };
        }
        outcome
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
