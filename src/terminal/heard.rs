//! What the loop hears, all through one channel; pictures alone have a way of their own, since only the newest counts.

use super::decode::Token;
use crate::console::msg::Msg;
use crate::console::theme::Theme;

/// Things heard that may wait for the loop.
pub const HEARD_QUEUED: usize = 1_024;

/// One thing the loop hears.
#[derive(Debug)]
pub enum Heard {
    /// The terminal said something: a key, a paste, an answer.
    Token(Token),
    /// The terminal has another size.
    Resized,
    /// Somebody asks to stop for a while (SIGTSTP).
    Suspend,
    /// The process goes on after a stop (SIGCONT).
    Continued,
    /// Somebody asks to end: this signal.
    Ending(i32),
    /// The terminal is gone.
    HungUp,
    /// The theme file was read again.
    Theme(Box<Theme>),
    /// Something for the console itself: an answer, a notice.
    Msg(Box<Msg>),
}
