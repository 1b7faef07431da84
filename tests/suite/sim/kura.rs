//! Kura servers on the real loop: crashes between decision and write, rivals on one journal, faults in between.

use kura_console::control::service::Settings;
use kura_console::domain::ids::ServerId;
use kura_console::domain::input::{Order, Verb};
use kura_console::domain::kura::deployment::DeploymentStatus;
use kura_console::domain::kura::object::ObjectKind;
use kura_console::domain::kura::verb::KuraVerb;
use kura_console::sim::cluster::objects::Written;
use kura_console::sim::journal::JournalFault;
use kura_console::sim::script::Cue;
use kura_console::sim::stage::{Stage, Ties};

use super::bed::{at, seconds, stage};

const INSTANCE: &str = "kura-acme-eu";

fn order(verb: KuraVerb) -> Order {
    Order { verb: Verb::Kura(verb), by: "op-a".to_owned(), reason: None, key: None }
}

fn release(stage: &mut Stage, second: u64, tag: &str) {
    let release = KuraVerb::ReleaseTag { tag: tag.to_owned() };
    stage.script().add(at(second), Cue::Orders(vec![order(release)]));
}

/// A server that serves 1.0.0 with two pods, of which one is broken for good, at 200 s.
fn serving(seed: u64, ties: Ties) -> Stage {
    let mut stage = stage(seed, ties);
    stage.outside().cluster.with(|objects| (objects.is_connected, objects.until) = (true, at(0)));
    let (tenant, region, id) = ("acme".to_owned(), "eu".to_owned(), ServerId::named("acme"));
    let add = KuraVerb::AddServer { id, tenant, tenant_id: None, region, cluster_id: None, spec: Box::default() };
    stage.script().add(at(1), Cue::Orders(vec![order(add)]));
    release(&mut stage, 2, "1.0.0");
    stage.advance_to(at(200)).unwrap();
    assert_eq!(tag(&stage).as_deref(), Some("1.0.0"), "seed {seed}");
    stage.outside().cluster.with(|objects| {
        let pod = objects.pods.get_mut("kura-acme-eu-1").unwrap();
        (pod.pod.ready, pod.is_set) = (false, true);
    });
    stage
}

fn tag(stage: &Stage) -> Option<String> {
    stage.world().kura.servers[&ServerId::named("acme")].current_image_tag.clone()
}

fn written(stage: &Stage) -> Vec<Written> {
    stage.outside().cluster.with(|objects| objects.written.clone())
}

/// What must hold however it came about: the newest tag serves, no volume and no Ready pod was touched, and the broken
/// pod went once.
fn assert_converged(stage: &Stage, what: &str) {
    assert_eq!(tag(stage).as_deref(), Some("1.1.0"), "{what}");
    let rows = stage.world().kura.servers[&ServerId::named("acme")].deployments.clone();
    let statuses: Vec<DeploymentStatus> = rows.iter().map(|row| row.status).collect();
    assert_eq!(statuses, [DeploymentStatus::Succeeded, DeploymentStatus::Succeeded], "{what}");
    let writes = written(stage);
    let pods: Vec<&str> =
        writes.iter().filter(|one| one.kind == ObjectKind::Pod).map(|one| one.name.as_str()).collect();
    assert_eq!(pods, ["kura-acme-eu-1"], "{what}");
    assert!(writes.iter().all(|one| [ObjectKind::Pod, ObjectKind::KuraInstance].contains(&one.kind)), "{what}");
}

#[test]
fn a_crash_at_any_step_between_a_decision_and_its_write_loses_nothing() {
    // K23, K35, K40
    // Must fail once a verb or a tick keeps its steps anywhere but in what can be derived again.
    let mut mended = 0;
    for steps in 0..48 {
        let mut stage = serving(steps, Ties::InOrder);
        release(&mut stage, 230, "1.1.0");
        stage.advance_to(at(231)).unwrap();
        let before = written(&stage).len();
        stage.crash("server", steps);
        stage.advance_to(at(250)).unwrap();
        let after = written(&stage).len() - before;
        mended += usize::from(after > 0 && after < 2);
        stage.start_process("second", Settings::default());
        stage.advance_to(at(700)).unwrap();
        assert_converged(&stage, &format!("crashed after {steps} steps"));
        let applies = written(&stage).iter().filter(|one| one.verb == "apply").count();
        assert!(applies <= 3, "the first install, the release, and at most one that was not recorded: {applies}");
    }
    assert!(mended > 0, "some crash lies between the apply and what follows from it");
}

#[test]
fn rivals_and_faults_of_the_journal_never_apply_an_older_tag_over_a_newer_one() {
    // K9, K10 (A02)
    let faults = [JournalFault::Conflict, JournalFault::Error, JournalFault::LostAnswer];
    for seed in 0..24 {
        let mut stage = serving(seed, Ties::Shuffled);
        stage.start_process("second", Settings::default());
        release(&mut stage, 230, "1.1.0");
        stage.advance_to(at(236)).unwrap();
        let account = stage.account();
        stage.outside().journal.fail_next(account, faults[usize::try_from(seed % 3).unwrap()]);
        if seed.is_multiple_of(2) {
            stage.freeze("server");
            stage.advance_to(at(330)).unwrap();
            stage.thaw("server");
        }
        release(&mut stage, 400, "1.0.9");
        stage.advance_to(at(900)).unwrap();
        assert_converged(&stage, &format!("seed {seed}"));
        let late = written(&stage).into_iter().filter(|one| one.name == INSTANCE && seconds(one.at) > 400).count();
        assert_eq!(late, 0, "seed {seed}: a back-port is applied by nobody");
    }
}
