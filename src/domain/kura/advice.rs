//! Advice: for each wait and each known incident what to do and what to look at afterwards (§10).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::deployment::WaitKind;
use super::incidents::Workload;
use super::server::Server;
use super::workload::PausedBy;

/// What can be done about something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// One sentence.
    pub action: String,
    /// A verb of ours that does it.
    pub verb: Option<String>,
    /// The exact command for what only a person may do; `--context` is put in by whoever shows it.
    pub command: Option<String>,
    /// What to look at afterwards.
    pub verify: String,
}

fn advice(action: &str, verb: Option<&str>, command: Option<String>, verify: &str) -> Advice {
    Advice { action: action.to_owned(), verb: verb.map(str::to_owned), command, verify: verify.to_owned() }
}

/// The three recoveries of a wedged manifest, least harm first (seed 001), and the one this control plane adds.
fn recoveries(server: &Server, class: &str) -> Vec<Advice> {
    let (name, served) = (&server.instance_name, "/up answers 200 and the deployment succeeds");
    let patch = format!(
        "kubectl -n kura patch kurainstance {name} --type=merge -p '{{\"spec\":{{\"ingressClassName\":\"{class}\"}}}}'"
    );
    vec![
        advice("force a re-apply of what is rendered", Some("force-reapply"), None, served),
        advice("deploy a newer runtime tag", Some("deploy"), None, served),
        advice("patch the class of the instance by hand", None, Some(patch), "its ingress has an address"),
        advice(
            "delete the instance, so that it is rendered anew; its pods restart",
            None,
            Some(format!("kubectl -n kura delete kurainstance {name}")),
            "the instance is there again with the rendered revision",
        ),
    ]
}

/// What to do about a wait, most useful first. Waiting is always an answer: waits are unbounded by design (K30).
pub fn on_wait(server: &Server, wait: WaitKind) -> Vec<Advice> {
    let name = &server.instance_name;
    let host = server.public_host().unwrap_or_else(|| server.name());
    let wedge = || recoveries(server, super::render::class(server).as_deref().unwrap_or("kura"));
    let kubectl = |rest: String| Some(format!("kubectl -n kura {rest}"));
    match wait {
        WaitKind::NotObserved => vec![advice(
            "see whether the instance controller runs",
            None,
            kubectl(format!("describe kurainstance {name}")),
            "status.observedImage is the new tag",
        )],
        WaitKind::WorkloadNotReady => vec![
            advice("wait while a bootstrap makes progress", None, None, "a pod becomes Ready"),
            advice(
                "read why the pods are not Ready",
                None,
                kubectl(format!("describe pods -l app.kubernetes.io/instance={name}")),
                "the reason is gone",
            ),
            advice("deploy a newer runtime tag", Some("deploy"), None, "pods not Ready roll together to it"),
        ],
        WaitKind::IngressClassWithoutController => wedge(),
        WaitKind::IngressWithoutAddress => {
            let look = kubectl(format!("get ingress -l app.kubernetes.io/instance={name} -o wide"));
            let mut all = vec![advice("see whether the gateway has an address", None, look, "ADDRESS is set")];
            all.extend(wedge());
            all
        }
        WaitKind::PublicHostNotResolvable => {
            let look = Some(format!("dig +short {host}"));
            let mut all = vec![advice("see whether the record was published", None, look, "it has an address")];
            all.extend(wedge());
            all
        }
        WaitKind::ResolverError => vec![advice(
            "ask another resolver: this one fails, which says nothing about the record",
            None,
            Some(format!("dig @1.1.1.1 +short {host}")),
            "the resolver answers again",
        )],
        WaitKind::AddressMismatch => vec![advice(
            "remove the stale record, or wait for it to expire",
            None,
            Some(format!("dig +short {host}")),
            "only the address of the ingress is left",
        )],
        WaitKind::CertificateNotReady => vec![advice(
            "read what the issuer says; a rate limit passes by itself",
            None,
            kubectl("describe certificates,certificaterequests".to_owned()),
            "the certificate is Ready and the handshake succeeds",
        )],
        WaitKind::NodePortEndpointNotReady => at_node_port(name),
        WaitKind::PublicEndpointNotReady => vec![
            advice("wait while pods bootstrap behind the readiness gate", None, None, "/up answers 200"),
            advice(
                "ask the endpoint yourself",
                None,
                Some(format!("curl -sS -m 5 -o /dev/null -w '%{{http_code}}\\n' https://{host}/up")),
                "it says 200",
            ),
            advice("deploy a newer runtime tag", Some("deploy"), None, "the deployment succeeds"),
        ],
    }
}

/// No name and no certificate are on this way: only what the controller reports, and who answers there.
fn at_node_port(instance: &str) -> Vec<Advice> {
    let path = "'{.status.nodeAddress}:{.status.nodePortCache}'";
    let look = format!("kubectl -n kura get kurainstance {instance} -o jsonpath={path}");
    vec![
        advice(
            "see which port of which node its controller reports, and ask there",
            None,
            Some(look),
            "both are there, and /up answers 200",
        ),
        advice("deploy a newer runtime tag", Some("deploy"), None, "the deployment succeeds"),
    ]
}

/// What to do about a server, most pressing first; no verb is named twice. `edited`: its live object says otherwise than
/// what is rendered although the revision agrees, so nothing is applied by itself.
pub fn of_server(server: &Server, work: &Workload, edited: bool) -> Vec<Advice> {
    let tug = server.tug_of_war().map(|(_, edit)| Incident::WrittenBack { manager: &edit.manager });
    let edited = (edited && tug.is_none()).then_some(Incident::Edited);
    let held = work.held.as_ref().filter(|held| held.by == PausedBy::Operator).map(|_| Incident::HeldByOperator);
    let pinned = work.pinned.iter().map(|pinned| Incident::Pinned { pod: &pinned.pod });
    let behind = server.is_left_behind().then_some(Incident::LeftBehind);
    let incidents = tug.into_iter().chain(edited).chain(held).chain(pinned).chain(behind);
    let mut all: Vec<Advice> = incidents.map(|incident| on_incident(Some(server), incident)).collect();
    let wait = server.open().and_then(|row| row.wait.as_ref());
    for next in wait.map(|wait| on_wait(server, wait.kind)).unwrap_or_default() {
        if next.verb.is_none() || all.iter().all(|known| known.verb != next.verb) {
            all.push(next);
        }
    }
    all
}

/// Incidents beyond a wait that have advice of their own (§9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Incident<'a> {
    /// Releases flow, the instance does not follow (I4, K20).
    LeftBehind,
    /// A pod cannot leave a node (I6).
    Pinned {
        /// The pod.
        pod: &'a str,
    },
    /// An operator's pause was forgotten (I7).
    HeldByOperator,
    /// Many instances on one dead node (I8).
    DeadNode {
        /// The node.
        node: &'a str,
    },
    /// A gateway nobody uses (K43).
    UnusedGateway {
        /// The gateway.
        gateway: &'a str,
    },
    /// A gateway that waits for a controller that is gone (I10, K44).
    StuckGateway {
        /// The gateway.
        gateway: &'a str,
    },
    /// Another manager writes a field back (K28).
    WrittenBack {
        /// Who.
        manager: &'a str,
    },
    /// Nobody claims an instance (K45).
    Orphan {
        /// The instance.
        instance: &'a str,
    },
    /// A server has no instance, and the next tick makes one (I12, K26).
    Missing,
    /// The live object says otherwise than what is rendered, though its revision agrees (K24).
    Edited,
    /// More than one version of skew in a mesh (K8).
    Skewed {
        /// Whose mesh.
        tenant: &'a str,
    },
    /// Many servers that never get over the same tag (I3).
    Wedged,
    /// An object cannot be written.
    Unwritten,
    /// The cluster cannot be read.
    Unseen,
    /// Nobody ticks.
    Unattended,
}

/// What to do about an incident.
pub fn on_incident(server: Option<&Server>, incident: Incident<'_>) -> Advice {
    let name = server.map_or("", |server| server.instance_name.as_str());
    let kubectl = |rest: String| Some(format!("kubectl {rest}"));
    match incident {
        Incident::LeftBehind => {
            let look = kubectl(format!("-n kura describe kurainstance {name}"));
            advice("find out what this instance never gets over", None, look, "the next deployment succeeds")
        }
        Incident::Pinned { pod } => {
            let look = kubectl(format!("-n kura describe pod {pod}"));
            advice("make room on the node its volume is tied to", None, look, "the pod is scheduled")
        }
        Incident::HeldByOperator => {
            let go = format!("-n kura patch statefulset {name} --type=merge -p ");
            let go = kubectl(go + "'{\"spec\":{\"updateStrategy\":{\"type\":\"RollingUpdate\"}}}'");
            advice("let the update go on, once its reason is gone", None, go, "pods leave the old image one by one")
        }
        Incident::DeadNode { node } => {
            let look = kubectl(format!("describe node {node}"));
            advice("mend the node: everything on it is one incident", None, look, "the node is Ready")
        }
        Incident::UnusedGateway { .. } => {
            advice("delete it", Some("delete-gateway"), None, "it is gone from the list of gateways")
        }
        Incident::StuckGateway { gateway } => {
            let look = kubectl(format!("-n kura get kuragateway {gateway} -o jsonpath='{{.metadata.finalizers}}'"));
            advice("bring its controller back, or take the finalizer off", Some("strip-finalizer"), look, "it is gone")
        }
        Incident::WrittenBack { manager } => {
            let action = format!("make {manager} leave the field alone, then force a re-apply");
            advice(&action, Some("force-reapply"), None, "the field stays as rendered")
        }
        Incident::Orphan { instance } => {
            let look = kubectl(format!("-n kura get kurainstance {instance} -o yaml"));
            advice("add its server again, or delete it with its data", Some("delete-orphan"), look, "the list is empty")
        }
        incident => of_reading(name, incident),
    }
}

/// Those that follow from what is rendered, written and read.
fn of_reading(name: &str, incident: Incident<'_>) -> Advice {
    let kubectl = |rest: String| Some(format!("kubectl -n kura {rest}"));
    match incident {
        Incident::Skewed { tenant } => {
            let look = kubectl(format!("get pods -l tuist.dev/account={tenant} -L tuist.dev/region -o wide"));
            let action = "bring those that lag to the newest tag";
            advice(action, Some("deploy"), look, "at most two neighbouring versions run in the mesh")
        }
        Incident::Wedged => advice(
            "release a newer tag: pods that are not Ready roll to it together",
            Some("release-tag"),
            None,
            "each gets Ready pods on it, and its deployment succeeds",
        ),
        Incident::Missing => advice(
            "wait for the next tick, which makes it again, or force it now",
            Some("force-reapply"),
            None,
            "the instance is there, on the rendered revision",
        ),
        Incident::Unwritten => {
            let may = kubectl("auth can-i patch kurainstances.kura.tuist.dev".to_owned());
            advice("read what the cluster says; each tick tries again", None, may, "the write succeeds")
        }
        Incident::Unseen => {
            let doctor = Some("kura-console doctor".to_owned());
            advice("find out what cannot be read, and why", None, doctor, "every source is live again")
        }
        Incident::Unattended => {
            let serve = Some("kura-console serve".to_owned());
            advice("start a control plane: whoever holds the seat ticks", None, serve, "ticks arrive again")
        }
        _ => advice(
            "force a re-apply of what is rendered",
            Some("force-reapply"),
            Some(format!("kubectl -n kura get kurainstance {name} -o yaml --show-managed-fields")),
            "its fields read as rendered, and the chain to /up holds",
        ),
    }
}
