//! Friction: what it takes to confirm a deed. It grows with the harm.

use super::deed::{Deed, Setting};
use crate::domain::ids::ReleaseId;
use crate::domain::input::Verb;
use crate::domain::plan::Plan;
use crate::domain::world::World;

/// Typed to take the cap off a ring.
pub(super) const UNCAP: &str = "UNCAP";

/// What has to be done to confirm, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Friction {
    /// Enter, and confirm is what is selected.
    Enter,
    /// A key of its own: stopping is easy, but never a reflex.
    StopKey,
    /// The name of the target, and cancel is what is selected.
    TypeName,
    /// `UNCAP`, since everybody starts at once; holding the line stands beside it.
    Uncap,
    /// The name, and a reason of its own.
    NameAndReason,
}

impl Friction {
    /// What a deed takes, by what would follow from it.
    pub fn of(deed: &Deed, plan: &Plan, world: &World) -> Self {
        match *deed {
            Deed::Stop(_) | Deed::LeaveSeat => Self::StopKey,
            Deed::TakeSeat => Self::TypeName,
            Deed::Force(_) => Self::NameAndReason,
            Deed::Yank(release) if runs(release, world) => Self::NameAndReason,
            Deed::Start(release) if newer(release, world).is_some() => Self::NameAndReason,
            Deed::Tune(_, Setting::Cap(0)) => Self::Uncap,
            Deed::Start(_) | Deed::Yank(_) | Deed::Remove(_) => Self::TypeName,
            Deed::Reapply(_) | Deed::Strip { .. } => Self::NameAndReason,
            // Any tag but the newest pins the server (K25).
            Deed::Deploy(_, Some(ref tag)) if world.kura.target() != Some(tag) => Self::NameAndReason,
            Deed::Destroy(_) | Deed::DropGateway(..) | Deed::DropOrphan(..) | Deed::ReleaseTag(_) => Self::TypeName,
            _ if is_typed(deed, world) => Self::TypeName,
            // Several that start at once are a wave that nobody can take back.
            Deed::Tune(..) if plan.starts.len() > 1 => Self::TypeName,
            _ if plan.ends_lease() => Self::TypeName,
            _ => Self::Enter,
        }
    }

    /// What has to be typed to prove that the right thing is meant.
    pub fn proof(self, name: &str) -> Option<&str> {
        match self {
            Self::TypeName | Self::NameAndReason => Some(name),
            Self::Uncap => Some(UNCAP),
            Self::Enter | Self::StopKey => None,
        }
    }
}

/// A fleet without a margin, a roll that makes way or ends, a cordon that is lifted (F56).
fn is_typed(deed: &Deed, world: &World) -> bool {
    matches!(deed.verb(), Some(Verb::Roll(verb)) if verb.is_typed(&world.rolls))
}

fn runs(release: ReleaseId, world: &World) -> bool {
    world.running().is_some_and(|rollout| rollout.release == release)
}

/// The release that runs or ran last, if it is newer than this one.
pub(super) fn newer(release: ReleaseId, world: &World) -> Option<&str> {
    let last = world.releases.get(&world.current()?.release)?;
    let this = world.releases.get(&release)?;
    (last.created_at > this.created_at).then_some(last.git_ref.as_str())
}
