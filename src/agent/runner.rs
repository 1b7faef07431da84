//! One run of the command: in a process group of its own, let go only once it is written down, ended on demand.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::{mpsc, oneshot};

use crate::domain::ids::MachineId;

use super::heard::{Ending, Exit, Heard};
use super::memory::Run;
use super::process;
use super::result::CommandResult;
use super::tail::Tail;
use super::token::TOKEN_VARIABLE;

/// How long what a command left in the pipe is read after it ended; its background processes may hold the pipe open.
const DRAIN_LIMIT: Duration = Duration::from_millis(500);

/// The shell waits for one line before it becomes the command. An agent that dies before it wrote down the group
/// leaves a shell that reads the end of its input and goes, never a command that nobody knows of.
const GATE: &str = r#"read -r _ || exit 125; exec sh -c "$1" </dev/null"#;

/// What to run and where.
#[derive(Debug, Clone)]
pub struct Job {
    /// For `sh -c`.
    pub command: String,
    /// `KURA_MACHINE`.
    pub machine: MachineId,
    /// The run it is for.
    pub run: Run,
    /// `KURA_CONTENT`.
    pub content: PathBuf,
    /// `KURA_RESULT`; nothing is there yet.
    pub result: PathBuf,
    /// Between TERM and KILL.
    pub grace: Duration,
}

/// Holds a run that was begun. Dropped, it changes nothing.
#[derive(Debug)]
pub struct Leash {
    go: Option<oneshot::Sender<Result<(), String>>>,
    stop: Option<oneshot::Sender<()>>,
}

impl Leash {
    /// Lets the run go, or ends it before it began with the reason why.
    pub fn let_go(&mut self, verdict: Result<(), String>) {
        if let Some(go) = self.go.take() {
            let _ = go.send(verdict);
        }
    }

    /// Ends the run.
    pub fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
    }
}

/// Begins a run: `Spawned` is told first, `Ended` last, whatever happens.
pub fn begin(job: Job, tell: mpsc::Sender<Heard>) -> Leash {
    let (go, gate) = oneshot::channel();
    let (stop, stopped) = oneshot::channel();
    tokio::spawn(async move {
        let ending = match Running::spawn(&job) {
            Ok(running) => {
                let _ = tell.send(Heard::Spawned(process::mark(running.group))).await;
                running.finish(&job, gate, stopped).await
            }
            Err(error) => not_started(error.to_string()),
        };
        let _ = tell.send(Heard::Ended(ending)).await;
    });
    Leash { go: Some(go), stop: Some(stop) }
}

/// A run that never was.
pub fn not_started(why: String) -> Ending {
    Ending { exit: Exit::NotStarted(why), changed_count: 0, failed_states: Vec::new(), log_tail: String::new() }
}

struct Running {
    child: Child,
    gate: Option<ChildStdin>,
    output: Option<Receiver>,
    group: i32,
    tail: Tail,
}

impl Running {
    fn spawn(job: &Job) -> io::Result<Self> {
        let (output, writer) = io::pipe()?;
        let mut command = Command::new("sh");
        command.args(["-c", GATE, "sh", &job.command]).process_group(0);
        command.stdin(Stdio::piped()).stdout(writer.try_clone()?).stderr(writer);
        command.env_remove(TOKEN_VARIABLE);
        command.env("KURA_CONTENT", &job.content).env("KURA_RESULT", &job.result);
        command.env("KURA_MACHINE", job.machine.to_string()).env("KURA_RUN", job.run.kind.word());
        command.env("KURA_RELEASE", job.run.offer.edition.release.to_string());
        command.env("KURA_GENERATION", job.run.offer.edition.generation.to_string());
        let output = Receiver::from_owned_fd(OwnedFd::from(output))?;
        let mut child = command.spawn()?;
        let group = child.id().and_then(|id| i32::try_from(id).ok()).unwrap_or(0);
        let gate = child.stdin.take();
        Ok(Self { child, gate, output: Some(output), group, tail: Tail::default() })
    }

    async fn finish(
        mut self,
        job: &Job,
        mut go: oneshot::Receiver<Result<(), String>>,
        mut stop: oneshot::Receiver<()>,
    ) -> Ending {
        let (mut waiting, mut free, mut stopping, mut killed) = (true, true, false, false);
        let mut refused = None;
        let patience = tokio::time::sleep(Duration::MAX);
        tokio::pin!(patience);
        let mut buffer = vec![0; 16 * 1024];
        let status = loop {
            tokio::select! {
                status = self.child.wait() => break status,
                read = next(&mut self.output, &mut buffer) => self.take_in(read, &buffer),
                verdict = &mut go, if waiting => {
                    waiting = false;
                    match verdict {
                        Ok(Ok(())) => self.open_gate().await,
                        Ok(Err(why)) => {
                            refused = Some(why);
                            self.gate = None;
                        }
                        Err(_) => self.gate = None,
                    }
                }
                stopped = &mut stop, if free => {
                    free = false;
                    if stopped.is_ok() {
                        stopping = true;
                        process::signal(self.group, Signal::TERM);
                        patience.set(tokio::time::sleep(job.grace));
                    }
                }
                () = &mut patience, if stopping && !killed => {
                    killed = true;
                    process::signal(self.group, Signal::KILL);
                }
            }
        };
        if stopping {
            process::signal(self.group, Signal::KILL);
        }
        self.drain(&mut buffer).await;
        match refused {
            Some(why) => not_started(why),
            None => ending(status, self.tail, job),
        }
    }

    /// One line, then the end of its input.
    async fn open_gate(&mut self) {
        if let Some(mut gate) = self.gate.take() {
            let _ = gate.write_all(b"go\n").await;
        }
    }

    fn take_in(&mut self, read: io::Result<usize>, buffer: &[u8]) {
        match read {
            Ok(0) | Err(_) => self.output = None,
            Ok(count) => self.tail.push(&buffer[..count]),
        }
    }

    async fn drain(&mut self, buffer: &mut [u8]) {
        let all = async {
            while self.output.is_some() {
                let read = next(&mut self.output, buffer).await;
                self.take_in(read, buffer);
            }
        };
        let _ = tokio::time::timeout(DRAIN_LIMIT, all).await;
    }
}

/// The next piece of output; never, once there is none.
async fn next(output: &mut Option<Receiver>, buffer: &mut [u8]) -> io::Result<usize> {
    match output {
        Some(output) => output.read(buffer).await,
        None => std::future::pending().await,
    }
}

fn ending(status: io::Result<ExitStatus>, mut tail: Tail, job: &Job) -> Ending {
    let exit = match status {
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => Exit::Code(code),
            (None, signal) => Exit::Signal(signal.unwrap_or(0)),
        },
        Err(error) => Exit::NotStarted(format!("it cannot be waited for: {error}")),
    };
    let result = CommandResult::read(&job.result).unwrap_or_else(|complaint| {
        tail.push(format!("\nkura-console agent: {complaint}\n").as_bytes());
        CommandResult::default()
    });
    Ending {
        exit,
        changed_count: result.changed_count,
        failed_states: result.failed_states(),
        log_tail: tail.into_text(),
    }
}
