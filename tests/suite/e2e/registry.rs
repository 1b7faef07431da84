//! The registry from the command line, on a control plane that runs: every noun in every format, by every kind of name,
//! and one exit code for each way to fail.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use super::super::pty::driver::PATIENCE;
use super::command::{Said, kura};
use super::plane::{Plane, free_port};

/// Machines of the fleet: more than one page.
const MACHINES: usize = 1_005;

/// What somebody typed as a reason: it turns the reading order around. Controls are refused by the control plane.
const NASTY: &str = "disk \u{202e}swap";

/// A control plane as a viewer sees it from a shell.
struct Desk {
    plane: Plane,
}

impl Desk {
    fn set() -> Self {
        Self { plane: Plane::start() }
    }

    fn kura(&self, arguments: &[&str]) -> Said {
        self.kura_as("viewer", arguments)
    }

    fn kura_as(&self, role: &str, arguments: &[&str]) -> Said {
        let (url, token) = (self.plane.url(), self.plane.token(role).to_owned());
        let variables = [("KURA_CONSOLE_API", url.as_str()), ("KURA_CONSOLE_TOKEN", token.as_str())];
        kura(self.plane.folder(), &variables, arguments)
    }

    fn text(&self, arguments: &[&str]) -> String {
        let said = self.kura(arguments);
        assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{arguments:?}: {said:?}");
        // A digest stays in one piece, so that it can be copied.
        let is_wide = |line: &&str| line.width() > 80 && line.split_whitespace().all(|word| word.len() < 64);
        let wide: Vec<&str> = said.stdout.lines().filter(is_wide).collect();
        assert!(wide.is_empty() || arguments.contains(&"-o"), "{arguments:?}: {wide:#?}");
        assert!(arguments.contains(&"yaml") || !said.stdout.contains('\u{202e}'), "{arguments:?}: {said:?}");
        said.stdout
    }

    /// Json, which yaml must agree with.
    fn body(&self, arguments: &[&str]) -> Value {
        let [json, yaml] = ["json", "yaml"].map(|format| self.text(&[arguments, &["-o", format]].concat()));
        let body: Value = serde_json::from_str(&json).expect("json");
        assert_eq!(serde_yaml::from_str::<Value>(&yaml).expect("yaml"), body, "{arguments:?}");
        body
    }

    fn watch(&self, arguments: &[&str]) -> Watched {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kura-console"));
        command.args(arguments).args(["--watch", "-o", "json"]).env_clear().current_dir(self.plane.folder());
        command.env("KURA_CONSOLE_API", self.plane.url()).env("KURA_CONSOLE_TOKEN", self.plane.token("viewer"));
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().expect("its output"));
        Watched { child, lines }
    }
}

/// A command that watches, killed when it is let go.
struct Watched {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Watched {
    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).expect("json")
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn uuid(body: &Value) -> String {
    body["uuid"].as_str().expect("a uuid").to_owned()
}

/// Two tiers, a ring, two machines of note, two releases and a rollout.
fn configure(plane: &Plane) -> Value {
    plane.post("/api/config/environments/", &json!({"slug": "oak", "name": "Oak", "promotion_order": 1}));
    let pine = plane.post("/api/config/environments/", &json!({"slug": "pine", "name": "Pine"}));
    plane.post("/api/config/rings/", &json!({"name": "workers", "max_in_flight": 2, "min_settle_seconds": 90}));
    for hostname in ["ash", "workers"] {
        let machine = json!({"hostname": hostname, "environment": "oak", "ring": "workers"});
        plane.post("/api/provisioning/machines/", &machine);
    }
    plane.post(&format!("/api/config/environments/{}/pause", uuid(&pine)), &json!({"reason": NASTY}));
    let release = |git_ref: &str| {
        let body = json!({"git_ref": git_ref, "engine": "saltstack", "timeout_seconds": 3600, "notes": "a drill"});
        plane.post("/api/config/releases/build-from-git", &body)
    };
    let [v1, _] = ["v1", "v2"].map(release);
    plane.post("/api/config/rollouts/", &json!({"config_release_uuid": v1["uuid"], "protected": true}))
}

#[test]
fn before_there_is_anything_every_list_says_so_in_words() {
    let desk = Desk::set();
    for (noun, words) in [
        ("rollouts", "no rollout was ever started"),
        ("rings", "there is no ring yet"),
        ("machines", "there is no machine yet"),
        ("environments", "there is no environment yet"),
        ("releases", "no release was built yet"),
    ] {
        let text = desk.text(&[noun]);
        assert!(text.starts_with(words) && text.contains("-> "), "{text}");
        assert_eq!(desk.body(&[noun]), json!([]));
    }
    assert!(desk.text(&["account"]).contains("auto deploy"));
    assert_eq!(desk.body(&["account"]), desk.plane.get("/api/config/account"));
    let explained = desk.text(&["explain"]);
    assert!(explained.contains("-> "), "{explained}");
}

#[test]
fn every_noun_is_listed_and_shown_by_every_kind_of_name() {
    let desk = Desk::set();
    let rollout = configure(&desk.plane);
    for (noun, path, name, words) in [
        ("rollouts", "/api/config/rollouts/", "v1", &["running, protected", "oak", "owner"][..]),
        ("rings", "/api/config/rings/", "workers", &["workers", "  2 ", "1m 30s"]),
        ("machines", "/api/provisioning/machines/", "ash", &["ash", "oak", "not known"]),
        ("environments", "/api/config/environments/", "pine", &["off path", "PAUSED", "by owner: disk"]),
        ("releases", "/api/config/releases/", "v2", &["v2", "1h"]),
    ] {
        let text = desk.text(&[noun]);
        words.iter().for_each(|word| assert!(text.contains(word), "no {word} in\n{text}"));
        let all = desk.body(&[noun]);
        assert_eq!(all, desk.plane.get(path), "the answer of the control plane as it came");
        let one = desk.body(&[noun, name]);
        assert!(one.is_object(), "{one}");
        let digits: String = uuid(&one).chars().take(8).collect();
        for other in [uuid(&one), digits] {
            assert_eq!(desk.body(&[noun, &other]), one);
        }
        assert_eq!(desk.body(&[noun, name, &uuid(&one)]), json!([one, one]), "two names, two answers");
        let text = desk.text(&[noun, name]);
        let shown = one.as_object().expect("fields").keys().all(|field| text.contains(&field.replace('_', " ")));
        assert!(shown, "a field is left out of\n{text}");
        desk.kura(&[noun, "nobody"]).fails(1, &["there is no ", "nobody"]);
    }
    assert_eq!(desk.body(&["rollouts", "v1"])["uuid"], rollout["uuid"]);
}

#[test]
fn an_explanation_is_about_the_rollout_a_ring_a_machine_or_a_roll() {
    let desk = Desk::set();
    configure(&desk.plane);
    let account = desk.plane.get("/api/config/account");
    let over_http = desk.plane.post("/api/explain", &json!({"account": account["uuid"]}));
    assert_eq!(desk.body(&["explain"])["sentence"], over_http["sentence"]);
    assert!(desk.text(&["explain", "ash"]).contains("ash"));
    for subject in ["machine/nobody", "server/nobody", "roll/nobody", "node/nobody"] {
        let kind = subject.trim_end_matches("/nobody");
        desk.kura(&["explain", subject]).fails(1, &[&format!("there is no {kind} nobody")]);
    }
    desk.kura(&["explain", "workers"]).fails(2, &["workers can be 2 things", "ring/workers", "machine/workers"]);
    let [ring, machine] = ["ring/workers", "machine/workers"].map(|subject| desk.body(&["explain", subject]));
    assert_ne!(ring["sentence"], machine["sentence"]);
    desk.kura(&["explain", "nobody"]).fails(1, &["there is no ring, machine, server, roll or node nobody"]);
    let roll = json!({
        "project": "kernel", "target": "fleet", "image": "kernel:1", "revision": "seanfarm32", "canary": "wk-1",
        "boot": {"containers": [{"name": "boot", "image": "owner/boot"}]},
    });
    desk.plane.post("/api/rolls/", &roll);
    for subject in ["roll/kernel/fleet", "kernel/fleet", "fleet"] {
        let said = desk.text(&["explain", subject]);
        for words in ["kernel/fleet rolls seanfarm32", "cluster is connected", "-> ", "kura-console doctor"] {
            assert!(said.contains(words), "no {words} in\n{said}");
        }
    }
}

#[test]
fn all_pages_are_read() {
    let desk = Desk::set();
    for n in 0..MACHINES {
        desk.plane.post("/api/provisioning/machines/", &json!({"hostname": format!("node-{n:04}")}));
    }
    let all = desk.body(&["machines"]);
    let mut names: Vec<&str> = all.as_array().unwrap().iter().filter_map(|body| body["hostname"].as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), MACHINES);
    assert_eq!(desk.text(&["machines"]).lines().count(), MACHINES + 1);
}

#[test]
fn what_is_watched_is_printed_again_when_it_changes_and_survives_a_kill() {
    let mut desk = Desk::set();
    let rollout = configure(&desk.plane);
    let mut watched = desk.watch(&["rollouts", "v1"]);
    assert_eq!(watched.next()["status"], "running");
    desk.plane.kill();
    desk.plane.start_again();
    desk.plane.post(&format!("/api/config/rollouts/{}/halt", uuid(&rollout)), &json!({"reason": "enough"}));
    while watched.next()["status"] != "halted" {}
}

/// One exit code for each way to fail, as `--help` documents them.
#[test]
fn every_exit_code_means_what_help_says() {
    let desk = Desk::set();
    configure(&desk.plane);
    let help = desk.kura(&["--help"]).stdout;
    for code in ["0  ", "1  ", "2  ", "3  ", "4  ", "5  ", "6  "] {
        assert!(help.lines().any(|line| line.trim_start().starts_with(code)), "no {code} in\n{help}");
    }
    assert_eq!(desk.kura(&["rings"]).code, Some(0));
    desk.kura(&["rings", "nobody"]).fails(1, &["there is no ring nobody"]);
    desk.kura_as("agent", &["rings"]).fails(1, &[]);
    assert_eq!(desk.kura(&["rings", "--colour"]).code, Some(2));
    kura(desk.plane.folder(), &[], &["rings"]).fails(2, &["no control plane was named"]);

    let nobody = format!("http://127.0.0.1:{}", free_port());
    let token = desk.plane.token("viewer");
    let at = |url: &str| kura(desk.plane.folder(), &[("KURA_CONSOLE_TOKEN", token)], &["rings", "--api", url]);
    at(&nobody).fails(3, &["cannot be reached"]);
    at(&stub("503 Service Unavailable", 503)).fails(3, &["answers like this"]);
    at(&stub("409 Conflict", 409)).fails(4, &["answers like this"]);
    at(&stub("412 Precondition Failed", 412)).fails(5, &["answers like this"]);
}

/// A control plane that answers one request with a problem, and its address.
fn stub(line: &str, status: u16) -> String {
    use std::io::Write;

    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("its address"));
    let body = json!({"status": status, "code": "stub", "detail": "the stub answers like this", "hints": ["look"]});
    let body = body.to_string();
    let head = format!("HTTP/1.1 {line}\r\ncontent-type: application/problem+json\r\ncontent-length: {}", body.len());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept()?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut asked = String::new();
        while reader.read_line(&mut asked)? > 2 {}
        write!(stream, "{head}\r\nconnection: close\r\n\r\n{body}")
    });
    address
}
