//! Requests of a run as a server would count them: by the pattern of their route, method and status.

use super::file::act::{Act, Doing};
use super::file::agents::AgentAct;
use super::file::rollouts::{RolloutAct, Target};
use crate::wire::agent::ASSIGNMENT_PATH;
use crate::wire::call::ACCEPT_CLOCK_PATH;

/// A kind of request and how it was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Asked {
    pub(super) route: &'static str,
    pub(super) method: &'static str,
    pub(super) status: u16,
    /// It gave an order.
    pub(super) is_verb: bool,
}

impl Asked {
    /// Where agents ask for their assignment.
    pub(super) fn poll(status: u16) -> Self {
        Self { route: ASSIGNMENT_PATH, method: "GET", status, is_verb: false }
    }

    /// Where agents say how a run ended.
    pub(super) fn report(status: u16) -> Self {
        Self { route: "/api/agent/apply-results", method: "POST", status, is_verb: false }
    }

    /// The request an entry of `when` makes; none where it makes none, or agents make it.
    pub(super) fn of(act: &Act, status: u16) -> Option<Self> {
        let (method, route) = match &act.doing {
            Doing::Rollouts(doing) => of_people(doing)?,
            Doing::Agents(AgentAct::AddMachine(_)) => ("POST", "/api/provisioning/machines/"),
            Doing::Agents(AgentAct::DeleteMachine { .. }) => ("DELETE", "/api/provisioning/machines/{uuid}"),
            Doing::Agents(AgentAct::Assign { .. }) => ("PATCH", "/api/provisioning/machines/{uuid}"),
            _ => return None,
        };
        Some(Self { route, method, status, is_verb: true })
    }

    /// Polls are held, so the time to their answer says nothing.
    pub(super) fn is_timed(&self) -> bool {
        self.route != ASSIGNMENT_PATH
    }
}

fn of_people(doing: &RolloutAct) -> Option<(&'static str, &'static str)> {
    Some(match doing {
        RolloutAct::StartRollout { .. } | RolloutAct::Reset { .. } => ("POST", "/api/config/rollouts/"),
        RolloutAct::Halt { .. } => ("POST", "/api/config/rollouts/{uuid}/halt"),
        RolloutAct::Yank { .. } => ("POST", "/api/config/releases/{uuid}/yank"),
        RolloutAct::Pause(target) => ("POST", pause(target)[0]),
        RolloutAct::Unpause(target) => ("POST", pause(target)[1]),
        RolloutAct::PatchRing(_) => ("PATCH", "/api/config/rings/{uuid}"),
        RolloutAct::PatchEnvironment(_) => ("PATCH", "/api/config/environments/{uuid}"),
        RolloutAct::PatchAccount(_) => ("PATCH", "/api/config/account"),
        RolloutAct::AcceptClock => ("POST", ACCEPT_CLOCK_PATH),
        RolloutAct::AutoDeploy { .. } | RolloutAct::TagArrives { .. } | RolloutAct::Telemetry { .. } => return None,
    })
}

/// The routes of a pause and of its end.
fn pause(target: &Target) -> [&'static str; 2] {
    match target {
        Target { ring: Some(_), .. } => ["/api/config/rings/{uuid}/pause", "/api/config/rings/{uuid}/unpause"],
        Target { environment: Some(_), .. } => {
            ["/api/config/environments/{uuid}/pause", "/api/config/environments/{uuid}/unpause"]
        }
        _ => ["/api/provisioning/machines/{uuid}/config-pause", "/api/provisioning/machines/{uuid}/config-unpause"],
    }
}
