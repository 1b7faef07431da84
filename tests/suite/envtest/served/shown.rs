//! What a console is shown of the cluster, over the wire of its control plane.

use kura_console::adapters::clock::SystemClock;
use kura_console::adapters::remote::endpoint::Endpoint;
use kura_console::adapters::remote::far_clock::FarClock;
use kura_console::adapters::remote::link::RemoteLink;
use kura_console::adapters::remote::token::Token;
use kura_console::control::link::Link;
use kura_console::control::picture::Picture;
use kura_console::domain::kura::sight::Sight;
use kura_console::domain::kura::source::Contact;

use super::super::kubelet::Kubelet;
use super::bed::{INSTANCE, Served};
use crate::pty::driver::PATIENCE;

fn link(served: &Served) -> RemoteLink {
    let token = Token::parse(served.plane.token("viewer"), "a test").expect("a token");
    let endpoint = Endpoint::parse(&served.plane.url()).expect("an endpoint");
    let _inside = served.runtime.enter();
    RemoteLink::start(endpoint, &token, None, FarClock::of(SystemClock::start())).expect("a link")
}

fn until(served: &Served, link: &RemoteLink, what: &str, holds: impl Fn(&Sight) -> bool) -> Picture {
    let mut pictures = link.pictures();
    let holds = |picture: &Picture| picture.observed.cluster.as_ref().is_some_and(&holds);
    let found = served.runtime.block_on(async {
        let wait = async { pictures.wait_for(|picture| holds(picture)).await.expect("the link lives").clone() };
        tokio::time::timeout(PATIENCE, wait).await.ok()
    });
    found.unwrap_or_else(|| panic!("never: {what}; {:?}", link.pictures().borrow().observed.cluster))
}

#[test]
fn a_console_sees_the_cluster_through_its_control_plane_as_it_changes() {
    // A19
    let Some(served) = Served::start() else { return };
    let (server, up) = (served.server(), served.up());
    let link = link(&served);
    let version = served.plane.get("/api/version");
    let seen = until(&served, &link, "the cluster is named", |sight| sight.identity.is_some());
    let identity = seen.observed.cluster.as_ref().and_then(|sight| sight.identity.clone()).expect("it is named");
    assert_eq!(identity.uid.as_deref(), version["cluster_uid"].as_str());
    assert_eq!((identity.context.as_deref(), identity.namespace.as_str()), (Some("envtest"), &*served.lease.namespace));

    served.release("0.20.0");
    served.applied("0.20.0");
    until(&served, &link, "the instance", |sight| sight.instances.rows.contains_key(INSTANCE));
    served.reconcile("0.20.0", up);
    let pod = format!("{INSTANCE}-0");
    until(&served, &link, "a pod is Ready", |sight| sight.pods.get(&pod).is_some_and(|pod| pod.ready));
    let kubelet = Kubelet::new(&served.api, &served.lease.namespace);
    served.runtime.block_on(kubelet.run(&pod, false));
    let seen = until(&served, &link, "it is not any more", |sight| sight.pods.get(&pod).is_some_and(|pod| !pod.ready));
    let sight = seen.observed.cluster.as_ref().expect("it is seen");
    assert!(matches!(sight.pods.contact, Contact::Live { .. }), "{:?}", sight.pods.contact);
    assert!(matches!(sight.certificates.contact, Contact::Absent { .. }), "a kind that is not there says so");
    served.plane.get_until(&server, "it is told over HTTP as well", |body| body["ready"] == 1);
    served.runtime.block_on(served.api.delete(&served.path())).done();
    until(&served, &link, "what is gone is gone", |sight| {
        sight.instances.get(INSTANCE).is_none_or(|live| live.stamp.is_leaving() || live.revision.is_some())
    });
}
