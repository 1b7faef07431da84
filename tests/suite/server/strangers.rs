//! Those who are owed nothing: tokens of another account, pages of other sites, and whoever answers in the place of a
//! control plane.

use std::io::{Read, Write};
use std::net::TcpListener;

use kura_console::server::tokens::TokenRole;
use reqwest::Method;
use serde_json::{Value, json};

use super::super::agent::node::Node;
use super::super::e2e::command::kura;
use super::bed::{Bed, tell};

const TOKEN: &str = "kura_for-the-control-plane-alone";

#[tokio::test]
async fn the_owner_of_one_account_sees_and_touches_nothing_of_another() {
    let bed = Bed::start().await;
    let fleet = bed.fleet(json!({"slug": "oak-ring", "max_in_flight": 1}), &["ash"]).await;
    let release = bed.release("v1").await;
    let rollout = bed.roll(&release).await;
    let stranger = bed.keys.of("other", TokenRole::Owner);
    let ask = async |method: Method, path: &str, body: Value| {
        let request = bed.request(method, path).bearer_auth(stranger);
        let request = if body.is_null() { request } else { request.json(&body) };
        tell(request.send().await.unwrap()).await
    };
    for list in [
        "/api/config/environments/",
        "/api/config/rings/",
        "/api/config/releases/",
        "/api/config/rollouts/",
        "/api/provisioning/machines/",
        "/api/secrets/",
    ] {
        let told = ask(Method::GET, list, Value::Null).await.expect(200);
        assert_eq!(told.body, json!([]), "{list}");
    }
    let world = ask(Method::GET, "/api/world", Value::Null).await.expect(200).body.to_string();
    for theirs in [&fleet.machines[0], &fleet.ring, &release, &rollout] {
        assert!(!world.contains(theirs.as_str()), "{theirs} in {world}");
    }
    for (method, path) in [
        (Method::GET, format!("/api/config/rollouts/{rollout}/status")),
        (Method::GET, format!("/api/config/rollouts/{rollout}/apply-results")),
        (Method::POST, format!("/api/config/rollouts/{rollout}/halt")),
        (Method::POST, format!("/api/config/rings/{}/pause", fleet.ring)),
        (Method::DELETE, format!("/api/provisioning/machines/{}", fleet.machines[0])),
    ] {
        let body = if method == Method::POST { json!({"reason": "mine"}) } else { Value::Null };
        ask(method, &path, body).await.expect(404);
    }
    let start = json!({"config_release_uuid": release});
    let told = ask(Method::POST, "/api/config/rollouts/", start).await;
    assert!(matches!(told.status, 404 | 409 | 422), "{told:?}");
    assert_eq!(bed.status(&rollout).await["status"], "running");
    bed.stop().await;
}

/// A browser carries no token by itself, and is never told that a page of another site may read an answer.
#[tokio::test]
async fn pages_of_other_sites_are_let_in_nowhere() {
    let bed = Bed::start().await;
    for (method, path) in [("OPTIONS", "/api/config/rollouts/"), ("GET", "/api/world"), ("POST", "/api/config/rings/")]
    {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let request = bed.request(method, path).header("origin", "https://elsewhere.example");
        let told = tell(request.header("content-type", "text/plain").body("{}").send().await.unwrap()).await;
        assert!(matches!(told.status, 401 | 405), "{path}: {told:?}");
        let foreign = told.headers.keys().find(|name| name.as_str().starts_with("access-control"));
        assert!(foreign.is_none() && !told.headers.contains_key("set-cookie"), "{told:?}");
    }
    bed.stop().await;
}

/// Answers whatever it is asked with a place to go on to, and that is all.
fn redirecting(elsewhere: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let answer =
        format!("HTTP/1.1 307 Temporary Redirect\r\nlocation: {elsewhere}/api/world\r\ncontent-length: 0\r\n\r\n");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut asked = [0; 4_096];
            let _ = stream.read(&mut asked);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    url
}

#[test]
fn a_token_follows_no_redirect() {
    let trap = TcpListener::bind("127.0.0.1:0").unwrap();
    trap.set_nonblocking(true).unwrap();
    let impostor = redirecting(&format!("http://{}", trap.local_addr().unwrap()));
    let folder = tempfile::tempdir().unwrap();
    let variables = [("KURA_CONSOLE_API", impostor.as_str()), ("KURA_CONSOLE_TOKEN", TOKEN)];
    for arguments in [&["status"][..], &["get", "rings"], &["doctor"]] {
        let said = kura(folder.path(), &variables, arguments);
        assert!(said.code != Some(0) && !format!("{said:?}").contains(TOKEN), "{said:?}");
    }
    let mut node = Node::of(&impostor, TOKEN, "true", &[]);
    node.start();
    let said = node.says("which is not followed");
    assert!(!said.contains(TOKEN), "{said}");
    let nobody = trap.accept().map(drop).unwrap_err();
    assert_eq!(nobody.kind(), std::io::ErrorKind::WouldBlock, "somebody went there");
}
