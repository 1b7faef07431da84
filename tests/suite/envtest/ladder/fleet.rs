//! A fleet roll that waits at its gate when its control plane dies.

use jiff::SignedDuration;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::super::host::Steered;
use super::super::rolls::fleet::Fleet;
use super::super::served::rights::introduce;
use super::night::{Night, REASON};
use crate::e2e::screen::{A_WHILE, take_the_seat};

/// The console is started when the control plane is dead already, with the rights that `manifests` prints.
#[test]
fn a_gate_is_approved_by_key_at_a_console_that_carries_on() {
    // F15, F41, F54, R28
    let Some(mut night) = Night::falls() else { return };
    let raised = Fleet::raise(&night.served.lease, 2, Steered::ahead(SignedDuration::ZERO));
    let fleet = night.served.runtime.block_on(raised);
    let (spec, other) = (fleet.spec(), fleet.node(2).to_owned());
    let new = json!({
        "project": "kernel", "target": "fleet", "image": "kernel:1", "revision": "abc123",
        "canary": spec.canary, "nodes": spec.nodes, "boot": spec.boot, "soak_seconds": 1, "reason": "test",
    });
    night.served.plane.get_until("/api/nodes/", "the nodes are seen", |rows| rows.to_string().contains(&other));
    let made = night.served.plane.post("/api/rolls/", &new);
    let roll = format!("/api/rolls/{}", made["uuid"].as_str().expect("a uuid"));
    night.served.plane.get_until(&roll, "it waits at its gate", |body| body["state"] == "awaiting");
    let rights = ["--fleet-rolls", "--journal", "kubernetes"];
    let config = Runtime::new().expect("a runtime").block_on(introduce(&night.served.lease, &rights));

    night.served.plane.kill();
    let mut console = night.console(&config);
    console.wait_for("STANDING BY");
    take_the_seat(&mut console, REASON);
    console.send("4");
    console.wait_for("waiting on canary gate");
    console.send("ug");
    let asked = console.wait_for("Approve the gate of kernel/fleet?");
    assert!(asked.contains("the canary gate opens"), "{asked}");
    console.send("kernel/fleet\r\x1b[C\r");
    console.wait_gone("Approve the gate");
    console.wait_until("it goes through", A_WHILE, |screen| screen.contents().contains("succeeded"));
    assert_eq!([1, 2].map(|number| fleet.boots(fleet.node(number))), [1, 1]);
    let none_left = async || fleet.own().await.is_empty();
    night.served.runtime.block_on(night.served.lease.cluster.until("nothing is left", none_left));

    night.ends(console);
    let done = night.served.plane.get(&roll);
    assert_eq!((&done["state"], done["troubles"].as_array().map_or(0, Vec::len)), (&Value::from("succeeded"), 0));
    let by = format!("system:serviceaccount:{}:kura-console", night.served.lease.namespace);
    assert_eq!(done["approvals"][0]["by"], *by, "{done:#}");
    assert_eq!(night.story(), [[by, "approve".to_owned(), REASON.to_owned()]]);
}
