//! Where things stand: the regions of a frame, from its size alone, so that update and view agree on them.

use ratatui::layout::Rect;

/// Below this many columns or rows there is only one sentence.
pub const SMALLEST: (u16, u16) = (40, 10);

/// From this many columns on the detail stands beside the list.
const WIDE: u16 = 110;

/// Rows of a list that the detail below it never takes, where there are more than a handful.
const LIST_ROWS: u16 = 8;

/// Rows a detail takes below a list at most: a rule, a sentence, what to do, what to verify.
const DETAIL_ROWS: u16 = 13;

/// Rows of a table that the detail below it leaves.
const TABLE_ROWS: u16 = 7;

/// Rows a detail of two columns takes below a table at most.
const WIDE_DETAIL_ROWS: u16 = 20;

/// How much a frame can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Room {
    /// One sentence.
    Tiny,
    /// A line of header and the list.
    Small,
    /// Everything, the detail below the list.
    Usual,
    /// Everything, the detail beside the list.
    Wide,
}

/// The regions every screen has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// How much there is.
    pub room: Room,
    /// Who, what, how fresh.
    pub header: Rect,
    /// Names of screens and the headline; empty in a small frame.
    pub tabs: Rect,
    /// The screen.
    pub body: Rect,
    /// What happened last, or the text field.
    pub status: Rect,
    /// Keys; empty in a small frame.
    pub hints: Rect,
}

/// The regions of the rollout screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    /// What the rollout is and waits for.
    pub summary: Rect,
    /// Headings of the columns.
    pub heading: Rect,
    /// Rows.
    pub list: Rect,
    /// The selected row, explained; empty in a small frame.
    pub detail: Rect,
}

impl Frame {
    /// Divides an area.
    pub fn of(area: Rect) -> Self {
        let room = match (area.width, area.height) {
            (w, h) if w < SMALLEST.0 || h < SMALLEST.1 => Room::Tiny,
            (w, h) if w < 64 || h < 16 => Room::Small,
            (w, _) if w < WIDE => Room::Usual,
            _ => Room::Wide,
        };
        let (header, tabs, hints) = match room {
            Room::Tiny => (0, 0, 0),
            Room::Small => (1, 0, 0),
            Room::Usual | Room::Wide => (2, 1, 1),
        };
        let status = u16::from(room > Room::Tiny);
        let mut rows = Rows(area);
        let (header, tabs) = (rows.take(header), rows.take(tabs));
        let (body, rest) = rows.leave(status + hints);
        let mut rest = Rows(rest);
        Self { room, header, tabs, body, status: rest.take(status), hints: rest.take(hints) }
    }

    /// Divides the body into a list and the selected row explained: below it, or beside it where there is room.
    pub fn listed(&self) -> (Rect, Rect) {
        if self.room == Room::Wide {
            let width = self.body.width * 13 / 20;
            let detail = Rect { x: self.body.x + width, width: self.body.width - width, ..self.body };
            return (Rect { width, ..self.body }, detail);
        }
        let strip = match self.body.height {
            0..6 => 0,
            6..14 => 4,
            height => DETAIL_ROWS.min(height - LIST_ROWS),
        };
        Rows(self.body).leave(strip)
    }

    /// Divides the body for a table of all columns: what it is about, headings, rows, and the selected row below them.
    /// `troubles` is how many sources cannot be relied on: they take a line.
    pub fn table(&self, troubles: usize) -> Split {
        let mut rows = Rows(self.body);
        let told = u16::from(troubles > 0 && self.room > Room::Small);
        let summary = rows.take(1 + told);
        let heading = rows.take(u16::from(self.room > Room::Small));
        let detail = match (self.room, rows.0.height) {
            (Room::Tiny | Room::Small, _) | (_, 0..8) => 0,
            (Room::Usual, height) => DETAIL_ROWS.min(height.saturating_sub(TABLE_ROWS)).max(4),
            (Room::Wide, height) => (height * 3 / 5).min(WIDE_DETAIL_ROWS),
        };
        let (list, detail) = rows.leave(detail);
        Split { summary, heading, list, detail }
    }

    /// Divides the body for fleet rolls: what it is about, headings, the rolls as far as they need room, and the fleet of
    /// the selected one below them, which needs more. `troubles` is how many sources cannot be relied on.
    pub fn rolls(&self, listed: usize, troubles: usize) -> Split {
        let mut rows = Rows(self.body);
        let told = u16::from(troubles > 0 && self.room > Room::Small);
        let summary = rows.take(1 + told);
        let heading = rows.take(u16::from(self.room > Room::Small));
        if self.room <= Room::Small {
            return Split { summary, heading, list: rows.0, detail: Rect { height: 0, ..self.body } };
        }
        let most = (rows.0.height / 4).max(1);
        let list = u16::try_from(listed).unwrap_or(u16::MAX).clamp(1, most);
        let (list, detail) = rows.leave(rows.0.height.saturating_sub(list));
        Split { summary, heading, list, detail }
    }

    /// Divides the body for the log: a heading where there is room, and the list.
    pub fn log(&self) -> (Rect, Rect) {
        let mut rows = Rows(self.body);
        let heading = rows.take(u16::from(self.room > Room::Small));
        (heading, rows.0)
    }

    /// Divides the body for the rollout screen.
    pub fn split(&self) -> Split {
        let mut rows = Rows(self.body);
        match self.room {
            Room::Tiny | Room::Small => {
                let summary = rows.take(1);
                let heading = rows.take(0);
                Split { summary, heading, list: rows.0, detail: Rect { height: 0, ..self.body } }
            }
            Room::Usual => {
                let (summary, heading) = (rows.take(2), rows.take(1));
                let (list, detail) = rows.leave(if rows.0.height >= 14 { 5 } else { 3 });
                Split { summary, heading, list, detail }
            }
            Room::Wide => {
                let (summary, heading) = (rows.take(2), rows.take(1));
                let width = rows.0.width * 13 / 20;
                let detail = Rect { x: self.body.x + width, y: heading.y, width: self.body.width - width, ..rows.0 };
                let detail = Rect { height: rows.0.height + heading.height, ..detail };
                Split { summary, heading: Rect { width, ..heading }, list: Rect { width, ..rows.0 }, detail }
            }
        }
    }
}

/// An area that is handed out row by row.
struct Rows(Rect);

impl Rows {
    fn take(&mut self, height: u16) -> Rect {
        let height = height.min(self.0.height);
        let taken = Rect { height, ..self.0 };
        self.0 = Rect { y: self.0.y + height, height: self.0.height - height, ..self.0 };
        taken
    }

    /// All but the last `height` rows, and those.
    fn leave(&self, height: u16) -> (Rect, Rect) {
        let height = height.min(self.0.height);
        let above = Rect { height: self.0.height - height, ..self.0 };
        (above, Rect { y: above.y + above.height, height, ..self.0 })
    }
}

/// A box of at most that size in the middle of an area.
pub fn centred(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    let x = area.x + (area.width - width) / 2;
    let y = area.y + (area.height - height) / 2;
    Rect { x, y, width, height }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_never_overlap_nor_leave_the_frame() {
        for (width, height) in (0..200).flat_map(|w| (0..60).map(move |h| (w, h))) {
            let area = Rect { x: 0, y: 0, width, height };
            let frame = Frame::of(area);
            let regions = [frame.header, frame.tabs, frame.body, frame.status, frame.hints];
            let rows: u16 = regions.iter().map(|r| r.height).sum();
            assert_eq!(rows, height, "{width}x{height}");
            for split in [frame.split(), frame.table(0), frame.table(3), frame.rolls(0, 0), frame.rolls(99, 3)] {
                for part in [split.summary, split.heading, split.list, split.detail] {
                    assert!(part.area() == 0 || frame.body.union(part) == frame.body, "{width}x{height} {part:?}");
                }
                assert!(split.list.intersection(split.detail).area() == 0, "{width}x{height}");
            }
            let (list, detail) = frame.listed();
            assert!(list.intersection(detail).area() == 0, "{width}x{height}");
            assert_eq!(list.area() + detail.area(), frame.body.area(), "{width}x{height}");
        }
    }
}
