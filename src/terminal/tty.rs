//! The terminal device: where keys come from, where frames go, and how large it is.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{isatty, tcgetwinsize};

use crate::wire::problem::{Problem, ProblemKind};

/// Columns and rows where the terminal does not say.
pub const USUAL_SIZE: (u16, u16) = (80, 24);

/// How long a terminal that takes no more bytes right now is waited for at a time, in seconds.
const WRITE_WAIT: i64 = 1;

/// A terminal, open for keys and for frames.
#[derive(Debug)]
pub struct Tty {
    keys: File,
    frames: File,
}

impl Tty {
    /// Takes two ends of a terminal.
    pub fn new(keys: OwnedFd, frames: OwnedFd) -> Self {
        Self { keys: keys.into(), frames: frames.into() }
    }

    /// Whether this process writes to a terminal that can show frames at all.
    pub fn is_there() -> bool {
        isatty(io::stdout()) && std::env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb")
    }

    /// The terminal of this process. Keys come from it even where standard input was redirected.
    ///
    /// # Errors
    /// When there is none, or it cannot be opened.
    pub fn of_process() -> Result<Self, Problem> {
        let stdin = io::stdin();
        let keys = if isatty(&stdin) { stdin.as_fd().try_clone_to_owned() } else { own_terminal() };
        let frames = io::stdout().as_fd().try_clone_to_owned();
        match (keys, frames) {
            (Ok(keys), Ok(frames)) => Ok(Self::new(keys, frames)),
            (Err(error), _) | (_, Err(error)) => Err(unusable(&error)),
        }
    }

    /// Columns and rows.
    pub fn size(&self) -> (u16, u16) {
        match tcgetwinsize(&self.frames) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col, size.ws_row),
            _ => USUAL_SIZE,
        }
    }

    /// The end keys come from.
    pub fn keys(&self) -> BorrowedFd<'_> {
        self.keys.as_fd()
    }

    /// The end frames go to.
    pub fn frames(&self) -> BorrowedFd<'_> {
        self.frames.as_fd()
    }

    /// Reads what was typed, at most `into.len()` bytes; 0 = the terminal is gone.
    ///
    /// # Errors
    /// As the device says.
    pub fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        (&self.keys).read(into)
    }

    /// Writes a frame: one system call, unless the terminal takes less.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match (&self.frames).write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(taken) => bytes = &bytes[taken..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.takes_bytes(WRITE_WAIT);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Whether the terminal is gone for good: nobody is at its other end.
    pub fn is_gone(&self) -> bool {
        let mut ends = [PollFd::new(&self.keys, PollFlags::empty())];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let over = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
        poll(&mut ends, Some(&now)).is_ok() && ends[0].revents().intersects(over)
    }

    /// Whether the terminal takes bytes within so many seconds.
    pub fn takes_bytes(&self, seconds: i64) -> bool {
        let mut ends = [PollFd::new(&self.frames, PollFlags::OUT)];
        let wait = Timespec { tv_sec: seconds, tv_nsec: 0 };
        poll(&mut ends, Some(&wait)).is_ok() && ends[0].revents().contains(PollFlags::OUT)
    }
}

fn own_terminal() -> io::Result<OwnedFd> {
    OpenOptions::new().read(true).write(true).open("/dev/tty").map(OwnedFd::from)
}

fn unusable(error: &io::Error) -> Problem {
    Problem::new(ProblemKind::Usage, "no_terminal", format!("the terminal cannot be opened: {error}"))
        .hint("run it in a terminal: over ssh that takes `ssh -t`, in a container `-it`")
        .hint("for output without a screen: kura-console status")
}
