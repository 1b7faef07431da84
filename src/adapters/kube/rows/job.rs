//! Jobs of fleet rolls: whether they have ended, and how.

use serde::Deserialize;

use super::super::object::{Condition, Meta, Watched, named_by_metadata};
use crate::domain::roll::sight::{FleetJob, JobEnd};

/// As it comes.
#[derive(Debug, Clone, Deserialize)]
pub struct JobObject {
    metadata: Meta,
    #[serde(default)]
    status: JobStatus,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct JobStatus {
    conditions: Vec<Condition>,
}

impl Watched for JobObject {
    type Row = FleetJob;

    named_by_metadata!();

    fn row(self, _: &str) -> Option<FleetJob> {
        let ended = self.status.ended();
        Some(FleetJob { stamp: self.metadata.stamp(), ended })
    }

    /// That its pods come and go is none.
    fn is_news(before: &FleetJob, now: &FleetJob) -> bool {
        let stamp = before.stamp.at(&now.stamp);
        FleetJob { stamp, ..before.clone() } != *now
    }
}

impl JobStatus {
    fn ended(&self) -> Option<JobEnd> {
        let holds = |kind| Condition::of(&self.conditions, kind).filter(|condition| condition.holds());
        if holds("Complete").is_some() {
            return Some(JobEnd::Complete);
        }
        let failed = holds("Failed")?;
        let words = [&failed.reason, &failed.message].into_iter().flatten().filter(|text| !text.is_empty());
        let words: Vec<&str> = words.map(String::as_str).collect();
        let message = if words.is_empty() { "it says no reason".to_owned() } else { words.join(": ") };
        Some(JobEnd::Failed { message, at: failed.last_transition_time })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn ended(conditions: &Value) -> Option<JobEnd> {
        let object = json!({"metadata": {"name": "j"}, "status": {"conditions": conditions}});
        serde_json::from_value::<JobObject>(object).unwrap().row("kura").unwrap().ended
    }

    #[test]
    fn a_job_has_ended_once_one_of_two_conditions_holds() {
        // F58
        let condition = |kind: &str, status: &str| json!({"type": kind, "status": status});
        assert_eq!(ended(&json!([])), None);
        assert_eq!(ended(&json!([condition("SuccessCriteriaMet", "True"), condition("Failed", "False")])), None);
        assert_eq!(ended(&json!([condition("Complete", "True")])), Some(JobEnd::Complete));
        let failed = json!([{
            "type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "limit 0",
            "lastTransitionTime": "2026-11-30T07:00:00Z",
        }]);
        let (message, at) = ("BackoffLimitExceeded: limit 0".to_owned(), "2026-11-30T07:00:00Z".parse().ok());
        assert_eq!(ended(&failed), Some(JobEnd::Failed { message, at }));
    }
}
