//! The cluster an account's things are in: none is taken for it before there is anything (A19).

use super::rig::Rig;
use crate::domain::kura::sight::{ClusterIdentity, Sight};
use crate::domain::kura::verb::KuraVerb;

fn identity(uid: Option<&str>) -> Option<ClusterIdentity> {
    Some(ClusterIdentity { uid: uid.map(str::to_owned), ..ClusterIdentity::default() })
}

fn home(rig: &Rig) -> Option<&str> {
    rig.world.kura.home.as_ref().map(|home| home.uid.as_str())
}

#[test]
fn a_cluster_is_home_from_the_first_thing_on_and_not_before() {
    // K27 (A19)
    let mut rig = Rig::new(&["0.19.0"]);
    rig.sight.identity = identity(Some("u-1"));
    rig.tick();
    assert_eq!(home(&rig), None, "whoever has nothing is nowhere: the next cluster is as good");
    rig.add("acme");
    rig.sight.identity = identity(None);
    rig.tick();
    assert_eq!(home(&rig), None, "it does not say which one it is");
    rig.sight.identity = identity(Some("u-2"));
    rig.tick();
    assert_eq!(home(&rig), Some("u-2"));
    rig.sight.identity = identity(Some("u-3"));
    rig.tick();
    assert_eq!(home(&rig), Some("u-2"), "only a person accepts another one");
    rig.verb(KuraVerb::AcceptCluster { uid: "u-3".to_owned() });
    assert_eq!(home(&rig), Some("u-3"));
}

#[test]
fn before_a_cluster_is_home_everything_is_read_of_it() {
    // K27 (A19)
    let mut rig = Rig::serving(&[], "0.19.0");
    rig.sight.identity = identity(Some("u-1"));
    let seen = |rig: &Rig| -> Sight { rig.sight.clone().at_home(rig.world.kura.home.as_ref()) };
    assert_eq!((home(&rig), seen(&rig)), (None, rig.sight.clone()));
    rig.tick();
    assert_eq!((home(&rig), seen(&rig)), (Some("u-1"), rig.sight.clone()));
    rig.sight.identity = identity(Some("u-2"));
    let strange = seen(&rig);
    assert!(strange.instances.rows.is_empty() && !strange.instances.is_fresh(rig.now), "of any other one nothing");
}
