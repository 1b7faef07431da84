//! Clients pass over what they do not know: every answer is read although each of its objects has a field more.

use std::fs;
use std::path::Path;

use kura_console::adapters::remote::replica::Replica;
use kura_console::adapters::remote::stream::Parser;
use kura_console::wire::account::AccountBody;
use kura_console::wire::agent::{Filed, PollAnswer};
use kura_console::wire::environment::EnvironmentBody;
use kura_console::wire::explain::ExplanationBody;
use kura_console::wire::machine::MachineBody;
use kura_console::wire::plan::PlanBody;
use kura_console::wire::problem::ProblemBody;
use kura_console::wire::process::{ReadyBody, SeatBody, VersionBody};
use kura_console::wire::release::ReleaseBody;
use kura_console::wire::result::ResultBody;
use kura_console::wire::ring::RingBody;
use kura_console::wire::rollout::RolloutBody;
use kura_console::wire::status::StatusBody;
use kura_console::wire::world::WorldBody;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn golden(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/wire").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Objects whose keys are names of the reader's own, so that one more of them is a thing more, not a field more.
const NAMED_BY_USERS: [&str; 8] =
    ["config_values", "halted_rings", "last_poll", "first_success", "slots_by_ring", "failures", "answer", "nodes"];

/// The same with a field more in every object.
fn more(value: Value, name: &str) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(|item| more(item, name)).collect(),
        Value::Object(fields) => {
            let is_map = NAMED_BY_USERS.contains(&name);
            let mut fields: serde_json::Map<String, Value> =
                fields.into_iter().map(|(name, value)| (name.clone(), more(value, &name))).collect();
            if !is_map {
                fields.insert("of_a_later_version".to_owned(), json!({"x": [1, null]}));
            }
            Value::Object(fields)
        }
        other => other,
    }
}

fn reads<T: DeserializeOwned + Serialize>(name: &str) {
    let text = golden(&format!("{name}.json"));
    let known: T = serde_json::from_str(&text).unwrap();
    let later = more(serde_json::from_str(&text).unwrap(), "");
    assert!(later.to_string().contains("of_a_later_version"), "{name}");
    let read: T = serde_json::from_value(later).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(serde_json::to_value(read).unwrap(), serde_json::to_value(known).unwrap(), "{name}");
}

#[test]
fn every_answer_is_read_although_it_says_more_than_we_know() {
    reads::<AccountBody>("account");
    reads::<EnvironmentBody>("environment");
    reads::<RingBody>("ring");
    reads::<Vec<MachineBody>>("machines");
    reads::<ReleaseBody>("release");
    reads::<RolloutBody>("rollout");
    reads::<StatusBody>("status-halted");
    reads::<ResultBody>("apply-result");
    reads::<ExplanationBody>("explanation");
    reads::<PollAnswer>("poll-assignment");
    reads::<Filed>("filed");
    reads::<PlanBody>("plan-reset");
    reads::<ProblemBody>("problem-moved");
    reads::<SeatBody>("seat");
    reads::<VersionBody>("version");
    reads::<ReadyBody>("ready");
}

#[test]
fn a_replica_passes_over_frames_and_fields_it_does_not_know() {
    let mut loaded: Value = serde_json::from_str(&golden("world.json")).unwrap();
    loaded["of_a_later_version"] = json!(1);
    loaded["world"]["of_a_later_version"] = json!({});
    loaded["seat"]["of_a_later_version"] = json!([]);
    let loaded: WorldBody = serde_json::from_value(loaded).unwrap();
    let mut replica = Replica::load(loaded);
    let before = replica.world.clone();
    let frames = "event: weather\ndata: {\"rain\": true}\n\n: heartbeat\n\nretry: 5\n\n";
    for frame in Parser::default().push(frames.as_bytes()).unwrap() {
        replica.fold(&frame).unwrap();
    }
    assert_eq!(replica.world, before);
}
