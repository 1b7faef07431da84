//! Everything that is refused says why as problem+json, and changes nothing.

use kura_console::server::endpoints::{ENDPOINTS, Endpoint};
use kura_console::server::tokens::TokenRole;
use kura_console::wire::body::BODY_MAX;
use reqwest::Method;
use serde_json::{Value, json};

use super::bed::{Bed, Told, tell};

/// The shape every problem has.
fn checked(told: Told, status: u16) -> Told {
    let told = told.expect(status);
    assert_eq!(told.headers["content-type"], "application/problem+json");
    assert_eq!(told.body["status"], status);
    for field in ["type", "title", "detail", "code"] {
        assert!(!told.text(field).is_empty(), "{field} in {:#}", told.body);
    }
    assert!(told.body["hints"].is_array());
    assert!(told.headers.contains_key("x-request-id") && told.headers.contains_key("date"));
    // Whoever is known is told which revision of their account they were refused at, and nobody else keeps it.
    assert_eq!(told.headers.contains_key("x-revision"), status != 401, "{:#}", told.body);
    assert!(status == 401 || told.headers["cache-control"] == "no-store");
    told
}

fn ring() -> Value {
    json!({"name": "oak-ring", "max_in_flight": 0})
}

#[tokio::test]
async fn a_stall_timeout_on_an_uncapped_ring_names_the_cap() {
    // R123, R125, R126, R127, R128
    let bed = Bed::start().await;
    let fleet = bed.fleet(ring(), &[]).await;
    let path = format!("/api/config/rings/{}", fleet.ring);
    let patch = async |body: Value| bed.call("PATCH", &path, body).await;
    let before = bed.get("/api/config/rings/").await;
    let refused = checked(patch(json!({"stall_timeout_seconds": 5400})).await, 400);
    assert_eq!(refused.text("field"), "max_in_flight");
    assert!(refused.text("detail").contains("max_in_flight"));
    checked(patch(json!({"max_in_flight": 0, "stall_timeout_seconds": 5400})).await, 400);
    assert_eq!(checked(patch(json!({"slug": "other"})).await, 400).text("field"), "slug");
    assert_eq!(checked(patch(json!({"max_in_flight": -1})).await, 422).text("field"), "max_in_flight");
    assert_eq!(checked(patch(json!({"max_in_flight": 1.5})).await, 422).text("field"), "max_in_flight");
    let ladder = json!({"wave_ladder": [{"after_seconds": 0, "pct": 50}, {"after_seconds": "x", "pct": 100}]});
    assert_eq!(checked(patch(ladder).await, 422).text("field"), "wave_ladder[1].after_seconds");
    assert_eq!(checked(patch(json!({"max_inflight": 1})).await, 422).text("field"), "max_inflight");
    let secret = json!({"config_values": {"DB_PASSWORD": "hunter2"}});
    assert_eq!(checked(patch(secret).await, 422).text("field"), "config_values.DB_PASSWORD");
    assert_eq!(bed.get("/api/config/rings/").await, before, "what is refused changes nothing");
    patch(json!({"max_in_flight": 1, "stall_timeout_seconds": 5400})).await.expect(200);
    let uncapped = patch(json!({"max_in_flight": 0})).await.expect(200);
    assert_eq!((&uncapped.body["max_in_flight"], &uncapped.body["stall_timeout_seconds"]), (&json!(0), &json!(5400)));
    patch(json!({"min_settle_seconds": 10})).await.expect(200);
    bed.stop().await;
}

#[tokio::test]
async fn only_two_switches_of_the_account_can_be_changed() {
    // R118, R119
    let bed = Bed::start().await;
    let path = "/api/config/account";
    let account = bed.call_as(TokenRole::Viewer, "GET", path, Value::Null).await.expect(200);
    assert_eq!((&account.body["auto_deploy"], account.text("name")), (&json!(false), "default"));
    let refused = bed.call("PATCH", path, json!({"config_tag_pattern": "v*"})).await;
    assert_eq!(checked(refused, 400).text("field"), "config_tag_pattern");
    checked(bed.call_as(TokenRole::Viewer, "PATCH", path, json!({"auto_deploy": true})).await, 403);
    let changed = bed.call_as(TokenRole::Operator, "PATCH", path, json!({"auto_deploy": true})).await.expect(200);
    assert_eq!(changed.body["auto_deploy"], true);
    bed.stop().await;
}

#[tokio::test]
async fn who_may_do_what() {
    let bed = Bed::start().await;
    let fleet = bed.fleet(ring(), &["ash"]).await;
    let none = tell(bed.request(Method::GET, "/api/config/rings/").send().await.unwrap()).await;
    assert_eq!(checked(none, 401).headers["www-authenticate"], "Bearer");
    for wrong in ["kura_0000", "", "Basic YTpi"] {
        let request = bed.request(Method::GET, "/api/config/rings/").header("authorization", format!("Bearer {wrong}"));
        let told = checked(tell(request.send().await.unwrap()).await, 401);
        assert!(wrong.is_empty() || !told.body.to_string().contains(wrong));
    }
    let pause = format!("/api/config/rings/{}/pause", fleet.ring);
    checked(bed.call_as(TokenRole::Viewer, "POST", &pause, Value::Null).await, 403);
    checked(bed.call_as(TokenRole::Agent, "POST", &pause, Value::Null).await, 403);
    checked(bed.call_as(TokenRole::Agent, "GET", "/api/world", Value::Null).await, 403);
    checked(bed.call_as(TokenRole::Owner, "GET", "/api/agent/assignment", Value::Null).await, 403);
    bed.call_as(TokenRole::Operator, "POST", &pause, Value::Null).await.expect(200);
    // Another account sees nothing of this one, and cannot reach into it.
    let other = bed.keys.of("other", TokenRole::Owner);
    let rings = tell(bed.request(Method::GET, "/api/config/rings/").bearer_auth(other).send().await.unwrap()).await;
    assert_eq!(rings.expect(200).body, json!([]));
    let reach = tell(bed.request(Method::POST, &pause).bearer_auth(other).send().await.unwrap()).await;
    checked(reach, 404);
    bed.stop().await;
}

#[tokio::test]
async fn paths_methods_queries_and_bodies_that_make_no_sense() {
    let bed = Bed::start().await;
    let none = uuid::Uuid::nil();
    for path in ["/api/config/rings", "/api/config/account/", "/nothing", "/api/config/rollouts/x/status"] {
        checked(bed.call("GET", path, Value::Null).await, 404);
    }
    checked(bed.call("GET", &format!("/api/config/rollouts/{none}/status"), Value::Null).await, 404);
    checked(bed.call("DELETE", "/api/config/account", Value::Null).await, 405);
    for verb in ["resume", "promote", "rollback"] {
        checked(bed.call("POST", &format!("/api/config/rollouts/{none}/{verb}"), Value::Null).await, 404);
    }
    let told = checked(bed.call("GET", "/api/config/rings/?limit=0", Value::Null).await, 422);
    assert_eq!(told.text("field"), "limit");
    checked(bed.call("GET", "/api/config/rings/?limit=1001", Value::Null).await, 422);
    checked(bed.call("GET", "/api/config/rings/?after=x", Value::Null).await, 422);
    let query = bed.call("POST", "/api/config/rollouts/?dryrun=true", json!({"config_release_uuid": none})).await;
    assert_eq!(checked(query, 422).text("field"), "dryrun");
    let text = bed.request(Method::POST, "/api/config/rings/").bearer_auth(bed.token(TokenRole::Owner)).body("name=x");
    assert_eq!(checked(tell(text.send().await.unwrap()).await, 422).text("code"), "not_json");
    let unknown = bed.post("/api/config/rollouts/", json!({"config_release_uuid": none})).await;
    checked(unknown, 404);
    let missing = checked(bed.post("/api/config/rollouts/", json!({})).await, 422);
    assert_eq!(missing.text("field"), "config_release_uuid");
    let twice = json!({"slug": "oak"});
    bed.post("/api/config/environments/", twice.clone()).await.expect(201);
    assert_eq!(checked(bed.post("/api/config/environments/", twice).await, 409).text("field"), "slug");
    checked(bed.post("/api/config/releases/build-from-git", json!({"git_ref": "nope"})).await, 404);
    bed.stop().await;
}

#[tokio::test]
async fn a_list_of_values_goes_round_no_check() {
    // R127, R128
    let bed = Bed::start().await;
    let fleet = bed.fleet(ring(), &["ash"]).await;
    let before = bed.get("/api/config/rings/").await;
    let (ring, machine) = (&fleet.ring, &fleet.machines[0]);
    for (method, path, list) in [
        ("PATCH", format!("/api/config/rings/{ring}"), json!(["new-name", "new-slug"])),
        ("PATCH", format!("/api/config/environments/{}", fleet.environment), json!(["Elm"])),
        ("PATCH", format!("/api/provisioning/machines/{machine}"), json!([null, null])),
        ("POST", "/api/config/releases/build-from-git".to_owned(), json!(["v1"])),
        ("POST", format!("/api/config/rings/{ring}/pause"), json!(["why"])),
        ("POST", "/api/explain".to_owned(), json!([fleet.ring])),
    ] {
        assert_eq!(checked(bed.call(method, &path, list).await, 422).text("code"), "no_object", "{path}");
    }
    assert_eq!(bed.get("/api/config/rings/").await, before);
    bed.stop().await;
}

#[tokio::test]
async fn what_can_be_read_in_two_ways_is_refused_and_changes_nothing() {
    let bed = Bed::start().await;
    let fleet = bed.fleet(ring(), &[]).await;
    let before = bed.get("/api/config/rings/").await;
    let pause = |verb: &str| {
        let path = format!("/api/config/rings/{}/{verb}", fleet.ring);
        bed.request(Method::POST, &path).bearer_auth(bed.token(TokenRole::Owner))
    };
    for (verb, header, values) in [
        ("pause", "idempotency-key", ["one", "two"]),
        ("pause", "x-reason", ["a", "b"]),
        ("unpause", "if-match", ["\"1\"", "\"2\""]),
    ] {
        let twice = values.iter().fold(pause(verb), |request, value| request.header(header, *value));
        let told = checked(tell(twice.send().await.unwrap()).await, 422);
        assert_eq!((told.text("code"), told.text("field")), ("header_twice", header));
        assert_eq!(bed.get("/api/config/rings/").await, before, "nothing was done");
    }
    let stop = pause("pause").header("if-match", "\"1\"").header("if-match", "\"2\"");
    tell(stop.send().await.unwrap()).await.expect(200);
    for wrong in ["abc", "-1", "1.5", ""] {
        let request = bed.request(Method::GET, "/api/changes").bearer_auth(bed.token(TokenRole::Viewer));
        let told = tell(request.header("last-event-id", wrong).send().await.unwrap()).await;
        assert_eq!(checked(told, 422).text("field"), "last-event-id", "{wrong}");
    }
    for tail in ["1001", "99999999999", "99999999999999999999"] {
        let told = checked(bed.call("GET", &format!("/api/world?tail={tail}"), Value::Null).await, 422);
        assert_eq!(told.text("field"), "tail");
    }
    bed.call("GET", "/api/world?tail=1000", Value::Null).await.expect(200);
    bed.stop().await;
}

#[tokio::test]
async fn a_path_that_is_no_text_is_a_problem_like_any_other() {
    let bed = Bed::start().await;
    let named = ENDPOINTS.iter().filter(|endpoint| endpoint.path.contains("{name}"));
    for Endpoint { method, path, .. } in named {
        let ask = |token: Option<&str>| {
            let path = path.replace("{name}", "%ff").replace("{uuid}", &uuid::Uuid::nil().to_string());
            let request =
                bed.request(Method::from_bytes(method.as_bytes()).unwrap(), &path).json(&json!({"value": "x"}));
            token.into_iter().fold(request, |request, token| request.bearer_auth(token)).send()
        };
        checked(tell(ask(None).await.unwrap()).await, 401);
        let told = checked(tell(ask(Some(bed.token(TokenRole::Owner))).await.unwrap()).await, 422);
        assert_eq!(told.text("field"), "name", "{path}");
    }
    bed.stop().await;
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_refused_whether_or_not_it_says_so() {
    let bed = Bed::start().await;
    let large = vec![b' '; BODY_MAX + 1];
    let send = |body: reqwest::Body| {
        bed.request(Method::POST, "/api/config/environments/")
            .bearer_auth(bed.token(TokenRole::Owner))
            .body(body)
            .send()
    };
    checked(tell(send(large.clone().into()).await.unwrap()).await, 413);
    let pieces: Vec<Result<Vec<u8>, std::io::Error>> =
        large.chunks(64 * 1024).map(|piece| Ok(piece.to_vec())).collect();
    let unannounced = reqwest::Body::wrap_stream(futures_util::stream::iter(pieces));
    checked(tell(send(unannounced).await.unwrap()).await, 413);
    let mut just_fits = br#"{"slug":"oak"}"#.to_vec();
    just_fits.resize(BODY_MAX, b' ');
    tell(send(just_fits.into()).await.unwrap()).await.expect(201);
    bed.stop().await;
}

#[tokio::test]
async fn every_answer_says_its_revision_and_lists_come_in_pages() {
    let bed = Bed::start().await;
    let mut last = 0;
    for n in 0..5 {
        let made = bed.post("/api/config/environments/", json!({"slug": format!("e{n}")})).await.expect(201);
        let revision: u64 = made.headers["x-revision"].to_str().unwrap().parse().unwrap();
        assert!(revision > last);
        last = revision;
    }
    let uuid = |item: &Value| item["uuid"].as_str().unwrap().to_owned();
    let all: Vec<String> = bed.get("/api/config/environments/").await.as_array().unwrap().iter().map(uuid).collect();
    let mut paged = Vec::new();
    loop {
        let after = paged.last().map(|last| format!("&after={last}")).unwrap_or_default();
        let page = bed.get(&format!("/api/config/environments/?limit=2{after}")).await;
        let page: Vec<String> = page.as_array().unwrap().iter().map(uuid).collect();
        if page.is_empty() {
            break;
        }
        paged.extend(page);
    }
    assert_eq!((paged.len(), &paged), (5, &all));
    bed.stop().await;
}
