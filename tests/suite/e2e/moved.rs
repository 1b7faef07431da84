//! Verbs from the screen while somebody else is at work: a plan of yesterday is asked again, a line that is held ends
//! where it meets something new.

use reqwest::Method;
use serde_json::{Value, json};

use super::super::pty::driver::Driver;
use super::plane::Plane;
use super::proxy::{Fate, Proxy};

/// A fleet of one ring with one slot, a rollout whose first machine holds it, and a console that can be kept from
/// hearing what others do.
struct Stage {
    plane: Plane,
    proxy: Proxy,
    console: Driver,
    ring: String,
}

impl Stage {
    fn set(machines: usize) -> Self {
        let plane = Plane::start();
        plane.post("/api/config/environments/", &json!({"slug": "oak", "promotion_order": 1}));
        let ring = uuid(&plane.post("/api/config/rings/", &json!({"slug": "oak-ring", "max_in_flight": 1})));
        for n in 1..=machines {
            let body = json!({"hostname": format!("wk-{n}"), "environment": "oak", "ring": "oak-ring"});
            plane.post("/api/provisioning/machines/", &body);
        }
        let release = uuid(&plane.post("/api/config/releases/build-from-git", &json!({"git_ref": "v1"})));
        let start = json!({"config_release_uuid": release, "protected": true});
        let path = format!("/api/config/rollouts/{}", uuid(&plane.post("/api/config/rollouts/", &start)));
        plane.get_until(&path, "the environment opens", |rollout| rollout["current_environment"] == "oak");
        for machine in plane.get("/api/provisioning/machines/").as_array().expect("machines") {
            plane.poll(&uuid(machine));
        }
        let flows = |head: &str, _| if head.starts_with("get /api/changes") { Fate::Flow } else { Fate::Pass };
        let proxy = Proxy::before(plane.address(), flows);
        let mut console = plane.console("operator").env("KURA_CONSOLE_API", proxy.url()).size(120, 36).start();
        console.wait_for("has held its slot");
        console.send("a");
        console.wait_for("Arm verbs");
        console.send("a drill\r");
        console.wait_for("ARMED");
        console.send("2gj");
        console.wait_for("❯   ▾ oak-ring");
        Self { plane, proxy, console, ring }
    }

    fn ring(&self) -> Value {
        self.plane.get("/api/config/rings/")[0].clone()
    }

    fn call(&self, method: Method, path: &str) {
        let body = if method == Method::DELETE { Value::Null } else { json!({}) };
        let (status, said) = self.plane.call(method, path, &body);
        assert!((200..300).contains(&status), "{path}: {status} {said}");
    }

    /// Who holds the slot, then who waits in which order.
    fn line(&self) -> Vec<Value> {
        let rollout = uuid(&self.plane.get("/api/config/rollouts/")[0]);
        let status = self.plane.get(&format!("/api/config/rollouts/{rollout}/status"));
        let mut rows = status["machines"].as_array().expect("machines").clone();
        rows.sort_by_key(|row| row["queue_position"].as_u64());
        assert_eq!(rows[0]["holds_slot"], true, "{status:#}");
        rows
    }

    /// Of the rows that are paused now, the host names.
    fn paused(&self) -> Vec<String> {
        let machines = self.plane.get("/api/provisioning/machines/");
        let paused = machines.as_array().expect("machines").iter().filter(|machine| !machine["pause"].is_null());
        let mut names: Vec<String> = paused.map(name).collect();
        names.sort_unstable();
        names
    }
}

fn uuid(body: &Value) -> String {
    body["uuid"].as_str().unwrap_or_else(|| panic!("no uuid in {body}")).to_owned()
}

fn name(body: &Value) -> String {
    body["hostname"].as_str().unwrap_or_else(|| panic!("no hostname in {body}")).to_owned()
}

/// The value of a header of a request, in lower case.
fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

#[test]
fn a_plan_of_yesterday_comes_back_as_412_and_is_asked_again_on_the_screen() {
    let mut stage = Stage::set(2);
    stage.console.send("sc");
    stage.console.wait_for("Set the cap of ring oak-ring?");
    stage.console.send("2");
    stage.console.wait_for("hold a slot, not 1");

    stage.proxy.freeze();
    stage.call(Method::POST, &format!("/api/config/rings/{}/pause", stage.ring));
    stage.console.send("\r\r");
    let asked = stage.console.wait_for("it moved meanwhile, so nothing was done");
    for words in ["Set the cap of ring oak-ring?", "ring oak-ring was paused", "by owner", "[ set it ]"] {
        assert!(asked.contains(words), "{words}:\n{asked}");
    }
    assert_eq!(stage.ring()["max_in_flight"], 1, "nothing was done");

    stage.proxy.thaw();
    stage.console.wait_for("PAUSED");
    stage.console.send("\r");
    stage.console.wait_gone("Set the cap of ring oak-ring?");
    stage.plane.get_until("/api/config/rings/", "the cap", |rings| rings[0]["max_in_flight"] == 2);
    let orders = stage.proxy.orders();
    let (keys, plans): (Vec<_>, Vec<_>) =
        orders.iter().map(|head| (header(head, "idempotency-key"), header(head, "if-match"))).unzip();
    assert_eq!(orders.len(), 2, "{orders:#?}");
    assert!(keys[0].is_some() && keys[1].is_some() && keys[0] != keys[1], "a key press each: {keys:?}");
    assert!(plans[0].is_some() && plans[1].is_some() && plans[0] != plans[1], "a plan each: {plans:?}");
}

#[test]
fn a_line_is_held_from_its_end_and_the_holder_goes_on() {
    let mut stage = Stage::set(4);
    let line = stage.line();
    stage.console.send("xl");
    stage.console.wait_for("Hold the line of ring oak-ring?");
    stage.console.send("\r");
    stage.console.wait_for("the line of ring oak-ring is held");
    let orders = stage.proxy.orders();
    let expected: Vec<String> =
        line[1..].iter().rev().map(|row| format!("machines/{}/config-pause", uuid(row))).collect();
    assert_eq!(orders.len(), expected.len(), "{orders:#?}");
    for (order, expected) in orders.iter().zip(&expected) {
        assert!(order.lines().next().unwrap_or_default().contains(expected), "{expected}: {orders:#?}");
    }
    let mut waiting: Vec<String> = line[1..].iter().map(name).collect();
    waiting.sort_unstable();
    assert_eq!(stage.paused(), waiting);
    assert_eq!(stage.line()[0]["uuid"], line[0]["uuid"], "the holder keeps its slot");
}

/// Somebody else removes one of them while the screen does not hear of it.
#[test]
fn a_line_ends_at_the_first_that_fails_and_says_who_was_skipped() {
    let mut stage = Stage::set(4);
    let line = stage.line();
    let [head, middle, last] = [&line[1], &line[2], &line[3]];
    stage.console.send("xl");
    stage.console.wait_for("Hold the line of ring oak-ring?");
    stage.proxy.freeze();
    stage.call(Method::DELETE, &format!("/api/provisioning/machines/{}", uuid(middle)));
    stage.console.send("\r");
    let said = stage.console.wait_for(&format!("it stopped at {}", name(middle)));
    assert!(said.contains(&format!("skipped: {}; not tried: {}", name(last), name(head))), "{said}");
    assert_eq!(stage.paused(), [name(last)]);
    assert_eq!(stage.proxy.orders().len(), 2, "nobody after it was tried");
}
