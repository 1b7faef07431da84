//! Infra-only gating: two labels that part the workloads, each of which carries exactly one (F31, F47).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sight::FleetPod;
use super::spec::Selector;

/// Two labels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Partition {
    /// What the gate judges.
    pub infra: Selector,
    /// What it reports and never waits for.
    pub others: Selector,
}

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Judged.
    Infra,
    /// Reported.
    Others,
}

impl Partition {
    /// The class of a workload.
    ///
    /// # Errors
    /// A sentence where it carries none of the labels, or both.
    pub fn class(&self, pod: &FleetPod) -> Result<Class, String> {
        let name = format!("{}/{}", pod.namespace, pod.stamp.name);
        match (self.infra.matches(&pod.stamp), self.others.matches(&pod.stamp)) {
            (true, false) => Ok(Class::Infra),
            (false, true) => Ok(Class::Others),
            (false, false) => Err(format!("{name} carries neither {} nor {}", self.infra.label, self.others.label)),
            (true, true) => Err(format!("{name} carries both {} and {}", self.infra.label, self.others.label)),
        }
    }

    /// The first workload that is in no class, or in two.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check<'a>(&self, pods: impl Iterator<Item = &'a FleetPod>) -> Result<(), String> {
        pods.filter(|pod| is_workload(pod)).try_for_each(|pod| self.class(pod).map(drop))
    }
}

/// Something that is judged by its labels: nothing of ours, nothing of the node itself, nothing that has ended.
pub fn is_workload(pod: &FleetPod) -> bool {
    !pod.is_ours() && !pod.is_over() && pod.owner.as_deref() != Some("Node")
}
