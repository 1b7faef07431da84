//! The account: two switches, and what else decides about unattended starts (R118-R120).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::body;
use super::problem::Problem;
use crate::domain::decide::next_unattended;
use crate::domain::fleet::Account;
use crate::domain::ids::{AccountId, ReleaseId};
use crate::domain::input::Verb;
use crate::domain::world::World;

/// Where it is read and changed.
pub const PATH: &str = "/api/config/account";

/// Where an owner configures it.
pub const CONFIG_PATH: &str = "/api/account/config";

/// How the newest of the matching tags is chosen; there is one way.
pub const TAG_STRATEGY: &str = "newest";

/// Fields that are shown but not writable here (R119).
const READ_ONLY: [&str; 7] = [
    "uuid",
    "name",
    "config_tag_pattern",
    "config_tag_strategy",
    "config_repository",
    "next_unattended",
    "repository_trouble",
];

/// Fields that nobody changes over HTTP.
const CONFIG_READ_ONLY: [&str; 4] = ["uuid", "name", "config_tag_strategy", "config_repository"];

/// Fields that any operator may change.
const SWITCHES: [&str; 2] = ["auto_deploy", "track_config_tags"];

/// The account as shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccountBody {
    /// Identity.
    pub uuid: AccountId,
    /// For people.
    pub name: String,
    /// Start every new commit on the configured ref while nothing runs.
    pub auto_deploy: bool,
    /// Start the newest matching tag while nothing runs.
    pub track_config_tags: bool,
    /// Glob of the tags that are followed; read-only here.
    pub config_tag_pattern: Option<String>,
    /// `newest`; read-only here.
    pub config_tag_strategy: String,
    /// Where releases are built from; null = no repository is configured. Read-only here.
    pub config_repository: Option<String>,
    /// What an unattended start would begin next; null = nothing waits. Read-only here.
    #[serde(default)]
    pub next_unattended: Option<NextStart>,
    /// Why the repository cannot be followed; null = it can, or nothing is followed. Read-only here.
    #[serde(default)]
    pub repository_trouble: Option<String>,
}

/// A release that starts by itself as soon as nothing runs (R169).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NextStart {
    /// Which.
    pub release_uuid: ReleaseId,
    /// Its tag.
    pub git_ref: String,
    /// What it waits for; null = the next tick.
    pub waits_for: Option<String>,
}

impl NextStart {
    /// What would start next in a world.
    pub fn of(world: &World) -> Option<Self> {
        let release = next_unattended(world)?;
        let waits_for =
            world.running().map(|rollout| format!("the rollout of {}", world.release_name(rollout.release)));
        Some(Self { release_uuid: release, git_ref: world.release_name(release).to_owned(), waits_for })
    }
}

impl AccountBody {
    /// The body of an account.
    pub fn of(uuid: AccountId, name: &str, account: &Account, repository: Option<&str>) -> Self {
        Self {
            uuid,
            name: name.to_owned(),
            auto_deploy: account.auto_deploy,
            track_config_tags: account.track_config_tags,
            config_tag_pattern: account.config_tag_pattern.clone(),
            config_tag_strategy: TAG_STRATEGY.to_owned(),
            config_repository: repository.map(without_credentials),
            next_unattended: None,
            repository_trouble: None,
        }
    }

    /// The same with what starts next, and with what keeps anything from starting.
    #[must_use]
    pub fn followed(mut self, world: &World, trouble: Option<String>) -> Self {
        self.next_unattended = NextStart::of(world);
        self.repository_trouble = trouble;
        self
    }
}

/// A place without the user and the password that may stand in its URL (R120).
fn without_credentials(place: &str) -> String {
    let Some((scheme, rest)) = place.split_once("://") else { return place.to_owned() };
    let (authority, path) = rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

/// What may be changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AccountPatch {
    /// Unattended starts on new commits.
    #[serde(deserialize_with = "body::sent", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub auto_deploy: Option<bool>,
    /// Unattended starts on new tags.
    #[serde(deserialize_with = "body::sent", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub track_config_tags: Option<bool>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl AccountPatch {
    /// Reads a request; 400 naming the field where it would change what is read-only (R119).
    pub fn parse(bytes: &[u8]) -> Result<Self, Problem> {
        body::refuse_fields(bytes, &READ_ONLY, "is read-only here")?;
        body::parse(bytes)
    }

    /// The verb.
    pub fn verb(&self) -> Verb {
        Verb::PatchAccount { auto_deploy: self.auto_deploy, track_config_tags: self.track_config_tags }
    }
}

/// What only an owner configures.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AccountConfig {
    /// Glob of the tags that are followed; null follows none.
    #[serde(deserialize_with = "body::nullable", skip_serializing_if = "Option::is_none")]
    pub config_tag_pattern: Option<Option<String>>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl AccountConfig {
    /// Reads a request; 400 naming the field where it would change what is immutable.
    pub fn parse(bytes: &[u8]) -> Result<Self, Problem> {
        body::refuse_fields(bytes, &CONFIG_READ_ONLY, "is set where the control plane is started")?;
        body::refuse_fields(bytes, &SWITCHES, "is switched with PATCH /api/config/account")?;
        body::parse(bytes)
    }

    /// The verb.
    pub fn verb(&self) -> Verb {
        Verb::ConfigureAccount { config_tag_pattern: self.config_tag_pattern.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_never_appear() {
        // R120
        let shown = |repository: &str| {
            let account = Account { config_tag_pattern: Some("v*".to_owned()), ..Account::default() };
            let uuid = AccountId(uuid::Uuid::nil());
            serde_json::to_value(AccountBody::of(uuid, "main", &account, Some(repository))).unwrap()
        };
        let body = shown("https://bot:hunter2@git.example/fleet/releases.git");
        assert_eq!(body["config_repository"], "https://git.example/fleet/releases.git");
        assert_eq!(shown("https://git.example/a@b")["config_repository"], "https://git.example/a@b");
        for place in ["/srv/releases", "git@git.example:fleet/releases.git", "C:\\releases"] {
            assert_eq!(shown(place)["config_repository"], place);
        }
        let known = ["uuid", "name", "auto_deploy", "track_config_tags"].into_iter().chain(READ_ONLY);
        let known: std::collections::BTreeSet<&str> = known.collect();
        let fields = body.as_object().unwrap();
        assert!(
            fields.keys().all(|field| known.contains(field.as_str())),
            "a new field has to be thought about: {body}"
        );
    }

    #[test]
    fn only_the_two_switches_can_be_changed() {
        // R119
        let problem = AccountPatch::parse(br#"{"config_tag_pattern":"v*"}"#).unwrap_err();
        assert_eq!((problem.kind.status(), problem.field.as_deref()), (400, Some("config_tag_pattern")));
        let problem = AccountPatch::parse(br#"{"auto_deploy":"no"}"#).unwrap_err();
        assert_eq!((problem.kind.status(), problem.field.as_deref()), (422, Some("auto_deploy")));
        assert_eq!(AccountPatch::parse(br#"{"auto_deploy":false}"#).unwrap().auto_deploy, Some(false));
    }
}
