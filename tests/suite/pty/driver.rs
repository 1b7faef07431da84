//! Drives a program on a pseudo-terminal: keys in, an emulated screen out, every byte counted. Waits for conditions, never for time.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

/// Longest wait for something that must happen; generous, because a test machine may be busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Unit of the kernel's process statistics; 100 on every Linux this runs on.
const TICKS_PER_SECOND: u64 = 100;

/// The question whether synchronized output is known, and the answer of a terminal that knows it.
const SYNC_QUESTION: &[u8] = b"\x1b[?2026$p";
const SYNC_ANSWER: &[u8] = b"\x1b[?2026;2$y";

/// What to run, on what kind of terminal.
pub(crate) struct Launch {
    argv: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    columns: u16,
    rows: u16,
    knows_sync: bool,
}

impl Launch {
    /// The console with these arguments, at 80x24, in an empty home.
    pub(crate) fn console(args: &[&str]) -> Self {
        Self::program(env!("CARGO_BIN_EXE_kura-console"), args)
    }

    /// Any program.
    pub(crate) fn program(program: impl AsRef<Path>, args: &[&str]) -> Self {
        let mut argv = vec![program.as_ref().as_os_str().to_owned()];
        argv.extend(args.iter().map(OsString::from));
        Self { argv, env: Vec::new(), columns: 80, rows: 24, knows_sync: false }
    }

    /// With more arguments.
    pub(crate) fn args(mut self, args: &[&str]) -> Self {
        self.argv.extend(args.iter().map(OsString::from));
        self
    }

    /// At this size.
    pub(crate) fn size(mut self, columns: u16, rows: u16) -> Self {
        (self.columns, self.rows) = (columns, rows);
        self
    }

    /// With one more variable in the otherwise nearly empty environment.
    pub(crate) fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// On a terminal that answers that it knows synchronized output.
    pub(crate) fn knows_sync(mut self) -> Self {
        self.knows_sync = true;
        self
    }

    /// Runs it.
    pub(crate) fn start(self) -> Driver {
        let pair = native_pty_system().openpty(pty_size(self.columns, self.rows)).expect("a pseudo-terminal");
        let home = tempfile::tempdir().expect("a home directory");
        let before = format!("{:?}", pair.master.get_termios());
        let child = pair.slave.spawn_command(self.command(home.path())).expect("the program runs");
        drop(pair.slave);
        let hung_up = Arc::new(AtomicBool::new(false));
        let chunks = read_all(pair.master.try_clone_reader().expect("a reader"), Arc::clone(&hung_up));
        let keyboard = pair.master.take_writer().expect("a writer");
        Driver {
            screen: vt100::Parser::new(nonzero(self.rows), nonzero(self.columns), 0),
            master: Some(pair.master),
            keyboard: Some(keyboard),
            knows_sync: self.knows_sync,
            raw: Vec::new(),
            answered: 0,
            before,
            child,
            chunks,
            hung_up,
            home,
        }
    }

    fn command(&self, home: &Path) -> CommandBuilder {
        let mut command = CommandBuilder::from_argv(self.argv.clone());
        command.env_clear();
        command.env("HOME", home);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        for (name, value) in &self.env {
            command.env(name, value);
        }
        command.cwd(home);
        command
    }
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ended {
    /// Exit status, if it ended by itself.
    pub(crate) code: Option<i32>,
    /// The signal that killed it.
    pub(crate) signal: Option<i32>,
    /// Processor time it used in its life, user and system.
    pub(crate) cpu: Duration,
    /// From the call to the end.
    pub(crate) after: Duration,
}

/// What came of waiting for output.
#[derive(PartialEq)]
enum Taken {
    Bytes,
    /// In time.
    Nothing,
    /// And nothing ever will: the other end is closed.
    Over,
}

/// A running program with its terminal.
pub(crate) struct Driver {
    screen: vt100::Parser,
    master: Option<Box<dyn MasterPty + Send>>,
    keyboard: Option<Box<dyn Write + Send>>,
    knows_sync: bool,
    raw: Vec<u8>,
    answered: usize,
    before: String,
    child: Box<dyn Child + Send + Sync>,
    chunks: Receiver<Vec<u8>>,
    hung_up: Arc<AtomicBool>,
    home: tempfile::TempDir,
}

impl Driver {
    /// Its home directory, empty at the start.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Its process.
    pub(crate) fn pid(&self) -> Pid {
        let id = self.child.process_id().and_then(|id| i32::try_from(id).ok());
        id.and_then(Pid::from_raw).expect("a process id")
    }

    /// Types; escape sequences stand for special keys, such as `\x1b[B` for down.
    pub(crate) fn send(&mut self, keys: &str) {
        let keyboard = self.keyboard.as_mut().expect("the terminal is still there");
        keyboard.write_all(keys.as_bytes()).and_then(|()| keyboard.flush()).expect("the terminal takes keys");
    }

    /// What the screen shows once everything that already arrived was read.
    pub(crate) fn screen(&mut self) -> &vt100::Screen {
        while self.take(Duration::ZERO) == Taken::Bytes {}
        self.screen.screen()
    }

    /// The screen as lines.
    pub(crate) fn text(&mut self) -> String {
        self.screen().contents()
    }

    /// Waits until the screen shows `text`, and returns the whole screen.
    pub(crate) fn wait_for(&mut self, text: &str) -> String {
        self.wait_until(text, PATIENCE, |screen| screen.contents().contains(text))
    }

    /// Waits until the screen no longer shows `text`, and returns the whole screen.
    pub(crate) fn wait_gone(&mut self, text: &str) -> String {
        self.wait_until(&format!("no {text}"), PATIENCE, |screen| !screen.contents().contains(text))
    }

    /// Waits until the screen is as wanted; `what` names it where it never is.
    pub(crate) fn wait_until(
        &mut self,
        what: &str,
        timeout: Duration,
        wanted: impl Fn(&vt100::Screen) -> bool,
    ) -> String {
        let deadline = now() + timeout;
        loop {
            if wanted(self.screen()) {
                return self.text();
            }
            let left = deadline.saturating_duration_since(now());
            match self.take(left) {
                Taken::Bytes => {}
                Taken::Nothing => panic!("waited for `{what}` in vain; the screen shows:\n{}", self.text()),
                Taken::Over => panic!("it ended before `{what}`; the screen shows:\n{}", self.text()),
            }
        }
    }

    /// Every byte the program wrote so far.
    pub(crate) fn raw(&mut self) -> &[u8] {
        self.screen();
        &self.raw
    }

    /// How many bytes the program wrote so far.
    pub(crate) fn bytes(&mut self) -> usize {
        self.raw().len()
    }

    /// How often `sequence` was written so far.
    pub(crate) fn count(&mut self, sequence: &str) -> usize {
        let wanted = sequence.as_bytes();
        self.raw().windows(wanted.len()).filter(|window| *window == wanted).count()
    }

    /// Waits until the program wrote something beyond the first `known` bytes.
    pub(crate) fn wait_for_more(&mut self, known: usize) {
        let deadline = now() + PATIENCE;
        while self.bytes() == known {
            let over = self.take(deadline.saturating_duration_since(now())) != Taken::Bytes;
            assert!(!over || self.bytes() > known, "nothing is written any more:\n{}", self.text());
        }
    }

    /// Bytes written during `span`, which is real time.
    pub(crate) fn bytes_during(&mut self, span: Duration) -> usize {
        let before = self.bytes();
        let deadline = now() + span;
        loop {
            let left = deadline.saturating_duration_since(now());
            if left.is_zero() || self.take(left) == Taken::Over {
                return self.bytes() - before;
            }
        }
    }

    /// Waits until nothing was written for `quiet`, at most `PATIENCE`.
    pub(crate) fn settle(&mut self, quiet: Duration) {
        let deadline = now() + PATIENCE;
        while self.take(quiet) == Taken::Bytes {
            assert!(now() < deadline, "the screen never comes to rest:\n{}", self.text());
        }
    }

    /// Changes the terminal's size, which sends SIGWINCH.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        self.screen();
        self.screen.set_size(nonzero(rows), nonzero(columns));
        self.master.as_ref().expect("the terminal is there").resize(pty_size(columns, rows)).expect("a new size");
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        rustix::process::kill_process(self.pid(), signal).expect("the process takes a signal");
    }

    /// Waits until the process was stopped by a signal.
    pub(crate) fn wait_stopped(&self) {
        let options = WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT;
        let status = rustix::process::waitid(WaitId::Pid(self.pid()), options).expect("a state");
        assert!(status.is_some_and(|status| status.stopped()), "the process did not stop");
    }

    /// Whether the terminal's own modes are as they were before the program ran.
    pub(crate) fn modes_as_before(&self) -> bool {
        let master = self.master.as_ref().expect("the terminal is there");
        format!("{:?}", master.get_termios()) == self.before
    }

    /// The terminal goes away, as when an ssh connection breaks.
    pub(crate) fn hang_up(&mut self) {
        self.screen();
        self.hung_up.store(true, Ordering::SeqCst);
        // The reader blocks in the terminal's last open copy; a redraw wakes it, and it lets go.
        self.resize(81, 25);
        self.keyboard = None;
        self.master = None;
    }

    /// What is shown is forgotten, as if somebody had cleared the terminal behind the program's back.
    pub(crate) fn wipe(&mut self) {
        self.screen();
        self.screen.process(b"\x1b[2J\x1b[H");
    }

    /// From now on the terminal takes no byte from the program, as behind a connection that hangs.
    pub(crate) fn stall(&mut self) {
        let path = self.master.as_ref().and_then(|master| master.tty_name()).expect("a terminal with a name");
        let terminal = std::fs::OpenOptions::new().write(true).open(path).expect("the terminal");
        rustix::termios::tcflow(terminal, rustix::termios::Action::OOff).expect("the terminal stalls");
    }

    /// Waits for the end of the program.
    pub(crate) fn wait_exit(&mut self) -> Ended {
        let from = now();
        let id = WaitId::Pid(self.pid());
        let (over, ended) = mpsc::channel();
        std::thread::spawn(move || {
            let _ = over.send(rustix::process::waitid(id, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT));
        });
        // Reading goes on meanwhile: a program must never wait for its terminal.
        let status = loop {
            match ended.recv_timeout(Duration::from_millis(5)) {
                Ok(status) => break status.ok().flatten().expect("an exit status"),
                Err(_) if now() - from > PATIENCE => panic!("it never ends; the screen shows:\n{}", self.text()),
                Err(_) => _ = self.screen(),
            }
        };
        let (after, cpu) = (now() - from, self.cpu());
        let _ = self.child.wait();
        // What it wrote last is still on its way; once nobody has the terminal open, the reader comes to an end.
        let deadline = now() + PATIENCE;
        while self.take(deadline.saturating_duration_since(now())) == Taken::Bytes {}
        Ended { code: status.exit_status(), signal: status.terminating_signal(), cpu, after }
    }

    /// Processor time used so far; a process that ended but was not waited for still has it.
    pub(crate) fn cpu(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).expect("its statistics");
        let fields: Vec<&str> = stat.rsplit(") ").next().expect("fields").split(' ').collect();
        let ticks: u64 = [11, 12].iter().map(|at| fields[*at].parse::<u64>().expect("ticks")).sum();
        Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND)
    }

    /// Takes in one chunk.
    fn take(&mut self, timeout: Duration) -> Taken {
        let chunk = match self.chunks.recv_timeout(timeout) {
            Ok(chunk) => chunk,
            Err(RecvTimeoutError::Timeout) => return Taken::Nothing,
            Err(RecvTimeoutError::Disconnected) => return Taken::Over,
        };
        self.screen.process(&chunk);
        self.raw.extend_from_slice(&chunk);
        self.answer();
        Taken::Bytes
    }

    fn answer(&mut self) {
        let asked = self.raw.windows(SYNC_QUESTION.len()).filter(|window| *window == SYNC_QUESTION).count();
        if self.knows_sync
            && asked > self.answered
            && let Some(keyboard) = self.keyboard.as_mut()
        {
            keyboard.write_all(SYNC_ANSWER).and_then(|()| keyboard.flush()).expect("the terminal answers");
        }
        self.answered = asked;
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Reads in a thread of its own, so that the program never waits for the test.
fn read_all(mut terminal: Box<dyn Read + Send>, hung_up: Arc<AtomicBool>) -> Receiver<Vec<u8>> {
    let (chunks, taken) = mpsc::channel();
    std::thread::spawn(move || {
        let mut chunk = [0; 65_536];
        while let Ok(length @ 1..) = terminal.read(&mut chunk) {
            if chunks.send(chunk[..length].to_vec()).is_err() || hung_up.load(Ordering::SeqCst) {
                break;
            }
        }
    });
    taken
}

fn pty_size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

fn nonzero(length: u16) -> NonZeroU16 {
    NonZeroU16::new(length).expect("a terminal has rows and columns")
}

/// A pseudo-terminal lives in real time, so its tests do too.
#[allow(clippy::disallowed_methods)]
fn now() -> Instant {
    Instant::now()
}
