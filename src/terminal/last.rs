//! The last resort: a process that was told to end does end, even if its terminal takes no byte or its loop is stuck.

use std::time::Duration;

use super::screen::Screen;

/// How long the orderly end may take. Together with what follows it stays below the two seconds that are promised.
pub const END_WAIT: Duration = Duration::from_millis(1_500);

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
