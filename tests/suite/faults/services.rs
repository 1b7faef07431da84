//! What journals live in is killed and started again under load: nothing that was acknowledged is lost, nothing is done
//! twice.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::e2e::plane::Plane;
use super::super::journal::beds::Postgres;
use super::frozen::{CHAPTER, ticks};
use super::ground::Ground;
use super::judge::judge;
use super::load::{Fleet, Load};

/// How often the journal is read anew before the seat has to be where it says.
const LOOKS_MAX: usize = 10;

/// A database server of this test alone.
struct Server {
    home: PathBuf,
    url: String,
}

impl Server {
    fn start() -> Self {
        let home = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("target/postgres-{}", std::process::id()));
        let told = provision(&home, &[]);
        let url = told.lines().find_map(|line| line.strip_prefix("export KURA_CONSOLE_TEST_POSTGRES="));
        Self { url: url.expect("it says where it is").to_owned(), home }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        provision(&self.home, &["--stop"]);
        let _ = std::fs::remove_dir_all(&self.home);
    }
}

fn provision(home: &Path, flags: &[&str]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/postgres/provision");
    let output = Command::new(script).args(flags).env("KURA_TEST_POSTGRES_HOME", home).output().expect("the script");
    assert!(output.status.success(), "{flags:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Two control planes and what happens beneath them, again and again, in the middle of what they do.
fn through(url: &str, happenings: impl IntoIterator<Item = impl FnOnce()>) {
    let one = Plane::on(url);
    ticks(&one, 1);
    let fleet = Fleet::lay(&one);
    let two = one.elsewhere();
    let load = Load::on(&fleet, &[&one, &two]);
    load.goes_on(CHAPTER);
    for happens in happenings {
        happens();
        load.goes_on(CHAPTER);
    }
    let story = load.end();
    let mut judged = judge(one.folder(), url, &story);
    assert!(judged.grants > 0 && story.reports > 0 && story.unsure.is_empty(), "{story:?}");
    for _ in 0..LOOKS_MAX {
        let holder = one.get("/api/seat")["holder"].clone();
        if holder.as_str() == judged.holders.last().map(String::as_str) {
            return;
        }
        // On a busy machine it may go on after the journal was read, and is told a little later to who did not take it.
        judged = judge(one.folder(), url, &story);
    }
    panic!("the seat is not where the journal says: {:?}", judged.holders);
}

#[test]
fn a_database_that_is_restarted_and_killed_under_load_loses_and_repeats_nothing() {
    if Postgres::server().is_none() {
        return;
    }
    let server = Server::start();
    let flags = ["--restart", "--kill", "--restart", "--kill"];
    through(&server.url, flags.map(|flag| || drop(provision(&server.home, &[flag]))));
}

#[test]
fn an_api_server_and_an_etcd_that_are_killed_under_load_lose_and_repeat_nothing() {
    // A20
    let Some(ground) = Ground::cluster("killed") else { return };
    let (cluster, runtime) = (ground.programs(), &ground.runtime);
    let api_server = || {
        cluster.kill_api_server();
        runtime.block_on(cluster.restart_api_server());
    };
    let etcd = || {
        cluster.kill_etcd();
        runtime.block_on(cluster.restart_etcd());
    };
    let both = || {
        cluster.kill_api_server();
        cluster.kill_etcd();
        runtime.block_on(async {
            cluster.start_etcd();
            cluster.restart_api_server().await;
        });
    };
    let happenings: [Box<dyn FnOnce() + '_>; 4] =
        [Box::new(api_server), Box::new(etcd), Box::new(both), Box::new(etcd)];
    through(&ground.url, happenings);
}
