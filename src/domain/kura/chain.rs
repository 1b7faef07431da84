//! The chain from a rendered manifest to an answering endpoint, and its first broken link (K29, K30, K33).

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::deployment::WaitKind;
use super::front::front;
use super::notice;
use super::object::{ObjectKind, tag_of};
use super::server::{GatewayMode, Server};
use super::sight::Sight;
use super::source::Contact;
use super::traffic::{Dns, Endpoint, Tls, Up};
use super::ways::Ways;
use super::workload::{Instance, Pod};

/// Pods that are named in a sentence; the others are counted.
const NAMED_MAX: usize = 4;

/// A link of the chain, in the order in which they hang on each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkName {
    /// The controller has reconciled the object.
    Observed,
    /// Pods run the image and one is Ready.
    Workload,
    /// The class has a controller.
    Class,
    /// The ingresses have an address.
    Address,
    /// The name leads there.
    Dns,
    /// The certificate is good.
    Certificate,
    /// `/up` is 2xx.
    Up,
}

/// How a link stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Standing {
    /// It holds.
    Whole,
    /// It is broken.
    Broken {
        /// What a deployment waits for because of it.
        wait: WaitKind,
        /// What is wrong, without anything that differs from one look to the next.
        detail: String,
    },
    /// It cannot be told: not read, not probed, or too long ago.
    Unknown {
        /// Why not.
        why: String,
    },
    /// It will not be told: this identity may not read it, or the cluster does not have the kind. What hangs on it is
    /// judged without it.
    Unreadable {
        /// Why not.
        why: String,
    },
}

/// A link and how it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChainLink {
    /// Which.
    pub link: LinkName,
    /// How it stands.
    #[serde(flatten)]
    pub standing: Standing,
}

/// What a deployment is to do about the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// Everything holds.
    Whole,
    /// It waits for this.
    Broken(WaitKind, String),
    /// The first link that does not hold cannot be told: what is known stays.
    Unsure,
}

impl ChainLink {
    /// It says nothing either way, and a link behind it would be broken if it were.
    fn is_passed_over(&self) -> bool {
        let is_between = matches!(self.link, LinkName::Class | LinkName::Address);
        self.standing == Standing::Whole || is_between && matches!(self.standing, Standing::Unreadable { .. })
    }
}

/// The first link that does not hold decides. One that can never be read holds nothing up: an endpoint that answers is
/// proof enough.
pub fn judge(chain: &[ChainLink]) -> Judgement {
    match chain.iter().find(|link| !link.is_passed_over()).map(|link| &link.standing) {
        None | Some(Standing::Whole) => Judgement::Whole,
        Some(Standing::Broken { wait, detail }) => Judgement::Broken(*wait, detail.clone()),
        Some(Standing::Unknown { .. } | Standing::Unreadable { .. }) => Judgement::Unsure,
    }
}

/// Every link of a server that is to serve `tag`. Links it does not need are left out.
pub fn chain(server: &Server, tag: &str, ways: &Ways<'_>, now: Timestamp) -> Vec<ChainLink> {
    let sight = ways.sight;
    let live = sight.instances.get(&server.instance_name);
    let mut links = vec![
        (LinkName::Observed, observed(sight, live, tag, now)),
        (LinkName::Workload, workload(sight, server, tag, now)),
    ];
    if let Some(host) = server.public_host() {
        links.extend(match server.spec.gateway {
            GatewayMode::NodePort => by_node_port(ways, server, live, now),
            GatewayMode::Shared | GatewayMode::Dedicated => by_ingress(ways, server, live, &host, now),
        });
    }
    links.into_iter().map(|(link, standing)| ChainLink { link, standing }).collect()
}

fn by_ingress(
    ways: &Ways<'_>,
    server: &Server,
    live: Option<&Instance>,
    host: &str,
    now: Timestamp,
) -> Vec<(LinkName, Standing)> {
    let probe = ways.sight.endpoint(host, now);
    let addresses = addresses(ways, server);
    vec![
        (LinkName::Class, class(ways.sight, live, now)),
        (LinkName::Address, address(ways, server, &addresses, now)),
        (LinkName::Dns, dns(&addresses, host, probe)),
        (LinkName::Certificate, certificate(ways, host, probe)),
        (LinkName::Up, up(probe, WaitKind::PublicEndpointNotReady)),
    ]
}

/// An address and a port, and no name, no class, no certificate.
fn by_node_port(
    ways: &Ways<'_>,
    server: &Server,
    live: Option<&Instance>,
    now: Timestamp,
) -> Vec<(LinkName, Standing)> {
    let sight = ways.sight;
    let wait = WaitKind::NodePortEndpointNotReady;
    let front = front(server, sight);
    let address = match (&front, sight.instances.contact.trouble(now)) {
        (Some(_), _) => Standing::Whole,
        (None, Some(trouble)) => unknown(format!("instances: {trouble}")),
        (None, None) if live.is_none() => broken(wait, "there is no instance yet"),
        (None, None) => broken(wait, node_port_missing(ways, server)),
    };
    let probe = front.and_then(|front| sight.endpoint(&front.key(), now));
    vec![(LinkName::Address, address), (LinkName::Up, up(probe, wait))]
}

fn broken(wait: WaitKind, detail: impl Into<String>) -> Standing {
    Standing::Broken { wait, detail: detail.into() }
}

fn unknown(why: impl Into<String>) -> Standing {
    Standing::Unknown { why: why.into() }
}

/// Why a link cannot be told, where what it is read from is not fresh.
fn unread(kind: &str, contact: &Contact, now: Timestamp) -> Option<Standing> {
    let why = format!("{kind}: {}", contact.trouble(now)?);
    Some(match contact {
        Contact::Forbidden { .. } | Contact::Absent { .. } => Standing::Unreadable { why },
        _ => Standing::Unknown { why },
    })
}

fn observed(sight: &Sight, live: Option<&Instance>, tag: &str, now: Timestamp) -> Standing {
    let not = |detail: String| broken(WaitKind::NotObserved, detail);
    if let Some(unread) = unread("instances", &sight.instances.contact, now) {
        return unread;
    }
    let Some(live) = live else { return not("there is no instance yet".to_owned()) };
    match live.observed_image.as_deref().map(tag_of) {
        _ if live.stamp.is_leaving() => not("the instance is being deleted".to_owned()),
        Some(observed) if observed == tag => Standing::Whole,
        Some(observed) => not(format!("the controller reports {observed}, not {tag}")),
        None => not("the controller has reported no image".to_owned()),
    }
}

/// Every pod runs the image and at least one is Ready: `observedImage` alone can latch early (K33).
fn workload(sight: &Sight, server: &Server, tag: &str, now: Timestamp) -> Standing {
    if let Some(unread) = unread("pods", &sight.pods.contact, now) {
        return unread;
    }
    let pods: Vec<&Pod> = sight.pods_of(&server.instance_name).collect();
    let other = |pod: &&&Pod| pod.image.as_deref().map(tag_of) != Some(tag);
    let old = pods
        .iter()
        .filter(other)
        .map(|pod| format!("{} runs {}", pod.stamp.name, pod.image.as_deref().map_or("no image", tag_of)));
    let old: Vec<String> = old.collect();
    let not = |detail: String| broken(WaitKind::WorkloadNotReady, detail);
    match pods.iter().filter(|pod| pod.ready).count() {
        _ if pods.is_empty() => {
            let cause = notice::cause(sight, ObjectKind::StatefulSet, &server.instance_name, now);
            not(cause.map_or_else(|| "no pod runs".to_owned(), |cause| format!("no pod runs ({cause})")))
        }
        _ if !old.is_empty() => not(left_behind(sight, &pods, &old, tag, now)),
        0 => not(format!("none of {} pods is Ready: {}", pods.len(), listed(&reasons(sight, &pods, now)))),
        _ => Standing::Whole,
    }
}

/// Pods of another image, and what those say that run the wanted one already and hold them up (I3). One that only starts
/// says nothing.
fn left_behind(sight: &Sight, pods: &[&Pod], old: &[String], tag: &str, now: Timestamp) -> String {
    let holds_up = |pod: &&&Pod| pod.image.as_deref().map(tag_of) == Some(tag) && pod.reason.is_some();
    let stuck: Vec<&Pod> = pods.iter().filter(holds_up).copied().collect();
    match reasons(sight, &stuck, now) {
        none if none.is_empty() => listed(old),
        reasons => format!("{}; {}", listed(old), listed(&reasons)),
    }
}

/// What a pod says of itself, and what was said of it where that is more: an image that cannot be pulled says why there.
fn reasons(sight: &Sight, pods: &[&Pod], now: Timestamp) -> Vec<String> {
    let reason = |(n, pod): (usize, &&Pod)| {
        let (name, said) = (&pod.stamp.name, pod.reason.as_deref().unwrap_or("is not Ready"));
        // Of those that are only counted nobody reads the cause.
        let cause = (n < NAMED_MAX).then(|| notice::cause(sight, ObjectKind::Pod, name, now)).flatten();
        let more = cause.filter(|cause| !cause.split_once(": ").is_some_and(|(_, text)| said.contains(text)));
        more.map_or_else(|| format!("{name} {said}"), |cause| format!("{name} {said} ({cause})"))
    };
    pods.iter().filter(|pod| !pod.ready).enumerate().map(reason).collect()
}

fn listed(all: &[String]) -> String {
    match all.len().checked_sub(NAMED_MAX) {
        None | Some(0) => all.join(", "),
        Some(more) => format!("{} and {more} more", all[..NAMED_MAX].join(", ")),
    }
}

fn class(sight: &Sight, live: Option<&Instance>, now: Timestamp) -> Standing {
    if let Some(unread) = unread("instances", &sight.instances.contact, now) {
        return unread;
    }
    let Some(name) = live.and_then(|live| live.spec.class()) else {
        return broken(WaitKind::IngressClassWithoutController, "the instance names no ingress class");
    };
    if let Some(unread) = unread("ingress classes", &sight.classes.contact, now) {
        return unread;
    }
    match sight.classes.get(name).map(|class| class.has_controller) {
        None => broken(WaitKind::IngressClassWithoutController, format!("there is no ingress class {name}")),
        Some(Some(false)) => {
            broken(WaitKind::IngressClassWithoutController, format!("ingress class {name} has no controller"))
        }
        Some(_) => Standing::Whole,
    }
}

/// What is missing of a port of a node: the service allots the port, the controller knows the node.
fn node_port_missing(ways: &Ways<'_>, server: &Server) -> String {
    let instance = &server.instance_name;
    let allotted = ways.services(instance).iter().find_map(|row| Some((&row.stamp.name, row.node_ports.first()?)));
    match allotted {
        Some((service, port)) => {
            format!("instance {instance} reports no node yet, service {service} has port {port} there")
        }
        None => format!("instance {instance} reports no port of a node yet"),
    }
}

/// Addresses of the ingresses of a server, sorted.
fn addresses(ways: &Ways<'_>, server: &Server) -> Vec<String> {
    let ours = ways.ingresses(&server.instance_name).iter();
    let mut all: Vec<String> = ours.flat_map(|row| row.addresses.iter().cloned()).collect();
    all.sort();
    all.dedup();
    all
}

fn address(ways: &Ways<'_>, server: &Server, addresses: &[String], now: Timestamp) -> Standing {
    if let Some(unread) = unread("ingresses", &ways.sight.ingresses.contact, now) {
        return unread;
    }
    match addresses.is_empty() {
        true => {
            let why = balancer_missing(ways, server, now).unwrap_or_default();
            broken(WaitKind::IngressWithoutAddress, format!("its ingress has no address{why}"))
        }
        false => Standing::Whole,
    }
}

/// The load balancer of the gateway that has no address either, with what was said of it.
fn balancer_missing(ways: &Ways<'_>, server: &Server, now: Timestamp) -> Option<String> {
    let class = ways.sight.instances.get(&server.instance_name)?.spec.class()?;
    let gateway = ways.gateways(class).first()?;
    let mut balancers = ways.services(&gateway.stamp.name).iter().filter(|row| row.kind == "LoadBalancer");
    let name = &balancers.find(|row| row.addresses.is_empty())?.stamp.name;
    let cause = notice::cause(ways.sight, ObjectKind::Service, name, now);
    Some(format!("; nor has service {name}{}", cause.map_or_else(String::new, |cause| format!(" ({cause})"))))
}

fn dns(wanted: &[String], host: &str, probe: Option<&Endpoint>) -> Standing {
    match probe.map(|probe| &probe.dns) {
        None | Some(Dns::Unknown) => unknown(format!("{host} was not resolved lately")),
        Some(Dns::NxDomain) => broken(WaitKind::PublicHostNotResolvable, format!("{host}: NXDOMAIN")),
        Some(Dns::Failed { why }) => broken(WaitKind::ResolverError, format!("resolver: {why}")),
        Some(Dns::Addresses { addresses: found }) => mismatch(host, wanted, found),
    }
}

/// The name has to lead to the ingress and nowhere else. Load balancers that go by a host name cannot be compared.
fn mismatch(host: &str, wanted: &[String], found: &[String]) -> Standing {
    let comparable = !wanted.is_empty() && wanted.iter().all(|address| address.parse::<Address>().is_ok());
    let stale: Vec<&String> = found.iter().filter(|address| !wanted.contains(address)).collect();
    let missing: Vec<&String> = wanted.iter().filter(|address| !found.contains(address)).collect();
    let names = |all: &[&String]| all.iter().map(|one| one.as_str()).collect::<Vec<_>>().join(", ");
    match (stale.is_empty(), missing.is_empty()) {
        _ if !comparable && found.is_empty() => {
            broken(WaitKind::PublicHostNotResolvable, format!("{host} has no address in the DNS"))
        }
        _ if !comparable => Standing::Whole,
        (true, true) => Standing::Whole,
        (false, _) => {
            let detail = format!("{} is stale, the ingress has {}", names(&stale), wanted.join(", "));
            broken(WaitKind::AddressMismatch, detail)
        }
        (true, false) => broken(WaitKind::AddressMismatch, format!("{} is not in the DNS yet", names(&missing))),
    }
}

type Address = core::net::IpAddr;

fn certificate(ways: &Ways<'_>, host: &str, probe: Option<&Endpoint>) -> Standing {
    match probe.map(|probe| &probe.tls) {
        None => unknown(format!("{host} was not probed lately")),
        // The handshake did not come about: what is behind it says so.
        Some(Tls::Unknown | Tls::Valid) => Standing::Whole,
        Some(Tls::Invalid { why }) => {
            let issued = ways.certificates(host).iter().find(|row| !row.ready);
            let issuer = issued.and_then(|row| row.message.as_deref());
            let detail = issuer.map_or_else(|| why.clone(), |message| format!("{why}; the issuer says: {message}"));
            broken(WaitKind::CertificateNotReady, detail)
        }
    }
}

fn up(probe: Option<&Endpoint>, wait: WaitKind) -> Standing {
    match probe.map(|probe| &probe.up) {
        None | Some(Up::Unknown) => unknown("/up was not asked lately"),
        Some(answer) if answer.is_up() => Standing::Whole,
        Some(Up::Status { status }) => broken(wait, format!("/up answered {status}")),
        Some(Up::Timeout) => broken(wait, "/up did not answer in 5s"),
        Some(Up::Failed { why }) => broken(wait, format!("/up: {why}")),
    }
}
