//! What the control plane has not at hand any more, over HTTP: read from the journal page by page, and said to be gone
//! once it is.

use kura_console::domain::ids::AccountId;
use reqwest::Method;
use serde_json::{Value, json};

use super::bed::{Bed, MemoryHost, tell, within};

const ROLLS: &str = "/api/rolls/";

/// More than the World keeps.
const MANY_ROLLS: usize = 25;

/// More than the World keeps.
const MANY_DEPLOYMENTS: usize = 60;

/// Rolls that were begun and stopped, oldest first, each of a revision of its own.
async fn rolled(bed: &Bed<MemoryHost>) -> Vec<Value> {
    let mut made = Vec::new();
    for n in 0..MANY_ROLLS {
        let body = json!({
            "project": "kernel", "target": "fleet", "image": "kernel:1", "revision": format!("farm{n:02}"),
            "canary": "wk-1", "nodes": ["wk-2", "wk-3"], "boot": {"containers": [{"name": "b", "image": "o/b"}]},
        });
        let roll = bed.post(ROLLS, body).await.expect(201).body;
        let abort = format!("{ROLLS}{}/abort", roll["uuid"].as_str().unwrap());
        made.push(bed.post(&abort, json!({"reason": format!("drill {n}")})).await.expect(200).body);
    }
    made
}

/// A server that was deployed to again and again; the path of its deployments.
async fn deployed(bed: &Bed<MemoryHost>) -> String {
    let made = bed.post("/api/kura/servers/", json!({"tenant": "acme", "region": "eu"})).await.expect(201).body;
    let path = format!("/api/kura/servers/{}", made["id"].as_str().unwrap());
    bed.post("/api/kura/runtime-tags/", json!({"tag": "0.20.0"})).await.expect(201);
    let scheduled = within(async { while bed.get(&path).await["deployment"].is_null() {} });
    assert!(scheduled.await.is_some(), "a tick schedules it");
    for n in 1..MANY_DEPLOYMENTS {
        bed.post(&format!("{path}/force-reapply"), json!({"reason": format!("drill {n}")})).await.expect(201);
    }
    format!("{path}/deployments")
}

/// Page by page, as the `Link` header leads; and what is said where it leads to nothing.
async fn followed(bed: &Bed<MemoryHost>, path: &str) -> (Vec<Value>, Option<Value>) {
    let (mut all, mut next) = (Vec::new(), Some(path.to_owned()));
    while let Some(path) = next {
        let request = bed.request(Method::GET, &path).bearer_auth(bed.token(super::bed::OWNER));
        let told = tell(request.send().await.unwrap()).await;
        if told.status != 200 {
            return (all, Some(told.body));
        }
        all.extend(told.body.as_array().unwrap().iter().cloned());
        let link = told.headers.get("link").map(|link| link.to_str().unwrap().to_owned());
        next = link.map(|link| link.split(['<', '>']).nth(1).unwrap().to_owned());
        assert!(next.as_ref() != Some(&path), "it goes on");
    }
    (all, None)
}

#[tokio::test]
async fn a_roll_the_world_forgot_is_shown_and_listed_from_the_journal() {
    // F57
    let bed = Bed::start().await;
    let made = rolled(&bed).await;
    let held = bed.get("/api/world").await["world"]["rolls"]["rolls"].as_array().unwrap().len();
    assert!(held < MANY_ROLLS, "there is nothing to forget: {held}");
    for roll in [&made[0], &made[MANY_ROLLS - 1]] {
        let path = format!("{ROLLS}{}", roll["uuid"].as_str().unwrap());
        for path in [path.clone(), format!("{path}?whole=true")] {
            assert_eq!(bed.get(&path).await, *roll, "{path}");
        }
    }
    assert_eq!(made[0]["reason"], "aborted by owner: drill 0");
    for limit in [1, 7, 100] {
        let (listed, gone) = followed(&bed, &format!("{ROLLS}?limit={limit}")).await;
        assert_eq!((listed.iter().rev().cloned().collect::<Vec<_>>(), gone), (made.clone(), None), "by {limit}");
    }
    let stranger = "00000000-0000-0000-0000-000000000000";
    assert_eq!(bed.call("GET", &format!("{ROLLS}{stranger}"), Value::Null).await.expect(404).text("code"), "no_roll");
    let unknown = bed.call("GET", &format!("{ROLLS}?after={stranger}"), Value::Null).await.expect(404);
    assert_eq!(unknown.text("field"), "after");
    bed.stop().await;
}

#[tokio::test]
async fn of_a_roll_whose_entries_are_gone_that_is_said_and_not_that_it_never_was() {
    // F57
    let bed = Bed::start().await;
    let made = rolled(&bed).await;
    bed.host.journal.forget(AccountId::named("default"), 9);
    // Those the World holds need no journal.
    let last = &made[MANY_ROLLS - 1];
    assert_eq!(&bed.get(&format!("{ROLLS}{}", last["uuid"].as_str().unwrap())).await, last);
    let (listed, gone) = followed(&bed, &format!("{ROLLS}?limit=7")).await;
    assert!(listed.len() < MANY_ROLLS && listed[0] == *last, "{listed:#?}");
    // A journal in memory keeps no links behind its entries: there nobody knows that there were more.
    assert_eq!(gone, None);
    bed.stop().await;
}

#[tokio::test]
async fn deployments_the_world_forgot_are_listed_from_the_journal() {
    // K7
    let bed = Bed::start().await;
    let path = deployed(&bed).await;
    let held = bed.get(&format!("{path}?limit=1000")).await.as_array().unwrap().len();
    assert!(held < MANY_DEPLOYMENTS, "there is nothing to forget: {held}");
    for limit in [1, 7, 50, 1_000] {
        let (listed, gone) = followed(&bed, &format!("{path}?limit={limit}")).await;
        assert_eq!(gone, None);
        let reasons: Vec<&Value> = listed.iter().rev().map(|row| &row["reason"]).collect();
        let first = std::iter::once(Value::Null);
        let expected: Vec<Value> = first.chain((1..MANY_DEPLOYMENTS).map(|n| json!(format!("drill {n}")))).collect();
        assert_eq!(reasons, expected.iter().collect::<Vec<_>>(), "by {limit}");
        let [open, older @ ..] = &listed[..] else { panic!("none") };
        assert!(open["finished_at"].is_null(), "{open}");
        // How each of them ended stands behind the entry that opened the next one.
        let ended = |row: &Value| row["status"] == "superseded" && row["displaced_by"] == "0.20.0";
        assert!(older.iter().all(|row| ended(row) && row["finished_at"].is_string()), "by {limit}: {older:#?}");
    }
    let (all, _) = followed(&bed, &format!("{path}?limit=1000")).await;
    let last = all[MANY_DEPLOYMENTS - 1]["id"].as_str().unwrap();
    let after = all[MANY_DEPLOYMENTS - 4]["id"].as_str().unwrap();
    let rest = bed.get(&format!("{path}?after={after}")).await;
    assert_eq!((rest.as_array().unwrap().len(), &rest[2]["id"]), (3, &json!(last)), "without a revision as well");
    let stranger = "00000000-0000-0000-0000-000000000000";
    let unknown = bed.call("GET", &format!("{path}?after={stranger}"), Value::Null).await.expect(404);
    assert_eq!((unknown.text("code"), unknown.text("field")), ("no_deployment", "after"));
    bed.stop().await;
}

#[tokio::test]
async fn of_deployments_whose_entries_are_gone_their_number_is_said() {
    // K7
    let bed = Bed::start().await;
    let path = deployed(&bed).await;
    bed.host.journal.forget(AccountId::named("default"), 5);
    let (listed, gone) = followed(&bed, &format!("{path}?limit=30")).await;
    let gone = gone.expect("it is said");
    assert_eq!(listed.len(), 50, "those at hand");
    assert_eq!(
        (&gone["status"], &gone["code"], &gone["detail"]),
        (
            &json!(410),
            &json!("archived"),
            &json!("10 deployments of acme-eu are older than what the journal keeps; export before you compact")
        )
    );
    bed.stop().await;
}
