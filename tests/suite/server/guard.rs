//! Who comes in and how: TLS with a certificate that is renewed, tokens that come and go while it runs, limits per token.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kura_console::adapters::clock::SystemClock;
use kura_console::control::ports::Clock;
use reqwest::{Certificate, Client};
use serde_json::Value;

use super::bed::within;
use super::program::{program, said, serve};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/agent-tls").join(name)
}

fn client() -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let authority = Certificate::from_pem(&std::fs::read(fixture("authority.pem")).unwrap()).unwrap();
    let trusting = Client::builder().no_proxy().tls_certs_only([authority]);
    trusting.pool_max_idle_per_host(0).build().unwrap()
}

fn token(folder: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let output = program(folder).arg("token").args(args).args(["--tokens", "tokens.yaml"]).output().unwrap();
    let (code, words) = said(&output);
    (code, String::from_utf8(output.stdout).unwrap().trim().to_owned(), words)
}

async fn status(http: &Client, url: &str, token: &str) -> u16 {
    let asked = http.get(format!("{url}/api/config/account")).bearer_auth(token).send().await;
    asked.map(|answer| answer.status().as_u16()).unwrap_or(0)
}

async fn until(http: &Client, url: &str, token: &str, wanted: u16) {
    let seen = within(async {
        while status(http, url, token).await != wanted {
            SystemClock::start().sleep(Duration::from_millis(50)).await;
        }
    });
    assert!(seen.await.is_some(), "never {wanted}, but {}", status(http, url, token).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_come_and_go_while_it_runs_and_are_shown_once() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (code, owner, words) = token(folder, &["create", "ann", "--role", "owner"]);
    assert_eq!(code, Some(0), "{words}");
    assert!(owner.starts_with("kura_") && owner.len() == 69, "{owner}");
    assert!(!std::fs::read_to_string(folder.join("tokens.yaml")).unwrap().contains(&owner));
    let served = serve(folder, "127.0.0.1:0", &[]).await;
    let http = client();
    assert_eq!(status(&http, &served.url, &owner).await, 200);

    let machine = uuid::Uuid::nil().to_string();
    let (code, agent, words) = token(folder, &["create", "node-1", "--role", "agent", "--machine", &machine]);
    assert_eq!(code, Some(0), "{words}");
    until(&http, &served.url, &agent, 403).await;
    let (_, viewer, _) = token(folder, &["create", "vic", "--role", "viewer"]);
    until(&http, &served.url, &viewer, 200).await;
    let (_, listed, _) = token(folder, &["list", "-o", "json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed[1]["machine"], machine.as_str());
    assert!(!listed.to_string().contains("kura_") && !listed.to_string().contains("sha256"));

    let mut stream = http.get(format!("{}/api/changes", served.url)).bearer_auth(&viewer).send().await.unwrap();
    assert_eq!(token(folder, &["revoke", "vic"]).0, Some(0));
    until(&http, &served.url, &viewer, 401).await;
    let over = within(async { while let Ok(Some(_)) = stream.chunk().await {} });
    assert!(over.await.is_some(), "whoever is revoked hears no more");
    assert_eq!(status(&http, &served.url, &owner).await, 200);

    for (args, code, hint) in [
        (["create", "ann", "--role", "viewer"].as_slice(), 4, "another name"),
        (["create", "x", "--role", "boss"].as_slice(), 2, "viewer, operator, owner or agent"),
        (["create", "x", "--role", "viewer", "--machine", &machine].as_slice(), 2, "no agent"),
        (["revoke", "nobody"].as_slice(), 1, "token list"),
    ] {
        let (found, _, words) = token(folder, args);
        assert_eq!(found, Some(code), "{args:?}: {words}");
        assert!(words.contains(hint), "{args:?}: {words}");
    }
    // A file that makes no sense changes nothing.
    std::fs::write(folder.join("tokens.yaml"), "- nonsense\n").unwrap();
    let log = folder.join("log");
    let told = within(async {
        while !std::fs::read_to_string(&log).unwrap().contains("the tokens of before stay") {
            SystemClock::start().sleep(Duration::from_millis(50)).await;
        }
    });
    assert!(told.await.is_some());
    assert_eq!(status(&http, &served.url, &owner).await, 200);
    let log = std::fs::read_to_string(log).unwrap();
    assert!([owner, agent, viewer].iter().all(|token| !log.contains(token)), "a token is in the log");
}

#[tokio::test(flavor = "multi_thread")]
async fn tls_is_spoken_to_whoever_speaks_it_and_the_certificate_is_renewed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::copy(fixture("server.pem"), folder.join("cert.pem")).unwrap();
    std::fs::copy(fixture("server-key.pem"), folder.join("key.pem")).unwrap();
    let (_, owner, _) = token(folder, &["create", "ann", "--role", "owner"]);
    let flags = ["--tls-cert", "cert.pem", "--tls-key", "key.pem"];
    // Beyond this host TLS is what lets it listen.
    let served = serve(folder, "0.0.0.0:0", &flags).await;
    let port = served.url.rsplit(':').next().unwrap().to_owned();
    let (url, http) = (format!("https://localhost:{port}"), client());
    assert_eq!(status(&http, &url, &owner).await, 200);
    assert_eq!(status(&http, &format!("http://localhost:{port}"), &owner).await, 0, "nothing is said in the clear");
    // One that never shakes hands holds up nobody.
    let silent = std::net::TcpStream::connect(("127.0.0.1", port.parse::<u16>().unwrap())).unwrap();
    assert_eq!(status(&http, &url, &owner).await, 200);
    drop(silent);

    // A pair that does not fit is complained about, and the one of before stays.
    std::fs::copy(fixture("authority.pem"), folder.join("cert.pem")).unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_child(&served.child), rustix::process::Signal::HUP)
        .unwrap();
    let log = folder.join("log");
    let heard = async |what: &str| {
        let heard = within(async {
            while !std::fs::read_to_string(&log).unwrap().contains(what) {
                SystemClock::start().sleep(Duration::from_millis(20)).await;
            }
        });
        assert!(heard.await.is_some(), "never: {what}");
    };
    heard("the certificate of before stays").await;
    assert_eq!(status(&http, &url, &owner).await, 200);
    std::fs::copy(fixture("server.pem"), folder.join("cert.pem")).unwrap();
    heard("the certificate was read again").await;
    assert_eq!(status(&http, &url, &owner).await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_asks_too_often_is_told_when_to_come_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (_, busy, _) = token(folder, &["create", "ann", "--role", "viewer"]);
    let (_, calm, _) = token(folder, &["create", "bob", "--role", "viewer"]);
    let served = serve(folder, "127.0.0.1:0", &["--rate-limit", "1"]).await;
    let http = client();
    let ask = async |token: &str| http.get(format!("{}/api/seat", served.url)).bearer_auth(token).send().await.unwrap();
    let mut last = ask(&busy).await;
    for _ in 0..30 {
        last = ask(&busy).await;
        if last.status() == 429 {
            break;
        }
    }
    assert_eq!((last.status().as_u16(), last.headers()["retry-after"].as_bytes()), (429, b"1".as_slice()));
    assert_eq!(last.headers()["content-type"], "application/problem+json");
    assert!(last.headers().contains_key("x-revision"), "{:?}", last.headers());
    assert_eq!(ask(&calm).await.status(), 200, "another token has a bucket of its own");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agents_token_is_no_less_limited_for_making_up_machines() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (_, agent, _) = token(folder, &["create", "fleet", "--role", "agent"]);
    let served = serve(folder, "127.0.0.1:0", &[]).await;
    let http = client();
    let mut statuses = Vec::new();
    while statuses.len() < 200 && statuses.last() != Some(&429) {
        let poll = http.get(format!("{}/api/agent/assignment", served.url)).bearer_auth(&agent);
        let poll = poll.header("x-machine", uuid::Uuid::new_v4().to_string());
        statuses.push(poll.send().await.unwrap().status().as_u16());
    }
    assert!(statuses.starts_with(&[404]) && statuses.ends_with(&[429]), "{statuses:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_that_appears_in_the_tokens_file_is_served_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (_, ann, _) = token(folder, &["create", "ann", "--role", "owner"]);
    let served = serve(folder, "127.0.0.1:0", &[]).await;
    let http = client();
    assert_eq!(status(&http, &served.url, &ann).await, 200);
    let (code, bea, words) = token(folder, &["create", "bea", "--role", "owner", "--account", "beta"]);
    assert_eq!(code, Some(0), "{words}");
    let seen = within(async {
        loop {
            match status(&http, &served.url, &bea).await {
                401 => SystemClock::start().sleep(Duration::from_millis(20)).await,
                other => return other,
            }
        }
    });
    assert_eq!(seen.await, Some(200), "unknown, then served: never `not served`");
    let made = http.post(format!("{}/api/config/environments/", served.url)).bearer_auth(&bea);
    let made = made.json(&serde_json::json!({"slug": "elm"})).send().await.unwrap();
    assert_eq!(made.status(), 201);
    let metrics = http.get(format!("{}/metrics", served.url)).send().await.unwrap().text().await.unwrap();
    assert!(metrics.contains("kura_journal_reachable{account=\"beta\"} 1"), "{metrics}");
    let ready = http.get(format!("{}/readyz", served.url)).send().await.unwrap().text().await.unwrap();
    assert!(ready.contains("beta"), "{ready}");
    let ticked = within(async {
        let held = "kura_seat_held{account=\"beta\"} 1";
        let url = format!("{}/metrics", served.url);
        while !http.get(&url).send().await.unwrap().text().await.unwrap().contains(held) {
            SystemClock::start().sleep(Duration::from_millis(20)).await;
        }
    });
    assert!(ticked.await.is_some(), "its rollouts tick as well");
    let mut stream = http.get(format!("{}/api/changes?after=0", served.url)).bearer_auth(&bea).send().await.unwrap();
    let mut said = String::new();
    let heard = within(async {
        while !said.contains("elm") {
            said += &String::from_utf8_lossy(&stream.chunk().await.unwrap().expect("it goes on"));
        }
    });
    assert!(heard.await.is_some(), "and its changes are streamed: {said}");
}

/// One line of the log, by the request it is about.
fn line(folder: &Path, id: &str) -> Value {
    let log = std::fs::read_to_string(folder.join("log")).unwrap();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut of_it = lines.filter(|line| line["id"] == id);
    of_it.next().unwrap_or_else(|| panic!("no line of {id} in {log}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_has_one_name_in_its_answer_its_problem_and_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (_, owner, _) = token(folder, &["create", "ann", "--role", "owner"]);
    let (_, viewer, _) = token(folder, &["create", "vic", "--role", "viewer"]);
    let served = serve(folder, "127.0.0.1:0", &["--log", "info,kura_console::server=debug"]).await;
    let http = client();
    let ask = async |method: &str, path: &str, token: &str, id: Option<&str>| {
        let request = http.request(method.parse().unwrap(), format!("{}{path}", served.url)).bearer_auth(token);
        let request = id.into_iter().fold(request, |request, id| request.header("x-request-id", id));
        let answer = request.send().await.unwrap();
        let told = answer.headers()["x-request-id"].to_str().unwrap().to_owned();
        (answer.status().as_u16(), told, answer.json::<Value>().await.unwrap_or_default())
    };
    let (status, told, body) = ask("POST", "/api/seat/leave", &viewer, Some("deploy-7")).await;
    assert_eq!((status, told.as_str(), &body["request_id"]), (403, "deploy-7", &Value::from("deploy-7")));
    let said = line(folder, "deploy-7");
    assert_eq!((&said["status"], &said["by"], &said["route"]), (&403.into(), &"vic".into(), &"/api/seat/leave".into()));
    for (method, path, token, expected) in [
        ("GET", "/api/config/account", "kura_wrong", 401),
        ("GET", "/api/nothing", owner.as_str(), 404),
        ("GET", "/api/audit?limit=0", owner.as_str(), 422),
        ("DELETE", "/api/audit", owner.as_str(), 405),
    ] {
        let (status, told, body) = ask(method, path, token, None).await;
        assert_eq!((status, &body["request_id"], told.len()), (expected, &Value::from(told.as_str()), 32), "{body}");
        assert_eq!(line(folder, &told)["status"], expected);
    }
    let (status, told, body) = ask("GET", "/api/config/account", &owner, Some("with space")).await;
    assert!(status == 200 && told != "with space" && body.get("request_id").is_none(), "{told} {body}");
    let (_, told, _) = ask("GET", "/api/config/account", &owner, Some(&"x".repeat(65))).await;
    assert_eq!(told.len(), 32, "too long for a log: {told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shell_that_allows_few_files_does_not_limit_the_connections() {
    const MANY: usize = 300;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (_, viewer, _) = token(folder, &["create", "vic", "--role", "viewer"]);
    let served = super::program::serve_with_few_files(folder, 120).await;
    let address = served.url.trim_start_matches("http://").to_owned();
    let mut open = Vec::new();
    for _ in 0..MANY {
        open.push(std::net::TcpStream::connect(&address).unwrap());
    }
    let answered = within(status(&client(), &served.url, &viewer)).await;
    assert_eq!(answered, Some(200), "behind {} that say nothing", open.len());
}
