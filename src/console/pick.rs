//! The selection of a list: by identity. Rows may come, go and trade places under it.

/// Which row of a list is selected, and which part of the list is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pick<I> {
    chosen: Option<I>,
    /// Where the chosen row stands, or stood when it was last listed.
    at: usize,
    /// First row that is shown.
    top: usize,
    listed: bool,
}

impl<I> Default for Pick<I> {
    fn default() -> Self {
        Self { chosen: None, at: 0, top: 0, listed: false }
    }
}

impl<I: Copy + PartialEq> Pick<I> {
    /// The selected row, if it is still listed. A row that took its place is never it.
    pub fn get(&self) -> Option<I> {
        self.chosen.filter(|_| self.listed)
    }

    /// Where the selected row stands; none if it is not listed.
    pub fn index(&self) -> Option<usize> {
        self.listed.then_some(self.at)
    }

    /// What was selected and is no longer listed.
    pub fn vanished(&self) -> Option<I> {
        self.chosen.filter(|_| !self.listed)
    }

    /// First row to show, so that the selection is on a screen of `height` rows.
    pub fn top(&self, rows: usize, height: usize) -> usize {
        let last = rows.saturating_sub(height);
        let low = (self.at + 1).saturating_sub(height);
        self.top.clamp(low.min(self.at), self.at.max(low)).min(last)
    }

    /// Takes note of a list that changed: the selection stays on its row, and the row stays where it is on screen.
    pub fn settle(&mut self, ids: &[I], height: usize) {
        let Some(chosen) = self.chosen else {
            self.select_at(ids, 0, height);
            return;
        };
        let found = ids.iter().position(|id| *id == chosen);
        self.listed = found.is_some();
        if let Some(found) = found {
            self.top = (self.top + found).saturating_sub(self.at);
            self.at = found;
        }
        self.top = self.top(ids.len(), height);
    }

    /// Moves by rows, from where the selection is or was.
    pub fn step(&mut self, ids: &[I], by: isize, height: usize) {
        let by = if self.listed || by < 0 { by } else { by - 1 };
        self.select_at(ids, self.at.saturating_add_signed(by), height);
    }

    /// Selects a row by its identity; false where it is not listed.
    pub fn select(&mut self, ids: &[I], id: I, height: usize) -> bool {
        let found = ids.iter().position(|other| *other == id);
        if let Some(at) = found {
            self.select_at(ids, at, height);
        }
        found.is_some()
    }

    /// Selects the row at a place, or the last one before it.
    pub fn select_at(&mut self, ids: &[I], at: usize, height: usize) {
        let at = at.min(ids.len().saturating_sub(1));
        self.chosen = ids.get(at).copied().or(self.chosen);
        self.listed = !ids.is_empty();
        self.at = at;
        self.top = self.top(ids.len(), height);
    }

    /// Forgets the selection, so that the next list begins at its first row.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A18: the list moves, the cursor does not.
    #[test]
    fn the_selection_is_an_identity() {
        let mut pick = Pick::default();
        pick.settle(&[1, 2, 3, 4], 10);
        pick.select(&[1, 2, 3, 4], 3, 10);
        pick.settle(&[4, 3, 2], 10);
        assert_eq!((pick.get(), pick.index()), (Some(3), Some(1)));
        pick.settle(&[0, 4, 2], 10);
        assert_eq!((pick.get(), pick.vanished()), (None, Some(3)));
        pick.settle(&[0, 4, 2, 3], 10);
        assert_eq!(pick.get(), Some(3), "back again");
    }

    #[test]
    fn movement_starts_where_the_vanished_row_was() {
        let mut pick = Pick::default();
        pick.settle(&[1, 2, 3], 10);
        pick.select(&[1, 2, 3], 2, 10);
        pick.settle(&[1, 3], 10);
        let (mut down, mut up) = (pick.clone(), pick);
        down.step(&[1, 3], 1, 10);
        up.step(&[1, 3], -1, 10);
        assert_eq!((down.get(), up.get()), (Some(3), Some(1)));
    }

    #[test]
    fn the_last_row_keeps_the_cursor() {
        let mut pick = Pick::default();
        pick.settle(&[0, 4, 2], 10);
        pick.step(&[0, 4, 2], isize::MAX, 10);
        for _ in 0..5 {
            pick.settle(&[0, 4, 2], 10);
        }
        assert_eq!(pick.get(), Some(2));
    }

    #[test]
    fn a_row_stays_where_it_is_on_screen() {
        let mut pick = Pick::default();
        let before: Vec<u32> = (100..200).collect();
        pick.settle(&before, 10);
        pick.select(&before, 150, 10);
        let shown = pick.index().unwrap() - pick.top(before.len(), 10);
        let after: Vec<u32> = (50..200).collect();
        pick.settle(&after, 10);
        assert_eq!(pick.index().unwrap() - pick.top(after.len(), 10), shown);
    }

    proptest! {
        #[test]
        fn the_selection_is_always_on_screen(steps in prop::collection::vec((-30isize..30, 0usize..40, 1usize..12), 1..40)) {
            let mut pick = Pick::default();
            for (by, rows, height) in steps {
                let ids: Vec<usize> = (0..rows).collect();
                pick.settle(&ids, height);
                pick.step(&ids, by, height);
                let top = pick.top(rows, height);
                if let Some(at) = pick.index() {
                    prop_assert!(at < rows && top <= at && at < top + height);
                }
            }
        }
    }
}
