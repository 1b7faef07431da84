//! The tree of the rollout screen: which rows are listed, given folds and a filter.

use std::collections::BTreeMap;

use super::facts::{Facts, LaneFacts, Node, Row, Standing, Tier};
use super::filter::Filter;

/// Rings with more machines than this are folded until somebody unfolds them, unless the cursor is there.
const UNFOLDED_MAX: usize = 50;

/// One row: what it is, and where its facts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// Identity.
    pub node: Node,
    tier: usize,
    lane: usize,
    row: usize,
    /// Its own rows are listed.
    pub unfolded: bool,
}

/// The facts of a row.
#[derive(Debug, Clone, Copy)]
pub enum Entry<'a> {
    /// A tier.
    Tier(&'a Tier),
    /// A ring in a tier.
    Lane(&'a Tier, &'a LaneFacts),
    /// A machine.
    Machine(&'a Tier, &'a LaneFacts, &'a Row),
}

impl Line {
    /// Its facts.
    pub fn entry<'a>(&self, facts: &'a Facts) -> Option<Entry<'a>> {
        let tier = facts.tiers.get(self.tier)?;
        let lane = || tier.lanes.get(self.lane);
        match self.node {
            Node::Environment(_) => Some(Entry::Tier(tier)),
            Node::Lane(_) => Some(Entry::Lane(tier, lane()?)),
            Node::Machine(_) => Some(Entry::Machine(tier, lane()?, lane()?.rows.get(self.row)?)),
        }
    }
}

/// What people folded or unfolded, by identity.
pub type Folds = BTreeMap<Node, bool>;

/// The rows that are listed.
pub fn lines(facts: &Facts, folds: &Folds, filter: &Filter) -> Vec<Line> {
    let mut lines = Vec::new();
    for (t, tier) in facts.tiers.iter().enumerate() {
        let head = Line { node: Node::Environment(tier.id), tier: t, lane: 0, row: 0, unfolded: true };
        if filter.is_empty() {
            let unfolded = folds.get(&head.node).copied().unwrap_or_else(|| tier_unfolds(tier));
            lines.push(Line { unfolded, ..head });
            if unfolded {
                lanes(tier, head, folds, &mut lines);
            }
        } else {
            filtered(facts, tier, head, filter, &mut lines);
        }
    }
    lines
}

fn tier_unfolds(tier: &Tier) -> bool {
    tier.standing == Standing::Current || tier.total <= UNFOLDED_MAX
}

fn lanes(tier: &Tier, head: Line, folds: &Folds, lines: &mut Vec<Line>) {
    for (l, lane) in tier.lanes.iter().enumerate() {
        let node = Node::Lane(lane.key);
        let few = lane.rows.len() <= UNFOLDED_MAX || tier.standing == Standing::Current;
        let unfolded = folds.get(&node).copied().unwrap_or(few);
        lines.push(Line { node, lane: l, unfolded, ..head });
        if unfolded {
            let row = |(r, row): (usize, &Row)| machine(head, l, r, row);
            lines.extend(lane.rows.iter().enumerate().map(row));
        }
    }
}

fn machine(head: Line, lane: usize, row: usize, facts: &Row) -> Line {
    Line { node: Node::Machine(facts.row.machine), lane, row, unfolded: false, ..head }
}

/// Machines that pass, under the rings and tiers they are in; a filter looks into folded rings as well.
fn filtered(facts: &Facts, tier: &Tier, head: Line, filter: &Filter, lines: &mut Vec<Line>) {
    let start = lines.len();
    lines.push(head);
    for (l, lane) in tier.lanes.iter().enumerate() {
        let passing = lane.rows.iter().enumerate().filter(|(_, row)| filter.passes(tier, lane, row, facts.moment));
        let rows: Vec<Line> = passing.map(|(r, row)| machine(head, l, r, row)).collect();
        if !rows.is_empty() {
            lines.push(Line { node: Node::Lane(lane.key), lane: l, ..head });
            lines.extend(rows);
        }
    }
    if lines.len() == start + 1 {
        lines.truncate(start);
    }
}

/// The rows a node is under, outermost first.
pub fn ancestors(facts: &Facts, node: Node) -> Vec<Node> {
    match node {
        Node::Environment(_) => Vec::new(),
        Node::Lane((environment, _)) => vec![Node::Environment(environment)],
        Node::Machine(id) => match facts.machine(id) {
            Some((tier, lane, _)) => vec![Node::Environment(tier.id), Node::Lane(lane.key)],
            None => Vec::new(),
        },
    }
}
