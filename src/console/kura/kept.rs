//! What is taken over from the picture before: the rows of servers for which nothing has changed.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::super::snapshot::Snapshot;
use super::facts::KuraFacts;
use crate::domain::ids::ServerId;
use crate::domain::kura::difference::{changed, owners, pods_changed};
use crate::domain::kura::seen::read;
use crate::domain::kura::sight::Sight;
use crate::domain::kura::workload::Pod;
use crate::domain::observed::Observed;
use crate::domain::world::World;

/// What the facts of a picture were made of.
#[derive(Debug, Clone)]
pub(super) struct Basis {
    world: Arc<World>,
    observed: Arc<Observed>,
    moment: Timestamp,
}

/// What has to be made anew.
#[derive(Debug)]
pub(super) struct Anew {
    /// The rows of these servers.
    pub(super) servers: BTreeSet<ServerId>,
    /// What is told of meshes.
    pub(super) meshes: bool,
    /// What is told of orphans.
    pub(super) orphans: bool,
}

impl Basis {
    pub(super) fn of(picture: &Snapshot, moment: Timestamp) -> Self {
        Self { world: Arc::clone(&picture.world), observed: Arc::clone(&picture.observed), moment }
    }

    /// What has to be made anew of `older` facts for this picture; none = all of it.
    pub(super) fn anew(&self, older: &KuraFacts, picture: &Snapshot, moment: Timestamp) -> Option<Anew> {
        let (before, after) = (self.observed.cluster.as_ref()?, picture.observed.cluster.as_ref()?);
        let (was, is) = (&self.world.kura, &picture.world.kura);
        let same = was.tags == is.tags
            && readable(before, self.moment) == readable(after, moment)
            && self.observed.nodes == picture.observed.nodes;
        if !same {
            return None;
        }
        let mut servers: BTreeSet<ServerId> = changed(&was.servers, &is.servers).collect();
        let instances: BTreeSet<String> = changed(&before.instances.rows, &after.instances.rows).collect();
        let (anew_servers, anew_instances) = (!servers.is_empty(), !instances.is_empty());
        let (mut named, mut images) = (instances, false);
        named.extend(changed(&before.sets.rows, &after.sets.rows));
        for pods in pods_changed(&before.pods.rows, &after.pods.rows) {
            let mesh = |pod: &Pod| (pod.image.clone(), pod.instance.clone(), pod.stamp.is_leaving());
            images |= pods.0.map(mesh) != pods.1.map(mesh);
            named.extend(owners(pods));
        }
        if !named.is_empty() {
            let theirs = older.servers.values().filter(|row| named.contains(&row.instance));
            servers.extend(theirs.map(|row| row.id));
        }
        servers.extend(&older.unsteady);
        Some(Anew { servers, meshes: anew_servers || images, orphans: anew_servers || anew_instances })
    }
}

/// Which of the kinds that rows are made of can be read: now, or at some time.
fn readable(sight: &Sight, moment: Timestamp) -> [bool; 2] {
    [sight.instances.is_fresh(moment), read("pods", &sight.pods, moment).is_ok()]
}
