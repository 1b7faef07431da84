//! A question about one thing, and the sentence that answers it.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::problem::{Problem, ProblemKind};
use crate::domain::explain::{Explanation, Subject};
use crate::domain::failure_mode::FailureMode;
use crate::domain::ids::{AccountId, MachineId, RingId, RollId, ServerId};

/// Where it is asked.
pub const PATH: &str = "/api/explain";

/// What is asked about: exactly one of these.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExplainBody {
    /// The account: what its current rollout waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// A ring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ring: Option<RingId>,
    /// A machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineId>,
    /// A Kura server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerId>,
    /// A fleet roll.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roll: Option<RollId>,
    /// A node, by its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}

impl ExplainBody {
    /// The one subject; 422 where there is none or more than one, or the account is not the caller's own.
    pub fn subject(&self, account: AccountId) -> Result<Subject, Problem> {
        let named = [
            self.account.map(|_| Subject::Rollout),
            self.ring.map(Subject::Ring),
            self.machine.map(Subject::Machine),
            self.server.map(Subject::Server),
            self.roll.map(Subject::Roll),
            self.node.clone().map(Subject::Node),
        ];
        match <[Subject; 1]>::try_from(named.into_iter().flatten().collect::<Vec<_>>()) {
            Ok(_) if self.account.is_some_and(|asked| asked != account) => {
                Err(malformed("this is not the account of your token").field("account"))
            }
            Ok([subject]) => Ok(subject),
            Err(_) => Err(malformed("name exactly one of account, ring, machine, server, roll and node")),
        }
    }
}

fn malformed(message: &str) -> Problem {
    Problem::new(ProblemKind::Malformed, "malformed", message)
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplanationBody {
    /// One sentence.
    pub sentence: String,
    /// Since when.
    pub since: Option<Timestamp>,
    /// Whom or what it waits for.
    pub on: Option<String>,
    /// Id of the failure mode that holds, such as `FM-1`.
    #[serde(default)]
    pub failure_mode: Option<String>,
    /// What one can do next, most useful first.
    pub next: Vec<String>,
    /// What to verify afterwards.
    #[serde(default)]
    pub verify: Vec<String>,
}

impl From<Explanation> for ExplanationBody {
    fn from(explanation: Explanation) -> Self {
        let Explanation { sentence, on, since, next, failure_mode, verify } = explanation;
        Self { sentence, since, on, failure_mode: failure_mode.map(FailureMode::id), next, verify }
    }
}
