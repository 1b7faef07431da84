//! A bad night on real processes: the control plane is killed in mid-drain, a console takes the seat and serves the agents,
//! the holder goes silent and the stall halts its ring, a person skips it, the control plane returns and takes over.

use std::time::Duration;

use kura_console::adapters::journal::sqlite::journal::SqliteJournal;
use kura_console::control::ports::Heartbeats;
use kura_console::domain::ids::AccountId;
use serde_json::{Value, json};

use super::super::pty::driver::Driver;
use super::command::kura;
use super::database::{journal, one_ticks_at_a_time};
use super::plane::{Plane, free_port};
use super::screen::{self, A_WHILE, select, wait_for_row};

/// How long a slot may be held, in seconds: long enough for a console to take the seat.
const STALL: u64 = 45;

const REASON: &str = "the server is gone";

/// A fleet of two with one slot, a rollout of it, and somebody who holds the slot.
struct Night {
    plane: Plane,
    url: String,
    agents: u16,
    machines: [(String, String); 2],
}

impl Night {
    fn falls() -> Self {
        let plane = Plane::start();
        plane.post("/api/config/environments/", &json!({"slug": "oak", "promotion_order": 1}));
        let ring = json!({"name": "oak-ring", "max_in_flight": 1, "stall_timeout_seconds": STALL});
        plane.post("/api/config/rings/", &ring);
        let machines = ["ash", "birch"].map(|hostname| {
            let body = json!({"hostname": hostname, "environment": "oak", "ring": "oak-ring"});
            (hostname.to_owned(), text(&plane.post("/api/provisioning/machines/", &body), "uuid"))
        });
        let build = json!({"git_ref": "v1", "engine": "saltstack", "timeout_seconds": 30});
        let release = text(&plane.post("/api/config/releases/build-from-git", &build), "uuid");
        plane.post("/api/config/rollouts/", &json!({"config_release_uuid": release, "protected": true}));
        let url = format!("sqlite:{}", plane.folder().join("kura.db").display());
        Self { plane, url, agents: free_port(), machines }
    }

    /// A console that could carry on.
    fn console(&self) -> Driver {
        let (agents, tokens) = (format!("127.0.0.1:{}", self.agents), self.plane.folder().join("tokens.yaml"));
        let launch = self.plane.console("operator").size(110, 32);
        let flags = ["--journal", &self.url, "--agent-listen", &agents, "--tick-seconds", "1"];
        launch.args(&flags).args(&["--agent-tokens", &tokens.display().to_string()]).start()
    }

    /// Who holds the slot, and who waits; both are heard of.
    fn holder_and_next(&self) -> [(String, String); 2] {
        let served = self.machines.each_ref().map(|(_, id)| !self.plane.poll(id)["assignment"].is_null());
        let [ash, birch] = self.machines.clone();
        match served {
            [true, false] => [ash, birch],
            [false, true] => [birch, ash],
            other => panic!("one slot, one holder: {other:?}"),
        }
    }

    /// What the console answers an agent, or anybody else: status and body.
    fn console_says(&self, path: &str, machine: &str) -> (u16, Value) {
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        let request = http.get(format!("http://127.0.0.1:{}{path}", self.agents));
        let request = request.bearer_auth(self.plane.token("agent")).header("x-machine", machine);
        let (status, _, said) = self.plane.send(request);
        (status, serde_json::from_str(&said).unwrap_or_default())
    }
}

fn text(body: &Value, field: &str) -> String {
    body[field].as_str().unwrap_or_else(|| panic!("no {field} in {body}")).to_owned()
}

/// A person takes the seat of a console that serves agents.
fn take_the_seat(console: &mut Driver) {
    let [_, question] = screen::take_the_seat(console, REASON);
    assert!(question.contains("agents are served at http://127.0.0.1:"), "{question}");
}

#[test]
fn a_control_plane_dies_in_mid_drain_and_a_console_carries_on_until_it_is_back() {
    // R28, R48, R53, R54, R110
    let mut night = Night::falls();
    let [holder, next] = night.holder_and_next();
    let mut console = night.console();
    console.wait_for("fallback ready");
    console.send("2");
    wait_for_row(&mut console, &holder.0, &["pending", "holds"]);
    assert_eq!(
        kura(night.plane.folder(), &[("KURA_CONSOLE_JOURNAL", &night.url)], &["journal", "verify"]).code,
        Some(0)
    );

    night.plane.kill();
    console.wait_for("STANDING BY");
    let lost = console.wait_for("api lost");
    assert!(lost.contains(&holder.0), "its picture is that of the journal: {lost}");
    take_the_seat(&mut console);

    // Agents are served here, and nothing else is.
    let (status, said) = night.console_says("/api/agent/assignment?wait=0", &next.1);
    assert_eq!((status, said["assignment"].is_null()), (200, true), "{said}");
    assert_eq!(night.console_says("/api/config/rollouts/", &next.1).0, 404);

    console.send("1");
    console.wait_until("the stall halts the ring", A_WHILE, |screen| screen.contents().contains("HALTED"));
    console.send("2");
    select(&mut console, &holder.0);
    console.send("xm");
    console.wait_for(&format!("Skip machine {}?", holder.0));
    console.send(&format!("{}\r\t\r", holder.0));
    console.wait_gone("Skip machine");
    wait_for_row(&mut console, &holder.0, &["PAUSED"]);

    night.plane.start_again();
    console.wait_until("handed back", A_WHILE, |screen| screen.contents().contains("fallback ready"));
    let seat = night.plane.get_until("/api/seat", "it takes the seat", |seat| {
        seat["holder"].as_str().is_some_and(|holder| holder.starts_with("serve@"))
    });
    assert_eq!(seat["epoch"], 3, "{seat}");
    wait_for_row(&mut console, &holder.0, &["PAUSED"]);
    console.send("q");
    assert_eq!(console.wait_exit().code, Some(0));

    // One straight story: each tick by whoever had the seat, the audit whole, the skip once and with its reason.
    let exported = journal(night.plane.folder(), &night.url, &["export"]);
    assert_eq!(one_ticks_at_a_time(&exported.stdout), [1, 2, 3]);
    let verified = journal(night.plane.folder(), &night.url, &["verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    let audit = night.plane.get("/api/audit?limit=50");
    let skips: Vec<&Value> =
        audit.as_array().expect("links").iter().filter(|link| link["cause"]["name"] == "pause-machine").collect();
    assert_eq!(skips.len(), 1, "{audit:#}");
    assert_eq!(skips[0]["cause"]["reason"], REASON);
    let kept = std::fs::read_to_string(console.home().join(".local/state/kura-console/audit.jsonl")).expect("a file");
    assert!(kept.contains("\"take-seat\"") && kept.contains("\"pause-machine\""), "{kept}");
}

#[test]
fn a_terminal_that_vanishes_gives_the_seat_back() {
    // A24
    let mut night = Night::falls();
    night.holder_and_next();
    let mut console = night.console();
    console.wait_for("fallback ready");
    night.plane.kill();
    console.wait_for("STANDING BY");
    take_the_seat(&mut console);
    console.hang_up();
    let ended = console.wait_exit();
    assert!(ended.after < Duration::from_secs(12), "{ended:?}");
    let path = night.plane.folder().join("kura.db");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let beat = runtime.block_on(async {
        let journal = SqliteJournal::open(&path).await.expect("the journal");
        let beat = journal.last(AccountId::named("default")).await.expect("a beat");
        journal.close().await.expect("it closes");
        beat
    });
    let beat = beat.expect("somebody beat");
    assert_eq!((beat.holder.as_str(), beat.epoch), ("", 2), "released, so nobody waits for it to expire");
    night.plane.start_again();
    night.plane.get_until("/api/seat", "the control plane has it", |seat| seat["epoch"] == 3);
}

#[test]
fn a_journal_that_is_another_one_or_an_old_copy_is_no_fallback() {
    let night = Night::falls();
    let copy = night.plane.folder().join("old");
    let backup = journal(night.plane.folder(), &night.url, &["backup", "--to", &copy.display().to_string()]);
    assert_eq!(backup.code, Some(0), "{backup:?}");
    let id = &night.machines[0].1;
    night.plane.post(&format!("/api/provisioning/machines/{id}/config-pause"), &json!({"reason": "later"}));
    let url = format!("sqlite:{}", copy.join("journal.db").display());
    let mut console = night.plane.console("operator").size(110, 32).args(&["--journal", &url]).start();
    console.wait_for("no fallback");
    console.send("F");
    let page = console.wait_for("an old copy");
    assert!(page.contains("could not carry on"), "{page}");
    console.send("q");
    console.send("q");
    assert_eq!(console.wait_exit().code, Some(0));
}
