//! The audit over HTTP: every verb once, done or refused, in pages, as a chain that holds.

use kura_console::domain::audit::Auditor;
use kura_console::server::tokens::TokenRole;
use kura_console::wire::audit::AuditRow;
use serde_json::{Value, json};

use super::bed::{Bed, row};

fn rows(body: Value) -> Vec<AuditRow> {
    serde_json::from_value(body).unwrap()
}

#[tokio::test]
async fn who_did_what_and_why_with_the_plan_of_that_moment() {
    let bed = Bed::start().await;
    let ring = json!({"name": "oak-ring", "max_in_flight": 1, "failure_count_threshold": 1});
    let fleet = bed.fleet(ring, &["ash", "birch"]).await;
    let (v1, v2) = (bed.release("v1").await, bed.release("v2").await);
    let rollout = bed.roll(&v1).await;
    bed.until(&rollout, "the environment opens", |s| s["current_environment"] == "oak").await;
    let holder = fleet.machines.iter().find(|_| true).unwrap().clone();
    let mut held = None;
    for machine in &fleet.machines {
        if bed.poll(machine).await["assignment"] != Value::Null {
            held = Some(machine.clone());
        }
    }
    let held = held.unwrap_or(holder);
    let name = row(&bed.status(&rollout).await, &held)["hostname"].as_str().unwrap().to_owned();
    let before = rows(bed.get("/api/audit?limit=1000").await).len();

    let skip = format!("/api/provisioning/machines/{held}/config-pause");
    bed.call_as(TokenRole::Operator, "POST", &skip, json!({"reason": "disk is dying"})).await.expect(200);
    bed.post("/api/config/rollouts/", json!({"config_release_uuid": v2})).await.expect(409);

    let all = rows(bed.get("/api/audit?limit=1000").await);
    let [skipped, refused] = &all[before..] else { panic!("two more: {all:#?}") };
    assert_eq!((skipped.by.as_str(), &skipped.link.target), ("operator", &vec![format!("machine {name}")]));
    let told = json!(skipped);
    assert_eq!((&told["cause"]["name"], &told["cause"]["reason"]), (&json!("pause-machine"), &json!("disk is dying")));
    assert_eq!(told["fate"]["kind"], "done");
    let plan = skipped.link.plan.join("\n");
    assert!(plan.contains(&format!("{name} gives back its slot")), "{plan}");
    let told = json!(refused);
    assert_eq!((&told["cause"]["name"], &told["fate"]["code"]), (&json!("start"), &json!("protected")));

    let mut auditor = Auditor::default();
    all.iter().for_each(|row| auditor.take_link(&row.entry()).unwrap());
    assert_eq!(json!(auditor.head()), bed.get("/api/world").await["world"]["audit"], "it is the whole chain");
    bed.stop().await;
}

#[tokio::test]
async fn it_comes_in_pages_and_only_to_people() {
    let bed = Bed::start().await;
    let fleet = bed.fleet(json!({"name": "oak-ring"}), &["ash"]).await;
    let all = rows(bed.get("/api/audit").await);
    assert!(all.len() >= 3, "{all:#?}");
    let (mut paged, mut after) = (Vec::new(), 0);
    loop {
        let page = rows(bed.get(&format!("/api/audit?after={after}&limit=1")).await);
        let Some(last) = page.last() else { break };
        assert_eq!(page.len(), 1);
        after = last.revision;
        paged.extend(page);
    }
    assert_eq!(paged, all);
    let (mut back, mut before) = (Vec::new(), u64::MAX);
    loop {
        let page = rows(bed.get(&format!("/api/audit?before={before}&limit=2")).await);
        let Some(first) = page.first() else { break };
        assert!(page.len() <= 2 && page.is_sorted_by_key(|row| row.revision));
        before = first.revision;
        back.splice(0..0, page);
    }
    assert_eq!(back, all, "from its end");
    assert_eq!(bed.call("GET", "/api/audit?before=9&after=1", Value::Null).await.expect(422).text("field"), "before");
    bed.call_as(TokenRole::Viewer, "GET", "/api/audit", Value::Null).await.expect(200);
    bed.agent(&fleet.machines[0], "GET", "/api/audit", Value::Null).await.expect(403);
    assert_eq!(bed.call("GET", "/api/audit?since=1", Value::Null).await.expect(422).text("field"), "since");
    bed.stop().await;
}
