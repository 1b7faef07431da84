//! What the cluster says of its objects. Most of it is dropped right here.

use jiff::Timestamp;
use serde::Deserialize;

use super::super::object::{Meta, Watched};
use crate::domain::kura::notice::{EXPLAINING, Notice, PROGRESS, key};
use crate::domain::kura::object::{ObjectKind, ObjectRef};

/// The longest text that is kept, in characters.
const TEXT_MAX: usize = 300;

/// As it comes, with what it is filed under.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "Said")]
pub struct NoticeObject {
    key: String,
    said: Said,
}

/// Whichever of the two ways of writing down when it was said is used.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Said {
    metadata: Meta,
    #[serde(default)]
    involved_object: Involved,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    message: String,
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    first_timestamp: Option<Timestamp>,
    #[serde(default)]
    last_timestamp: Option<Timestamp>,
    #[serde(default)]
    event_time: Option<Timestamp>,
    #[serde(default)]
    series: Option<Series>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Involved {
    kind: String,
    name: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Series {
    last_observed_time: Option<Timestamp>,
}

impl From<Said> for NoticeObject {
    fn from(said: Said) -> Self {
        let about = &said.involved_object;
        Self { key: key(&about.kind, &about.name, &said.metadata.name), said }
    }
}

impl Watched for NoticeObject {
    type Row = Notice;

    fn name_and_version(&self) -> (&str, &str) {
        (&self.key, &self.said.metadata.resource_version)
    }

    /// Warnings about what a Kura server is made of, and reports of progress.
    fn row(self, _: &str) -> Option<Notice> {
        let said = self.said;
        let warns = said.kind == "Warning";
        let kind = kind_of(&said.involved_object.kind).filter(|_| warns || said.reason == PROGRESS)?;
        let created = said.metadata.creation_timestamp.unwrap_or(Timestamp::UNIX_EPOCH);
        let first_at = said.first_timestamp.or(said.event_time).unwrap_or(created);
        let last_at = said.series.and_then(|series| series.last_observed_time).or(said.last_timestamp);
        Some(Notice {
            about: ObjectRef::new(kind, &said.involved_object.name),
            reason: said.reason,
            text: said.message.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(TEXT_MAX).collect(),
            warns,
            first_at,
            last_at: last_at.unwrap_or(first_at).max(first_at),
        })
    }
}

fn kind_of(name: &str) -> Option<ObjectKind> {
    EXPLAINING.iter().copied().find(|kind| kind.name() == name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(kind: &str, reason: &str, warning: &str, times: serde_json::Value) -> Option<Notice> {
        let mut object = json!({
            "metadata": {"name": "a.1", "creationTimestamp": "2026-01-01T00:00:00Z"},
            "involvedObject": {"kind": kind, "name": "a", "namespace": "kura"},
            "reason": reason, "message": "Failed to pull\n image", "type": warning,
        });
        object.as_object_mut().unwrap().extend(times.as_object().unwrap().clone());
        serde_json::from_value::<NoticeObject>(object).unwrap().row("kura")
    }

    #[test]
    fn warnings_and_progress_are_kept_and_the_rest_is_not() {
        // I11
        assert!(row("Pod", "Failed", "Warning", json!({})).is_some());
        assert!(row("Pod", "Pulled", "Normal", json!({})).is_none());
        assert!(row("Pod", PROGRESS, "Normal", json!({})).is_some());
        assert!(row("ConfigMap", "Failed", "Warning", json!({})).is_none());
    }

    #[test]
    fn when_it_was_said_is_read_from_either_way_of_writing_it() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let old = json!({"firstTimestamp": "2026-01-01T00:00:01Z", "lastTimestamp": "2026-01-01T00:00:09Z"});
        let old = row("Pod", "Failed", "Warning", old).unwrap();
        assert_eq!((old.first_at, old.last_at), (at("2026-01-01T00:00:01Z"), at("2026-01-01T00:00:09Z")));
        let new = json!({
            "firstTimestamp": null, "lastTimestamp": null, "eventTime": "2026-01-01T00:00:02.000001Z",
            "series": {"count": 3, "lastObservedTime": "2026-01-01T00:00:08.5Z"},
        });
        let new = row("Pod", "Failed", "Warning", new).unwrap();
        assert_eq!((new.first_at, new.last_at), (at("2026-01-01T00:00:02.000001Z"), at("2026-01-01T00:00:08.5Z")));
        let bare = row("Pod", "Failed", "Warning", json!({})).unwrap();
        assert_eq!((bare.first_at, bare.text.as_str()), (at("2026-01-01T00:00:00Z"), "Failed to pull image"));
    }
}
