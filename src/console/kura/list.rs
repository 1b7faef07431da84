//! The list of the screen: groups with their rows, or all servers in the order of one column.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::super::pick::Pick;
use super::super::sort::Sorting;
use super::facts::{Group, GroupKind, KuraFacts};
use super::filter::KuraFilter;
use super::order::sorted;
use super::part::Part;

/// A dead node with more servers than this is one row until somebody unfolds it.
const DEAD_NODE_OPEN_MAX: usize = 4;

/// What is listed, and how.
#[derive(Debug, Clone, Default)]
pub struct KuraList {
    /// What passes the filter, in order.
    pub rows: Vec<Part>,
    /// Which of it is selected.
    pub pick: Pick<Part>,
    /// Groups that somebody folded or unfolded.
    pub folds: BTreeMap<Part, bool>,
    /// What passes.
    pub filter: KuraFilter,
    /// How servers are sorted.
    pub sorting: Sorting,
}

impl KuraList {
    /// Makes the rows anew.
    pub(in super::super) fn relist(&mut self, facts: &KuraFacts, moment: Timestamp) {
        self.rows = if self.sorting.is_usual() { self.grouped(facts, moment) } else { self.flat(facts, moment) };
    }

    /// Its rows are shown.
    pub fn is_unfolded(&self, group: &Group) -> bool {
        let usual = group.kind != GroupKind::DeadNode || group.members.len() <= DEAD_NODE_OPEN_MAX;
        // What was looked for is shown.
        self.folds.get(&Part::Group(group.id)).copied().unwrap_or(usual || !self.filter.is_empty())
    }

    fn grouped(&self, facts: &KuraFacts, moment: Timestamp) -> Vec<Part> {
        let mut rows = Vec::new();
        // A region that is the only group needs no heading.
        let headed = facts.groups.len() > 1 || facts.groups.iter().any(|group| group.kind != GroupKind::Region);
        for group in &facts.groups {
            let passing = self.passing(facts, group, moment);
            if passing.is_empty() {
                continue;
            }
            if headed {
                rows.push(Part::Group(group.id));
            }
            if !headed || self.is_unfolded(group) {
                rows.extend(passing);
            }
        }
        rows
    }

    fn flat(&self, facts: &KuraFacts, moment: Timestamp) -> Vec<Part> {
        let rows = facts.servers.values().filter(|row| self.filter.passes(facts, Part::Server(row.id), moment));
        sorted(rows.collect(), self.sorting).into_iter().map(|row| Part::Server(row.id)).collect()
    }

    fn passing(&self, facts: &KuraFacts, group: &Group, moment: Timestamp) -> Vec<Part> {
        let members = group.members.iter().copied();
        if self.filter.is_empty() {
            return members.collect();
        }
        members.filter(|part| self.filter.passes(facts, *part, moment)).collect()
    }

    /// The group a row stands in, where groups are shown.
    pub(in super::super) fn group_of(&self, facts: &KuraFacts, part: Part) -> Option<Part> {
        let group = facts.groups.iter().find(|group| group.members.contains(&part))?;
        self.rows.contains(&Part::Group(group.id)).then_some(Part::Group(group.id))
    }
}
