//! The tree of the rollout screen: which rows are listed, given folds and a filter.

use std::collections::BTreeMap;

use super::facts::{Facts, LaneFacts, Node, Row, Standing, Tier};
use super::filter::Filter;
use super::sort::Sorting;
use super::spare::{Bare, Loose, Spare};

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
    /// What no rollout reaches.
    Spare(&'a Spare),
    /// A ring without a machine.
    Bare(&'a Bare),
    /// A machine that is out of scope.
    Loose(&'a Loose),
}

impl Line {
    /// Its facts.
    pub fn entry<'a>(&self, facts: &'a Facts) -> Option<Entry<'a>> {
        match self.node {
            Node::Spare => return Some(Entry::Spare(&facts.spare)),
            Node::Ring(_) => return facts.spare.rings.get(self.row).map(Entry::Bare),
            Node::Machine(_) if self.tier == facts.tiers.len() => {
                return facts.spare.machines.get(self.row).map(Entry::Loose);
            }
            _ => {}
        }
        let tier = facts.tiers.get(self.tier)?;
        let lane = || tier.lanes.get(self.lane);
        match self.node {
            Node::Environment(_) => Some(Entry::Tier(tier)),
            Node::Lane(_) => Some(Entry::Lane(tier, lane()?)),
            Node::Machine(_) => Some(Entry::Machine(tier, lane()?, lane()?.rows.get(self.row)?)),
            Node::Spare | Node::Ring(_) | Node::Kura(_) | Node::Roll(_) | Node::Host(_) => None,
        }
    }
}

/// What people folded or unfolded, by identity.
pub type Folds = BTreeMap<Node, bool>;

/// The rows that are listed: the path as it is, the machines of each ring in the order that was asked for.
pub fn lines(facts: &Facts, folds: &Folds, filter: &Filter, sorting: Sorting) -> Vec<Line> {
    let mut lines = Vec::new();
    for (t, tier) in facts.tiers.iter().enumerate() {
        let head = Line { node: Node::Environment(tier.id), tier: t, lane: 0, row: 0, unfolded: true };
        if filter.is_empty() {
            let unfolded = folds.get(&head.node).copied().unwrap_or_else(|| tier_unfolds(tier));
            lines.push(Line { unfolded, ..head });
            if unfolded {
                lanes(tier, head, folds, sorting, &mut lines);
            }
        } else {
            filtered(facts, tier, head, filter, sorting, &mut lines);
        }
    }
    lines.extend(spare(facts, folds, filter));
    lines
}

fn tier_unfolds(tier: &Tier) -> bool {
    tier.standing == Standing::Current || tier.total <= UNFOLDED_MAX
}

fn lanes(tier: &Tier, head: Line, folds: &Folds, sorting: Sorting, lines: &mut Vec<Line>) {
    for (l, lane) in tier.lanes.iter().enumerate() {
        let node = Node::Lane(lane.key);
        let few = lane.rows.len() <= UNFOLDED_MAX || tier.standing == Standing::Current;
        let unfolded = folds.get(&node).copied().unwrap_or(few);
        lines.push(Line { node, lane: l, unfolded, ..head });
        if unfolded {
            lines.extend(sorting.machines(&lane.rows).into_iter().map(|r| machine(head, l, r, &lane.rows[r])));
        }
    }
}

fn machine(head: Line, lane: usize, row: usize, facts: &Row) -> Line {
    Line { node: Node::Machine(facts.row.machine), lane, row, unfolded: false, ..head }
}

/// Machines that pass, under the rings and tiers they are in; a filter looks into folded rings as well.
fn filtered(facts: &Facts, tier: &Tier, head: Line, filter: &Filter, sorting: Sorting, lines: &mut Vec<Line>) {
    let start = lines.len();
    lines.push(head);
    for (l, lane) in tier.lanes.iter().enumerate() {
        let order = sorting.machines(&lane.rows).into_iter();
        let passing = order.filter(|r| filter.passes(tier, lane, &lane.rows[*r], facts.moment));
        let rows: Vec<Line> = passing.map(|r| machine(head, l, r, &lane.rows[r])).collect();
        if !rows.is_empty() {
            lines.push(Line { node: Node::Lane(lane.key), lane: l, ..head });
            lines.extend(rows);
        }
    }
    if lines.len() == start + 1 {
        lines.truncate(start);
    }
}

/// What no rollout reaches stands below the path; a filter shows the machines of it that pass.
fn spare(facts: &Facts, folds: &Folds, filter: &Filter) -> Vec<Line> {
    let spare = &facts.spare;
    let few = spare.rings.len() + spare.machines.len() <= UNFOLDED_MAX;
    let unfolded = !filter.is_empty() || folds.get(&Node::Spare).copied().unwrap_or(few);
    let head = Line { node: Node::Spare, tier: facts.tiers.len(), lane: 0, row: 0, unfolded };
    let line = |node: Node, row: usize| Line { node, row, unfolded: false, ..head };
    let rings = spare.rings.iter().enumerate().filter(|_| filter.is_empty());
    let rings = rings.map(|(n, ring)| line(Node::Ring(ring.id), n));
    let machines = spare.machines.iter().enumerate().filter(|(_, machine)| filter.passes_loose(machine));
    let machines = machines.map(|(n, machine)| line(Node::Machine(machine.id), n));
    let rows: Vec<Line> = rings.chain(machines).collect();
    match rows.is_empty() {
        true => rows,
        false if unfolded => [head].into_iter().chain(rows).collect(),
        false => vec![head],
    }
}

/// The rows a node is under, outermost first.
pub fn ancestors(facts: &Facts, node: Node) -> Vec<Node> {
    match node {
        Node::Environment(_) | Node::Spare | Node::Kura(_) | Node::Roll(_) | Node::Host(_) => Vec::new(),
        Node::Ring(_) => vec![Node::Spare],
        Node::Lane((environment, _)) => vec![Node::Environment(environment)],
        Node::Machine(id) => match facts.machine(id) {
            Some((tier, lane, _)) => vec![Node::Environment(tier.id), Node::Lane(lane.key)],
            None if facts.spare.machines.iter().any(|machine| machine.id == id) => vec![Node::Spare],
            None => Vec::new(),
        },
    }
}
