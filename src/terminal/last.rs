//! The last resort: a process that was told to end does end, even if its terminal takes no byte or its loop is stuck.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::screen::Screen;

/// How long the orderly end may take. Together with what follows it stays below the two seconds that are promised.
pub const END_WAIT: Duration = Duration::from_millis(1_500);

/// How long what stands behind the link may take to end once the person left: a seat, say, is given back (A24).
pub const FAREWELL_WAIT: Duration = Duration::from_secs(5);

static TAKES_LEAVE: AtomicBool = AtomicBool::new(false);

/// The loop has come to its end, and what the process holds is given back: that may take `FAREWELL_WAIT`.
pub fn take_leave() {
    TAKES_LEAVE.store(true, Ordering::Relaxed);
}

/// Ends the process with `code` after `END_WAIT`, and after `FAREWELL_WAIT` more where it takes its leave by then, unless
/// it ended by itself before.
pub fn end_anyway(screen: Screen, code: i32) {
    let end = move || {
        std::thread::sleep(END_WAIT);
        if TAKES_LEAVE.load(Ordering::Relaxed) {
            std::thread::sleep(FAREWELL_WAIT);
        }
        screen.abandon();
        std::process::exit(code);
    };
    // Without a thread there is only the orderly end.
    let _ = std::thread::Builder::new().name("last resort".to_owned()).spawn(end);
}
