//! What a request may be like: how deep, how long, how far; and a list that goes on where its place was removed.

use reqwest::Method;
use serde_json::{Value, json};

use super::bed::{Bed, OWNER, tell};

fn nested(levels: usize) -> String {
    format!(r#"{{"slug":"deep","config_values":{{"a":{}{}}}}}"#, "[".repeat(levels), "]".repeat(levels))
}

#[tokio::test]
async fn what_is_taken_can_be_read_again_by_everybody() {
    let bed = Bed::start().await;
    let send = async |levels: usize| {
        let request = bed.request(Method::POST, "/api/config/rings/").bearer_auth(bed.token(OWNER));
        tell(request.body(nested(levels)).send().await.unwrap()).await
    };
    for levels in [31, 125, 5_000] {
        assert_eq!(send(levels).await.expect(422).text("code"), "too_deep", "{levels}");
    }
    send(30).await.expect(201);
    assert_eq!(bed.get("/api/config/rings/").await.as_array().unwrap().len(), 1);
    assert_eq!(bed.get("/api/audit").await.as_array().unwrap().len(), 1);
    assert!(bed.get("/api/world").await["world"]["rings"].to_string().contains("deep"));
    bed.stop().await;
}

#[tokio::test]
async fn a_list_goes_on_behind_a_machine_that_was_removed() {
    let bed = Bed::start().await;
    for n in 0..6 {
        bed.post("/api/provisioning/machines/", json!({"hostname": format!("wk-{n}")})).await.expect(201);
    }
    let uuids = |page: Value| -> Vec<String> {
        page.as_array().unwrap().iter().map(|machine| machine["uuid"].as_str().unwrap().to_owned()).collect()
    };
    let all = uuids(bed.get("/api/provisioning/machines/").await);
    bed.call("DELETE", &format!("/api/provisioning/machines/{}", all[2]), json!({})).await.expect(204);
    let rest = uuids(bed.get(&format!("/api/provisioning/machines/?limit=2&after={}", all[2])).await);
    assert_eq!(rest, all[3..5]);
    bed.stop().await;
}

#[tokio::test]
async fn texts_and_spans_are_refused_by_name_where_they_are_beyond_use() {
    let bed = Bed::start().await;
    let machine = |node: &str| json!({"hostname": "ash", "node": node});
    for node in ["", "a\nb", "a\u{1b}[2J", &"n".repeat(101)] {
        let told = bed.post("/api/provisioning/machines/", machine(node)).await.expect(400);
        assert_eq!(told.text("field"), "node", "{node:?}");
    }
    let ring = |field: &str, value: Value| json!({"slug": "oak", field: value});
    let told = bed.post("/api/config/rings/", ring("name", json!("a\u{202e}b"))).await.expect(400);
    assert_eq!((told.text("field"), told.text("code")), ("name", "bad_text"));
    for field in ["min_settle_seconds", "stall_timeout_seconds"] {
        let body = json!({"slug": "oak", "max_in_flight": 1, field: u64::MAX});
        let told = bed.post("/api/config/rings/", body).await.expect(400);
        assert_eq!((told.text("field"), told.text("code")), (field, "span_too_long"));
    }
    assert_eq!(bed.get("/api/config/rings/").await, json!([]), "nothing was made");
    bed.stop().await;
}
