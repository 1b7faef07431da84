//! Releases as they are shown one by one.

use serde_json::json;

use super::bed::{Bed, UNGUARDED};

#[tokio::test]
async fn one_release_is_shown_with_what_its_states_promise() {
    // R155, R156, R158, R162
    let bed = Bed::start().await;
    let (unguarded, plain) = (bed.release(UNGUARDED).await, bed.release("v1").await);
    let shown = bed.get(&format!("/api/config/releases/{unguarded}")).await;
    assert_eq!(shown["git_ref"], UNGUARDED);
    let checks: Vec<_> = shown["checks"].as_array().unwrap().iter().map(|c| (&c["id"], &c["grade"])).collect();
    let expected = [("guards", "fail"), ("uncordon", "warn"), ("order", "fail"), ("drain-server", "warn")];
    assert_eq!(json!(checks), json!(expected));
    assert!(shown["checks"][0]["hint"].as_str().unwrap().contains("onlyif"));
    let shown = bed.get(&format!("/api/config/releases/{plain}")).await;
    assert_eq!(shown["checks"], json!([]), "it touches no node");
}
