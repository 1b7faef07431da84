//! Standard error while the screen is ours: what libraries and child processes write there becomes lines of the log,
//! not dirt on the screen.

use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Read};
use std::os::fd::{AsFd, OwnedFd};

use rustix::stdio::dup2_stderr;
use rustix::termios::isatty;

/// Longest line that is kept in one piece, in bytes.
const LINE_MAX: u64 = 4_096;

/// A way for standard error that does not end at the terminal.
#[derive(Debug)]
pub struct Detour {
    way: PipeWriter,
}

/// Standard error takes the detour as long as this lives.
#[derive(Debug)]
pub struct Diverted {
    before: OwnedFd,
}

impl Detour {
    /// Opens the detour; none where standard error does not end at a terminal anyway.
    ///
    /// # Errors
    /// When the system gives no pipe or no thread.
    pub fn open() -> io::Result<Option<Self>> {
        if !isatty(io::stderr()) {
            return Ok(None);
        }
        let (lines, way) = io::pipe()?;
        std::thread::Builder::new().name("stderr".to_owned()).spawn(move || log_lines(lines))?;
        Ok(Some(Self { way }))
    }

    /// Sends standard error this way.
    ///
    /// # Errors
    /// When the system refuses; then it goes where it went before.
    pub fn take(&self) -> io::Result<Diverted> {
        let before = io::stderr().as_fd().try_clone_to_owned()?;
        dup2_stderr(&self.way)?;
        Ok(Diverted { before })
    }
}

impl Drop for Diverted {
    fn drop(&mut self) {
        // Nothing else could be done about it, and nowhere be said.
        let _ = dup2_stderr(&self.before);
    }
}

fn log_lines(pipe: PipeReader) {
    let mut pipe = BufReader::new(pipe);
    let mut line = Vec::new();
    while matches!(pipe.by_ref().take(LINE_MAX).read_until(b'\n', &mut line), Ok(1..)) {
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        if !text.is_empty() {
            tracing::warn!("written to standard error: {text}");
        }
        line.clear();
    }
}
