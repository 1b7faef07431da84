//! Who deletes the not-Ready pods of an image change (K48).

use jiff::Timestamp;

use crate::domain::kura::sight::{PodDeleter, Sight};
use crate::domain::span::Seconds;

/// An instance whose controller wrote its status within this time has one.
pub const CONTROLLER_ALIVE: Seconds = Seconds(15 * 60);

/// What a person wants (`--not-ready-deletion`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NotReadyDeletion {
    /// This program, unless the cluster's own controller does.
    #[default]
    Auto,
    /// This program.
    On,
    /// Not this program.
    Off,
}

impl NotReadyDeletion {
    /// Who does it, given when a controller last wrote a status of an instance here.
    pub(super) fn deleter(self, heartbeat: Option<Timestamp>, now: Timestamp) -> PodDeleter {
        let has_controller = heartbeat.is_some_and(|at| now < CONTROLLER_ALIVE.after(at));
        match self {
            Self::On => PodDeleter::Ours,
            Self::Auto if !has_controller => PodDeleter::Ours,
            Self::Auto => PodDeleter::Controller,
            Self::Off if has_controller => PodDeleter::Controller,
            Self::Off => PodDeleter::Nobody,
        }
    }
}

/// When a controller last wrote the status of an instance; none where none ever did.
pub(super) fn heartbeat(sight: &Sight) -> Option<Timestamp> {
    sight.instances.rows.values().filter_map(|instance| instance.last_reconciled_at).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_leaves_it_to_a_controller_that_lives() {
        // K48
        let at = |second| Timestamp::from_second(second).unwrap();
        let (fresh, old) = (Some(at(1_000)), Some(at(100)));
        for (wanted, heartbeat, deleter) in [
            (NotReadyDeletion::Auto, fresh, PodDeleter::Controller),
            (NotReadyDeletion::Auto, old, PodDeleter::Ours),
            (NotReadyDeletion::Auto, None, PodDeleter::Ours),
            (NotReadyDeletion::On, fresh, PodDeleter::Ours),
            (NotReadyDeletion::Off, fresh, PodDeleter::Controller),
            (NotReadyDeletion::Off, None, PodDeleter::Nobody),
        ] {
            assert_eq!(wanted.deleter(heartbeat, at(1_000)), deleter, "{wanted:?} {heartbeat:?}");
        }
    }
}
