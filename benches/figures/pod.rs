//! The whole way of a pod's change: from before the request to a real API server, through a control plane that follows it,
//! to the bytes on the terminal of an attached console that shows 5,000 servers.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use kura_console::adapters::journal::sqlite::journal::SqliteJournal;
use kura_console::control::ports::{Batch, Journal};
use kura_console::domain::change::Change;
use kura_console::domain::ids::{AccountId, RolloutId, ServerId};
use kura_console::domain::input::Input;
use kura_console::domain::kura::change::KuraChange;
use kura_console::domain::kura::object::FIELD_MANAGER;
use kura_console::domain::kura::render::render;
use kura_console::domain::kura::server::{Server, ServerSpec, ServerStatus};
use kura_console::domain::world::World;
use tokio::runtime::Runtime;

use super::attached::{ACCOUNT, JOURNAL, Plane, launch};
use super::cluster::Cluster;
use super::crowd::{Crowd, REGION, tenant};
use super::driver::Driver;
use super::memory::print_resident;
use super::{print_spread, timed};

const SERVERS: u32 = 5_000;

const PODS_PER_SERVER: u32 = 3;

/// Changes, of the pods of the server that is selected: whatever happens, its row stays where it is. A pod is not Ready any
/// more, and is Ready again, and then it is the turn of the next one.
const CHANGES: u32 = 200;

/// Between two changes: nothing of one is under way when the next begins.
const REST: Duration = Duration::from_millis(300);

/// Before memory is looked at: what was needed on the way is given back.
const SETTLES: Duration = Duration::from_secs(5);

/// How long all of it may take to be there, and a change to be seen.
const PATIENCE: Duration = Duration::from_secs(300);

const NAMESPACE: &str = "big";

const TAG: &str = "0.20.0";

/// Facts that are appended at once.
const AT_ONCE: usize = 500;

pub(super) fn to_screen() {
    let runtime = Runtime::new().expect("a runtime");
    let Some(cluster) = runtime.block_on(Cluster::start("figures")) else {
        println!("pod-to-screen: no programs of a cluster: tests/envtest/provision brings them");
        return;
    };
    let now = Timestamp::UNIX_EPOCH;
    let servers: Vec<Server> = (0..SERVERS).map(|n| serving(n, now)).collect();
    let crowd = runtime.block_on(async {
        cluster.define().await;
        let manifest = |n: u32| render(&servers[n as usize], TAG).instance.clone();
        let size = (SERVERS, SERVERS * PODS_PER_SERVER);
        Crowd::make(&cluster, NAMESPACE, size, (FIELD_MANAGER, manifest)).await.expect("a crowd")
    });
    let folder = tempfile::tempdir().expect("a folder");
    runtime.block_on(write_down(&folder.path().join(JOURNAL), servers, now));
    let kubeconfig = cluster.admin_config();
    let kubeconfig = kubeconfig.to_str().expect("a path");
    let flags = ["--kubeconfig", kubeconfig, "--namespace", NAMESPACE, "--kura-account", ACCOUNT];
    let plane = Plane::start(folder.path(), &flags);
    let mut console = launch(&plane.api, (120, 36));
    console.wait_for("live");
    console.send("3");
    console
        .wait_until("every pod is Ready", PATIENCE, |screen| unready(screen) == 0 && screen.contents().contains("3/3"));
    console.bytes_during(SETTLES);
    print_both("once every pod is shown", &plane, &console);
    let api = cluster.admin();
    let times = (0..CHANGES).map(|n| {
        let (pod, ready) = (n / 2 % PODS_PER_SERVER * SERVERS, n % 2 == 1);
        console.bytes_during(REST);
        timed(|| {
            std::thread::scope(|scope| {
                let request = scope.spawn(|| runtime.block_on(crowd.turn(&api, pod, ready)));
                await_change(&mut console, ready);
                request.join().expect("a request").expect("a change");
            });
        })
    });
    print_spread("from before the change of a pod to the screen, 5,000 servers, 15,000 pods", times.collect());
    console.bytes_during(SETTLES);
    print_both("after those changes", &plane, &console);
}

/// The memory of either process, 5,000 instances and 15,000 pods in it.
fn print_both(when: &str, plane: &Plane, console: &Driver) {
    print_resident(&format!("serve, {when}"), plane.pid());
    print_resident(&format!("the attached console, {when}"), console.pid().as_raw_nonzero().get().unsigned_abs());
}

/// The row of the server says how many of its pods are Ready.
fn await_change(console: &mut Driver, ready: bool) {
    let wanted = usize::from(!ready);
    console.wait_until("the change", PATIENCE, |screen| unready(screen) == wanted);
}

/// Servers on the screen one of whose pods is not Ready.
fn unready(screen: &vt100::Screen) -> usize {
    screen.contents().matches("2/3").count()
}

/// A server as it is long after it came to serve. It has no public endpoint, since nobody would answer there.
fn serving(n: u32, now: Timestamp) -> Server {
    let (name, tag) = (tenant(n), Some(TAG.to_owned()));
    let repository = Some("ghcr.io/tuist/kura".to_owned());
    let spec =
        ServerSpec { replicas: PODS_PER_SERVER, private: true, image_repository: repository, ..ServerSpec::default() };
    Server {
        spec: spec.into(),
        status: ServerStatus::Active,
        current_image_tag: tag.clone(),
        observed_image_tag: tag,
        ..Server::new(ServerId::named(&name), &name, REGION, now)
    }
}

/// A journal in which all of them were added.
async fn write_down(path: &Path, servers: Vec<Server>, now: Timestamp) {
    let (journal, mut world) = (SqliteJournal::open(path).await.expect("a journal"), World::default());
    let released = KuraChange::TagReleased { tag: TAG.to_owned() };
    let added = servers.into_iter().map(|server| KuraChange::ServerAdded { server: Box::new(server) });
    let changes: Vec<Change> = [released].into_iter().chain(added).map(|one| Change::Kura(Box::new(one))).collect();
    let author = Input::Tick { fresh: RolloutId::named("unused") }.author(&world, "bench");
    for some in changes.chunks(AT_ONCE) {
        let (expected, entries) = (world.revision, author.entries(&world, some, now));
        entries.iter().for_each(|entry| world.apply(entry));
        let batch = Batch { account: AccountId::named(ACCOUNT), expected, epoch: None, entries };
        journal.append(batch).await.expect("facts are kept");
    }
    journal.close().await.expect("a journal");
}
