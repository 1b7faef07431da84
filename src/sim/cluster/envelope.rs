//! What no process may ever write for a roll, whatever it knew: looked at in the instant a write is taken.

use jiff::Timestamp;

use super::objects::Objects;
use crate::domain::kura::object::{FIELD_MANAGER, ObjectKind};
use crate::domain::kura::step::{Deed, RollWork, Step};
use crate::domain::roll::node::StepName;
use crate::domain::roll::sight::is_ours;
use crate::domain::span::Seconds;

/// For so long somebody may have missed that a cordon was lifted: a watch went silent, a process froze over its decision.
const MISSED_FOR: Seconds = Seconds(300);

impl Objects {
    /// The rule that a write breaks, if it does.
    pub(super) fn forbidden(&self, step: &Step, node: &str, work: RollWork, now: Timestamp) -> Option<String> {
        let name = &step.object.name;
        match &step.deed {
            Deed::Apply { .. } if step.object.kind == ObjectKind::Job => {
                (work == RollWork::Step(StepName::Boot)).then(|| self.forbidden_boot(name, node, now)).flatten()
            }
            Deed::Cordon { unschedulable: true, .. } => {
                let other = self.cordoned_besides(node)?;
                Some(format!("F23: {node} was cordoned while {other} was"))
            }
            Deed::Cordon { unschedulable: false, .. } => {
                let by = self.fleet.cordoned_by.get(node).filter(|by| *by != FIELD_MANAGER)?;
                Some(format!("A11: {node} was given back, and {by} had cordoned it"))
            }
            Deed::Evict { .. } => self
                .is_long_schedulable(node, now)
                .then(|| format!("A11: {name} was evicted from {node}, which is schedulable")),
            Deed::Delete { .. } => {
                let key = format!("{}/{name}", step.object.namespace.as_deref().unwrap_or("kura"));
                let pod = self.fleet.pods.get(&key).map(|pod| &pod.pod.stamp);
                let job = self.fleet.jobs.get(name).map(|job| &job.job.stamp);
                let stamp = if step.object.kind == ObjectKind::Job { job } else { pod };
                stamp.is_some_and(|stamp| !is_ours(stamp)).then(|| format!("F9: {key} is not ours, and was deleted"))
            }
            _ => None,
        }
    }

    fn forbidden_boot(&self, job: &str, node: &str, now: Timestamp) -> Option<String> {
        if self.fleet.jobs_made.contains(job) {
            return Some(format!("A11: {job} was made a second time"));
        }
        if self.is_long_schedulable(node, now) {
            return Some(format!("A11: {node} was booted, and it is schedulable"));
        }
        let booting = self.fleet.jobs.values().find(|job| job.step == StepName::Boot && job.job.ended.is_none());
        let other = booting.map(|job| job.node.as_str()).or_else(|| self.cordoned_besides(node))?;
        Some(format!("F24: {node} was booted while {other} was out of service"))
    }

    fn cordoned_besides(&self, node: &str) -> Option<&str> {
        let mut others = self.fleet.cordoned_by.iter().filter(|(name, _)| *name != node);
        others.find(|(_, by)| *by == FIELD_MANAGER).map(|(name, _)| name.as_str())
    }

    /// Everybody could have seen by now that it is schedulable.
    fn is_long_schedulable(&self, node: &str, now: Timestamp) -> bool {
        let open = self.fleet.node(node).is_some_and(|node| !node.unschedulable);
        open && self.fleet.lifted_at.get(node).is_none_or(|at| MISSED_FOR.after(*at) <= now)
    }
}
