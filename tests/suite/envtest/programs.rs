//! The processes of a cluster. However the test process ends, its programs end with it.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

/// Waits until the pipe to it is closed, by the end of a test or of the whole process, however violent; then kills the
/// process group and clears the folder, unless a test left its mark there.
const WATCHMAN: &str = r#"read -r _; kill -s KILL -- "-$1"; [ -e "$2/failed" ] || rm -rf "$2""#;

/// What the folder of a cluster has in it, if its logs are to be kept.
const MARK: &str = "failed";

/// Running programs in one process group, with a watchman.
pub struct Programs {
    folder: PathBuf,
    /// The process group: it has the number of the first program, and outlives it as long as there is another one.
    group: Option<i32>,
    running: Vec<(String, Child)>,
    watchman: Option<(Child, ChildStdin)>,
}

impl Programs {
    /// None yet; `folder` is theirs, and goes away with them.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), group: None, running: Vec::new(), watchman: None }
    }

    /// Starts one; what it says is added to `NAME.log`.
    pub fn start(&mut self, program: &Path, arguments: &[String]) {
        let name = program.file_name().expect("a program").to_string_lossy().into_owned();
        let log = File::options().create(true).append(true).open(self.log(&name)).expect("a log");
        let group = self.group.unwrap_or(0);
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(log.try_clone().expect("a log")).stderr(log);
        let child = command.current_dir(&self.folder).process_group(group).spawn().expect("a program that starts");
        self.group.get_or_insert(i32::try_from(child.id()).expect("a process id"));
        self.running.push((name, child));
        if self.watchman.is_none() {
            self.watchman = Some(self.watch());
        }
    }

    /// Ends one at once, as `kill -9` does; never the last of them, without which there is no group any more.
    pub fn kill(&mut self, name: &str) {
        let place = self.running.iter().position(|(running, _)| running == name).expect("a running program");
        assert!(self.running.len() > 1, "{name} is the last one");
        let (_, mut child) = self.running.remove(place);
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
    }

    /// Fails with the end of its log if one of them is gone.
    pub fn check(&mut self) {
        for (name, child) in &mut self.running {
            if let Some(status) = child.try_wait().expect("it can be asked") {
                let log = fs::read_to_string(self.folder.join(format!("{name}.log"))).unwrap_or_default();
                let tail: Vec<&str> = log.lines().rev().take(20).collect();
                let tail: Vec<&str> = tail.into_iter().rev().collect();
                panic!("{name} ended with {status}:\n{}", tail.join("\n"));
            }
        }
    }

    /// The folder stays, with the logs in it.
    pub fn keep_logs(&self) {
        let _ = fs::write(self.folder.join(MARK), "");
    }

    fn log(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.log"))
    }

    /// In a group of its own, so that an interrupt from the keyboard does not end it first.
    fn watch(&self) -> (Child, ChildStdin) {
        let group = self.group.expect("a program to watch").to_string();
        let mut command = Command::new("sh");
        command.args(["-c", WATCHMAN, "watchman", &group]).arg(&self.folder);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let mut child = command.spawn().expect("a shell");
        let pipe = child.stdin.take().expect("a pipe");
        (child, pipe)
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.keep_logs();
        }
        if let Some((mut watchman, pipe)) = self.watchman.take() {
            drop(pipe);
            let _ = watchman.wait();
        }
        for (_, child) in &mut self.running {
            let _ = child.kill();
            let _ = child.wait();
        }
        if !self.folder.join(MARK).exists() {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}
