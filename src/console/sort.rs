//! The order of a list: by which of its columns, and which way round. Remembered for as long as the console runs.

use std::cmp::{Ordering, Reverse};

use super::facts::Row;
use super::shelf::{Face, Item, face};
use super::snapshot::Snapshot;

/// A column that a list can be sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum By {
    /// The order the list has by itself.
    #[default]
    Usual,
    /// Its state.
    State,
    /// What people call it.
    Name,
    /// What is said about it.
    What,
    /// How long ago.
    Age,
    /// How often it failed, the most first.
    Failures,
    /// The tag it serves.
    Tag,
    /// How long it has waited, the longest first.
    Waits,
    /// Pods that are Ready, the fewest first.
    Ready,
    /// Pods on an old image, the most first.
    Old,
    /// Superseded deployments since the last success, the most first.
    Superseded,
    /// How the live object stands to what is rendered, what is worst first.
    Drift,
    /// Whose update is held, the longest first.
    Held,
    /// When its controller was heard of, the longest ago first.
    Beat,
}

/// Columns of the rollout: its own order, then to the right and round.
pub const MACHINES: [By; 4] = [By::Usual, By::Failures, By::Name, By::State];

/// Columns of releases and of the history: their own order, then from left to right.
pub const SHELF: [By; 5] = [By::Usual, By::State, By::Name, By::What, By::Age];

/// Columns of Kura servers: their groups, then from left to right.
pub const SERVERS: [By; 12] = [
    By::Usual,
    By::State,
    By::Name,
    By::Tag,
    By::Age,
    By::Waits,
    By::Ready,
    By::Old,
    By::Superseded,
    By::Drift,
    By::Held,
    By::Beat,
];

/// Columns of fleet rolls: what needs somebody first, then from left to right.
pub const ROLLS: [By; 6] = [By::Usual, By::State, By::Name, By::Tag, By::Waits, By::Age];

/// Columns of nodes: by name, then from left to right.
pub const NODES: [By; 6] = [By::Usual, By::State, By::Held, By::What, By::Beat, By::Tag];

/// How a list is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sorting {
    /// By what.
    pub by: By,
    /// The other way round.
    pub turned: bool,
}

impl Sorting {
    /// By the next of these columns, each as it reads best.
    pub fn next(self, columns: &[By]) -> Self {
        let at = columns.iter().position(|by| *by == self.by).unwrap_or(0);
        Self { by: columns[(at + 1) % columns.len()], turned: false }
    }

    /// The other way round.
    pub fn turned(self) -> Self {
        Self { turned: !self.turned, ..self }
    }

    /// True while the list is in the order it has by itself.
    pub fn is_usual(self) -> bool {
        self == Self::default()
    }

    /// In words, such as `sorted by name, turned round`.
    pub fn told(self) -> String {
        let by = match self.by {
            By::Usual => "in its usual order",
            By::State => "sorted by state",
            By::Name => "sorted by name",
            By::What => "sorted by what is said",
            By::Age => "sorted by age",
            By::Failures => "sorted by failures",
            By::Tag => "sorted by tag",
            By::Waits => "sorted by wait",
            By::Ready => "sorted by Ready pods",
            By::Superseded => "sorted by superseded deployments",
            By::Old => "sorted by pods on an old image",
            By::Drift => "sorted by drift",
            By::Held => "sorted by who is held",
            By::Beat => "sorted by heartbeat",
        };
        format!("{by}{}", if self.turned { ", turned round" } else { "" })
    }

    /// Where the machines of a ring stand: their places in its own order.
    pub fn machines(self, rows: &[Row]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        match self.by {
            By::Name => order.sort_by_key(|at| rows[*at].row.hostname.as_str()),
            By::State => order.sort_by_key(|at| rows[*at].row.state),
            By::Failures => order.sort_by_key(|at| Reverse(rows[*at].row.failures)),
            _ => {}
        }
        self.ended(order)
    }

    /// Items of a shelf, sorted.
    pub(super) fn items(self, picture: &Snapshot, items: Vec<Item>) -> Vec<Item> {
        if self.by == By::Usual {
            return self.ended(items);
        }
        let faces = items.into_iter().filter_map(|item| Some((item, face(picture, item)?)));
        let mut faces: Vec<(Item, Face)> = faces.collect();
        faces.sort_by(|(_, a), (_, b)| self.compare(a, b));
        self.ended(faces.into_iter().map(|(item, _)| item).collect())
    }

    fn compare(self, a: &Face, b: &Face) -> Ordering {
        match self.by {
            By::State => a.look.1.to_lowercase().cmp(&b.look.1.to_lowercase()),
            By::Name => a.name.cmp(&b.name),
            By::What => a.text.cmp(&b.text),
            By::Age => b.at.cmp(&a.at),
            _ => Ordering::Equal,
        }
    }

    fn ended<T>(self, mut sorted: Vec<T>) -> Vec<T> {
        if self.turned {
            sorted.reverse();
        }
        sorted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_go_round_and_a_new_one_is_not_turned() {
        let mut sorting = Sorting::default();
        let seen: Vec<By> = (0..SHELF.len())
            .map(|_| {
                sorting = sorting.turned().next(&SHELF);
                assert!(!sorting.turned);
                sorting.by
            })
            .collect();
        assert_eq!(seen, [By::State, By::Name, By::What, By::Age, By::Usual]);
        assert!(sorting.is_usual() && !sorting.turned().is_usual());
        assert_eq!(sorting.turned().next(&MACHINES).turned().told(), "sorted by failures, turned round");
    }
}
