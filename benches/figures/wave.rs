//! An uncapped wave over 10,000 machines, served by the real desk on an SQLite journal with synchronous FULL.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::iter;
use kura_console::adapters::clock::SystemClock;
use kura_console::app::host::ServerHost;
use kura_console::control::host::Host;
use kura_console::control::ports::Vault;
use kura_console::control::service::{Service, Settings};
use kura_console::domain::fleet::ConfigValues;
use kura_console::domain::ids::{AccountId, EnvironmentId, MachineId, ReleaseId, RingId, RolloutId};
use kura_console::domain::input::{Input, Order, RingPatch, Verb};
use kura_console::domain::release::Contract;
use kura_console::domain::span::Seconds;

use super::timed;

/// Machines in the wave.
const MACHINES: usize = 10_000;

/// Polls that wait for an answer at the same time.
const AT_ONCE: usize = 1_000;

type Fleet = Service<ServerHost>;

pub(super) fn of_10_000() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("kura.db");
        let host = ServerHost::without_cluster(&path, SystemClock::start(), "bench".into()).await.expect("a journal");
        let (service, loops) = Service::new(Arc::new(host), AccountId::named("bench"), Settings::default());
        loops.into_iter().for_each(|part| drop(tokio::spawn(part.future)));
        service.door.ready().await.expect("a loaded journal");
        build(&service).await;
        let handle = tokio::runtime::Handle::current();
        let taken = tokio::task::block_in_place(|| timed(|| handle.block_on(serve_everybody(&service))));
        println!("an uncapped wave over {MACHINES} machines served on SQLite FULL: {:.2} s", taken.as_secs_f64());
    });
}

async fn build(service: &Fleet) {
    let content = service.host().vault().keep(b"{}".to_vec()).await.expect("a content");
    give(
        service,
        Verb::CreateEnvironment {
            id: EnvironmentId::named("all"),
            slug: "all".into(),
            name: "all".into(),
            promotion_order: Some(1),
            config_values: ConfigValues::new(),
        },
    )
    .await;
    give(service, Verb::CreateRing { id: RingId::named("all"), slug: "all".into(), settings: RingPatch::default() })
        .await;
    iter(0..MACHINES).for_each_concurrent(AT_ONCE, |n| give(service, join(n))).await;
    give(
        service,
        Verb::PublishRelease {
            id: ReleaseId::named("v1"),
            git_ref: "v1".into(),
            commit: "v1".into(),
            engine: "saltstack".into(),
            timeout_seconds: Seconds(0),
            notes: String::new(),
            target_version: None,
            content,
            contract: Contract::default(),
        },
    )
    .await;
    let (id, release) = (RolloutId::named("r1"), ReleaseId::named("v1"));
    give(service, Verb::Start { id, release, protected: Some(true), force: false, intent: None }).await;
}

fn join(n: usize) -> Verb {
    Verb::AddMachine {
        id: machine(n),
        hostname: format!("m{n}"),
        node: None,
        environment: Some(EnvironmentId::named("all")),
        ring: Some(RingId::named("all")),
        bucket: None,
    }
}

fn machine(n: usize) -> MachineId {
    MachineId::named(&format!("m{n}"))
}

async fn give(service: &Fleet, verb: Verb) {
    let order = Order { verb, by: "bench".into(), reason: None, key: None };
    service.door.ask(Input::Verb(order)).await.expect("an answer");
}

async fn serve_everybody(service: &Fleet) {
    let polls = iter(0..MACHINES).map(|n| service.desk.poll(machine(n), None, Duration::ZERO));
    let answers = polls.buffer_unordered(AT_ONCE).collect::<Vec<_>>().await;
    let served = answers.iter().filter(|a| a.as_ref().is_ok_and(|a| a.assignment.is_some())).count();
    assert_eq!(served, MACHINES, "everybody is served");
}
