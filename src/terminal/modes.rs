//! What puts a terminal into the console's modes and out of them again, in crossterm's words, made once.

use std::sync::LazyLock;

use crossterm::Command;
use crossterm::cursor::{Hide, Show};
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::style::{Attribute, SetAttribute};
use crossterm::terminal::{BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen};

/// Asks whether synchronized output is known. What a terminal makes of a question it does not understand is wiped away
/// by the first frame.
const SYNC_QUESTION: &str = "\x1b[?2026$p";

static MODES: LazyLock<Modes> = LazyLock::new(Modes::of_crossterm);

/// The sequences.
#[derive(Debug)]
pub struct Modes {
    /// Alternate screen, no cursor, pastes in brackets, and the question.
    pub enter: String,
    /// The same backwards. An update that was cut off is ended first, or the terminal would hold back the rest.
    pub leave: String,
    /// Begins a frame that is shown as one.
    pub sync_begin: String,
    /// Ends it.
    pub sync_end: String,
}

impl Modes {
    /// They are made when a screen is taken, so that giving it back, from wherever, has nothing left to make.
    pub fn get() -> &'static Self {
        &MODES
    }

    fn of_crossterm() -> Self {
        let (mut enter, mut leave) = (String::new(), String::new());
        say(&mut enter, EnterAlternateScreen);
        say(&mut enter, Hide);
        say(&mut enter, EnableBracketedPaste);
        enter.push_str(SYNC_QUESTION);
        say(&mut leave, EndSynchronizedUpdate);
        say(&mut leave, SetAttribute(Attribute::Reset));
        say(&mut leave, DisableBracketedPaste);
        say(&mut leave, Show);
        say(&mut leave, LeaveAlternateScreen);
        let (mut sync_begin, mut sync_end) = (String::new(), String::new());
        say(&mut sync_begin, BeginSynchronizedUpdate);
        say(&mut sync_end, EndSynchronizedUpdate);
        Self { enter, leave, sync_begin, sync_end }
    }
}

/// Writing to memory cannot fail.
fn say(to: &mut String, command: impl Command) {
    let _ = command.write_ansi(to);
}

#[cfg(test)]
mod tests {
    use super::Modes;

    #[test]
    fn what_is_entered_is_left_backwards() {
        let modes = Modes::get();
        assert_eq!(modes.enter, "\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[?2026$p");
        assert_eq!(modes.leave, "\x1b[?2026l\x1b[0m\x1b[?2004l\x1b[?25h\x1b[?1049l");
        assert_eq!((modes.sync_begin.as_str(), modes.sync_end.as_str()), ("\x1b[?2026h", "\x1b[?2026l"));
    }
}
