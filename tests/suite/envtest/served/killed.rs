//! A control plane that is killed between a promise and its keeping.

use serde_json::{Value, json};

use super::bed::Served;

/// The intent is in the journal before anybody is told, and what is done for it is fenced: whoever comes next does what is
/// left, once.
#[test]
fn what_was_promised_before_a_kill_is_done_after_it_and_nothing_is_doubled() {
    // K10, K24
    let Some(mut served) = Served::start() else { return };
    let server = served.server();
    let history = format!("{server}/deployments");
    let mut uid = None;
    for tag in ["0.20.0", "0.21.0"] {
        served.release(tag);
        served.plane.kill();
        served.plane.start_again();
        let object = served.applied(tag);
        let seen = object["metadata"]["uid"].clone();
        assert_eq!(*uid.get_or_insert(seen.clone()), seen, "the object is the same one all along");
    }
    served.plane.post(&format!("{server}/force-reapply"), &json!({"reason": "once"}));
    served.plane.kill();
    served.plane.start_again();
    let runs = |rows: &Value| rows[0]["status"] == "running" && rows[0]["manifest_revision"].is_string();
    let rows = served.plane.get_until(&history, "the forced one is applied", runs);
    let text = |row: &Value, field: &str| row[field].as_str().unwrap_or_default().to_owned();
    let told: Vec<(String, String)> =
        rows.as_array().expect("rows").iter().map(|row| (text(row, "image_tag"), text(row, "status"))).collect();
    let expected = [("0.21.0", "running"), ("0.21.0", "superseded"), ("0.20.0", "superseded")];
    assert_eq!(told, expected.map(|(tag, status)| (tag.to_owned(), status.to_owned())));
    let object = served.applied("0.21.0");
    assert_eq!(object["metadata"]["generation"], 2, "each tag was written once: {object:#}");
}
