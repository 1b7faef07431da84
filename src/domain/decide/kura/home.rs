//! Which cluster an account's things are in: the first that is seen, until a person accepts another one.

use super::super::super::input::Order;
use super::super::super::kura::change::KuraChange;
use super::super::super::kura::refusal::KuraRefusal;
use super::super::super::kura::seen::cluster;
use super::super::super::kura::sight::Sight;
use super::super::super::observed::Observed;
use super::super::super::verdict::Reply;
use super::super::draft::Draft;
use super::removal::not_there;
use super::verbs::Done;

/// Where there are servers or rolls, the first cluster that says which one it is is where they are: before anything is
/// written there.
pub(in super::super) fn settle(draft: &mut Draft<'_>, observed: &Observed) {
    let world = draft.world();
    let is_bare = world.kura.servers.is_empty() && world.rolls.is_empty();
    if is_bare || world.kura.home.is_some() {
        return;
    }
    if let Some(uid) = observed.cluster.as_ref().and_then(uid_of) {
        draft.tell(KuraChange::ClusterAccepted { uid: uid.to_owned() });
    }
}

/// Only the one that is seen now, and only with a reason: everything that is wanted is made anew there.
pub(super) fn accept(draft: &mut Draft<'_>, observed: &Observed, order: &Order, uid: &str) -> Done {
    if order.reason.as_deref().is_none_or(|reason| reason.trim().is_empty()) {
        return Err(KuraRefusal::ReasonMissing);
    }
    if uid_of(cluster(observed)?) != Some(uid) {
        return Err(not_there("cluster", uid));
    }
    if draft.world().kura.home.as_ref().is_none_or(|home| home.uid != uid) {
        draft.tell(KuraChange::ClusterAccepted { uid: uid.to_owned() });
    }
    Ok(Reply::Done)
}

fn uid_of(sight: &Sight) -> Option<&str> {
    sight.identity.as_ref()?.uid.as_deref()
}
