//! Destroying servers, orphans, and what a person asks to be taken away (K45, K51, K52).

use super::rig::{Rig, facts};
use crate::domain::ids::ServerId;
use crate::domain::input::Verb;
use crate::domain::kura::change::KuraChange;
use crate::domain::kura::deployment::DeploymentStatus;
use crate::domain::kura::object::MANAGED_BY_LABEL;
use crate::domain::kura::orphans::{Direction, orphans};
use crate::domain::kura::server::ServerStatus;
use crate::domain::kura::step::{Outcome, Ran};
use crate::domain::kura::verb::KuraVerb;
use crate::domain::kura::workload::{Progress, Retention};
use crate::domain::observed::Observed;
use crate::domain::plan::plan;

fn destroy() -> KuraVerb {
    KuraVerb::DestroyServer { server: ServerId::named("acme") }
}

#[test]
fn a_destroyed_server_takes_its_instance_and_only_its_gateways_with_it() {
    // K51
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    rig.put_gateway("kgw-acme-eu", "acme");
    rig.put_gateway("kgw-other-eu", "other");
    rig.tick();
    rig.verb(destroy());
    let server = rig.server("acme");
    assert_eq!(
        (server.status, server.deployments.last().unwrap().status),
        (ServerStatus::Destroying, DeploymentStatus::Cancelled)
    );
    rig.steps.clear();
    rig.reconcile();
    rig.reconcile();
    assert_eq!(rig.written(), ["delete KuraInstance kura-acme-eu", "delete KuraGateway kgw-acme-eu"]);
    assert_eq!(rig.server("acme").status, ServerStatus::Destroyed);
    assert_eq!(rig.server("acme").url, None);
    assert!(rig.tick().changes.is_empty());
}

#[test]
fn a_gateway_of_a_destroyed_server_that_somebody_else_stands_on_stays() {
    // K51, K42
    let mut rig = Rig::serving(&[], "0.19.0");
    rig.add("other");
    rig.settle();
    rig.put_gateway("kgw-acme-eu", "acme");
    rig.render_otherwise("other", "ingressClassName", "kgw-acme-eu");
    rig.reconcile();
    rig.verb(destroy());
    rig.steps.clear();
    rig.reconcile();
    rig.reconcile();
    assert_eq!(rig.written(), ["delete KuraInstance kura-acme-eu"]);
    assert_eq!(rig.server("acme").status, ServerStatus::Destroyed);
}

#[test]
fn a_destroy_waits_until_everything_is_gone_and_is_asked_for_once() {
    // K51, K44
    let mut rig = Rig::serving(&[], "0.19.0");
    rig.put_gateway("kgw-acme-eu", "acme");
    rig.verb(destroy());
    let (since, finalizers) = (rig.now, vec!["kurainstances.kura.tuist.dev/finalizer".to_owned()]);
    let live = rig.live("acme");
    (live.stamp.deleting_since, live.stamp.finalizers) = (Some(since), finalizers);
    rig.reconcile();
    assert!(rig.steps.is_empty(), "stuck: nothing is deleted again");
    assert_eq!(rig.server("acme").status, ServerStatus::Destroying);
    rig.sight.instances.rows.clear();
    rig.sight.gateways.rows.get_mut("kgw-acme-eu").unwrap().stamp.deleting_since = Some(since);
    rig.reconcile();
    assert_eq!(rig.server("acme").status, ServerStatus::Destroying, "its gateway is still there");
    rig.sight.gateways.rows.clear();
    rig.reconcile();
    assert_eq!(rig.server("acme").status, ServerStatus::Destroyed);
}

#[test]
fn the_plan_of_a_destroy_says_what_is_lost_and_that_it_ships_no_fix() {
    // K52 (I11)
    let mut rig = Rig::serving(&[], "0.19.0");
    rig.pod("kura-acme-eu", 1, "0.19.0", false);
    let text = |rig: &Rig| {
        let observed = Observed { cluster: Some(rig.sight.clone()), ..Observed::starting_at(rig.now) };
        let plan = plan(&Verb::Kura(destroy()), &rig.world, &observed, "jane", rig.now);
        plan.lines.into_iter().map(|line| line.text).collect::<Vec<_>>().join("\n")
    };
    let said = text(&rig);
    assert!(said.contains("hours of cold bootstrap") && said.contains("not a way to ship a fix"), "{said}");
    assert!(!said.contains("progressing"));
    rig.sight.sets.rows.get_mut("kura-acme-eu").unwrap().claims_when_deleted = Retention::Retain;
    let at = rig.now;
    rig.live("acme").progress = Some(Progress { text: "43 % of 1.2 TB".to_owned(), at });
    let said = text(&rig);
    assert!(said.contains("its volumes are kept") && said.contains("progressing (43 % of 1.2 TB)"), "{said}");
    rig.pass_time(15 * 60);
    assert!(!text(&rig).contains("progressing"), "it has not moved for long");
}

#[test]
fn orphans_are_listed_in_both_directions_and_never_deleted_by_themselves() {
    // K45
    let mut rig = Rig::serving(&[], "0.19.0");
    rig.add("absent");
    rig.release("0.19.1");
    rig.tick();
    for (name, by) in [("kura-nobody-eu", None), ("kura-theirs-eu", Some("other-plane"))] {
        let mut live = rig.live("acme").clone();
        live.stamp.name = name.to_owned();
        let labels = by.map(|by| (MANAGED_BY_LABEL.to_owned(), by.to_owned()));
        live.stamp.labels = labels.into_iter().collect();
        rig.sight.instances.rows.insert(name.to_owned(), live);
    }
    let found = orphans(&rig.world.kura, &rig.sight, rig.now);
    let found: Vec<(Direction, &str)> = found.iter().map(|one| (one.direction, one.name.as_str())).collect();
    let expected =
        [(Direction::InstanceWithoutRow, "kura-nobody-eu"), (Direction::RowWithoutInstance, "kura-absent-eu")];
    assert_eq!(found, expected);
    rig.reconcile();
    assert!(rig.sight.instances.get("kura-nobody-eu").is_some());
    rig.pass_time(90);
    assert!(orphans(&rig.world.kura, &rig.sight, rig.now).is_empty(), "a stale reading makes nobody an orphan");
}

#[test]
fn a_server_that_was_never_to_run_anything_has_no_missing_half_and_one_that_leaves_none_either() {
    // K45
    let mut rig = Rig::new(&[]);
    rig.add("acme");
    rig.tick();
    let found = |rig: &Rig| orphans(&rig.world.kura, &rig.sight, rig.now);
    assert!(found(&rig).is_empty(), "nothing was released: {:?}", found(&rig));
    rig.release("0.19.0");
    rig.tick();
    let missing = found(&rig);
    assert_eq!(missing.len(), 1, "it is to run now: {missing:?}");
    assert_eq!(missing[0].direction, Direction::RowWithoutInstance);
    rig.settle();
    rig.verb(destroy());
    assert!(found(&rig).is_empty(), "its instance is still its own");
    rig.sight.instances.rows.clear();
    assert!(found(&rig).is_empty(), "and it is gone because somebody wanted that");
}

#[test]
fn a_person_deletes_an_orphan_and_nothing_that_is_claimed() {
    // K45
    let mut rig = Rig::serving(&[], "0.19.0");
    let mut live = rig.live("acme").clone();
    live.stamp.name = "kura-nobody-eu".to_owned();
    rig.sight.instances.rows.insert("kura-nobody-eu".to_owned(), live);
    let delete = |name: &str| KuraVerb::DeleteOrphan { name: name.to_owned() };
    assert_eq!(rig.refused(delete("kura-acme-eu")), "not_an_orphan");
    assert_eq!(rig.refused(delete("kura-gone-eu")), "not_there");
    rig.verb(delete("kura-nobody-eu"));
    assert!(facts_of_verb_again(&mut rig, delete("kura-nobody-eu")), "asked for twice is asked for once");
    rig.reconcile();
    assert_eq!(rig.written(), ["delete KuraInstance kura-nobody-eu"]);
    rig.pass_time(90);
    assert_eq!(rig.refused(delete("kura-nobody-eu")), "unseen");
}

fn facts_of_verb_again(rig: &mut Rig, verb: KuraVerb) -> bool {
    let before = rig.world.kura.clone();
    rig.verb(verb);
    rig.world.kura == before
}

#[test]
fn what_was_asked_for_is_done_to_that_very_object_or_not_at_all() {
    // K44
    let mut rig = Rig::serving(&[], "0.19.0");
    rig.put_gateway("kgw-x", "stranger");
    rig.verb(KuraVerb::DeleteGateway { name: "kgw-x".to_owned() });
    rig.put_gateway("kgw-x", "stranger");
    rig.reconcile();
    assert!(rig.steps.is_empty() && rig.world.kura.asked.is_empty(), "another one of that name");
    rig.verb(KuraVerb::DeleteGateway { name: "kgw-x".to_owned() });
    let step = rig.tick().steps.remove(0);
    rig.tell(vec![Ran { step: step.clone(), outcome: Outcome::Failed { why: "timeout".to_owned() } }]);
    assert_eq!(rig.world.kura.asked.len(), 1, "tried again with the next tick");
    let verdict = rig.tell(vec![Ran { step, outcome: Outcome::Forbidden { why: "no".to_owned() } }]);
    let told = facts(&verdict);
    assert!(matches!(told[0], KuraChange::AskedDone { trouble: Some(why), .. } if why == "forbidden: no"));
    assert!(rig.world.kura.asked.is_empty());
}
