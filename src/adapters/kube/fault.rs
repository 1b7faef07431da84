//! What can go wrong at a cluster, as far as it makes a difference to what happens next.

use std::error::Error;
use std::time::Duration;

use kube::core::Status;
use kube::core::response::StatusDetails;

/// A field that somebody else holds (K28).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldField {
    /// Its path in the object, such as `.spec.ingressClassName`.
    pub field: String,
    /// Who wrote it last, by the name they gave themselves.
    pub manager: String,
}

/// Why a cluster did not do, or did not say, what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClusterFault {
    /// The kubeconfig, or what the pod was given, cannot be used as it is.
    #[error("{what}")]
    Misconfigured {
        /// The sentence.
        what: String,
    },
    /// The credential plugin gave nothing, or what it gave is not taken any more: a person has to log in.
    #[error("log in again: {what}. In another terminal run `{command}`")]
    LogIn {
        /// What happened.
        what: String,
        /// A command that asks for the login where it may ask.
        command: String,
    },
    /// 403: these credentials may not do this, which is a finding and not an outage.
    #[error("{said}")]
    Forbidden {
        /// What the server said: who, what, which kind.
        said: String,
    },
    /// 404: no such object, or no such kind.
    #[error("{said}")]
    Missing {
        /// What the server said.
        said: String,
    },
    /// 409 `AlreadyExists`: somebody was quicker.
    #[error("{said}")]
    Exists {
        /// What the server said.
        said: String,
    },
    /// 409: it is not any more what the write was planned from.
    #[error("{said}")]
    Outrun {
        /// What the server said.
        said: String,
    },
    /// 409: others hold fields that the write would change.
    #[error("{}", held_by(.fields))]
    Held {
        /// Which, and who.
        fields: Vec<HeldField>,
    },
    /// 410: the server does not know any more what happened since then.
    #[error("what happened since is not known any more: {said}")]
    Expired {
        /// What the server said.
        said: String,
    },
    /// 400 or 422: the server will never take this.
    #[error("{said}")]
    Refused {
        /// What the server said.
        said: String,
    },
    /// 429 or a 5xx: not now.
    #[error("{said}")]
    Busy {
        /// What the server said.
        said: String,
        /// When it wants to be asked again, if it says so.
        after: Option<Duration>,
    },
    /// Nobody answered, or the connection broke.
    #[error("the API server cannot be reached: {said}")]
    Unreachable {
        /// Why.
        said: String,
    },
    /// Nothing came in time.
    #[error("nothing came for {} s", .after.as_secs())]
    Silent {
        /// The limit.
        after: Duration,
    },
    /// It answered with something that is not what was asked for.
    #[error("the answer cannot be read: {said}")]
    Unreadable {
        /// Why.
        said: String,
    },
    /// More than this program keeps.
    #[error("there are more than {limit} of them")]
    TooMany {
        /// The limit.
        limit: usize,
    },
}

impl ClusterFault {
    /// Asking again soon will not help.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Forbidden { .. }
                | Self::LogIn { .. }
                | Self::Misconfigured { .. }
                | Self::Missing { .. }
                | Self::Refused { .. }
                | Self::TooMany { .. }
        )
    }

    /// What a status object says. `None` for 401, which is about the connection and not about what was asked.
    pub(super) fn of_status(status: &Status) -> Option<Self> {
        let said = said(status);
        Some(match status.code {
            401 => return None,
            403 => Self::Forbidden { said },
            404 => Self::Missing { said },
            409 if status.is_already_exists() => Self::Exists { said },
            409 => match held(status.details.as_ref()) {
                fields if fields.is_empty() => Self::Outrun { said },
                fields => Self::Held { fields },
            },
            410 => Self::Expired { said },
            // Another object of that name: the server takes the wish for the old one as a change of its uid.
            422 if is_about(status.details.as_ref(), "metadata.uid") => Self::Outrun { said },
            400 | 405 | 406 | 413 | 415 | 422 => Self::Refused { said },
            504 if status.reason == "Expired" => Self::Expired { said },
            _ => Self::Busy { said, after: retry_after(status.details.as_ref()) },
        })
    }

    /// What the client says, where it is not about credentials.
    pub(super) fn of(error: &kube::Error) -> Option<Self> {
        Some(match error {
            kube::Error::Api(status) => return Self::of_status(status),
            kube::Error::SerdeError(error) => Self::Unreadable { said: error.to_string() },
            kube::Error::FromUtf8(error) => Self::Unreadable { said: error.to_string() },
            kube::Error::BuildRequest(error) => Self::Refused { said: error.to_string() },
            other => Self::Unreachable { said: chain(other) },
        })
    }
}

/// An error with all that led to it, each cause once.
pub(super) fn chain(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_words = cause.to_string();
        if !words.contains(&cause_words) {
            words = format!("{words}: {cause_words}");
        }
        next = cause.source();
    }
    words
}

fn said(status: &Status) -> String {
    match (status.message.as_str(), status.reason.as_str()) {
        ("", "") => format!("the API server answered {}", status.code),
        ("", reason) => reason.to_owned(),
        (message, _) => message.to_owned(),
    }
}

fn retry_after(details: Option<&StatusDetails>) -> Option<Duration> {
    let seconds = details.map(|details| details.retry_after_seconds).filter(|seconds| *seconds > 0)?;
    Some(Duration::from_secs(u64::from(seconds)))
}

fn is_about(details: Option<&StatusDetails>, field: &str) -> bool {
    details.into_iter().flat_map(|details| &details.causes).any(|cause| cause.field == field)
}

/// The fields of a conflict of managers; none where it is about the version of the object.
fn held(details: Option<&StatusDetails>) -> Vec<HeldField> {
    let causes = details.into_iter().flat_map(|details| &details.causes);
    let mine = causes.filter(|cause| cause.reason == "FieldManagerConflict");
    mine.map(|cause| HeldField { field: cause.field.clone(), manager: manager(&cause.message) }).collect()
}

/// `conflict with "kubectl-edit" using kura.tuist.dev/v1alpha1 at ...`: the name between the first two quotes.
fn manager(message: &str) -> String {
    message.split('"').nth(1).unwrap_or(message).to_owned()
}

fn held_by(fields: &[HeldField]) -> String {
    let told: Vec<String> = fields.iter().map(|held| format!("{} is held by {}", held.field, held.manager)).collect();
    told.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn status(value: serde_json::Value) -> Status {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_conflict_of_managers_names_each_field_and_who_holds_it() {
        // K28
        let conflict = status(json!({
            "kind": "Status", "status": "Failure", "reason": "Conflict", "code": 409,
            "message": "Apply failed with 2 conflicts: ...",
            "details": {"causes": [
                {"reason": "FieldManagerConflict", "field": ".spec.image",
                 "message": "conflict with \"kubectl-edit\" using kura.tuist.dev/v1alpha1"},
                {"reason": "FieldManagerConflict", "field": ".spec.replicas",
                 "message": "conflict with \"hpa\" with subresource \"scale\" using autoscaling/v2"},
            ]},
        }));
        let fault = ClusterFault::of_status(&conflict).unwrap();
        assert_eq!(fault.to_string(), ".spec.image is held by kubectl-edit, .spec.replicas is held by hpa");
    }

    #[test]
    fn the_same_code_has_its_meaning_from_its_reason() {
        let conflict = |reason: &str| status(json!({"reason": reason, "code": 409, "message": "so"}));
        assert_eq!(
            ClusterFault::of_status(&conflict("AlreadyExists")),
            Some(ClusterFault::Exists { said: "so".to_owned() })
        );
        assert_eq!(
            ClusterFault::of_status(&conflict("Conflict")),
            Some(ClusterFault::Outrun { said: "so".to_owned() })
        );
    }

    #[test]
    fn a_busy_server_says_when_to_come_again() {
        let busy = status(json!({"code": 429, "message": "too many requests", "details": {"retryAfterSeconds": 7}}));
        let Some(ClusterFault::Busy { after, .. }) = ClusterFault::of_status(&busy) else { panic!("busy") };
        assert_eq!(after, Some(Duration::from_secs(7)));
    }

    #[test]
    fn unauthorized_is_about_the_connection() {
        assert_eq!(ClusterFault::of_status(&status(json!({"code": 401, "message": "Unauthorized"}))), None);
    }
}
