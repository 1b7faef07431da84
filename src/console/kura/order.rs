//! Servers in the order of one of their columns; what reads best comes first.

use std::cmp::{Ordering, Reverse};

use super::super::sort::{By, Sorting};
use super::row::ServerRow;

/// Sorts rows; those that are equal stay by name.
pub(super) fn sorted(mut rows: Vec<&ServerRow>, sorting: Sorting) -> Vec<&ServerRow> {
    rows.sort_by(|a, b| compare(a, b, sorting.by).then_with(|| (&a.name, a.id).cmp(&(&b.name, b.id))));
    if sorting.turned {
        rows.reverse();
    }
    rows
}

fn compare(a: &ServerRow, b: &ServerRow, by: By) -> Ordering {
    match by {
        By::State => a.status.word().cmp(b.status.word()),
        By::Tag => a.current.cmp(&b.current),
        // The oldest wait and the oldest open deployment come first, those without any last.
        By::Waits => {
            let since = |row: &ServerRow| row.wait.as_ref().map(|wait| wait.since);
            (since(a).is_none(), since(a)).cmp(&(since(b).is_none(), since(b)))
        }
        By::Age => {
            let since = |row: &ServerRow| row.attempt.as_ref().map(|attempt| (!attempt.status.is_open(), attempt.at));
            (since(a).is_none(), since(a)).cmp(&(since(b).is_none(), since(b)))
        }
        By::Ready => a.ready().cmp(&b.ready()),
        By::Superseded => Reverse(a.superseded).cmp(&Reverse(b.superseded)),
        By::Old => Reverse(a.on_old_image()).cmp(&Reverse(b.on_old_image())),
        By::Drift => Reverse(a.drift).cmp(&Reverse(b.drift)),
        By::Held => {
            let since = |row: &ServerRow| row.held().map(|held| held.since);
            (since(a).is_none(), since(a)).cmp(&(since(b).is_none(), since(b)))
        }
        By::Beat => (a.beat.is_none(), a.beat).cmp(&(b.beat.is_none(), b.beat)),

        By::Name | By::Usual | By::What | By::Failures => Ordering::Equal,
    }
}
