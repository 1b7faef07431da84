//! The program itself: `serve` and `status` as a shell sees them.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use kura_console::control::ports::Clock;

use super::bed::{TICK, within};

pub fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kura-console"));
    command.current_dir(folder).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.stdin(Stdio::null());
    command
}

/// A control plane in a process of its own. What it says goes to files, so that no pipe fills up.
pub struct Served {
    pub child: Child,
    pub url: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const SERVE: [&str; 6] = ["serve", "--journal", "sqlite:kura.db", "--tokens", "tokens.yaml", "--log-format=json"];

pub async fn serve(folder: &Path, address: &str, more: &[&str]) -> Served {
    let mut command = program(folder);
    command.args(SERVE).args(["--listen", address]).args(more);
    started(folder, command).await
}

/// The same, from a shell that lets it have this many files open, unless it asks for more.
pub async fn serve_with_few_files(folder: &Path, files: u32) -> Served {
    let mut command = Command::new("/bin/sh");
    command.current_dir(folder).stdin(Stdio::null());
    command.args(["-c", &format!("ulimit -Sn {files}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_kura-console")]);
    command.args(SERVE).args(["--listen", "127.0.0.1:0"]);
    started(folder, command).await
}

async fn started(folder: &Path, mut command: Command) -> Served {
    let log = folder.join("log");
    command.stdout(File::create(folder.join("out")).unwrap()).stderr(File::create(&log).unwrap());
    let mut child = command.spawn().unwrap();
    let started = async {
        loop {
            let text = std::fs::read_to_string(&log).unwrap();
            let line = text.lines().find(|line| line.contains("\"listening\""));
            if let Some(line) = line {
                let line: serde_json::Value = serde_json::from_str(line).expect("a log line is JSON");
                return line["address"].as_str().unwrap().to_owned();
            }
            assert!(child.try_wait().unwrap().is_none(), "it ended: {text}");
            kura_console::adapters::clock::SystemClock::start().sleep(TICK).await;
        }
    };
    let address = within(started).await.expect("it listens in time");
    Served { child, url: format!("http://{address}") }
}

pub fn said(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn status(folder: &Path, url: &str, token: &str, more: &[&str]) -> Output {
    let mut command = program(folder);
    command.args(["status", "--api", url]).args(more).env("KURA_CONSOLE_TOKEN", token);
    command.output().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn from_nothing_to_a_status_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (code, words) = said(&program(folder).args(SERVE).output().unwrap());
    assert_eq!(code, Some(2), "{words}");
    assert!(words.contains("--create-tokens") && !folder.join("kura.db").exists(), "{words}");

    let mut served = serve(folder, "127.0.0.1:0", &["--create-tokens"]).await;
    let out = std::fs::read_to_string(folder.join("out")).unwrap();
    let token =
        out.lines().find_map(|line| line.trim().strip_prefix("owner")).expect("an owner's token").trim().to_owned();
    assert_eq!(out.matches("kura_").count(), 4, "{out}");
    let text = status(folder, &served.url, &token, &[]);
    assert!(text.status.success() && String::from_utf8_lossy(&text.stdout).contains("account default"), "{text:?}");
    let json = status(folder, &served.url, &token, &["-o", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("one object");
    assert_eq!((&json["account"], &json["status"]), (&"default".into(), &serde_json::Value::Null));
    let refused = said(&status(folder, &served.url, "kura_wrong", &[]));
    assert_eq!(refused.0, Some(1), "{}", refused.1);

    let address = served.url.trim_start_matches("http://").to_owned();
    let (code, words) = said(&program(folder).args(SERVE).args(["--listen", &address]).output().unwrap());
    assert_eq!(code, Some(2), "{words}");
    assert!(words.contains("taken") && words.contains("ss -ltnp"), "{words}");

    rustix::process::kill_process(rustix::process::Pid::from_child(&served.child), rustix::process::Signal::TERM)
        .unwrap();
    assert!(served.child.wait().unwrap().success());
    let mut log = String::new();
    File::open(folder.join("log")).unwrap().read_to_string(&mut log).unwrap();
    assert!(log.contains("the seat is given up"), "{log}");
    assert!(!log.contains(&token), "a token is in the log");
    let gone = said(&status(folder, &served.url, &token, &[]));
    assert_eq!(gone.0, Some(3), "{}", gone.1);

    // What was decided is still there, and the same tokens come in.
    let again = serve(folder, "127.0.0.1:0", &["--create-tokens"]).await;
    assert!(status(folder, &again.url, &token, &[]).status.success());
    assert_eq!(std::fs::read_to_string(folder.join("out")).unwrap(), "", "tokens are shown once");
}

#[test]
fn what_is_wrong_with_flags_is_said_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let fails = |args: &[&str], hint: &str| {
        let (code, words) = said(&program(folder).args(args).output().unwrap());
        assert_eq!(code, Some(2), "{args:?}: {words}");
        assert!(words.contains(hint), "{args:?}: {words}");
    };
    fails(&["status"], "--api http://127.0.0.1:7777");
    fails(&["status", "--api", "http://127.0.0.1:1"], "KURA_CONSOLE_TOKEN");
    fails(&["status", "--api", "ftp://x"], "http");
    fails(&["--api", "http://127.0.0.1:1", "status"], "status");
    let serve = |more: &[&'static str]| [SERVE.as_slice(), more].concat();
    fails(&serve(&["--listen", "0.0.0.0:0"]), "--insecure-listen");
    fails(&serve(&["--listen", "7777"]), "HOST:PORT");
    fails(&["serve", "--journal", "memory", "--tokens", "t"], "sqlite:");
    fails(&["serve", "--journal", "oracle:x", "--tokens", "t"], "sqlite:");
    fails(&serve(&["--releases", "nowhere"]), "nowhere");
    std::fs::write(folder.join("tokens.yaml"), "- name: ann\n  role: boss\n  sha256: x\n").unwrap();
    fails(&serve(&["--listen", "127.0.0.1:0"]), "tokens.yaml:2");
}
