//! When a roll will be through, as far as that can honestly be said: by nodes that went through, and never while it stands
//! still.

use jiff::Timestamp;

use super::super::span::Seconds;
use super::fleet_roll::Roll;
use super::node::StepName;
use super::sight::FleetSight;

/// What can be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eta {
    /// Nothing, and while or until what.
    Unknown(&'static str),
    /// Its last node will be green at about this moment.
    Green {
        /// When.
        at: Timestamp,
        /// By how many nodes that went through.
        by: usize,
    },
    /// It will be over at this moment, unless a node breaks.
    Soaked(Timestamp),
}

impl Eta {
    /// One phrase; `left` is the time until a moment, as the surface writes it.
    pub fn told(self, left: impl FnOnce(Timestamp) -> String) -> String {
        match self {
            Self::Unknown(why) => format!("unknown {why}"),
            Self::Green { at, .. } => format!("about {}", left(at)),
            Self::Soaked(at) => format!("soak ends in {}", left(at)),
        }
    }
}

/// Of a roll that goes on; none of one that has ended.
pub fn eta(roll: &Roll, fleet: Option<&FleetSight>, now: Timestamp) -> Option<Eta> {
    if !roll.is_live() {
        return None;
    }
    if fleet.is_none_or(|fleet| !fleet.is_fresh(now)) {
        return Some(Eta::Unknown("while the fleet is not seen"));
    }
    Some(match (&roll.blocked, &roll.gate, roll.soaking_since) {
        (Some(_), ..) => Eta::Unknown("while blocked"),
        (None, Some(_), _) => Eta::Unknown("while a person is waited for"),
        (None, None, Some(since)) => Eta::Soaked(roll.spec.soak_seconds.after(since)),
        _ => by_those_that_went_through(roll, now),
    })
}

/// As long as those took, without their dwell and with that of each node that is left.
fn by_those_that_went_through(roll: &Roll, now: Timestamp) -> Eta {
    let spans: Vec<u64> = roll.turns.iter().filter_map(|turn| span(roll, &turn.node, turn.at)).collect();
    let by = spans.len();
    let Some(mean) = spans.iter().sum::<u64>().checked_div(u64::try_from(by).unwrap_or(u64::MAX)) else {
        return Eta::Unknown("until a node went through");
    };
    let passed = |node: &str| {
        let began = roll.turns.iter().find(|turn| turn.node == node).map(|turn| turn.at);
        began.map_or(0, |at| Seconds::between(at, now).0)
    };
    let green = |node: &str| roll.nodes.get(node).is_some_and(|node| node.is_past(StepName::Green));
    let nodes = roll.spec.all_nodes().into_iter().filter(|node| !green(node));
    let left: u64 = nodes.map(|node| (mean + roll.spec.settle(node).0).saturating_sub(passed(node))).sum();
    Eta::Green { at: Seconds(left).after(now), by }
}

/// What a node took from its turn to green, without its dwell.
fn span(roll: &Roll, node: &str, began: Timestamp) -> Option<u64> {
    let row = roll.nodes.get(node)?.step(StepName::Green).filter(|row| row.is_over())?;
    Some(Seconds::between(began, row.ended_at?).0.saturating_sub(roll.spec.settle(node).0))
}
