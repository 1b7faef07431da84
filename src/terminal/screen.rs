//! The screen: taken from the terminal once, given back exactly once, whatever happens in between.

use std::io::{self, Write};
use std::panic;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::termios::{OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};

use super::modes::Modes;
use super::stderr::{Detour, Diverted};
use super::tty::Tty;
use crate::wire::problem::{Problem, ProblemKind};

/// Exit code after a fault of ours.
const FAULT_CODE: i32 = 101;

/// A terminal whose screen can be taken. Clones share it.
#[derive(Debug, Clone)]
pub struct Screen {
    tty: Arc<Tty>,
    /// How things were before the screen was taken; none = it is not ours.
    before: Arc<Mutex<Option<Before>>>,
    /// Where standard error goes meanwhile.
    detour: Option<Arc<Detour>>,
}

/// What is put back.
#[derive(Debug)]
struct Before {
    modes: Termios,
    _stderr: Option<Diverted>,
}

/// As long as this lives the screen is ours; dropping it gives the screen back.
#[derive(Debug)]
pub struct Taken(Screen);

impl Screen {
    /// The screen of `tty`, not taken yet.
    pub fn of(tty: Tty) -> Self {
        Self { tty: Arc::new(tty), before: Arc::default(), detour: None }
    }

    /// The same, with standard error led into the log while the screen is taken.
    ///
    /// # Errors
    /// When the system gives no pipe or no thread.
    pub fn without_stderr(mut self) -> io::Result<Self> {
        self.detour = Detour::open()?.map(Arc::new);
        Ok(self)
    }

    /// The device below.
    pub fn tty(&self) -> &Tty {
        &self.tty
    }

    /// Takes the screen: raw keys, an empty alternate screen.
    ///
    /// # Errors
    /// When the terminal refuses; then everything is as it was.
    pub fn take(&self) -> Result<Taken, Problem> {
        let taken = Taken(self.clone());
        self.enter().map_err(|error| refused(&error))?;
        Ok(taken)
    }

    /// Takes the screen, or takes it anew after something else had the terminal.
    ///
    /// # Errors
    /// When the terminal refuses; what was done until then is undone by `leave`.
    pub fn enter(&self) -> io::Result<()> {
        {
            let mut before = self.before();
            let now = tcgetattr(self.tty.keys())?;
            let mut raw = now.clone();
            raw.make_raw();
            // First of all, so that a process in the background is stopped here, before it writes anything.
            tcsetattr(self.tty.keys(), OptionalActions::Now, &raw)?;
            if before.is_none() {
                let stderr = self.detour.as_ref().and_then(|detour| detour.take().ok());
                *before = Some(Before { modes: now, _stderr: stderr });
            }
        }
        self.tty.write(Modes::get().enter.as_bytes())
    }

    /// Gives the screen back; false where it was not ours any more.
    pub fn leave(&self) -> bool {
        let Some(before) = self.before().take() else { return false };
        self.restore_modes(&before.modes);
        // A terminal that is gone has nothing to be restored.
        let _ = self.tty.write(Modes::get().leave.as_bytes());
        true
    }

    /// Gives the screen back without ever waiting for the terminal: what it did not take yet is thrown away.
    pub fn abandon(&self) {
        let Some(before) = self.before().take() else { return };
        let _ = tcflush(self.tty.frames(), QueueSelector::OFlush);
        self.restore_modes(&before.modes);
        if self.tty.takes_bytes(0) {
            let _ = self.tty.write(Modes::get().leave.as_bytes());
        }
    }

    /// Writes to the screen, if it is ours.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let ours = self.before().is_some();
        if ours { self.tty.write(bytes) } else { Ok(()) }
    }

    /// From now on a panic gives the screen back before it says anything, and ends the process wherever it happens: a
    /// console that lost a part of itself must not look alive.
    pub fn give_back_on_panic(&self) {
        let screen = self.clone();
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |fault| {
            screen.leave();
            let _ = writeln!(io::stderr(), "kura-console: stopped by a fault of its own; the terminal is as it was");
            previous(fault);
            if std::thread::current().name() != Some("main") {
                std::process::exit(FAULT_CODE);
            }
        }));
    }

    /// What was typed ahead was meant for the console, not for the shell after it.
    fn restore_modes(&self, before: &Termios) {
        let _ = tcflush(self.tty.keys(), QueueSelector::IFlush);
        let _ = tcsetattr(self.tty.keys(), OptionalActions::Now, before);
    }

    fn before(&self) -> MutexGuard<'_, Option<Before>> {
        self.before.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.0.leave();
    }
}

fn refused(error: &io::Error) -> Problem {
    Problem::new(ProblemKind::Usage, "no_screen", format!("the terminal does not give its screen: {error}"))
        .hint("run it in the foreground of a terminal; for output without a screen: kura-console status")
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Read;

    use portable_pty::{MasterPty, PtySize, native_pty_system};

    use super::*;

    fn pseudo_terminal() -> (Box<dyn MasterPty + Send>, Screen) {
        let pair = native_pty_system().openpty(PtySize::default()).unwrap();
        let path = pair.master.tty_name().unwrap();
        let open = || OpenOptions::new().read(true).write(true).open(&path).unwrap().into();
        (pair.master, Screen::of(Tty::new(open(), open())))
    }

    /// Everything up to the end of the alternate screen; a terminal hands it on in pieces of its own choice.
    fn written(master: &dyn MasterPty) -> String {
        let mut reader = master.try_clone_reader().unwrap();
        let (mut text, mut piece) = (Vec::new(), [0; 4_096]);
        while !String::from_utf8_lossy(&text).contains("\x1b[?1049l") {
            let length = reader.read(&mut piece).unwrap();
            text.extend_from_slice(&piece[..length]);
        }
        String::from_utf8(text).unwrap()
    }

    fn modes(master: &dyn MasterPty) -> String {
        format!("{:?}", master.get_termios())
    }

    #[test]
    fn the_screen_is_given_back_exactly_once() {
        // A24
        let (master, screen) = pseudo_terminal();
        let before = modes(&*master);
        let taken = screen.take().unwrap();
        assert_ne!(modes(&*master), before);
        assert!(screen.leave());
        assert!(!screen.leave());
        screen.abandon();
        drop(taken);
        assert_eq!(modes(&*master), before);
        let text = written(&*master);
        assert_eq!(text.matches("\x1b[?1049h").count(), 1);
        assert_eq!(text.matches("\x1b[?1049l").count(), 1);
        assert_eq!(text.matches("\x1b[?25h").count(), 1);
    }

    #[test]
    fn a_raw_terminal_stays_as_it_was_and_a_second_entry_forgets_nothing() {
        let (master, screen) = pseudo_terminal();
        let before = modes(&*master);
        let taken = screen.take().unwrap();
        screen.enter().unwrap();
        drop(taken);
        assert_eq!(modes(&*master), before);
    }

    #[test]
    fn nothing_is_written_once_the_screen_is_given_back() {
        let (master, screen) = pseudo_terminal();
        drop(screen.take().unwrap());
        screen.write(b"late frame").unwrap();
        assert!(!written(&*master).contains("late frame"));
    }

    #[test]
    fn a_terminal_that_is_gone_is_an_answer_and_no_panic() {
        let (master, screen) = pseudo_terminal();
        let taken = screen.take().unwrap();
        drop(master);
        assert!(screen.write(b"x").is_err());
        drop(taken);
        assert_eq!(screen.take().unwrap_err().code, "no_screen");
    }

    #[test]
    fn unwinding_gives_the_screen_back() {
        // A24
        let (master, screen) = pseudo_terminal();
        let before = modes(&*master);
        let inner = screen.clone();
        let fault = std::thread::spawn(move || {
            let _taken = inner.take().unwrap();
            panic!("in the middle of a frame");
        });
        assert!(fault.join().is_err());
        assert_eq!(modes(&*master), before);
        assert!(!screen.leave());
    }
}
