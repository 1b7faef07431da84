//! The thread that reads keys, and notices when the terminal is gone.

use std::io;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TrySendError;

use super::decode::Decoder;
use super::heard::Heard;
use super::last::end_anyway;
use super::screen::Screen;

/// Bytes read at once.
const READ_MAX: usize = 4_096;

/// What a process says that lost its terminal: 128 and SIGHUP.
pub const HUNG_UP_CODE: i32 = 129;

/// Reads keys until the terminal is gone or nobody listens any more. Keys that a busy console does not take in time
/// are dropped: better a key too few than one that hits a later screen.
///
/// # Errors
/// When no thread can be started.
pub fn listen(screen: Screen, heard: Sender<Heard>) -> io::Result<()> {
    let read = move || {
        if let Gone::Terminal = read_keys(&screen, &heard) {
            // The loop may be busy or stuck; the process ends in any case.
            end_anyway(screen, HUNG_UP_CODE);
            let _ = heard.blocking_send(Heard::HungUp);
        }
    };
    std::thread::Builder::new().name("keys".to_owned()).spawn(read).map(drop)
}

/// Who is gone.
enum Gone {
    Terminal,
    Listener,
}

fn read_keys(screen: &Screen, heard: &Sender<Heard>) -> Gone {
    let mut decoder = Decoder::default();
    let mut bytes = [0; READ_MAX];
    loop {
        let tokens = match ready(screen, decoder.waits()) {
            Ready::Gone => return Gone::Terminal,
            Ready::Nothing => decoder.give_up(),
            Ready::Keys => match screen.tty().read(&mut bytes) {
                Ok(0) => return Gone::Terminal,
                Ok(length) => decoder.feed(&bytes[..length]),
                Err(error) if is_passing(&error) => continue,
                Err(_) => return Gone::Terminal,
            },
        };
        for token in tokens {
            if let Err(TrySendError::Closed(_)) = heard.try_send(Heard::Token(token)) {
                return Gone::Listener;
            }
        }
    }
}

enum Ready {
    Keys,
    Nothing,
    Gone,
}

/// Waits for keys, at most `span`; without one for ever.
fn ready(screen: &Screen, span: Option<Duration>) -> Ready {
    let keys = screen.tty().keys();
    let mut ends = [PollFd::new(&keys, PollFlags::IN)];
    let span = span.and_then(|span| Timespec::try_from(span).ok());
    loop {
        match poll(&mut ends, span.as_ref()) {
            Ok(0) => return Ready::Nothing,
            Ok(_) => break,
            Err(Errno::INTR) => {}
            Err(_) => return Ready::Gone,
        }
    }
    // A closed terminal is readable too, for ever: this is where a reader that only reads begins to spin.
    if ends[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
        Ready::Gone
    } else {
        Ready::Keys
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock)
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;

    use portable_pty::{PtySize, native_pty_system};
    use tokio::sync::mpsc;

    use super::*;
    use crate::console::chord::Chord;
    use crate::terminal::decode::Token;
    use crate::terminal::tty::Tty;

    #[test]
    fn keys_are_heard_and_a_terminal_that_goes_away_is_noticed() {
        // A24
        let pair = native_pty_system().openpty(PtySize::default()).unwrap();
        let path = pair.master.tty_name().unwrap();
        let open = || OpenOptions::new().read(true).write(true).open(&path).unwrap().into();
        let screen = Screen::of(Tty::new(open(), open()));
        let _taken = screen.take().unwrap();
        drop(pair.slave);
        let (heard, mut told) = mpsc::channel(8);
        let reader = std::thread::spawn(move || matches!(read_keys(&screen, &heard), Gone::Terminal));
        pair.master.take_writer().unwrap().write_all(b"j").unwrap();
        assert!(matches!(told.blocking_recv(), Some(Heard::Token(Token::Key(chord))) if chord == Chord::char('j')));
        drop(pair.master);
        assert!(reader.join().unwrap());
    }

    #[test]
    fn keys_nobody_takes_are_dropped_and_without_a_listener_it_ends() {
        let pair = native_pty_system().openpty(PtySize::default()).unwrap();
        let path = pair.master.tty_name().unwrap();
        let open = || OpenOptions::new().read(true).write(true).open(&path).unwrap().into();
        let screen = Screen::of(Tty::new(open(), open()));
        let _taken = screen.take().unwrap();
        let (heard, told) = mpsc::channel(1);
        let mut keyboard = pair.master.take_writer().unwrap();
        keyboard.write_all(b"jjjjjjjj").unwrap();
        let reader = std::thread::spawn(move || matches!(read_keys(&screen, &heard), Gone::Listener));
        while told.is_empty() {
            std::thread::yield_now();
        }
        drop(told);
        keyboard.write_all(b"j").unwrap();
        assert!(reader.join().unwrap());
    }
}
