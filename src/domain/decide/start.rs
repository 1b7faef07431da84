//! Starting a release: a new rollout, a supersede, or a reset in place (R90-R103).

use super::super::change::{Change, LeaseEnd};
use super::super::ids::{ReleaseId, RolloutId};
use super::super::input::{Intent, Verb};
use super::super::refusal::Refusal;
use super::super::rollout::{Ending, Rollout};
use super::super::verdict::Reply;
use super::super::world::place;
use super::draft::Draft;

pub(super) fn start(draft: &mut Draft<'_>, verb: &Verb) -> Reply {
    let Verb::Start { id, release, protected, force, intent } = verb else { return Reply::Done };
    if let Some(refusal) = unstartable(draft, *release) {
        return Reply::Refused(refusal);
    }
    match draft.world().running().cloned() {
        Some(running) if running.release == *release => reset(draft, &running, *protected, *intent),
        _ if *intent == Some(Intent::Reset) => Reply::Refused(would_start(draft, *release)),
        Some(running) if running.protected && !force => Reply::Refused(protected_by(draft, &running)),
        running => begin(draft, *id, *release, protected.unwrap_or(false), running.as_ref()),
    }
}

/// A release that does not exist or was withdrawn (R102).
fn unstartable(draft: &Draft<'_>, id: ReleaseId) -> Option<Refusal> {
    let Some(release) = draft.world().releases.get(&id) else { return Some(Refusal::NoRelease(id)) };
    let yank = release.yanked.as_ref()?;
    Some(Refusal::Yanked { release: release.git_ref.clone(), reason: yank.reason.clone() })
}

fn protected_by(draft: &Draft<'_>, running: &Rollout) -> Refusal {
    let release = draft.world().release_name(running.release).to_owned();
    Refusal::Protected { running: release, started_by: running.started_by.clone() }
}

fn would_start(draft: &Draft<'_>, release: ReleaseId) -> Refusal {
    Refusal::WouldStart { release: draft.world().release_name(release).to_owned() }
}

/// The same release while it runs: again from the lowest environment, in place, without force (R93-R98).
fn reset(draft: &mut Draft<'_>, running: &Rollout, protected: Option<bool>, intent: Option<Intent>) -> Reply {
    if intent == Some(Intent::Start) {
        let release = draft.world().release_name(running.release).to_owned();
        return Reply::Refused(Refusal::WouldReset { release });
    }
    draft.end_all_leases(LeaseEnd::Reset);
    let generation = draft.world().next_generation;
    let protected = protected.unwrap_or(running.protected);
    draft.push(Change::RolloutReset { rollout: running.id, protected, generation });
    open_lowest(draft, running.id);
    Reply::Reset(running.id)
}

/// Another release, or the same one when nothing runs: a new rollout takes the account's slot (R91, R92, R99).
pub(super) fn begin(
    draft: &mut Draft<'_>,
    id: RolloutId,
    release: ReleaseId,
    protected: bool,
    displaced: Option<&Rollout>,
) -> Reply {
    if let Some(old) = displaced {
        draft.end_all_leases(LeaseEnd::Superseded);
        draft.push(Change::RolloutEnded { rollout: old.id, ending: Ending::Superseded { by: id } });
    }
    let generation = draft.world().next_generation;
    draft.push(Change::RolloutStarted { rollout: id, release, protected, generation });
    open_lowest(draft, id);
    Reply::Started(id)
}

/// The cursor starts at the lowest environment of the path (R77, R94).
pub(super) fn open_lowest(draft: &mut Draft<'_>, rollout: RolloutId) {
    let lowest = draft.world().path().first().and_then(|e| Some((e.id, place(e)?)));
    if let Some((environment, cursor)) = lowest {
        draft.push(Change::CursorMoved { rollout, cursor, environment });
    }
}
