//! A verb as the request that carries it: method, path and body. The other direction of what the server reads.

use serde_json::{Value, json};

use super::account::{self, AccountConfig, AccountPatch};
use super::environment::{self, EnvironmentNew, EnvironmentPatch};
use super::kura;
use super::machine::{self, MachineNew, MachinePatch};
use super::place::Name;
use super::problem::{Problem, ProblemKind};
use super::release::{self, BuildBody};
use super::ring::{self, RingSet};
use super::roll;
use super::rollout::{self, StartBody};
use super::secret;
use crate::domain::change::Level;
use crate::domain::ids::Revision;
use crate::domain::input::{Order, Verb};

/// Header with the key under which a write is done once.
pub const KEY_HEADER: &str = "idempotency-key";

/// Header with the reason of a request that has no body.
pub const REASON_HEADER: &str = "x-reason";

/// Header with the revision an answer was made from.
pub const REVISION_HEADER: &str = "x-revision";

/// Header with the revision of the plan that a write relies on.
pub const PLANNED_HEADER: &str = "if-match";

/// The value of `PLANNED_HEADER`, and of the `ETag` of a plan.
pub fn planned_text(revision: Revision) -> String {
    format!("\"{revision}\"")
}

/// Reads what `planned_text` wrote; 422 where it is anything else.
pub fn parse_planned(text: &str) -> Result<Revision, Problem> {
    let text = text.trim();
    let quoted = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let digits = quoted.filter(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()));
    digits.and_then(|digits| digits.parse().ok()).ok_or_else(|| {
        let what = if text.starts_with("W/") { "a weak one cannot be compared" } else { "this is none" };
        let message = format!("If-Match is one revision in quotes, and {what}");
        Problem::new(ProblemKind::Malformed, "bad_if_match", message)
            .field(PLANNED_HEADER)
            .hint("send the revision of the plan, such as If-Match: \"41\"; it is the ETag of ?dry_run=true")
    })
}

/// Header of an answer that was given before, under the same key.
pub const REPLAYED_HEADER: &str = "idempotent-replayed";

/// The longest idempotency key, in characters.
pub const KEY_MAX: usize = 128;

/// A key as it is; 422 where it is empty, too long or not printable.
pub fn checked_key(key: String) -> Result<String, Problem> {
    if (1..=KEY_MAX).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(key);
    }
    let message = format!("Idempotency-Key is 1 to {KEY_MAX} printable characters without blanks");
    Err(Problem::new(ProblemKind::Malformed, "bad_key", message).field(KEY_HEADER))
}

/// Code of the problem that says: it may have been done, read the journal before trying again.
pub const UNKNOWN_OUTCOME: &str = "unknown_outcome";

/// How a request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Makes, or does.
    Post,
    /// Changes.
    Patch,
    /// Replaces.
    Put,
    /// Takes away; has no body.
    Delete,
}

/// A request that carries an order.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// How.
    pub method: Method,
    /// Where.
    pub path: String,
    /// What; null = nothing.
    pub body: Value,
}

/// Where a person accepts the clock (R168).
pub const ACCEPT_CLOCK_PATH: &str = "/api/clock/accept";

impl Call {
    /// The request of an order. Identities that the order brings along for new things are given by the server instead;
    /// a pinned bucket, a content made elsewhere and the value of a secret do not travel.
    pub fn of(order: &Order) -> Self {
        let mut call = of_verb(&order.verb);
        if let (Some(reason), Value::Object(fields)) = (&order.reason, &mut call.body) {
            fields.insert("reason".to_owned(), Value::String(reason.clone()));
        }
        call
    }
}

fn of_verb(verb: &Verb) -> Call {
    match verb {
        Verb::PatchAccount { auto_deploy, track_config_tags } => {
            let (auto_deploy, track_config_tags) = (*auto_deploy, *track_config_tags);
            patch(account::PATH.to_owned(), &AccountPatch { auto_deploy, track_config_tags, reason: None })
        }
        Verb::ConfigureAccount { config_tag_pattern } => {
            let config_tag_pattern = config_tag_pattern.clone();
            post(account::CONFIG_PATH, &AccountConfig { config_tag_pattern, reason: None })
        }
        Verb::CreateEnvironment { slug, name, promotion_order, config_values, .. } => {
            let (slug, name, config_values) = (slug.clone(), Some(name.clone()), config_values.clone());
            let promotion_order = *promotion_order;
            post(environment::PATH, &EnvironmentNew { name, slug, promotion_order, config_values, reason: None })
        }
        Verb::PatchEnvironment { environment, name, promotion_order, config_values } => {
            let (name, config_values) = (name.clone(), config_values.clone());
            let changes = EnvironmentPatch { name, promotion_order: *promotion_order, config_values, reason: None };
            patch(format!("{}{environment}", environment::PATH), &changes)
        }
        Verb::CreateRing { slug, settings, .. } => {
            post(ring::PATH, &RingSet { slug: Some(slug.clone()), ..RingSet::from(settings) })
        }
        Verb::PatchRing { ring, patch: settings } => patch(format!("{}{ring}", ring::PATH), &RingSet::from(settings)),
        Verb::Pause(level) => bare(level_path(*level, "pause")),
        Verb::Unpause(level) => bare(level_path(*level, "unpause")),
        Verb::AddMachine { hostname, node, environment, ring, .. } => {
            let (hostname, node) = (hostname.clone(), node.clone());
            let (environment, ring) = (environment.map(name), ring.map(name));
            post(machine::PATH, &MachineNew { hostname, node, environment, ring, reason: None })
        }
        Verb::AssignMachine { machine, environment, ring, node } => {
            let (environment, ring) = (environment.map(|e| e.map(name)), ring.map(|r| r.map(name)));
            let changes = MachinePatch { environment, ring, node: node.clone(), reason: None };
            patch(format!("{}{machine}", machine::PATH), &changes)
        }
        Verb::RemoveMachine { machine } => {
            Call { method: Method::Delete, path: format!("{}{machine}", machine::PATH), body: Value::Null }
        }
        Verb::PublishRelease { git_ref, engine, timeout_seconds, notes, target_version, .. } => {
            let (git_ref, engine, notes) = (git_ref.clone(), engine.clone(), notes.clone());
            let (timeout_seconds, target_version) = (*timeout_seconds, target_version.clone());
            let build = BuildBody { git_ref, engine, timeout_seconds, notes, target_version, reason: None };
            post(release::BUILD_PATH, &build)
        }
        Verb::SetSecret { name, .. } => {
            Call { method: Method::Put, path: format!("{}{name}", secret::PATH), body: json!({}) }
        }
        Verb::Yank { release } => bare(format!("{}{release}/yank", release::PATH)),
        Verb::Start { release, protected, force, intent, .. } => {
            let (protected, force, intent) = (*protected, *force, *intent);
            post(rollout::PATH, &StartBody { config_release_uuid: *release, protected, force, intent, reason: None })
        }
        Verb::Kura(verb) => kura::request::call_of(verb),
        Verb::Roll(verb) => roll::request::call_of(verb),
        Verb::AcceptClock => bare(ACCEPT_CLOCK_PATH.to_owned()),
        Verb::Halt { rollout } => bare(format!("{}{rollout}/halt", rollout::PATH)),
    }
}

fn level_path(level: Level, word: &str) -> String {
    match level {
        Level::Machine(machine) => format!("{}{machine}/config-{word}", machine::PATH),
        Level::Ring(ring) => format!("{}{ring}/{word}", ring::PATH),
        Level::Environment(environment) => format!("{}{environment}/{word}", environment::PATH),
    }
}

fn name(id: impl std::fmt::Display) -> Name {
    Name(id.to_string())
}

fn bare(path: String) -> Call {
    Call { method: Method::Post, path, body: json!({}) }
}

fn post(path: &str, body: &impl serde::Serialize) -> Call {
    Call { method: Method::Post, path: path.to_owned(), body: value(body) }
}

fn patch(path: String, body: &impl serde::Serialize) -> Call {
    Call { method: Method::Patch, path, body: value(body) }
}

/// Our own bodies always are JSON objects with text keys, which is all that could fail here.
fn value(body: &impl serde::Serialize) -> Value {
    serde_json::to_value(body).unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::{MachineId, ReleaseId, RingId, RolloutId};
    use crate::domain::input::{Intent, RingPatch};

    fn call(verb: Verb, reason: Option<&str>) -> Call {
        Call::of(&Order { verb, by: "ann".to_owned(), reason: reason.map(str::to_owned), key: None })
    }

    #[test]
    fn a_verb_without_arguments_carries_its_reason_in_the_body() {
        let ring = RingId::named("workers");
        let call = call(Verb::Pause(Level::Ring(ring)), Some("disk swap"));
        assert_eq!(call.path, format!("/api/config/rings/{ring}/pause"));
        assert_eq!(call.body, json!({"reason": "disk swap"}));
    }

    #[test]
    fn a_revision_is_read_as_it_was_written() {
        assert_eq!(parse_planned(&planned_text(41)), Ok(41));
        for wrong in ["", "41", "*", "W/\"41\"", "\"\"", "\"+1\"", "\"1\", \"2\"", "\"99999999999999999999\""] {
            let problem = parse_planned(wrong).unwrap_err();
            assert_eq!((problem.kind.status(), problem.hints.len()), (422, 1), "{wrong}");
        }
    }

    #[test]
    fn only_what_was_said_is_sent() {
        let release = ReleaseId::named("v1");
        let id = RolloutId::named("r1");
        let start = Verb::Start { id, release, protected: None, force: false, intent: Some(Intent::Reset) };
        let expected = json!({"config_release_uuid": release, "force": false, "intent": "reset"});
        assert_eq!(call(start, None).body, expected);
        let ring = RingId::named("workers");
        let settings = RingPatch { max_in_flight: Some(0), ..RingPatch::default() };
        assert_eq!(call(Verb::PatchRing { ring, patch: settings }, None).body, json!({"max_in_flight": 0}));
    }

    #[test]
    fn unassigning_sends_null_and_leaving_alone_sends_nothing() {
        let machine = MachineId::named("ash");
        let verb = Verb::AssignMachine { machine, environment: Some(None), ring: None, node: None };
        assert_eq!(call(verb, None).body, json!({"environment": null}));
        assert_eq!(call(Verb::RemoveMachine { machine }, Some("gone")).body, Value::Null);
    }
}
