//! Steps: writes to the cluster with nothing left to choose, and what came of them.
//!
//! Every step names the version of the object it was decided on. Whoever carries it out sends that along as a
//! precondition and never reads again first: an object that moved on answers with a conflict, the step ends as `Stale`,
//! and the next pass decides anew. Nothing below the loop tries twice.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::ids::{DeploymentId, RollId, ServerId};
use super::super::roll::node::StepName;
use super::object::{ObjectRef, Version};

/// Steps of one pass; the rest follows with the next.
pub const STEPS_PER_PASS: usize = 500;

/// One write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// To which object.
    pub object: ObjectRef,
    /// What.
    pub deed: Deed,
    /// What for: tells the core, which made the step, what its outcome means. Nothing depends on it on the way.
    pub purpose: Purpose,
}

/// What is done to an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Deed {
    /// Server-side apply of `manifest` as `FIELD_MANAGER`. Unknown fields of the object stay (K28, K49).
    Apply {
        /// The whole object as it is to be, with `apiVersion`, `kind`, `metadata.{name,labels,annotations}` and
        /// `spec`; without a namespace, a uid and a resourceVersion.
        manifest: Value,
        /// The version it was planned from, to be sent as `metadata.{uid,resourceVersion}`. None = there was no such
        /// object: one that is there by now must stay untouched (`Outcome::Stale`).
        from: Option<Version>,
        /// Take over fields that other managers own; without it such a field is a conflict (K28).
        force: bool,
    },
    /// Delete, with UID and resourceVersion as preconditions (K37). An object that is gone already is `Done`.
    Delete {
        /// Which version.
        from: Version,
    },
    /// Take one finalizer off, guarded by the version. One that is gone already is `Done` (K44).
    StripFinalizer {
        /// Which version.
        from: Version,
        /// The finalizer.
        finalizer: String,
    },
    /// Set `spec.unschedulable` of a node, guarded by the version: a node somebody else touched meanwhile is left alone.
    Cordon {
        /// Which version.
        from: Version,
        /// The bit from now on.
        unschedulable: bool,
    },
    /// Evict a pod, with UID and resourceVersion as preconditions. One that is gone already is `Done`.
    Evict {
        /// Which version.
        from: Version,
        /// One that a budget protects (429) is deleted all the same, under the same preconditions (F26).
        insist: bool,
    },
}

impl Deed {
    /// The verb of the API it comes down to.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Apply { .. } => "apply",
            Self::Delete { .. } => "delete",
            Self::StripFinalizer { .. } | Self::Cordon { .. } => "patch",
            Self::Evict { .. } => "evict",
        }
    }
}

/// What a step is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Purpose {
    /// Bring an instance, or its gateway, to what is rendered for its server (K23).
    Converge {
        /// Whose.
        server: ServerId,
        /// The open deployment, if there is one.
        deployment: Option<DeploymentId>,
        /// The revision of the manifest (K22).
        revision: String,
        /// The image it names.
        image: String,
        /// The instance carried another image before: its not-Ready pods are to be deleted (K35).
        new_image: bool,
    },
    /// Delete a not-Ready pod of an image change (K35).
    NotReady {
        /// Whose.
        server: ServerId,
        /// The image the change leads to.
        image: String,
    },
    /// Delete a gateway nobody names any more, or its class (K43).
    Collect,
    /// Delete what a destroyed server leaves behind (K51).
    Destroy {
        /// Which.
        server: ServerId,
    },
    /// A person asked for it by name (K44, K45).
    Asked,
    /// A step of a fleet roll.
    Roll {
        /// Which; none = a probe or an uncordon that a person asked for.
        roll: Option<RollId>,
        /// On which node.
        node: String,
        /// For what.
        work: RollWork,
    },
}

/// What a step of a fleet roll is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RollWork {
    /// A step of the roll: nobody carries it out once the roll has ended.
    Step(StepName),
    /// A probe.
    Probe,
    /// Something of ours is taken away.
    Tidy,
    /// A person gives a node back.
    GiveBack,
}

/// A field that another manager owns.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct FieldConflict {
    /// Its path, such as `spec.ingressClassName`.
    pub field: String,
    /// Who owns it.
    pub manager: String,
}

/// What came of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome {
    /// The cluster took it, or it was like that already.
    Done,
    /// The object is not what the step was decided on: changed, replaced, there, or gone. Nothing was written.
    Stale,
    /// Other managers own fields the apply sets. Nothing was written (K28).
    Conflict {
        /// Which, sorted.
        fields: Vec<FieldConflict>,
    },
    /// The cluster says that the object can never be taken as it is, such as for a field that is not valid. Nothing was
    /// written.
    Invalid {
        /// What it said.
        why: String,
    },
    /// This identity may not do that. Nothing was written.
    Forbidden {
        /// What it said.
        why: String,
    },
    /// No answer, or one that says nothing about the object: it may have been written. The next pass will see.
    Failed {
        /// What went wrong, without anything that differs from one try to the next.
        why: String,
    },
}

impl Outcome {
    /// What a person is told; none where there is nothing to tell.
    pub fn trouble(&self) -> Option<String> {
        match self {
            Self::Done | Self::Stale => None,
            Self::Conflict { fields } => {
                let owned = |one: &FieldConflict| format!("{} is owned by {}", one.field, one.manager);
                Some(fields.iter().map(owned).collect::<Vec<_>>().join(", "))
            }
            Self::Invalid { why } => Some(format!("the cluster refuses it: {why}")),
            Self::Forbidden { why } => Some(format!("forbidden: {why}")),
            Self::Failed { why } => Some(why.clone()),
        }
    }
}

/// A step and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    /// What was tried.
    pub step: Step,
    /// What came of it.
    pub outcome: Outcome,
}
