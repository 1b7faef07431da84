//! The `git` command as a child process: no shell, no prompt, no hook, nothing of our environment that could steer it;
//! bounded in time, in what it says, and in what it may write.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

/// How long a command may take that reads the mirror only.
pub(super) const READ_LIMIT: Duration = Duration::from_secs(30);

/// How long a fetch may take.
pub(super) const FETCH_LIMIT: Duration = Duration::from_secs(120);

/// Bytes the mirror of a repository may have.
pub(super) const MIRROR_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// How often the mirror is measured while something is fetched into it.
const MEASURE_EVERY: Duration = Duration::from_millis(250);

/// Bytes of what the command complains about that are kept.
const COMPLAINT_MAX: u64 = 16 * 1024;

/// What is handed on of our own environment: how to find the command, who we are, and how to get through to a remote.
const HANDED_ON: [&str; 18] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "SSH_AUTH_SOCK",
    "GIT_SSH_COMMAND",
    "GIT_SSL_CAINFO",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "http_proxy",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
];

/// What is set for every command: no prompts of any kind, English words, and only transports that run nothing.
const SET: [(&str, &str); 6] = [
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_LFS_SKIP_SMUDGE", "1"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("LC_ALL", "C"),
];

/// Configuration that goes before that of files.
const CONFIGURED: [&str; 5] = [
    "core.hooksPath=/dev/null",
    "core.askPass=",
    "core.fsmonitor=false",
    "gc.autoDetach=false",
    "advice.graftFileDeprecated=false",
];

/// Why a command did not do what it was for.
#[derive(Debug, thiserror::Error)]
pub(super) enum GitFault {
    /// There is no such command.
    #[error("the git command was not found in PATH")]
    NotInstalled,
    /// It was killed at its limit.
    #[error("git did not finish within {} seconds", .0.as_secs())]
    Slow(Duration),
    /// It was killed because it had more to say, or to write, than it may.
    #[error("git was stopped: {0}")]
    TooMuch(&'static str),
    /// It ended with an error.
    #[error("git says: {0}")]
    Failed(String),
    /// It could not be talked to.
    #[error("git cannot be run: {0}")]
    Io(#[from] std::io::Error),
}

/// One repository on disk, bare.
#[derive(Debug, Clone)]
pub(super) struct Git {
    directory: PathBuf,
}

/// A command that only reads.
pub(super) struct Reading<'a> {
    /// After the options that go with every command.
    pub(super) arguments: &'a [&'a str],
    /// Its standard input.
    pub(super) input: Vec<u8>,
    /// Bytes it may say.
    pub(super) output_max: u64,
}

impl Git {
    pub(super) fn at(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// Makes the repository, if it is not there; without the hooks a template may bring.
    pub(super) async fn init(&self) -> Result<(), GitFault> {
        let mut command = command();
        command.args(["init", "--quiet", "--bare", "--template="]).arg("--").arg(&self.directory);
        let ended = timeout(READ_LIMIT, said(&mut command, Vec::new(), 0)).await;
        ended.unwrap_or(Err(GitFault::Slow(READ_LIMIT))).map(drop)
    }

    /// Runs a command on what is there already.
    pub(super) async fn read(&self, reading: Reading<'_>) -> Result<Vec<u8>, GitFault> {
        let mut command = self.command();
        command.args(reading.arguments);
        let ended = timeout(READ_LIMIT, said(&mut command, reading.input, reading.output_max)).await;
        ended.unwrap_or(Err(GitFault::Slow(READ_LIMIT)))
    }

    /// Mirrors every branch and tag of `remote`. The address travels in the environment: arguments are for all to see.
    pub(super) async fn fetch(&self, remote: &OsStr) -> Result<(), GitFault> {
        let mut command = self.command();
        command
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "remote.kura.url")
            .env("GIT_CONFIG_VALUE_0", remote);
        command.args(["fetch", "--quiet", "--force", "--prune", "--no-tags", "--no-write-fetch-head"]);
        command.args(["--no-recurse-submodules", "kura", "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"]);
        tokio::select! {
            ended = timeout(FETCH_LIMIT, said(&mut command, Vec::new(), 0)) => {
                ended.unwrap_or(Err(GitFault::Slow(FETCH_LIMIT))).map(drop)
            }
            () = self.outgrown() => Err(GitFault::TooMuch("the repository is larger than 1 GiB")),
        }
    }

    fn command(&self) -> Command {
        let mut command = command();
        command.arg("--git-dir").arg(&self.directory);
        command
    }

    /// Returns once the repository is larger than it may be.
    async fn outgrown(&self) {
        while size_of(&self.directory) <= MIRROR_BYTES_MAX {
            sleep(MEASURE_EVERY).await;
        }
    }
}

fn command() -> Command {
    let mut command = Command::new("git");
    command.env_clear().envs(HANDED_ON.iter().filter_map(|name| Some((name, std::env::var_os(name)?)))).envs(SET);
    if std::env::var_os("GIT_SSH_COMMAND").is_none() {
        command.env("GIT_SSH_COMMAND", "ssh -oBatchMode=yes -oConnectTimeout=20");
    }
    command.args(CONFIGURED.iter().flat_map(|setting| ["-c", setting]));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    command
}

/// Runs a command to its end. Dropping the future kills it, with everything it started.
async fn said(command: &mut Command, input: Vec<u8>, output_max: u64) -> Result<Vec<u8>, GitFault> {
    let mut child = command.spawn().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => GitFault::NotInstalled,
        _ => GitFault::Io(error),
    })?;
    let group = Group::of(&child);
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let feed = async {
        if let Some(mut stdin) = stdin {
            // A command that ended early says why on its standard error.
            let _ = stdin.write_all(&input).await;
        }
    };
    // One byte more than it may say tells that it had more.
    let ((), output, complaint) = tokio::join!(feed, up_to(stdout, output_max + 1), drain(stderr));
    let output = output?;
    if output.len() as u64 > output_max {
        return Err(GitFault::TooMuch("it says more than it may"));
    }
    let status = child.wait().await?;
    group.ended();
    if status.success() { Ok(output) } else { Err(GitFault::Failed(worded(&complaint?))) }
}

async fn up_to(stream: Option<impl AsyncRead + Unpin>, limit: u64) -> std::io::Result<Vec<u8>> {
    let mut read = Vec::new();
    if let Some(stream) = stream {
        stream.take(limit).read_to_end(&mut read).await?;
    }
    Ok(read)
}

/// Keeps the beginning and reads the rest, so that nobody who says a lot is held up.
async fn drain(stream: Option<impl AsyncRead + Unpin>) -> std::io::Result<Vec<u8>> {
    let mut read = Vec::new();
    if let Some(mut stream) = stream {
        (&mut stream).take(COMPLAINT_MAX).read_to_end(&mut read).await?;
        tokio::io::copy(&mut stream, &mut tokio::io::sink()).await?;
    }
    Ok(read)
}

/// The line that says what is wrong.
fn worded(complaint: &[u8]) -> String {
    let text = String::from_utf8_lossy(complaint);
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let wrong = lines().find_map(|line| line.strip_prefix("fatal: ").or_else(|| line.strip_prefix("error: ")));
    wrong.or_else(|| lines().next_back()).unwrap_or("nothing, but it failed").to_owned()
}

/// The process group of a command: killed as one, unless it came to its end.
struct Group(Option<rustix::process::Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(rustix::process::Pid::from_raw))
    }

    fn ended(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

/// Bytes of all files below a directory; what vanishes meanwhile counts nothing.
fn size_of(directory: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(directory) else { return 0 };
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => size_of(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading<'a>(arguments: &'a [&'a str], output_max: u64) -> Reading<'a> {
        Reading { arguments, input: Vec::new(), output_max }
    }

    #[tokio::test]
    async fn a_command_that_fails_says_why_and_one_that_says_too_much_is_stopped() {
        let directory = tempfile::tempdir().unwrap();
        let git = Git::at(directory.path().join("mirror"));
        let refused = git.read(reading(&["rev-parse", "HEAD"], 100)).await.unwrap_err();
        assert!(matches!(&refused, GitFault::Failed(said) if said.contains("not a git repository")), "{refused}");
        git.init().await.unwrap();
        assert!(!git.directory.join("hooks").exists());
        let refused = git.read(reading(&["config", "--list"], 3)).await.unwrap_err();
        assert!(matches!(refused, GitFault::TooMuch(_)), "{refused}");
    }

    #[tokio::test]
    async fn a_remote_that_would_run_something_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let git = Git::at(directory.path().join("mirror"));
        git.init().await.unwrap();
        let proof = directory.path().join("proof");
        for remote in [format!("ext::touch {}", proof.display()), format!("--upload-pack=touch {}", proof.display())] {
            git.fetch(OsStr::new(&remote)).await.unwrap_err();
            assert!(!proof.exists(), "{remote}");
        }
    }

    #[test]
    fn the_line_that_tells_is_the_one_that_is_shown() {
        assert_eq!(worded(b"warning: x\nfatal: no such thing\nhint: y\n"), "no such thing");
        assert_eq!(worded(b"ssh: connect refused\n"), "ssh: connect refused");
        assert_eq!(worded(b""), "nothing, but it failed");
    }
}
