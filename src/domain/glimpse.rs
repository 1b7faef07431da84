//! A glimpse: what is known of a world by its status alone, where a control plane offers nothing but the runbook's own
//! endpoints. It goes beside the world that was sketched from it, and says what of that is not known.

use std::collections::BTreeSet;

use uuid::Uuid;

/// What a world that was sketched from a status has to do without.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Glimpse {
    /// Counts the times the status was read: what was read after something has a greater one.
    pub reading: u64,
    /// Why the cursor does not move, in the control plane's own words; none = it does not say.
    pub stall_reason: Option<String>,
    /// Machines inside their settle window, of which it may not be told which they are.
    pub settling: usize,
    /// It is told since when slots are held; without that ages begin where this reader first saw them.
    pub tells_times: bool,
    /// It is told when the rollout was started.
    pub tells_start: bool,
    /// What cannot be known or done, one sentence each, what matters most first.
    pub lacks: Vec<String>,
    /// Things whose identity is not told, only their name: no verb can be aimed at them from here.
    pub unnamed: BTreeSet<Uuid>,
}

/// What can be done to a thing from here, and if nothing, why.
impl Glimpse {
    /// Why no verb reaches the thing; none where one does.
    pub fn unreachable(&self, id: Uuid) -> Option<&'static str> {
        let unnamed = self.unnamed.contains(&id);
        unnamed.then_some("this control plane does not tell its uuid: give the verb with it, by kura-console VERB")
    }
}
