//! The program without a terminal, as a script or a first-time user in a bare shell runs it.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// Longer than any run takes, however busy the machine is: what never ends is told from what takes long.
const ENDS_WITHIN: Duration = Duration::from_secs(120);

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Said {
    /// It failed as a usage error, an unreachable far end and the like should: with this code, with a sentence that
    /// has all of `words`, and with at least one hint. Nothing of it is a panic, and nothing is on standard output.
    pub(crate) fn fails(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        for word in words {
            assert!(self.stderr.contains(word), "not a word of {word}: {self:?}");
        }
        assert!(self.stderr.contains("hint: "), "it does not say what to do: {self:?}");
        assert!(!self.stderr.contains("panicked"), "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
    }
}

/// Runs the program in `folder`, which is its home too, with nothing else in its environment but `variables`.
pub(crate) fn kura(folder: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Said {
    run(folder, variables, Command::new(env!("CARGO_BIN_EXE_kura-console")).args(arguments))
}

/// The same through a shell, where the program is `$KURA`.
pub(crate) fn shell(folder: &Path, variables: &[(&str, &str)], script: &str) -> Said {
    let kura = [("KURA", env!("CARGO_BIN_EXE_kura-console"))];
    run(folder, &[&kura[..], variables].concat(), Command::new("/bin/bash").args(["-o", "pipefail", "-c", script]))
}

fn run(folder: &Path, variables: &[(&str, &str)], command: &mut Command) -> Said {
    command.env_clear().env("HOME", folder).env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.envs(variables.iter().copied()).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the program");
    let pid = Pid::from_child(&child);
    let (tell, ended) = mpsc::channel();
    std::thread::spawn(move || tell.send(child.wait_with_output()));
    match ended.recv_timeout(ENDS_WITHIN) {
        Ok(output) => said(output.expect("its output")),
        Err(_) => {
            let _ = kill_process(pid, Signal::KILL);
            panic!("it never ends: {command:?}; it said {:?}", ended.recv());
        }
    }
}

fn said(output: Output) -> Said {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    Said { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}
