//! Every endpoint: it is in the table and in the document, and lets in whom it is for and nobody else.

use std::collections::BTreeSet;
use std::sync::Arc;

use kura_console::server::caller::Need;
use kura_console::server::endpoints::{Access, ENDPOINTS, Endpoint};
use kura_console::server::tokens::{NewToken, TokenRole, Tokens, file_of};
use kura_console::server::{openapi, router};
use reqwest::Method;
use serde_json::{Value, json};

use super::bed::{AnyV, Bed, MemoryHost, Told, tell};

#[test]
fn every_route_is_in_the_table_and_the_other_way_round() {
    let routes: BTreeSet<_> = router::listed::<MemoryHost, AnyV>().into_iter().collect();
    let table: BTreeSet<_> = ENDPOINTS.iter().map(|endpoint| (endpoint.method, endpoint.path)).collect();
    assert_eq!(routes, table);
    assert_eq!(table.len(), ENDPOINTS.len(), "none is there twice");
}

#[test]
fn the_document_holds_every_endpoint_and_every_shape_it_refers_to() {
    let document = openapi::document();
    let mut ids = BTreeSet::new();
    for Endpoint { method, path, body, .. } in ENDPOINTS {
        let operation = &document["paths"][path][method.to_lowercase()];
        assert!(ids.insert(operation["operationId"].as_str().unwrap().to_owned()), "{method} {path}");
        assert_eq!(operation["requestBody"].is_object(), body.is_some(), "{method} {path}");
        let responses = operation["responses"].as_object().unwrap();
        assert!(responses.keys().any(|status| status.starts_with('2')), "{method} {path}");
    }
    let mut open = vec![&document];
    let mut refs = 0;
    while let Some(value) = open.pop() {
        match value {
            Value::Object(fields) => {
                if let Some(Value::String(place)) = fields.get("$ref") {
                    let found = document.pointer(place.trim_start_matches('#'));
                    assert!(found.is_some(), "{place} is nowhere");
                    refs += 1;
                }
                open.extend(fields.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    assert!(refs > 100, "{refs}");
    assert_eq!(document["components"]["schemas"]["StartBody"]["additionalProperties"], false);
}

#[test]
fn the_page_of_the_api_is_up_to_date() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/api.md");
    if std::env::var_os("KURA_REGENERATE").is_some() {
        std::fs::write(&path, openapi::page()).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == openapi::page(), "docs/api.md is stale: KURA_REGENERATE=1 cargo test --test suite -- server::api");
}

/// Whoever may ask.
#[derive(Debug, Clone, Copy)]
enum Who {
    Nobody,
    Revoked,
    Role(TokenRole),
}

const EVERYBODY: [Who; 6] = [
    Who::Nobody,
    Who::Revoked,
    Who::Role(TokenRole::Viewer),
    Who::Role(TokenRole::Operator),
    Who::Role(TokenRole::Owner),
    Who::Role(TokenRole::Agent),
];

/// 0 = let in.
fn expected(access: Access, who: Who) -> u16 {
    use TokenRole::{Agent, Operator, Owner, Viewer};
    match (access, who) {
        // A token that is shown and not known is wrong everywhere.
        (_, Who::Revoked) => 401,
        (Access::Open, _) => 0,
        (_, Who::Nobody) => 401,
        (Access::Known, _) => 0,
        (Access::Agent, Who::Role(Agent)) => 0,
        (Access::Agent, _) => 403,
        (Access::Reader(Need::Look), Who::Role(Viewer | Operator | Owner)) => 0,
        (Access::Reader(Need::Act), Who::Role(Operator | Owner)) => 0,
        (Access::Reader(Need::Own), Who::Role(Owner)) => 0,
        (Access::Reader(_), _) => 403,
    }
}

async fn ask(bed: &Bed<MemoryHost>, endpoint: &Endpoint, token: Option<&str>) -> Told {
    let none = uuid::Uuid::nil().to_string();
    let path = endpoint.path.replace("{uuid}", &none).replace("{id}", &none).replace("{name}", "NO_SUCH");
    let request = bed.request(Method::from_bytes(endpoint.method.as_bytes()).unwrap(), &path);
    let request = if endpoint.body.is_some() { request.body("{}") } else { request };
    let request = match token {
        Some(token) => request.bearer_auth(token).header("x-machine", none),
        None => request,
    };
    let answer = request.send().await.unwrap();
    if endpoint.path == "/api/changes" && answer.status() == 200 {
        // It never ends by itself.
        return Told { status: 200, body: Value::Null, headers: answer.headers().clone() };
    }
    tell(answer).await
}

#[tokio::test]
async fn every_endpoint_lets_in_whom_it_is_for_and_nobody_else() {
    let bed = Bed::start().await;
    let revoked = NewToken::make("gone", TokenRole::Owner, "default");
    let both = |tokens: &[NewToken]| Arc::new(Tokens::parse(&file_of(tokens)).unwrap());
    let before = Arc::clone(&bed.listed.borrow());
    bed.listed.send_replace(both(std::slice::from_ref(&revoked)));
    let look = ENDPOINTS.iter().find(|endpoint| endpoint.path == "/api/seat").unwrap();
    assert_eq!(ask(&bed, look, Some(&revoked.secret)).await.status, 200, "it was let in once");
    bed.listed.send_replace(before);
    let mut faults = Vec::new();
    for endpoint in ENDPOINTS {
        for who in EVERYBODY {
            let token = match who {
                Who::Nobody => None,
                Who::Revoked => Some(revoked.secret.as_str()),
                Who::Role(role) => Some(bed.token(role)),
            };
            let told = ask(&bed, endpoint, token).await;
            let kept_out = if matches!(told.status, 401 | 403) { told.status } else { 0 };
            let known = endpoint.answers.iter().any(|(status, _)| *status == told.status)
                || endpoint.problems().contains(&told.status);
            if kept_out != expected(endpoint.access, who) || !known || told.status >= 500 {
                faults.push(format!("{} {} as {who:?}: {}", endpoint.method, endpoint.path, told.status));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    bed.stop().await;
}

#[tokio::test]
async fn a_wrong_slash_a_wrong_prefix_and_a_wrong_method_are_told_what_is_right() {
    let bed = Bed::start().await;
    for (method, wrong, right) in [
        ("GET", "/api/config/rings", "/api/config/rings/"),
        ("GET", "/api/config/account/", "/api/config/account"),
        ("POST", "/api/config/releases/build-from-git/", "/api/config/releases/build-from-git"),
        ("GET", "/config/rings/", "/api/config/rings/"),
        ("GET", "/api/v1/config/rings/", "/api/config/rings/"),
        ("GET", "/api/seats", "/api/openapi.json"),
    ] {
        let told = bed.call(method, wrong, Value::Null).await.expect(404);
        assert_eq!(told.headers["content-type"], "application/problem+json");
        assert!(told.body["hints"].to_string().contains(right), "{wrong}: {:#}", told.body);
    }
    let told = bed.call("DELETE", "/api/config/account", Value::Null).await.expect(405);
    assert_eq!(told.headers["allow"], "GET,HEAD,PATCH");
    assert!(told.body["hints"].to_string().contains("PATCH"), "{:#}", told.body);
    bed.stop().await;
}

#[tokio::test]
async fn the_owner_configures_what_an_operator_may_not() {
    // R119
    let bed = Bed::start().await;
    let pattern = json!({"config_tag_pattern": "v*"});
    let operator = bed.call_as(TokenRole::Operator, "POST", "/api/account/config", pattern.clone()).await;
    assert!(operator.expect(403).body["hints"].to_string().contains("owner"));
    let patched = bed.call("PATCH", "/api/config/account", pattern.clone()).await.expect(400);
    assert_eq!(patched.text("field"), "config_tag_pattern");
    let set = bed.post("/api/account/config", pattern).await.expect(200);
    assert_eq!(set.body["config_tag_pattern"], "v*");
    assert_eq!(
        bed.post("/api/account/config", json!({"auto_deploy": true})).await.expect(400).text("field"),
        "auto_deploy"
    );
    let none = bed.post("/api/account/config", json!({"config_tag_pattern": null})).await.expect(200);
    assert_eq!(none.body["config_tag_pattern"], Value::Null);
    bed.stop().await;
}

#[tokio::test]
async fn the_seat_is_left_by_whoever_holds_it_and_taken_again_later() {
    let bed = Bed::start().await;
    let held = super::bed::within(async {
        while bed.get("/api/seat").await["last_tick"].is_null() {
            tokio::task::yield_now().await;
        }
    });
    assert!(held.await.is_some());
    let left = bed.post("/api/seat/leave", json!({"reason": "maintenance"})).await.expect(200);
    assert_eq!(left.text("holder"), "serve@test:1");
    let gone = super::bed::within(async {
        while bed.post("/api/seat/leave", Value::Null).await.status != 409 {
            tokio::task::yield_now().await;
        }
    });
    assert!(gone.await.is_some(), "it is given back");
    bed.stop().await;
}
