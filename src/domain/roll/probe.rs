//! Probes: a throwaway pod on one node that has to run, and what its fate says of the node's runtime (F7, F9-F11).

use jiff::Timestamp;

use super::super::span::Seconds;
use super::node::Verdict;
use super::sight::{FleetNode, FleetPod};

/// A container has to be started this long after its pod was made, where its roll says nothing else (F11).
pub const START_DEADLINE: Seconds = Seconds(60);

/// A rolled node is probed anew this long after its last probe began. A probe that never starts takes the time it is
/// given to start to be judged: with the usual one a wedge is found within 120 s (F7, F13).
pub const PROBE_AGAIN_AFTER: Seconds = Seconds(60);

/// Reasons for which a container is not made: the fingerprints of a wedged runtime (F5).
pub const FINGERPRINTS: [&str; 2] = ["CreateContainerError", "ContainerStatusUnknown"];

/// Reasons that speak of the image or the registry, never of the runtime.
const PULLS: [&str; 5] =
    ["ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "RegistryUnavailable"];

/// Reasons for which a container cannot be made although its image is there.
const CANNOT_START: [&str; 5] =
    ["CreateContainerError", "ContainerStatusUnknown", "RunContainerError", "CreatePodSandboxError", "StartError"];

/// What becomes of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judged {
    /// It is not decided yet.
    Open,
    /// It is.
    As(Verdict, String),
}

/// Judges a probe of a node that is given this long to start.
pub fn judge(pod: &FleetPod, node: Option<&FleetNode>, start: Seconds, now: Timestamp) -> Judged {
    let name = pod.node.as_deref().unwrap_or("the node");
    let said = |reason: &str| match pod.message.as_deref().filter(|text| !text.is_empty()) {
        Some(message) => format!("{reason}: {message}"),
        None => reason.to_owned(),
    };
    let ready = if node.is_some_and(|node| node.ready) { "is Ready and" } else { "is not Ready and" };
    let broken = |what: String| Judged::As(Verdict::Broken, format!("{name} {ready} cannot start containers: {what}"));
    let unsaid = |what: String| Judged::As(Verdict::NotProven, format!("{name} is not proven: {what}"));
    let age = Seconds::between(pod.began_at(), now);
    match pod.reason.as_deref() {
        _ if pod.started || pod.phase == "Succeeded" => {
            Judged::As(Verdict::Proven, format!("a container started on {name}"))
        }
        Some(reason) if CANNOT_START.contains(&reason) => broken(format!("its probe says {}", said(reason))),
        Some(reason) if is_pull(reason) => unsaid(format!("the probe's image cannot be pulled ({})", said(reason))),
        Some(reason) if pod.phase == "Failed" => unsaid(format!("its probe was not admitted ({})", said(reason))),
        _ if pod.phase == "Failed" => unsaid("its probe was not admitted".to_owned()),
        _ if age >= start => broken(format!("its probe did not start within {start}")),
        _ => Judged::Open,
    }
}

/// It speaks of a pull.
pub fn is_pull(reason: &str) -> bool {
    PULLS.contains(&reason)
}

/// How a stage goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pulled {
    /// The image is not there yet.
    Open,
    /// It is, as this digest.
    As(String),
    /// It cannot be pulled.
    Failed(String),
}

/// Judges a stage: the image is there once a container was made of it, whatever came of that (F15).
pub fn judge_stage(pod: &FleetPod, image: &str) -> Pulled {
    let reason = pod.reason.as_deref().unwrap_or_default();
    let name = pod.node.as_deref().unwrap_or("the node");
    let why = || {
        let message = pod.message.as_deref().filter(|text| !text.is_empty());
        message.map_or_else(|| reason.to_owned(), |message| format!("{reason}: {message}"))
    };
    match &pod.image_id {
        Some(digest) => Pulled::As(digest.clone()),
        None if pod.started || pod.phase == "Succeeded" => Pulled::As(image.to_owned()),
        None if is_pull(reason) => Pulled::Failed(format!("{name} cannot pull {image}: {}", why())),
        None if pod.phase == "Failed" => Pulled::Failed(format!("{name} did not pull {image}: {}", why())),
        None => Pulled::Open,
    }
}
