//! A console on a control plane that tells only its status: which deeds it offers, and what stands where a plan would.

use super::deed::Deed;
use super::snapshot::Snapshot;
use super::target::Target;
use crate::domain::ids::MachineId;
use crate::domain::plan::{Plan, PlanKind, PlanLine};

/// Machines that are named one by one.
const NAMED_MAX: usize = 5;

/// Why a deed is not offered there; none where it is.
pub(super) fn not_offered(picture: &Snapshot, deed: &Deed, target: &Target) -> Option<String> {
    let glimpse = picture.glimpse.as_ref()?;
    let missing = match deed {
        Deed::AcceptClock => "accept the clock",
        Deed::Assign(..) | Deed::Unassign(_) => "move a machine",
        Deed::Remove(_) => "remove a machine",
        Deed::Add { .. } => "add a machine",
        Deed::ReleaseTag(_) => "release a runtime tag",
        Deed::Reset { release, .. } if glimpse.unnamed.contains(&release.0) => {
            return Some("which release runs is not told: kura-console start UUID --intent reset names it".to_owned());
        }
        _ => return glimpse.unreachable(target.id).map(str::to_owned),
    };
    Some(format!("this control plane has the runbook's verbs only, and none to {missing}"))
}

/// What is known of what would follow: whose slots go by what is told, and that nobody rehearsed it.
pub(super) fn plan(picture: &Snapshot, rehearsed: Plan) -> Plan {
    if picture.glimpse.is_none() {
        return rehearsed;
    }
    let mut lines = vec![line(PlanKind::Warns, "the server cannot rehearse: what follows is not known")];
    let ended: Vec<MachineId> = rehearsed.ended.iter().map(|lease| lease.machine).collect();
    if !ended.is_empty() {
        let names: Vec<&str> = ended.iter().take(NAMED_MAX).map(|id| picture.world.hostname(*id)).collect();
        let rest = ended.len().saturating_sub(NAMED_MAX);
        let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        lines.push(line(
            PlanKind::Ends,
            &format!("by the runbook the slot of {}{more} is given back", names.join(", ")),
        ));
    }
    if !ended.is_empty() || !rehearsed.cancelled.is_empty() {
        lines.push(line(PlanKind::Warns, "runs in flight may be cancelled and nodes stay cordoned: check afterwards"));
    }
    lines.push(line(PlanKind::Warns, "what somebody else does meanwhile is not noticed (no If-Match)"));
    lines.push(line(PlanKind::Warns, "if its answer is lost it is not sent again: a retry is not safe here"));
    // What the core would refuse of a sketch the control plane may well do.
    Plan { lines, refused: None, ..rehearsed }
}

fn line(kind: PlanKind, text: &str) -> PlanLine {
    PlanLine { kind, text: text.to_owned() }
}
