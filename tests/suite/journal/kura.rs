//! Material: facts of every kind about a few Kura servers.

use jiff::Timestamp;
use kura_console::domain::ids::ServerId;
use kura_console::domain::kura::change::KuraChange;
use kura_console::domain::kura::deployment::{Closing, Deployment, WaitKind};
use kura_console::domain::kura::estate::Asked;
use kura_console::domain::kura::object::{ObjectKind, ObjectRef};
use kura_console::domain::kura::server::{MovePhase, Pin, PodMark, Server, ServerSpec, ServerStatus};

/// One fact; any `KINDS` that follow each other are all kinds.
pub(crate) fn change(n: u64) -> KuraChange {
    let mut all = rows(n);
    all.extend(writes(n));
    all.swap_remove(usize::try_from(n).unwrap() % KINDS)
}

/// How many kinds of facts there are.
const KINDS: usize = 19;

fn kind_of(change: &KuraChange) -> usize {
    match change {
        KuraChange::TagReleased { .. } => 0,
        KuraChange::ServerAdded { .. } => 1,
        KuraChange::SpecChanged { .. } => 2,
        KuraChange::Moved { .. } => 3,
        KuraChange::StatusChanged { .. } => 4,
        KuraChange::ImageObserved { .. } => 5,
        KuraChange::Pinned { .. } => 6,
        KuraChange::DeploymentOpened { .. } => 7,
        KuraChange::DeploymentStarted { .. } => 8,
        KuraChange::DeploymentWaits { .. } => 9,
        KuraChange::DeploymentClosed { .. } => 10,
        KuraChange::ManifestApplied { .. } => 11,
        KuraChange::RollFixed { .. } => 12,
        KuraChange::PodDeleted { .. } => 13,
        KuraChange::FieldWrittenBack { .. } => 14,
        KuraChange::WriteTroubled { .. } => 15,
        KuraChange::Collected { .. } | KuraChange::Asked { .. } => 16,
        KuraChange::AskedDone { .. } => 17,
        KuraChange::ClusterAccepted { .. } => 18,
    }
}

fn server_of(n: u64) -> Server {
    let (tenant, at) = (format!("t{}", n % 3), Timestamp::from_second(1_700_000_000).unwrap());
    Server::new(ServerId::named(&tenant), &tenant, "eu", at)
}

fn row_of(n: u64) -> Deployment {
    let server = server_of(n);
    let at = Timestamp::from_second(1_700_000_000).unwrap();
    let row = Deployment::pending(server.next_deployment(), "0.20.0", "scheduler", at);
    Deployment { force: n.is_multiple_of(2), reason: n.is_multiple_of(3).then(|| "wedged".to_owned()), ..row }
}

fn rows(n: u64) -> Vec<KuraChange> {
    let (server, deployment) = (server_of(n).id, row_of(n).id);
    let statuses = [ServerStatus::Active, ServerStatus::Replicating, ServerStatus::Destroyed];
    let closings = [
        Closing::Succeeded { detail: None, url: Some("https://t.kura.tuist.dev".to_owned()) },
        Closing::Failed { error: "spec.replicas: must be positive".to_owned() },
        Closing::Cancelled,
        Closing::Superseded { by: "0.20.1".to_owned() },
    ];
    let (by, at) = ("jane".to_owned(), Timestamp::from_second(1_700_000_009).unwrap());
    let pin = Pin { tag: "0.19.0".to_owned(), newest: "0.20.0".to_owned(), by, at };
    let wait = (WaitKind::PublicHostNotResolvable, "t.kura.tuist.dev: NXDOMAIN".to_owned());
    vec![
        KuraChange::TagReleased { tag: format!("0.{}.0", n % 20) },
        KuraChange::ServerAdded { server: Box::new(server_of(n)) },
        KuraChange::SpecChanged { server, spec: Box::new(ServerSpec { replicas: 3, ..ServerSpec::default() }) },
        KuraChange::Moved { server, phase: [MovePhase::MovingIn, MovePhase::None][usize::from(n.is_multiple_of(2))] },
        KuraChange::StatusChanged { server, status: statuses[usize::try_from(n % 3).unwrap()] },
        KuraChange::ImageObserved { server, tag: n.is_multiple_of(2).then(|| "0.20.0".to_owned()) },
        KuraChange::Pinned { server, pin: n.is_multiple_of(2).then_some(pin) },
        KuraChange::DeploymentOpened { server, deployment: Box::new(row_of(n)) },
        KuraChange::DeploymentStarted { server, deployment, revision: "00c0ffee00c0ffee".to_owned() },
        KuraChange::DeploymentWaits { server, deployment, wait: n.is_multiple_of(2).then_some(wait) },
        KuraChange::DeploymentClosed { server, deployment, closing: closings[usize::try_from(n % 4).unwrap()].clone() },
    ]
}

fn writes(n: u64) -> Vec<KuraChange> {
    let (server, deployment, image) = (server_of(n).id, Some(row_of(n).id), "0.20.0".to_owned());
    let object = ObjectRef::new(ObjectKind::KuraGateway, "kgw-t1-eu");
    let (name, uid) = ("kura-t1-eu-1".to_owned(), "u-17".to_owned());
    let (by, at) = ("jane".to_owned(), Timestamp::from_second(1_700_000_010).unwrap());
    let asked = Asked { object: object.clone(), uid: uid.clone(), finalizer: None, by, at };
    let pods = vec![PodMark { name: name.clone(), uid: uid.clone(), done: false, again: 0 }];
    let (field, manager) = ("spec.ingressClassName".to_owned(), "flux".to_owned());
    let taken = match n % 4 < 2 {
        true => KuraChange::Collected { object: object.clone() },
        false => KuraChange::Asked { asked },
    };
    vec![
        KuraChange::ManifestApplied {
            server,
            deployment,
            revision: "00c0ffee00c0ffee".to_owned(),
            image: image.clone(),
            new_image: n.is_multiple_of(2),
            over: None,
        },
        KuraChange::RollFixed { server, image: image.clone(), pods },
        KuraChange::PodDeleted { server, image, pod: name, uid: uid.clone() },
        KuraChange::FieldWrittenBack { server, field, manager, times: 2 },
        KuraChange::WriteTroubled {
            server,
            object: object.clone(),
            trouble: n.is_multiple_of(2).then(|| "forbidden".to_owned()),
        },
        taken,
        KuraChange::AskedDone { object, uid, finalizer: None, trouble: None },
        KuraChange::ClusterAccepted { uid: format!("11111111-2222-{n}") },
    ]
}

#[test]
fn every_kind_of_fact_stands_at_its_place() {
    let kinds = |from: usize| (from..from + KINDS).map(|n| kind_of(&change(u64::try_from(n).unwrap())));
    assert_eq!(kinds(0).collect::<Vec<_>>(), (0..KINDS).collect::<Vec<_>>());
    assert_eq!(kinds(KINDS * 2).collect::<Vec<_>>(), (0..KINDS).collect::<Vec<_>>());
}
