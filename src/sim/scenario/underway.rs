//! A rollout that is under way at the start: how it got there.

use jiff::Timestamp;

use super::file::given::{RolloutGiven, StatusWord};
use super::file::moment::Moment;
use super::file::place::{Fault, Place, Placed};
use super::prelude::{BEFORE, Prelude, UNDER_WAY, past, verb};
use crate::domain::change::{Cause, Change};
use crate::domain::ids::{EnvironmentId, MachineId, ReleaseId, RingId, RolloutId};
use crate::domain::release::Digest;
use crate::domain::rollout::{Cursor, Ending, HaltCause, RingHalt};
use crate::domain::span::Seconds;

/// What the first rollout is called where the file does not say.
const FIRST: &str = "r1";

impl Prelude<'_> {
    /// The rollout of the past, if there is one.
    pub(super) fn rollout(&mut self) -> Result<(), Fault> {
        let Some(given) = &self.given.rollout else { return Ok(()) };
        let RolloutGiven { id, release, status, protected, leases, .. } = &given.value;
        if *status != StatusWord::Running && !leases.is_empty() {
            return Err(Fault::at(given.place, "only a running rollout has leases"));
        }
        let rollout = self.ids.rollout(id.as_deref().unwrap_or(FIRST));
        let release = self.known_release(&release.value, release.place)?;
        let began = self.began(&given.value);
        let started = Change::RolloutStarted { rollout, release, protected: *protected, generation: UNDER_WAY };
        self.fact(began, verb("start"), started);
        self.opened(rollout, given, began)?;
        self.leases(rollout, given)?;
        self.halts(rollout, given)?;
        if let Some(ending) = ending(*status) {
            self.fact(self.start, verb("halt"), Change::RolloutEnded { rollout, ending });
        }
        Ok(())
    }

    /// It began no later than anything that is said to have happened in it.
    fn began(&self, given: &RolloutGiven) -> Timestamp {
        let leases = given.leases.iter().map(|lease| lease.granted);
        let ours = |applied: &Option<String>| applied.as_ref().is_none_or(|name| *name == given.release.value);
        let machines = self.given.machines.iter().filter(|machine| ours(&machine.value.applied));
        let first = machines.filter_map(|machine| machine.value.first_success).chain(leases).min();
        self.at(first.unwrap_or_default().min(Moment(0)))
    }

    /// The environments up to the cursor; all of them where the rollout is over.
    fn opened(&mut self, rollout: RolloutId, given: &Placed<RolloutGiven>, began: Timestamp) -> Result<(), Fault> {
        let environments = self.given.environments.iter().map(|environment| &environment.value);
        let mut path: Vec<(i64, String)> =
            environments.filter_map(|e| Some((e.promotion_order?, e.slug.clone()))).collect();
        path.sort();
        let last = match (&given.value.cursor, given.value.status) {
            (Some(cursor), _) => {
                let place = path.iter().position(|(_, slug)| *slug == cursor.value);
                let fault = || format!("there is no environment {} in the promotion path", cursor.value);
                place.ok_or_else(|| Fault::at(cursor.place, fault()))?
            }
            (None, StatusWord::Completed) => path.len().saturating_sub(1),
            (None, _) => 0,
        };
        for (order, slug) in path.into_iter().take(last + 1) {
            let environment = self.ids.environment(&slug);
            self.fact(
                began,
                verb("start"),
                Change::CursorMoved { rollout, cursor: Cursor { order, slug }, environment },
            );
        }
        Ok(())
    }

    fn leases(&mut self, rollout: RolloutId, given: &Placed<RolloutGiven>) -> Result<(), Fault> {
        for lease in &given.value.leases {
            past(lease.granted, lease.machine.place)?;
            let (machine, hostname) = self.in_scope(&lease.machine)?;
            let content = self.content(&given.value.release.value);
            let granted = Change::LeaseGranted { machine, rollout, content };
            self.fact(self.at(lease.granted), (hostname, Cause::Poll), granted);
        }
        Ok(())
    }

    /// Counted failures first: they are what a threshold halts a ring for.
    fn halts(&mut self, rollout: RolloutId, given: &Placed<RolloutGiven>) -> Result<(), Fault> {
        let reported = || (BEFORE.to_owned(), Cause::Report);
        for (slug, count) in &given.value.failures {
            let ring = self.known_ring(slug, given.place)?;
            for _ in 0..*count {
                // Nobody's in particular: no row shows it, the ring counts it.
                let machine = MachineId(uuid::Uuid::nil());
                self.fact(self.start, reported(), Change::FailureCounted { rollout, ring, machine });
            }
        }
        for (slug, reason) in &given.value.halted {
            let ring = self.known_ring(slug, given.place)?;
            let (machine, held) = self.blamed(&given.value, slug);
            let settings = self.given.rings.iter().find(|known| known.value.slug == *slug).map(|known| &known.value);
            let stall = settings.map_or(0, |settings| settings.stall_timeout_seconds);
            let stalled = !given.value.failures.contains_key(slug) && stall > 0 && held >= Seconds(stall);
            let cause = if stalled { HaltCause::Stall } else { HaltCause::Threshold };
            let halt = RingHalt { cause, machine, reason: reason.clone(), at: self.start };
            self.fact(self.start, reported(), Change::RingHalted { rollout, ring, halt });
        }
        Ok(())
    }

    /// The longest holder of a ring, else its first member, and for how long it holds.
    fn blamed(&mut self, given: &RolloutGiven, ring: &str) -> (MachineId, Seconds) {
        let members = self.given.machines.iter().filter(|machine| machine.value.ring.as_deref() == Some(ring));
        let members: Vec<String> = members.map(|machine| machine.value.id.clone()).collect();
        let holders = given.leases.iter().filter(|lease| members.contains(&lease.machine.value));
        let longest = holders.min_by_key(|lease| lease.granted);
        let held = longest.map_or(Seconds(0), |lease| Seconds::between(self.at(lease.granted), self.start));
        let name = longest.map(|lease| lease.machine.value.clone()).or_else(|| members.first().cloned());
        (name.map_or(MachineId(uuid::Uuid::nil()), |name| self.ids.machine(&name)), held)
    }

    fn in_scope(&mut self, named: &Placed<String>) -> Result<(MachineId, String), Fault> {
        let found = self.given.machines.iter().find(|machine| machine.value.id == named.value).map(|m| &m.value);
        let Some(machine) = found else {
            return Err(Fault::at(named.place, format!("there is no machine {} in given.machines", named.value)));
        };
        if machine.environment.is_none() || machine.ring.is_none() {
            return Err(Fault::at(named.place, format!("machine {} is out of scope and holds no slot", named.value)));
        }
        let rings = self.given.rings.iter().map(|ring| &ring.value);
        if rings.filter(|ring| Some(&ring.slug) == machine.ring.as_ref()).any(|ring| ring.max_in_flight == 0) {
            return Err(Fault::at(named.place, format!("the ring of {} is not capped and has no slots", named.value)));
        }
        let hostname = machine.hostname.clone().unwrap_or_else(|| machine.id.clone());
        Ok((self.ids.machine(&named.value), hostname))
    }

    pub(super) fn known_environment(&mut self, slug: &str, place: Place) -> Result<EnvironmentId, Fault> {
        match self.given.environments.iter().any(|environment| environment.value.slug == slug) {
            true => Ok(self.ids.environment(slug)),
            false => Err(Fault::at(place, format!("there is no environment {slug} in given.environments"))),
        }
    }

    pub(super) fn known_ring(&mut self, slug: &str, place: Place) -> Result<RingId, Fault> {
        match self.given.rings.iter().any(|ring| ring.value.slug == slug) {
            true => Ok(self.ids.ring(slug)),
            false => Err(Fault::at(place, format!("there is no ring {slug} in given.rings"))),
        }
    }

    pub(super) fn known_release(&mut self, name: &str, place: Place) -> Result<ReleaseId, Fault> {
        match self.given.releases.iter().any(|release| release.value.id == name) {
            true => Ok(self.ids.release(name)),
            false => Err(Fault::at(place, format!("there is no release {name} in given.releases"))),
        }
    }

    /// The content that was published with a release.
    fn content(&self, name: &str) -> Digest {
        let published = self.entries.iter().find_map(|(_, _, change)| match change {
            Change::ReleasePublished { release } if release.git_ref == name => Some(release.content.clone()),
            _ => None,
        });
        published.unwrap_or_else(|| Digest(String::new()))
    }
}

fn ending(status: StatusWord) -> Option<Ending> {
    match status {
        StatusWord::Running => None,
        StatusWord::Completed => Some(Ending::Completed),
        StatusWord::Halted => Some(Ending::Halted { reason: "halted before the start".to_owned() }),
        StatusWord::Superseded => Some(Ending::Superseded { by: RolloutId(uuid::Uuid::nil()) }),
    }
}
