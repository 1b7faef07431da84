//! A world that is sketched from a status reads as the status did, whatever the status says.

use jiff::Timestamp;
use kura_console::adapters::remote::basic::memory::Memory;
use kura_console::adapters::remote::basic::reading::{Catalog, Progress, watched};
use kura_console::adapters::remote::basic::sketch::{Sketch, sketch};
use kura_console::app::actors::Actors;
use kura_console::control::link::Link;
use kura_console::control::local::Introduction;
use kura_console::control::picture::{Picture, Role};
use kura_console::domain::explain::{Subject, told};
use kura_console::domain::ids::{MachineId, RolloutId};
use kura_console::domain::invariants::broken;
use kura_console::domain::span::Seconds;
use kura_console::sim::presets::{KEPT, Kept};
use kura_console::sim::scenario::run::Run;
use kura_console::wire::environment::EnvironmentBody;
use kura_console::wire::ring::RingBody;
use kura_console::wire::status::{StatusBody, status};
use kura_console::wire::told::StatusTold;
use serde_json::{Value, json};

/// What the runbook shows of a row.
const ROW: [&str; 9] =
    ["hostname", "uuid", "environment", "ring", "bucket", "eligible", "state", "holds_slot", "queue_position"];

/// What it shows beside the rows.
const TOP: [&str; 6] = ["machines", "halted_rings", "stall_reason", "holding_slots", "settling", "blocking"];

fn opening() -> Timestamp {
    "2026-11-03T03:12:00Z".parse().unwrap()
}

/// What a console sees of a kept world when it opens, and after a while.
fn seen(kept: &Kept) -> [(Picture, Timestamp); 2] {
    let mut run: Run<Actors> = kept.begin(opening(), Actors::usual().unwrap()).unwrap();
    let introduction = Introduction { endpoint: "demo".to_owned(), account: kept.name(), role: Role::Operator };
    let (link, painter) = run.link(introduction).unwrap();
    run.advance_to(opening()).unwrap();
    run.go_live(painter).unwrap();
    let first = link.pictures().borrow().clone();
    let later = Seconds(700).after(opening());
    run.advance_to(later).unwrap();
    let second = link.pictures().borrow().clone();
    [(first, opening()), (second, later)]
}

fn only(body: &Value, fields: &[&str]) -> Value {
    let kept = fields.iter().map(|field| ((*field).to_owned(), body[*field].clone()));
    Value::Object(kept.collect())
}

/// A status with nothing in it but what the runbook shows.
fn runbooks(body: &StatusBody) -> Value {
    let mut bare = only(&json!(body), &TOP);
    let rows = json!(body.machines.iter().map(|row| only(&json!(row), &ROW)).collect::<Vec<_>>());
    bare["machines"] = rows;
    bare
}

fn catalog(picture: &Picture, listed: bool) -> Catalog {
    let world = &picture.world;
    let environments = world.environments.values().map(|tier| json!(EnvironmentBody::from(tier)));
    let rings = world.rings.values().map(|ring| json!(RingBody::from(ring)));
    let read = |bodies: Vec<Value>| listed.then_some(Value::Array(bodies));
    let account = json!({"auto_deploy": false, "track_config_tags": false});
    Catalog {
        account: serde_json::from_value(account).unwrap(),
        environments: read(environments.collect()).map(|body| serde_json::from_value(body).unwrap()),
        rings: read(rings.collect()).map(|body| serde_json::from_value(body).unwrap()),
        releases: None,
        rollouts: None,
        named: None,
    }
}

fn sketched(picture: &Picture, body: &Value, listed: bool, now: Timestamp) -> Sketch {
    let known = catalog(picture, listed);
    let status: StatusTold = serde_json::from_value(body.clone()).unwrap();
    let rollout = watched(&known, picture.world.current().map(|rollout| rollout.id)).unwrap();
    let mut memory = Memory::default();
    sketch(&known, Some(&Progress { rollout, status }), &mut memory, now)
}

fn told_again(sketch: &Sketch, rollout: RolloutId, now: Timestamp) -> Value {
    let known = sketch.world.rollout(rollout).unwrap();
    runbooks(&status(&sketch.world, &sketch.observed, known, now, usize::MAX))
}

#[test]
fn every_row_of_every_kept_world_reads_as_it_was_told() {
    let mut states = std::collections::BTreeSet::new();
    for kept in &KEPT {
        for (picture, now) in seen(kept) {
            let rollout = picture.world.current().unwrap();
            let body = runbooks(&status(&picture.world, &picture.observed, rollout, now, usize::MAX));
            for listed in [true, false] {
                let sketch = sketched(&picture, &body, listed, now);
                let again = told_again(&sketch, rollout.id, now);
                assert_eq!(again["machines"], body["machines"], "{} listed: {listed}", kept.name());
                assert_eq!(again["halted_rings"], body["halted_rings"], "{}", kept.name());
                assert_eq!(again["holding_slots"], body["holding_slots"], "{}", kept.name());
            }
            states.extend(body["machines"].as_array().unwrap().iter().map(|row| row["state"].to_string()));
        }
    }
    assert_eq!(states.len(), 7, "every state of the runbook came by: {states:?}");
}

#[test]
fn why_the_cursor_stands_is_said_in_the_control_planes_own_words() {
    for kept in &KEPT {
        let (picture, now) = seen(kept)[0].clone();
        let rollout = picture.world.current().unwrap();
        let body = runbooks(&status(&picture.world, &picture.observed, rollout, now, usize::MAX));
        let Some(reason) = body["stall_reason"].as_str() else { continue };
        let Sketch { world, observed, glimpse, .. } = sketched(&picture, &body, true, now);
        assert_eq!(told(&world, &observed, &glimpse, Subject::Rollout, now).sentence, reason, "{}", kept.name());
    }
}

#[test]
fn an_age_that_is_not_told_is_a_lower_bound_and_says_so() {
    let (picture, now) = seen(&KEPT[0])[0].clone();
    let rollout = picture.world.current().unwrap();
    let body = runbooks(&status(&picture.world, &picture.observed, rollout, now, usize::MAX));
    let holder = body["machines"].as_array().unwrap().iter().find(|row| row["holds_slot"] == true).unwrap();
    let holder = MachineId(holder["uuid"].as_str().unwrap().parse().unwrap());
    let Sketch { world, observed, glimpse, .. } = sketched(&picture, &body, true, now);
    let later = Seconds(65).after(now);
    let said = told(&world, &observed, &glimpse, Subject::Machine(holder), later).sentence;
    assert!(said.contains("holds a slot for at least 1m 5s"), "{said}");
    assert!(!glimpse.tells_times && glimpse.lacks.iter().any(|lack| lack.contains("since when slots are held")));
    assert_eq!(broken(&world), Vec::<String>::new());
}
