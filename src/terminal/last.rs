//! The last resort: a process that was told to end does end, even if its terminal takes no byte, its loop is stuck, or
//! what stands behind it does not answer.

use std::time::Duration;

use super::screen::Screen;

/// How long the orderly end may take, a seat that is given back included: it stays below the two seconds that are promised
/// (A24). A seat that could not be given back by then expires.
const END_WAIT: Duration = Duration::from_millis(1_900);

/// How long what stands behind the link may take to end once a person left by key.
pub const FAREWELL_WAIT: Duration = Duration::from_secs(5);

/// Ends the process with `code` after `END_WAIT`, unless it ended by itself before.
pub fn end_anyway(screen: Screen, code: i32) {
    let end = move || {
        std::thread::sleep(END_WAIT);
        screen.abandon();
        std::process::exit(code);
    };
    // Without a thread there is only the orderly end.
    let _ = std::thread::Builder::new().name("last resort".to_owned()).spawn(end);
}
