//! A bad night on real processes: the control plane is killed in mid-drain, a console takes the seat and serves the agents,
//! the holder goes silent and the stall halts its ring, a person skips it, the control plane returns and takes over.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use kura_console::adapters::journal::sqlite::journal::SqliteJournal;
use kura_console::control::ports::Heartbeats;
use kura_console::domain::ids::AccountId;
use reqwest::Method;
use serde_json::{Value, json};

use super::super::pty::driver::Driver;
use super::command::kura;
use super::database::{self, journal, one_ticks_at_a_time};
use super::plane::{Plane, free_port};
use super::screen::{self, A_WHILE, select, wait_for_row};

/// Until a console whose terminal vanished is gone, with the seat given back: two seconds, and one for a busy machine.
const SOON: Duration = Duration::from_secs(3);

/// How long a slot may be held, in seconds: long enough for a console to take the seat.
const STALL: u64 = 45;

/// Polls until a machine is given something, each of two seconds.
const POLLS_MAX: usize = 15;

/// How long the control plane has to be silent for a console that was told to take the seat, in seconds.
const GRACE: &str = "15";

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
        let url = format!("sqlite:{}", plane.folder().join("kura.db").display());
        Self::over(plane, url)
    }

    /// The same over the journal of this control plane.
    fn over(plane: Plane, url: String) -> Self {
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
        Self { plane, url, agents: free_port(), machines }
    }

    /// A console that could carry on.
    fn console(&self) -> Driver {
        self.console_with(&[])
    }

    fn console_with(&self, more: &[&str]) -> Driver {
        let (agents, tokens) = (format!("127.0.0.1:{}", self.agents), self.plane.folder().join("tokens.yaml"));
        let launch = self.plane.console("operator").size(110, 32);
        let flags = ["--journal", &self.url, "--agent-listen", &agents, "--tick-seconds", "1"];
        launch.args(&flags).args(&["--agent-tokens", &tokens.display().to_string()]).args(more).start()
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
        self.console_is_told(Method::GET, path, machine, &Value::Null)
    }

    fn console_is_told(&self, method: Method, path: &str, machine: &str, body: &Value) -> (u16, Value) {
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        let request = http.request(method, format!("http://127.0.0.1:{}{path}", self.agents)).json(body);
        let request = request.bearer_auth(self.plane.token("agent")).header("x-machine", machine);
        let (status, _, said) = self.plane.send(request);
        (status, serde_json::from_str(&said).unwrap_or_default())
    }

    /// The agent of this machine is served at the console once it is its turn, runs what it is given, and reports there.
    fn runs_at_the_console(&self, machine: &str) {
        let given = (0..POLLS_MAX).find_map(|_| {
            let (status, said) = self.console_says("/api/agent/assignment?wait=2", machine);
            assert_eq!(status, 200, "{said}");
            Some(said["assignment"].clone()).filter(|assignment| !assignment.is_null())
        });
        let given = given.unwrap_or_else(|| panic!("{machine} gets no slot"));
        assert!(given["content"].as_str().is_some_and(|content| !content.is_empty()), "{given}");
        let report = json!({
            "release_uuid": given["release_uuid"], "generation": given["generation"], "outcome": "success",
            "changed_count": 1, "failed_states": [], "started_at": "2026-11-30T02:00:00Z",
            "finished_at": "2026-11-30T02:00:09Z", "log_tail": "all is well",
        });
        let (status, said) = self.console_is_told(Method::POST, "/api/agent/apply-results", machine, &report);
        assert!((200..300).contains(&status), "{status} {said}");
    }

    /// Neither a console nor the doctor calls a fallback what these words are said of.
    fn is_no_fallback(&self, journal: &str, words: &str) {
        let mut console = self.plane.console("operator").size(120, 32).args(&["--journal", journal]).start();
        console.wait_for("no fallback");
        console.send("F");
        let page = console.wait_for("could not carry on");
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains(words), "{words}: {page}");
        console.send("qq");
        assert_eq!(console.wait_exit().code, Some(0));
        let (api, token) = (self.plane.url(), self.plane.token("viewer").to_owned());
        let variables = [("KURA_CONSOLE_API", api.as_str()), ("KURA_CONSOLE_TOKEN", token.as_str())];
        let told = kura(self.plane.folder(), &variables, &["doctor", "--journal", journal]);
        let said = told.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.code == Some(1) && said.contains("not possible from here") && said.contains(words), "{told:?}");
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

    // Agents are served here, and nothing else is. The holder is heard of once more, and then no longer.
    let (status, said) = night.console_says("/api/agent/assignment?wait=0", &holder.1);
    assert!(status == 200 && !said["assignment"].is_null(), "{said}");
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

    // Begun again without it: whoever is next is served and heard here.
    console.send("ux");
    console.wait_for("Reset the rollout of");
    console.send("v1\r\t\r");
    console.wait_gone("Reset the rollout of");
    night.runs_at_the_console(&next.1);
    wait_for_row(&mut console, &next.0, &["applied"]);

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
    let rollouts = night.plane.get("/api/config/rollouts/");
    let status = format!("/api/config/rollouts/{}/status", text(&rollouts[0], "uuid"));
    let rows = night.plane.get(&status)["machines"].clone();
    let of = |name: &str| rows.as_array().and_then(|rows| rows.iter().find(|row| row["hostname"] == name)).cloned();
    assert_eq!(of(&next.0).expect("a row")["state"], "applied", "what was reported to the console: {rows:#}");
    assert_eq!(skips[0]["cause"]["reason"], REASON);
    let kept = std::fs::read_to_string(console.home().join(".local/state/kura-console/audit.jsonl")).expect("a file");
    assert!(kept.contains("\"take-seat\"") && kept.contains("\"pause-machine\""), "{kept}");
}

/// Over a database, by a console that was told to: nobody presses a key, and the seat is not pushed out of anybody's hands.
#[test]
fn a_console_that_was_told_to_takes_the_seat_by_itself_over_a_database_and_gives_it_back() {
    // R28, R53
    let Some(database) = database::database() else { return };
    let night = Night::over(Plane::on(database.url()), database.url().to_owned());
    let [holder, next] = night.holder_and_next();
    let mut console = night.console_with(&["--fallback", "auto", "--fallback-grace", GRACE]);
    console.wait_for("fallback ready: postgres");
    night.plane.freeze();
    console.wait_for("STANDING BY");
    let page = console.wait_for("SEAT IS HERE, epoch 2");
    assert!(!page.contains("only-for-tests"), "{page}");
    assert!(!night.console_says("/api/agent/assignment?wait=0", &holder.1).1["assignment"].is_null());
    assert!(
        night.console_says("/api/agent/assignment?wait=0", &next.1).1["assignment"].is_null(),
        "one slot, one holder"
    );

    // Whoever thaws finds its seat taken, and gets it back in order.
    night.plane.thaw();
    console.wait_until("handed back", A_WHILE, |screen| screen.contents().contains("fallback ready"));
    let seat = night.plane.get_until("/api/seat", "it takes the seat", |seat| seat["epoch"] == 3);
    assert!(seat["holder"].as_str().is_some_and(|holder| holder.starts_with("serve@")), "{seat}");
    console.send("q");
    assert_eq!(console.wait_exit().code, Some(0));
    let exported = journal(night.plane.folder(), &night.url, &["export"]);
    assert_eq!(one_ticks_at_a_time(&exported.stdout), [1, 2, 3]);
    assert!(journal(night.plane.folder(), &night.url, &["verify"]).stdout.contains("nothing is wrong"));
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
    // Somebody sends half a report, and is not waited for.
    let mut half = TcpStream::connect(("127.0.0.1", night.agents)).expect("a connection");
    let head = format!(
        "POST /api/agent/apply-results HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\nX-Machine: {}\r\n\
         Content-Type: application/json\r\nContent-Length: 400\r\n\r\n{{\"release",
        night.plane.token("agent"),
        night.machines[0].1
    );
    half.write_all(head.as_bytes()).expect("half a report");
    console.hang_up();
    let ended = console.wait_exit();
    assert!(ended.after < SOON, "{ended:?}");
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

/// Somebody else took the port since it was looked at: after a few tries it is carried on without agents, and that is told.
#[test]
fn a_port_for_agents_that_was_taken_meanwhile_takes_no_fallback_away() {
    // R54
    let mut night = Night::falls();
    let mut console = night.console();
    console.wait_for("fallback ready");
    let _taken = std::net::TcpListener::bind(("127.0.0.1", night.agents)).expect("the port is free");
    night.plane.kill();
    console.wait_until("it stands by", A_WHILE, |screen| screen.contents().contains("STANDING BY"));
    console.send("F");
    let page = console.wait_for("no agent endpoint");
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains(&format!("127.0.0.1:{} is taken by another process", night.agents)), "{page}");
    console.send("\x1b");
    console.wait_gone("FALLBACK");
    screen::take_the_seat(&mut console, REASON);
    console.wait_for("SEAT IS HERE, epoch 2");
    console.send("q");
    console.wait_exit();
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
    night.is_no_fallback(&url, "it is another one, or an old copy");

    // Somebody goes on with the copy, and with a journal that never was this one: both become longer than it.
    let [copied, strange] = [Plane::on(&url), Plane::start()];
    for (plane, url) in [(&copied, url), (&strange, format!("sqlite:{}", strange.folder().join("kura.db").display()))] {
        for place in 1..=30 {
            let environment = json!({"slug": format!("elm-{place}"), "promotion_order": place + 1});
            plane.post("/api/config/environments/", &environment);
        }
        night.is_no_fallback(&url, "it is another one, or a copy that went its own way");
    }
}
