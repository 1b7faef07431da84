//! The list: groups, folds, the filter, the order, and how one gets to a row of it.

use super::super::super::effect::Effect;
use super::super::super::facts::Node;
use super::super::super::kura::Part;
use super::super::super::model::{Screen, Subject};
use super::bed::{Bed, group, server};
use crate::domain::kura::server::MovePhase;

const FOUR: [(&str, &str); 4] = [("ash", "eu"), ("birch", "eu"), ("ash", "us"), ("birch", "us")];

fn names(bed: &Bed) -> Vec<String> {
    let facts = &bed.stage.model.facts.kura;
    bed.stage.model.kura.rows.iter().filter_map(|part| facts.name(*part)).map(str::to_owned).collect()
}

#[test]
fn servers_stand_under_their_region_and_what_is_wrong_comes_first() {
    let mut bed = Bed::serving(80, 24, &FOUR);
    bed.release("0.20.0");
    bed.agree();
    bed.pod("kura-birch-us-0", |pod| pod.ready = false);
    bed.pod("kura-birch-us-1", |pod| pod.ready = false);
    bed.pass(60);
    let mut bed = bed.shown();
    bed.stage.press("3");
    assert_eq!(names(&bed), ["eu", "ash-eu", "birch-eu", "us", "birch-us", "ash-us"]);
    assert_eq!(bed.stage.model.shown(), Subject::Node(server("birch-us")), "it begins where something is wrong");
    bed.stage.press("left");
    assert_eq!(bed.stage.model.shown(), Subject::Node(group("region", "us")));
    bed.stage.press("left");
    assert_eq!(names(&bed), ["eu", "ash-eu", "birch-eu", "us"]);
    bed.stage.press("space right");
    assert_eq!(bed.stage.model.shown(), Subject::Node(server("birch-us")));
}

#[test]
fn many_servers_on_one_dead_node_are_one_row_until_somebody_looks() {
    // I8
    let many: Vec<String> = (0..22).map(|n| format!("t{n:02}")).collect();
    let servers: Vec<(&str, &str)> = many.iter().map(|tenant| (tenant.as_str(), "eu")).collect();
    let mut bed = Bed::serving(80, 24, &servers);
    let pods: Vec<String> = many.iter().flat_map(|t| (0..2).map(move |n| format!("kura-{t}-eu-{n}"))).collect();
    bed.dead_node("oak-7", &pods.iter().map(String::as_str).collect::<Vec<_>>());
    bed.pass(900);
    let mut bed = bed.shown();
    let needs = bed.needs();
    assert_eq!(needs.len(), 1, "{needs:?}");
    assert!(needs[0].2.contains("22 servers stand on it alone: one incident"), "{needs:?}");
    assert!(bed.words().contains("kubectl") || bed.words().contains("mend the node"), "{}", bed.stage.screen());
    bed.stage.press("3");
    assert_eq!(names(&bed), ["oak-7"]);
    bed.stage.press("enter");
    assert_eq!(names(&bed).len(), 23);
}

#[test]
fn the_list_is_narrowed_by_what_an_operator_asks_for() {
    let mut bed = Bed::serving(80, 24, &FOUR);
    bed.release("0.20.0");
    bed.agree();
    bed.pod("kura-ash-us-1", |pod| pod.image = Some("0.19.0".to_owned()));
    bed.pass(3_600);
    let mut bed = bed.shown();
    bed.stage.press("3");
    let cases: [(&str, &[&str]); 8] = [
        ("tenant=ash !region=us", &["eu", "ash-eu"]),
        ("wait=pods", &["us", "ash-us"]),
        ("waits>30m", &["us", "ash-us"]),
        ("waits>2h", &[]),
        ("old", &["us", "ash-us"]),
        ("state=active tag=0.20.0 birch", &["eu", "birch-eu", "us", "birch-us"]),
        ("superseded>0", &[]),
        ("drift", &[]),
    ];
    for (filter, wanted) in cases {
        bed.stage.press("/");
        bed.stage.type_text(filter);
        assert_eq!(names(&bed), wanted, "{filter}");
        bed.stage.press("esc");
        assert_eq!(names(&bed).len(), 6);
    }
    bed.stage.press("/");
    bed.stage.type_text("cpu=9");
    assert!(bed.stage.screen().contains("cpu= is not known"), "{}", bed.stage.screen());
    assert_eq!(names(&bed).len(), 0, "what was read last counts");
}

#[test]
fn the_longest_wait_and_the_most_superseded_can_be_put_on_top() {
    // I4 (K20)
    let mut bed = Bed::serving(80, 24, &FOUR);
    bed.move_server("ash-eu", MovePhase::MovingIn);
    for tag in ["0.20.0", "0.20.1", "0.20.2", "0.20.3"] {
        bed.release(tag);
        bed.agree();
        bed.pod("kura-birch-us-1", |pod| pod.ready = false);
        bed.pod("kura-birch-us-0", |pod| pod.ready = false);
        bed.pass(600);
    }
    let mut bed = bed.shown();
    bed.stage.press("3 o o o o o o o o");
    assert!(bed.stage.screen().contains("servers sorted by superseded"), "{}", bed.stage.screen());
    assert_eq!(names(&bed)[0], "birch-us");
    assert_eq!(names(&bed).len(), 4, "no headings in the order of a column");
    bed.stage.press("O");
    assert_eq!(names(&bed)[3], "birch-us");
    assert!(bed.words().contains("moving in"), "a deferral shows: {}", bed.stage.screen());
}

#[test]
fn from_a_need_one_gets_to_its_row_whatever_is_folded_or_filtered() {
    let mut bed = Bed::serving(80, 24, &FOUR);
    bed.release("0.20.0");
    bed.agree();
    for (tenant, region) in FOUR {
        bed.pod(&format!("kura-{tenant}-{region}-1"), |pod| pod.image = Some("0.19.0".to_owned()));
    }
    bed.pass(7_200);
    let mut bed = bed.shown();
    assert!(bed.words().contains("STUCK 4 servers wait for their pods on 0.20.0"), "{}", bed.stage.screen());
    bed.stage.press("enter");
    assert_eq!((bed.stage.model.screen, names(&bed).len()), (Screen::Kura, 6));
    assert!(bed.stage.screen().contains("/tag=0.20.0 wait=workload_not_ready"), "{}", bed.stage.screen());
    bed.stage.press("esc esc");
    assert_eq!(bed.stage.model.screen, Screen::Now);
}

#[test]
fn commands_are_copied_one_after_the_other_with_their_context() {
    let mut bed = Bed::serving(80, 24, &FOUR);
    bed.release("0.20.0");
    bed.agree();
    let host = "ash-us.kura.tuist.dev".to_owned();
    bed.probe(&host, |probe| probe.dns = crate::domain::kura::traffic::Dns::NxDomain);
    bed.pass(3_600);
    let mut bed = bed.shown();
    bed.stage.press("3");
    let copied = |effects: Vec<Effect>| match effects.as_slice() {
        [Effect::Copy(text)] => text.clone(),
        other => panic!("{other:?}"),
    };
    let first = copied(bed.stage.press("C"));
    let second = copied(bed.stage.press("C"));
    let third = copied(bed.stage.press("C"));
    assert_eq!(first, "dig +short ash-us.kura.tuist.dev");
    assert!(second.starts_with("kubectl --context oak -n kura patch kurainstance kura-ash-us"), "{second}");
    assert!(third.starts_with("kubectl --context oak -n kura delete kurainstance kura-ash-us"), "{third}");
    assert_eq!(copied(bed.stage.press("C")), first);
    assert_eq!(copied(bed.stage.press("c")), Bed::id("ash-us").0.to_string());
    bed.stage.model.setup.context = None;
    bed.stage.press("C");
    assert!(copied(bed.stage.press("C")).contains("--context CONTEXT"), "no cluster is meant by default");
    bed.stage.press("3 g");
    assert!(matches!(bed.stage.model.shown(), Subject::Node(Node::Kura(Part::Group(_)))));
    assert!(bed.stage.press("C").is_empty());
}
