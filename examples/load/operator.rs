//! The operator: starts a release, looks at its status again and again, holds a ring and lets it go on.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::Fallible;
use super::plane::Plane;

/// Between two looks at the status.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What the operator saw.
#[derive(Debug, Clone, Default)]
pub(crate) struct Driven {
    /// Machines that were done at the end.
    pub(crate) done: u64,
    pub(crate) orders: u64,
    /// Of orders and looks, the slowest answer in milliseconds.
    pub(crate) slowest_order: f64,
    pub(crate) slowest_look: f64,
}

/// Drives a rollout for that long.
pub(crate) async fn drive(plane: Arc<Plane>, span: Duration) -> Fallible<Driven> {
    let began = Instant::now();
    let mut driven = Driven::default();
    let build = json!({"git_ref": "v1", "engine": "saltstack"});
    let release = plane.call("POST", "/api/config/releases/build-from-git", &build).await?;
    let start = json!({"config_release_uuid": release["uuid"], "protected": true});
    let rollout = driven.order(&plane, "/api/config/rollouts/", &start).await?;
    let id = rollout["uuid"].as_str().ok_or("no rollout")?.to_owned();
    let rings = plane.call("GET", "/api/config/rings/", &Value::Null).await?;
    let ring = rings[0]["uuid"].as_str().ok_or("no ring")?.to_owned();
    let mut held = false;
    while began.elapsed() < span {
        let asked = Instant::now();
        let status = plane.call("GET", &format!("/api/config/rollouts/{id}/status?limit=100"), &Value::Null).await?;
        driven.slowest_look = driven.slowest_look.max(asked.elapsed().as_secs_f64() * 1e3);
        if status["status"] == "running" {
            let word = if held { "unpause" } else { "pause" };
            driven.order(&plane, &format!("/api/config/rings/{ring}/{word}"), &json!({"reason": "load"})).await?;
            held = !held;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    if held {
        driven.order(&plane, &format!("/api/config/rings/{ring}/unpause"), &json!({})).await?;
    }
    let status = plane.call("GET", &format!("/api/config/rollouts/{id}/status?limit=1000"), &Value::Null).await?;
    let text = plane.call("GET", "/api/world", &Value::Null).await?;
    let machines = text["world"]["machines"].as_array().map_or(&[][..], Vec::as_slice);
    driven.done = u64::try_from(machines.iter().filter(|machine| !machine["applied"].is_null()).count())?;
    if !status["halted_rings"].as_object().is_none_or(serde_json::Map::is_empty) {
        return Err(format!("rings were halted: {}", status["halted_rings"]).into());
    }
    Ok(driven)
}

impl Driven {
    async fn order(&mut self, plane: &Plane, path: &str, body: &Value) -> Fallible<Value> {
        let asked = Instant::now();
        let answer = plane.call("POST", path, body).await?;
        self.slowest_order = self.slowest_order.max(asked.elapsed().as_secs_f64() * 1e3);
        self.orders += 1;
        Ok(answer)
    }
}
