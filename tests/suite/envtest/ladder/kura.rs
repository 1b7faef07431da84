//! A Kura deployment that is on its way when its control plane dies.

use serde_json::{Value, json};

use super::super::served::bed::INSTANCE;
use super::night::{Night, REASON};
use crate::e2e::screen::{A_WHILE, take_the_seat};

/// Nothing but a kubeconfig of somebody who has a name in the cluster: the deployment is carried to its end, what went away
/// is made again, what was edited is put right, a verb is by whom the cluster names, and the control plane has the seat back.
#[test]
fn a_deployment_is_carried_to_its_end_by_a_console_and_drift_is_healed() {
    // K24, K26, K32, R28, R54
    let Some(mut night) = Night::falls() else { return };
    let (server, up) = (night.served.server(), night.served.up());
    let history = format!("{server}/deployments");
    night.served.release("0.20.0");
    let first = night.served.applied("0.20.0");
    night.served.begin("0.20.0");
    night.served.plane.get_until(&history, "it runs", |rows| rows[0]["status"] == "running");
    let ann = night.served.lease.cluster.introduce("ann", &["system:masters"]);
    let mut console = night.console(&ann);
    console.wait_for("fallback ready");

    night.served.plane.kill();
    night.served.runtime.block_on(night.served.api.delete(&night.served.path())).done();
    console.wait_for("STANDING BY");
    let [page, question] = take_the_seat(&mut console, REASON);
    for said in [&page, &question] {
        assert!(said.contains(&format!("apply KuraInstance {INSTANCE}")), "what its first tick writes: {said}");
    }

    let anew = |object: &Value| {
        let uid = &object["metadata"]["uid"];
        uid.is_string() && *uid != first["metadata"]["uid"] && object["spec"]["image"] == first["spec"]["image"]
    };
    let made = night.served.instance("an instance that went away is made again", anew);
    night.served.finish("0.20.0", up);
    console.send("3");
    console.wait_until("it serves 0.20.0", A_WHILE, |screen| screen.contents().contains("1/1 serve"));

    // What somebody took off is put right by itself; over what somebody else has made his own it takes a person.
    night.served.edit(&json!({"metadata": {"annotations": null}, "spec": {"storageSize": null}}));
    let healed =
        night.served.instance("what was edited is put right", |object| object["spec"]["storageSize"] == "20Gi");
    assert_eq!(healed["metadata"]["uid"], made["metadata"]["uid"]);
    night.served.edit(&json!({"spec": {"storageSize": "999Gi"}}));
    console.wait_for("edited");
    console.send("ua");
    console.wait_for("Force a re-apply of acme-eu-central?");
    console.send("acme-eu-central\r");
    console.send("mine\r");
    console.send("\x1b[C\r");
    night.served.instance("force takes the field over", |object| object["spec"]["storageSize"] == "20Gi");

    night.ends(console);
    let closed = |rows: &Value| rows[0]["status"] == "succeeded";
    let rows = night.served.plane.get_until(&history, "what was forced is over", closed);
    let told = |row: &Value| [row["status"].clone(), row["image_tag"].clone(), row["requested_by"].clone()];
    let told: Vec<[Value; 3]> = rows.as_array().expect("rows").iter().map(told).collect();
    let row = |by: &str| ["succeeded", "0.20.0", by].map(Value::from);
    assert_eq!(told, [row("ann"), row("scheduler")], "{rows:#}");
    assert_eq!(night.story(), [["ann", "force-reapply", "mine"].map(str::to_owned)]);
}
