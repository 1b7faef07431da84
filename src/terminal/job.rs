//! Job control: whether a shell waits behind this process, and stopping for it.

use std::io;

use rustix::process::{Signal, getpgid, getpgrp, getpid, getppid, getsid, kill_process};

/// Whether somebody could continue this process once it is stopped: its parent is of the same session and of another
/// process group, as a shell with job control is. Without one a stopped console would be stopped for ever.
pub fn has_shell() -> bool {
    let Some(parent) = getppid() else { return false };
    let same_session = matches!((getsid(Some(parent)), getsid(None)), (Ok(theirs), Ok(ours)) if theirs == ours);
    same_session && getpgid(Some(parent)).is_ok_and(|group| group != getpgrp())
}

/// Stops this process. Returns once it is continued.
///
/// # Errors
/// When the system refuses.
pub fn stop() -> io::Result<()> {
    Ok(kill_process(getpid(), Signal::STOP)?)
}
