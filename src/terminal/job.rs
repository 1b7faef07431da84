//! Job control: whether a shell waits behind this process, and stopping for it.

use std::io;

use nix::unistd::{Pid, getpgid, getpgrp, getppid, getsid};
use rustix::process::{Signal, getpid, kill_process};

/// Where a process stands in job control. The kernel says 0 for what lies outside the own process namespace, as it does
/// in a container whose processes were started from the host.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    session: Pid,
    group: Pid,
}

/// Whether somebody could continue this process once it is stopped: its parent is of the same session and of another
/// process group, as a shell with job control is. Without one a stopped console would be stopped for ever.
pub fn has_shell() -> bool {
    let own = getsid(None).map(|session| Place { session, group: getpgrp() });
    matches!((own, of_parent()), (Ok(own), Some(parent)) if continues(parent, own))
}

fn of_parent() -> Option<Place> {
    let parent = getppid();
    if parent == outside() {
        return None;
    }
    Some(Place { session: getsid(Some(parent)).ok()?, group: getpgid(Some(parent)).ok()? })
}

fn continues(parent: Place, own: Place) -> bool {
    let known = [parent.session, parent.group, own.group].into_iter().all(|id| id != outside());
    known && parent.session == own.session && parent.group != own.group
}

const fn outside() -> Pid {
    Pid::from_raw(0)
}

/// Stops this process. Returns once it is continued.
///
/// # Errors
/// When the system refuses.
pub fn stop() -> io::Result<()> {
    Ok(kill_process(getpid(), Signal::STOP)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(session: i32, group: i32) -> Place {
        Place { session: Pid::from_raw(session), group: Pid::from_raw(group) }
    }

    #[test]
    fn a_shell_is_of_the_same_session_and_of_another_group() {
        assert!(continues(place(7, 7), place(7, 9)));
        assert!(!continues(place(7, 7), place(7, 7)), "run by a script, in its group");
        assert!(!continues(place(7, 7), place(9, 9)), "of a session of its own");
    }

    #[test]
    fn nobody_outside_the_namespace_is_taken_for_a_shell() {
        assert!(!continues(place(0, 0), place(9, 9)));
        assert!(!continues(place(0, 0), place(0, 9)));
        assert!(!continues(place(0, 7), place(0, 0)));
    }
}
