//! What these credentials may do, as the cluster says: asked, not tried.

use kube::Client;
use kube::core::Request;
use kube::core::params::PostParams;
use serde::Deserialize;
use serde_json::json;

use super::connection::Connection;
use super::fault::ClusterFault;
use crate::control::ports::Clock;

/// Where the question is put.
const REVIEWS: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/// Where one asks who one is.
const WHO: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// One thing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question<'a> {
    /// `list`, `delete`, ...
    pub verb: &'a str,
    /// API group; empty = the core.
    pub group: &'a str,
    /// Plural of the kind, with a part of it where only that is meant: `pods/eviction`.
    pub kind: &'a str,
    /// In which namespace; none = in the whole cluster.
    pub namespace: Option<&'a str>,
    /// To which object; none = to any.
    pub name: Option<&'a str>,
}

#[derive(Deserialize)]
struct Review {
    status: Status,
}

#[derive(Deserialize)]
struct Status {
    #[serde(default)]
    allowed: bool,
}

#[derive(Deserialize)]
struct Subject {
    status: SubjectStatus,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SubjectStatus {
    user_info: User,
}

#[derive(Deserialize)]
struct User {
    username: String,
}

/// As whom these credentials are let in.
///
/// # Errors
/// Where the cluster does not say.
pub async fn who<C: Clock>(connection: &Connection<C>) -> Result<String, ClusterFault> {
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
    let body = serde_json::to_vec(&review).unwrap_or_default();
    let asked = |client: Client| async move {
        let request = Request::new(WHO).create(&PostParams::default(), body).map_err(kube::Error::BuildRequest)?;
        client.request::<Subject>(request).await
    };
    connection.ask(asked).await.map(|subject| subject.status.user_info.username)
}

/// Asks whether it may be done.
///
/// # Errors
/// Where the cluster does not say.
pub async fn may<C: Clock>(connection: &Connection<C>, question: Question<'_>) -> Result<bool, ClusterFault> {
    let Question { verb, group, kind, namespace, name } = question;
    let (kind, part) = kind.split_once('/').map_or((kind, None), |(kind, part)| (kind, Some(part)));
    let attributes = json!({
        "verb": verb, "group": group, "resource": kind, "subresource": part, "namespace": namespace, "name": name,
    });
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    });
    let body = serde_json::to_vec(&review).unwrap_or_default();
    let asked = |client: Client| async move {
        let request = Request::new(REVIEWS).create(&PostParams::default(), body).map_err(kube::Error::BuildRequest)?;
        client.request::<Review>(request).await
    };
    connection.ask(asked).await.map(|review| review.status.allowed)
}
