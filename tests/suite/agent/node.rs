//! The machine's end: the real program with a command that talks to the test through named pipes.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use kura_console::agent::memory::Memory;
use kura_console::agent::process;
use kura_console::agent::token::TOKEN_VARIABLE;
use kura_console::domain::ids::MachineId;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::desk::{Desk, PATIENCE, TOKEN};

/// A machine. Its command may `echo WORDS >"$NOTES"` for the test to read, and `read _ <"$GO"` until the test says go.
pub struct Node {
    pub folder: TempDir,
    flags: BTreeMap<String, String>,
    child: Option<Child>,
    notes: Receiver<String>,
    log: Receiver<String>,
    go: File,
}

/// How it left.
pub struct Left {
    pub status: ExitStatus,
    pub log: String,
}

pub fn machine() -> MachineId {
    MachineId::named("ash")
}

impl Node {
    /// With this command; it has a token and does no drift runs, unless `flags`, pairs of names and values, say so.
    pub fn new(desk: &Desk, exec: &str, flags: &[(&str, &str)]) -> Self {
        Self::of(&format!("http://{}", desk.address), TOKEN, exec, flags)
    }

    /// The same, of any control plane.
    pub fn of(api: &str, token: &str, exec: &str, flags: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (notes, go) = (pipe(&folder.path().join("notes")), pipe(&folder.path().join("go")));
        std::fs::write(folder.path().join("token"), token).expect("a token file");
        let (_, log) = channel();
        let flags_of_all = [
            ("--exec", exec.to_owned()),
            ("--machine", machine().to_string()),
            ("--api", api.to_owned()),
            ("--state", folder.path().join("state.json").display().to_string()),
            ("--token-file", folder.path().join("token").display().to_string()),
            ("--drift-seconds", "0".to_owned()),
        ];
        let all = flags_of_all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let mut node = Self { folder, flags: all, child: None, notes: lines(notes), log, go };
        flags.iter().for_each(|(name, value)| node.set(name, value));
        node
    }

    /// The same, running.
    pub fn started(desk: &Desk, exec: &str, flags: &[(&str, &str)]) -> Self {
        let mut node = Self::new(desk, exec, flags);
        node.start();
        node
    }

    /// Gives a flag another value; an empty one leaves the value out.
    pub fn set(&mut self, flag: &str, value: &str) {
        self.flags.insert(flag.to_owned(), value.to_owned());
    }

    pub fn without(&mut self, flag: &str) {
        self.flags.remove(flag);
    }

    pub fn start(&mut self) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kura-console"));
        command.arg("agent");
        for (flag, value) in &self.flags {
            command.arg(flag).args(Some(value).filter(|value| !value.is_empty()));
        }
        command.env("NOTES", self.folder.path().join("notes")).env("GO", self.folder.path().join("go"));
        command.env("RUST_LOG", "info").env_remove(TOKEN_VARIABLE);
        command.stdin(Stdio::null()).stderr(Stdio::piped()).stdout(Stdio::null());
        let mut child = command.spawn().expect("the program");
        self.log = lines(child.stderr.take().expect("its stderr"));
        self.child = Some(child);
    }

    /// What the command wrote next.
    pub fn note(&self) -> String {
        self.note_within(PATIENCE)
    }

    /// The same where an agent has to lose patience first.
    pub fn note_within(&self, patience: Duration) -> String {
        self.notes.recv_timeout(patience).expect("the command writes a note")
    }

    /// What the log has said since somebody asked last.
    pub fn log_so_far(&self) -> String {
        self.log.try_iter().collect::<Vec<_>>().join("\n")
    }

    /// A note that is there already and that nobody asked for.
    pub fn unread_note(&self) -> Option<String> {
        self.notes.try_recv().ok()
    }

    pub fn go(&mut self) {
        self.go.write_all(b"go\n").expect("a pipe with room");
    }

    /// Waits until the log has a line with this.
    pub fn says(&self, words: &str) -> String {
        loop {
            let line = self.log.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("the log never says {words:?}"));
            if line.contains(words) {
                return line;
            }
        }
    }

    pub fn signal(&self, signal: Signal) {
        let id = self.child.as_ref().expect("a process").id();
        let pid = Pid::from_raw(i32::try_from(id).expect("a pid")).expect("a pid");
        kill_process(pid, signal).expect("it lives");
    }

    pub fn kill(&mut self) {
        let mut child = self.child.take().expect("a process");
        child.kill().expect("it lives");
        child.wait().expect("it is gone");
    }

    /// Waits until it leaves by itself.
    pub fn left(&mut self) -> Left {
        let log: Vec<String> = self.log.iter().collect();
        let status = self.child.take().expect("a process").wait().expect("it is gone");
        Left { status, log: log.join("\n") }
    }

    pub fn state_path(&self) -> PathBuf {
        self.folder.path().join("state.json")
    }

    pub fn memory(&self) -> Memory {
        serde_json::from_slice(&std::fs::read(self.state_path()).expect("a state file")).expect("a memory")
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
        let text = std::fs::read(self.state_path()).unwrap_or_default();
        let run = serde_json::from_slice::<Memory>(&text).ok().and_then(|memory| memory.run);
        if let Some(mark) = run.and_then(|run| run.process).filter(process::is_alive) {
            process::signal(mark.pid, Signal::KILL);
        }
    }
}

/// True while a process of this number lives.
pub fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !matches!(rest.trim().chars().next(), None | Some('Z' | 'X')))
}

/// A named pipe that is open at both ends, so that nobody waits for the other one.
fn pipe(path: &Path) -> File {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a named pipe");
    OpenOptions::new().read(true).write(true).open(path).expect("an open pipe")
}

/// What a process writes, line by line, whoever reads it and when.
pub fn lines(from: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if tell.send(line).is_err() {
                return;
            }
        }
    });
    told
}
