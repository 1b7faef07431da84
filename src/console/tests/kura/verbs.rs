//! Verbs on Kura: what is asked, what is refused and why, and what leaves.

use serde_json::json;

use super::super::super::effect::{Effect, Sealed};
use super::super::super::layer::Layer;
use super::bed::Bed;
use crate::domain::input::{Order, Verb};
use crate::domain::kura::server::MovePhase;
use crate::domain::kura::verb::KuraVerb;
use crate::domain::kura::workload::Progress;

/// One server on 0.19.0 whose deployment of 0.20.0 waits, and the console armed on its screen.
fn armed() -> Bed {
    let mut bed = Bed::serving(80, 24, &[("ash", "eu")]);
    bed.release("0.20.0");
    bed.agree();
    bed.pod("kura-ash-eu-0", |pod| pod.image = Some("0.19.0".to_owned()));
    bed.pass(60);
    let mut bed = bed.shown();
    bed.stage.arm();
    bed.stage.press("3");
    bed
}

fn sent(effects: &[Effect]) -> Option<Order> {
    effects.iter().find_map(|effect| match effect {
        Effect::SendOrder(sealed) => Some(Sealed::order(sealed).clone()),
        _ => None,
    })
}

fn says(bed: &Bed, text: &str) {
    let bare: String = bed.stage.screen().replace(['│', '╭', '╮', '╰', '╯', '─'], " ");
    let words = bare.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(text), "{text:?} is not on the screen:\n{}", bed.stage.screen());
}

fn verb(order: Option<Order>) -> KuraVerb {
    match order.map(|order| order.verb) {
        Some(Verb::Kura(verb)) => verb,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_forced_re_apply_takes_the_name_and_a_reason_and_says_what_it_takes_over() {
    // K24
    let mut bed = armed();
    bed.stage.press("u a");
    says(&bed, "Force a re-apply of ash-eu?");
    says(&bed, "the running deployment of 0.20.0 is superseded");
    says(&bed, "taking over fields of other managers");
    assert_eq!(sent(&bed.stage.press("enter")), None);
    bed.stage.type_text("ash-eu");
    bed.stage.press("enter");
    assert_eq!(sent(&bed.stage.press("enter")), None, "a reason is asked for");
    bed.stage.type_text("class edited");
    bed.stage.press("enter right");
    let order = sent(&bed.stage.press("enter")).unwrap();
    assert_eq!(order.reason.as_deref(), Some("class edited"));
    assert_eq!(verb(Some(order)), KuraVerb::ForceReapply { server: Bed::id("ash-eu") });
}

#[test]
fn unarmed_nothing_is_ordered_and_a_row_that_is_no_server_takes_no_verb_of_one() {
    let mut bed = Bed::serving(80, 24, &[("ash", "eu"), ("ash", "us")]).shown();
    bed.stage.press("3 u a");
    says(&bed, "verbs are not armed");
    bed.stage.arm();
    bed.stage.press("g u a");
    says(&bed, "select a Kura server first");
    bed.stage.press("x g");
    says(&bed, "select a gateway first");
    bed.stage.press("x f");
    says(&bed, "select a gateway or a server that is stuck in its deletion");
    assert!(bed.stage.model.layers.is_empty());
}

#[test]
fn an_older_tag_pins_the_server_and_takes_its_name_and_a_reason() {
    // K25
    let mut bed = armed();
    bed.stage.press("u d");
    says(&bed, "tag, the newest is 0.20.0:");
    bed.stage.type_text("0.18");
    says(&bed, "type a tag that was released, such as 0.20.0, 0.19.0");
    bed.stage.press("backspace backspace");
    bed.stage.type_text("19.0");
    says(&bed, "it stays on 0.19.0 until something newer than 0.20.0 is released");
    bed.stage.press("enter");
    bed.stage.type_text("ash-eu");
    bed.stage.press("enter");
    bed.stage.type_text("0.20.0 never gets Ready");
    bed.stage.press("enter right");
    let order = sent(&bed.stage.press("enter"));
    let wanted = KuraVerb::Deploy { server: Bed::id("ash-eu"), tag: "0.19.0".to_owned(), force: false };
    assert_eq!(verb(order), wanted);
}

#[test]
fn the_newest_tag_is_deployed_with_enter_and_one_that_is_open_already_is_refused() {
    // K24
    let mut bed = armed();
    bed.stage.press("u d");
    bed.stage.type_text("0.20.0");
    says(&bed, "a deployment of 0.20.0 to ash-eu is already open; use force to apply it again");
    assert_eq!(sent(&bed.stage.press("enter enter")), None);
    bed.stage.press("esc");
    bed.verb(KuraVerb::ReleaseTag { tag: "0.21.0".to_owned() });
    bed.stage.show();
    bed.stage.press("u d");
    bed.stage.type_text("0.21.0");
    says(&bed, "the running deployment of 0.20.0 is superseded");
    bed.stage.press("enter");
    let wanted = KuraVerb::Deploy { server: Bed::id("ash-eu"), tag: "0.21.0".to_owned(), force: false };
    assert_eq!(verb(sent(&bed.stage.press("enter"))), wanted);
}

#[test]
fn a_server_that_is_moved_or_taken_down_is_refused_with_the_reason() {
    // K13, K25
    let mut bed = armed();
    bed.move_server("ash-eu", MovePhase::MovingOut);
    bed.stage.show();
    for keys in ["u a", "u d"] {
        bed.stage.press(keys);
        says(&bed, "refused: ash-eu is being moved (moving_out)");
        assert!(bed.stage.model.layers.is_empty(), "{keys}");
    }
    bed.move_server("ash-eu", MovePhase::None);
    bed.verb(KuraVerb::DestroyServer { server: Bed::id("ash-eu") });
    bed.stage.show();
    bed.stage.press("u a");
    says(&bed, "refused: ash-eu is destroying");
}

#[test]
fn destroying_says_what_is_lost_and_that_it_ships_no_fix() {
    // K52, I11
    let mut bed = armed();
    let progress = Progress { text: "41 %".to_owned(), at: bed.stage.now };
    bed.sight.instances.rows.get_mut("kura-ash-eu").unwrap().progress = Some(progress);
    bed.sight.sets.rows.get_mut("kura-ash-eu").unwrap().claims_when_deleted =
        crate::domain::kura::workload::Retention::Delete;
    bed.pod("kura-ash-eu-0", |pod| pod.ready = false);
    bed.see();
    bed.stage.show();
    bed.stage.press("x d");
    says(&bed, "its data set is lost with its volumes: hours of cold bootstrap");
    says(&bed, "this is not a way to ship a fix");
    says(&bed, "it is progressing (41 %): deleting it throws that away");
    bed.stage.type_text("ash-e");
    assert_eq!(sent(&bed.stage.press("enter right enter")), None, "the name is not typed yet");
    bed.stage.press("esc x d");
    bed.stage.type_text("ash-eu");
    bed.stage.press("enter right");
    assert_eq!(verb(sent(&bed.stage.press("enter"))), KuraVerb::DestroyServer { server: Bed::id("ash-eu") });
}

#[test]
fn a_finalizer_takes_a_reason_and_another_gateway_of_the_same_name_takes_none_of_it() {
    // K42, K44
    let mut bed = armed();
    let stuck = |uid: &str| {
        json!({"stamp": {
            "uid": uid, "deleting_since": "2026-05-15T03:00:00Z", "finalizers": ["kuragateways.kura.tuist.dev/finalizer"],
        }})
    };
    bed.gateway("kgw-old", stuck("one"));
    bed.see();
    bed.stage.show();
    bed.stage.press("1 g");
    says(&bed, "GATEWAY kgw-old");
    bed.stage.press("x f");
    says(&bed, "kuragateways.kura.tuist.dev/finalizer is taken off kgw-old at the next tick");
    bed.stage.type_text("kgw-old");
    bed.stage.press("enter");
    bed.stage.type_text("its controller was removed in May");
    bed.gateway("kgw-old", stuck("another"));
    bed.see();
    bed.stage.show();
    says(&bed, "kgw-old is no longer listed");
    bed.stage.press("enter right");
    assert_eq!(sent(&bed.stage.press("enter")), None, "it is another one");
    bed.stage.press("esc 1 G g");
    bed.stage.press("x f");
    bed.stage.type_text("kgw-old");
    bed.stage.press("enter");
    bed.stage.type_text("its controller was removed in May");
    bed.stage.press("enter right");
    let finalizer = Some("kuragateways.kura.tuist.dev/finalizer".to_owned());
    let wanted = KuraVerb::StripFinalizer { name: "kgw-old".to_owned(), finalizer };
    assert_eq!(verb(sent(&bed.stage.press("enter"))), wanted);
}

#[test]
fn which_of_several_finalizers_is_meant_is_typed() {
    // K44
    let mut bed = armed();
    let stamp =
        json!({"deleting_since": "2026-05-15T03:00:00Z", "finalizers": ["gw.example/cleanup", "dns.example/a"]});
    bed.gateway("kgw-old", json!({"stamp": stamp}));
    bed.see();
    bed.stage.show();
    bed.stage.press("1 g x f");
    says(&bed, "which finalizer:");
    says(&bed, "type one of gw.example/cleanup, dns.example/a");
    bed.stage.type_text("dns.example/a");
    says(&bed, "dns.example/a is taken off kgw-old at the next tick");
    bed.stage.press("enter");
    bed.stage.type_text("kgw-old");
    bed.stage.press("enter");
    bed.stage.type_text("the DNS controller was removed in May");
    bed.stage.press("enter right");
    let finalizer = Some("dns.example/a".to_owned());
    let wanted = KuraVerb::StripFinalizer { name: "kgw-old".to_owned(), finalizer };
    assert_eq!(verb(sent(&bed.stage.press("enter"))), wanted);
}

#[test]
fn gateways_and_orphans_of_nobody_go_by_name_and_what_is_not_seen_is_not_ordered_on() {
    // K42, K45
    let mut bed = armed();
    bed.gateway("kgw-left-over", json!({}));
    bed.sight.instances.rows.extend([super::bed::row("kura-nobody-eu", json!({"spec": {"image": "0.18.4"}}))]);
    bed.see();
    bed.stage.show();
    for (keys, name, wanted) in [
        ("x g", "kgw-left-over", KuraVerb::DeleteGateway { name: "kgw-left-over".to_owned() }),
        ("x o", "kura-nobody-eu", KuraVerb::DeleteOrphan { name: "kura-nobody-eu".to_owned() }),
    ] {
        let mut bed = Bed { stage: bed.stage.clone(), sight: bed.sight.clone() };
        bed.stage.press("3 /");
        bed.stage.type_text(name);
        bed.stage.press("enter G");
        bed.stage.press(keys);
        bed.stage.type_text(name);
        bed.stage.press("enter right");
        assert_eq!(verb(sent(&bed.stage.press("enter"))), wanted, "{name}");
    }
    bed.stage.pass(100);
    bed.stage.show();
    bed.stage.press("3 u a");
    says(&bed, "instances stale for 1m 40s: nothing is ordered on what is not seen");
}

#[test]
fn a_tag_is_released_to_everybody_with_the_count_of_those_that_move() {
    // K8, K9
    let mut bed = armed();
    bed.stage.press("u t");
    bed.stage.type_text("0.19.0");
    says(&bed, "0.19.0 was released already");
    bed.stage.press("backspace backspace backspace backspace");
    bed.stage.type_text("21.0");
    says(&bed, "1 servers are brought to 0.21.0 with the next ticks");
    bed.stage.press("enter");
    bed.stage.type_text("acme");
    bed.stage.press("enter right");
    assert_eq!(verb(sent(&bed.stage.press("enter"))), KuraVerb::ReleaseTag { tag: "0.21.0".to_owned() });
    assert!(!matches!(bed.stage.model.layers.last(), Some(Layer::Dialog(_))));
}
