//! Verbs of `when` about Kura servers and the cluster they run in.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::kura_given::GatewayGiven;
use super::moment::Moment;
use super::name::{Name, as_written};

/// What is done about Kura servers, and what happens to their cluster.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[schemars(tag = "do")]
pub enum KuraAct {
    /// Releases a version.
    ReleaseTag {
        /// Its image tag.
        tag: Name,
    },
    /// Deploys a tag to a server.
    Deploy {
        /// Which.
        server: Name,
        /// Where to.
        tag: Name,
        /// Apply even if everything agrees.
        #[serde(default, deserialize_with = "as_written")]
        force: Option<Value>,
    },
    /// Applies what is rendered once more.
    ForceReapply {
        /// Which.
        server: Name,
    },
    /// A move begins or ends.
    Move {
        /// Which.
        server: Name,
        /// From now on.
        #[serde(default, deserialize_with = "as_written")]
        phase: Option<Value>,
    },
    /// Takes a server down.
    Destroy {
        /// Which.
        server: Name,
    },
    /// The renderer changed: fields are rendered otherwise from now on.
    Rerender(Fields),
    /// A pod changes.
    Pod(PodAct),
    /// An instance changes by itself.
    Instance(NamedFields),
    /// A gateway changes by itself, or is there from now on.
    Gateway(GatewayGiven),
    /// The way to a server changes; what is left out stays.
    Link(LinkAct),
    /// Somebody else's hand.
    External {
        /// Of which kind.
        kind: String,
        /// Its name.
        name: String,
        /// A merge patch.
        #[serde(default, deserialize_with = "as_written")]
        set: Option<Value>,
        /// It is deleted.
        #[serde(default)]
        delete: bool,
    },
    /// A person has a gateway deleted.
    DeleteGateway {
        /// Which.
        name: Name,
    },
    /// A person has a finalizer taken off.
    StripFinalizer {
        /// Of what.
        name: Name,
        /// Which.
        finalizer: Name,
    },
    /// A person has an orphan deleted.
    DeleteOrphan {
        /// Which.
        name: Name,
    },
    /// Calls to the cluster go wrong from now on.
    ClusterFault {
        /// Of which kind; left out = of every kind.
        #[serde(default)]
        kind: Option<String>,
        /// How.
        answer: WrongAnswer,
        /// Of which verb; left out = of every verb.
        #[serde(default)]
        verb: Option<String>,
        /// How long.
        #[serde(rename = "for")]
        span: Moment,
    },
}

/// A server and fields of its manifest.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Fields {
    /// Which.
    pub server: Name,
    /// What.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

/// A thing by name, and fields of it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct NamedFields {
    /// Which.
    pub name: String,
    /// What.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

/// A pod, by name or by its place in an instance.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PodAct {
    /// Its name.
    #[serde(default)]
    pub name: Option<String>,
    /// Its instance.
    #[serde(default)]
    pub instance: Option<String>,
    /// Its ordinal.
    #[serde(default)]
    pub ord: Option<u32>,
    /// It is Ready, and so it stays.
    #[serde(default)]
    pub ready: Option<bool>,
    /// Its image.
    #[serde(default)]
    pub image: Option<Name>,
    /// Why it is not Ready.
    #[serde(default)]
    pub reason: Option<String>,
    /// Where it runs, or is tied to.
    #[serde(default)]
    pub node: Option<String>,
    /// It is gone, and comes back as its StatefulSet wants it.
    #[serde(default)]
    pub gone: bool,
}

/// The way to a server.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkAct {
    /// Which.
    pub server: String,
    /// A controller runs for the live class.
    #[serde(default)]
    pub class: Option<bool>,
    /// The address of its ingress; null = none.
    #[serde(default, deserialize_with = "as_written")]
    pub address: Option<Value>,
    /// `nxdomain`, `error` or addresses.
    #[serde(default, deserialize_with = "as_written")]
    pub dns: Option<Value>,
    /// True, or what is wrong with it.
    #[serde(default, deserialize_with = "as_written")]
    pub certificate: Option<Value>,
    /// A status, or `timeout`.
    #[serde(default, deserialize_with = "as_written")]
    pub up: Option<Value>,
}

/// How calls are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WrongAnswer {
    /// With a server error.
    Error,
    /// Not in time.
    Timeout,
    /// That this identity may not do it.
    Forbidden,
    /// That the object has changed.
    Conflict,
    /// Not at all.
    Silent,
    /// 410.
    Gone,
}
