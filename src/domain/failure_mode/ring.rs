//! Modes of one lane: paused, settling, churning, not capped, a head nobody hears of.

use super::finding::{Finding, Scene};
use super::mode::FailureMode;
use crate::domain::fleet::Machine;
use crate::domain::hold::by_whom;
use crate::domain::ids::MachineId;
use crate::domain::rows::LaneView;
use crate::domain::span::Seconds;

pub(super) fn findings(scene: Scene<'_>, view: &LaneView<'_>) -> Vec<Finding> {
    if !scene.rollout.is_running() {
        return Vec::new();
    }
    let lane = Lane { scene, view };
    [lane.paused(), lane.settling(), lane.churn(), lane.not_capped(), lane.head()].into_iter().flatten().collect()
}

struct Lane<'a> {
    scene: Scene<'a>,
    view: &'a LaneView<'a>,
}

impl Lane<'_> {
    fn find(&self, mode: FailureMode, machine: Option<MachineId>, sentence: String) -> Finding {
        Finding { mode, machine, ring: Some(self.view.ring.id), sentence, since: None }
    }

    fn machine(&self, id: MachineId) -> Option<&Machine> {
        self.scene.world.machines.get(&id)
    }

    /// FM-9, the ring's half.
    fn paused(&self) -> Option<Finding> {
        let pause = self.view.ring.paused.as_ref().filter(|_| !self.view.lane.unfinished.is_empty())?;
        let sentence = format!("ring {} is paused {}", self.view.ring.slug, by_whom(pause));
        Some(Finding { since: Some(pause.at), ..self.find(FailureMode::LinePaused, None, sentence) })
    }

    /// FM-10.
    fn settling(&self) -> Option<Finding> {
        let settle = self.view.ring.settings.min_settle_seconds;
        let (first, id) = self.view.lane.settling(settle, self.scene.now).last()?;
        let left = Seconds::between(self.scene.now, settle.after(*first));
        let sentence = format!("{} settles for another {left}", self.scene.world.hostname(*id));
        Some(Finding { since: Some(*first), ..self.find(FailureMode::Settling, Some(*id), sentence) })
    }

    /// FM-6: who came into the queue since the holder was granted.
    fn churn(&self) -> Option<Finding> {
        let holders = self.view.lane.holders.iter().filter_map(|id| self.machine(*id));
        let holder = holders.min_by_key(|m| m.lease.as_ref().map(|l| l.granted_at))?;
        let granted = holder.lease.as_ref()?.granted_at;
        let came = |id: &MachineId| self.machine(*id).and_then(|m| m.joined_at).is_some_and(|at| at > granted);
        let newcomers = self.view.queue().filter(came).count();
        (newcomers > 0).then(|| {
            let sentence = format!(
                "the queue of {} grew by {newcomers} behind {}, which keeps its slot",
                self.view.ring.slug, holder.hostname
            );
            Finding { since: Some(granted), ..self.find(FailureMode::QueueChurn, Some(holder.id), sentence) }
        })
    }

    /// FM-D5: more than one at a time is what a cap would have prevented.
    fn not_capped(&self) -> Option<Finding> {
        let in_flight = self.view.lane.served.iter().filter(|id| self.view.lane.unfinished.contains(*id)).count();
        (self.view.open && !self.view.ring.is_capped() && in_flight > 1).then(|| {
            let sentence = format!("ring {} is not capped: {in_flight} machines converge at once", self.view.ring.slug);
            self.find(FailureMode::NotCapped, None, sentence)
        })
    }

    /// FM-12, FM-D1: a free slot and a head that cannot take it.
    fn head(&self) -> Option<Finding> {
        let halted = self.scene.rollout.halted_rings.contains_key(&self.view.ring.id);
        let admitting = self.view.open && self.view.ring.is_capped() && !halted && self.view.ring.paused.is_none();
        if !admitting || self.view.slots(self.scene.now).free == 0 {
            return None;
        }
        let head = self.machine(self.view.queue().next()?)?;
        let name = &head.hostname;
        if let Some(error) = &head.render_error {
            let sentence = format!("{name} is next and cannot be rendered: {} missing", error.missing.join(", "));
            return Some(Finding {
                since: Some(error.at),
                ..self.find(FailureMode::RenderError, Some(head.id), sentence)
            });
        }
        (self.scene.is_online(head.id) == Some(false)).then(|| {
            let sentence = format!("{name} is next, offline and holds no slot: no timer will fire");
            let since = self.scene.observed.last_seen(head.id);
            Finding { since, ..self.find(FailureMode::HeadOffline, Some(head.id), sentence) }
        })
    }
}
