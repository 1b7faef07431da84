//! The list of a screen: what passes its filter, in its order, and which of it is selected.

use std::cmp::{Ordering, Reverse};

use super::super::kura::Token;
use super::super::pick::Pick;
use super::super::sort::{By, Sorting};
use super::facts::FleetFacts;
use super::filter::FleetFilter;
use super::roll_row::RollRow;
use crate::domain::ids::RollId;
use crate::domain::roll::host::Host;

/// A list of rows that are known by an identity.
#[derive(Debug, Clone)]
pub struct Listing<I> {
    /// What passes, in order.
    pub rows: Vec<I>,
    /// Which of it is selected.
    pub pick: Pick<I>,
    /// What passes.
    pub filter: FleetFilter,
    /// How it is sorted.
    pub sorting: Sorting,
}

impl<I> Default for Listing<I> {
    fn default() -> Self {
        Self { rows: Vec::new(), pick: Pick::default(), filter: FleetFilter::default(), sorting: Sorting::default() }
    }
}

impl Listing<RollId> {
    /// Makes the rows anew.
    pub(in super::super) fn relist(&mut self, facts: &FleetFacts) {
        let mut rows: Vec<&RollRow> = facts.rolls.iter().filter(|row| self.filter.passes_roll(row)).collect();
        rows.sort_by(|a, b| rolls(a, b, self.sorting.by));
        turn(&mut rows, self.sorting);
        self.rows = rows.into_iter().map(|row| row.id).collect();
    }
}

impl Listing<Token> {
    /// Makes the rows anew.
    pub(in super::super) fn relist(&mut self, facts: &FleetFacts) {
        let mut rows: Vec<(Token, &Host)> = facts.named().filter(|(_, host)| self.filter.passes_host(host)).collect();
        rows.sort_by(|a, b| hosts(a.1, b.1, self.sorting.by));
        turn(&mut rows, self.sorting);
        self.rows = rows.into_iter().map(|(id, _)| id).collect();
    }
}

fn turn<T>(rows: &mut [T], sorting: Sorting) {
    if sorting.turned {
        rows.reverse();
    }
}

/// Those that are equal stay as they are.
fn rolls(a: &RollRow, b: &RollRow, by: By) -> Ordering {
    match by {
        By::State => a.state.cmp(&b.state),
        By::Name => (&a.name, Reverse(a.at)).cmp(&(&b.name, Reverse(b.at))),
        By::Tag => a.revision.cmp(&b.revision),
        // Who waits for a person longest comes first.
        By::Waits => (a.waits_since.is_none(), a.waits_since).cmp(&(b.waits_since.is_none(), b.waits_since)),
        By::Age => Reverse(a.at).cmp(&Reverse(b.at)),
        _ => Ordering::Equal,
    }
}

fn hosts(a: &Host, b: &Host, by: By) -> Ordering {
    match by {
        By::State => a.ready.cmp(&b.ready),
        By::What => a.runtime().cmp(&b.runtime()),
        By::Held => a.cordoned().cmp(&b.cordoned()),
        By::Tag => a.version.cmp(&b.version),
        // Who was looked at longest ago comes first.
        By::Beat => {
            let at = |host: &Host| host.finding.as_ref().map(|finding| finding.at);
            (at(a).is_none(), at(a)).cmp(&(at(b).is_none(), at(b)))
        }
        _ => Ordering::Equal,
    }
}
