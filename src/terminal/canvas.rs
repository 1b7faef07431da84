//! The canvas: the frame on the screen, the frame being drawn, and the bytes between the two.

use ratatui::buffer::{Buffer, Cell, CellWidth};
use ratatui::layout::Rect;
use ratatui::style::Color;

use super::ink::SEEN_ON_BLANKS;
use super::modes::Modes;
use super::pen::Pen;

/// Largest terminal that is drawn, in columns and in rows; a larger one stays blank beyond.
pub const LENGTH_MAX: u16 = 1_000;

/// Two frames and a pen.
#[derive(Debug)]
pub struct Canvas {
    shown: Buffer,
    drawn: Buffer,
    pen: Pen,
    /// Whether what the terminal shows is what `shown` says.
    known: bool,
    /// Whether the terminal said that it knows synchronized output.
    pub sync: bool,
}

impl Canvas {
    /// A canvas of so many columns and rows, on a terminal of which nothing is known.
    pub fn new(size: (u16, u16)) -> Self {
        let (shown, drawn) = (Buffer::empty(area(size)), Buffer::empty(area(size)));
        Self { shown, drawn, pen: Pen::default(), known: false, sync: false }
    }

    /// Columns and rows.
    pub fn size(&self) -> (u16, u16) {
        (self.shown.area.width, self.shown.area.height)
    }

    /// Takes another size. What the terminal made of the old frame is unknown.
    pub fn resize(&mut self, size: (u16, u16)) {
        if area(size) != self.shown.area {
            *self = Self { sync: self.sync, ..Self::new(size) };
        }
    }

    /// Something else wrote to the terminal: the next frame is drawn in full.
    pub fn forget(&mut self) {
        self.known = false;
    }

    /// A blank frame to draw on.
    pub fn blank(&mut self) -> &mut Buffer {
        self.drawn.reset();
        &mut self.drawn
    }

    /// The frame that is on the screen.
    pub fn shown(&self) -> &Buffer {
        &self.shown
    }

    /// Bytes that turn the screen into the frame just drawn; empty where it shows that already.
    pub fn frame(&mut self) -> Vec<u8> {
        if !self.known {
            self.pen.wipe();
            self.shown.reset();
            self.known = true;
        }
        let columns = usize::from(self.drawn.area.width);
        let rows = self.shown.content.chunks(columns).zip(self.drawn.content.chunks(columns));
        for (y, (before, after)) in (0..).zip(rows).filter(|(_, (before, after))| before != after) {
            write_row(&mut self.pen, y, before, after);
        }
        std::mem::swap(&mut self.shown, &mut self.drawn);
        let bytes = self.pen.take();
        if self.sync && !bytes.is_empty() { whole(&bytes) } else { bytes }
    }
}

/// Longest run of unchanged cells that is written again rather than skipped: skipping costs as much.
const GAP_MAX: u16 = 4;

/// Fewest cells worth erasing.
const ERASE_MIN: usize = 4;

/// Writes what changed in a row.
///
/// A row with wide characters is written as a whole once it changes: half of an overwritten wide character takes
/// whatever colour the terminal likes, and terminals do not agree on what is wide.
fn write_row(pen: &mut Pen, y: u16, before: &[Cell], after: &[Cell]) {
    let whole = before.iter().chain(after).any(is_wide);
    let differs = |x: &usize| whole || before[*x] != after[*x];
    let blank_from = after
        .iter()
        .rposition(|cell| !is_blank(cell))
        .map_or(0, |last| last + usize::from(after[last].cell_width().max(1)));
    let erase_from = (blank_from..after.len()).find(differs).filter(|from| {
        let differing = (*from..after.len()).filter(differs).count();
        differing >= ERASE_MIN
    });
    let mut x = 0;
    while x < erase_from.unwrap_or(after.len()) {
        if differs(&x) {
            fill_gap(pen, x, y, after);
            pen.write(column(x), y, &after[x], column(after.len()));
        }
        x += if whole { usize::from(after[x].cell_width().max(1)) } else { 1 };
    }
    if let Some(from) = erase_from {
        pen.erase_from(column(from), y);
    }
}

/// Writes the few unchanged cells between the pen and `x` again, where that is cheaper than skipping them.
fn fill_gap(pen: &mut Pen, x: usize, y: u16, row: &[Cell]) {
    let Some(from) = pen.column(y).filter(|from| column(x).checked_sub(*from).is_some_and(|gap| gap <= GAP_MAX)) else {
        return;
    };
    if row[usize::from(from)..x].iter().all(|cell| pen.is_cheap(cell)) {
        (from..column(x)).for_each(|x| pen.write(x, y, &row[usize::from(x)], column(row.len())));
    }
}

/// A frame has at most `LENGTH_MAX` columns.
fn column(x: usize) -> u16 {
    u16::try_from(x).unwrap_or(u16::MAX)
}

fn is_blank(cell: &Cell) -> bool {
    cell.symbol() == " " && cell.bg == Color::Reset && !cell.modifier.intersects(SEEN_ON_BLANKS)
}

fn is_wide(cell: &Cell) -> bool {
    cell.symbol().len() > 1 && cell.cell_width() != 1
}

fn area((columns, rows): (u16, u16)) -> Rect {
    Rect::new(0, 0, columns.clamp(1, LENGTH_MAX), rows.clamp(1, LENGTH_MAX))
}

/// A frame that the terminal shows as one.
fn whole(bytes: &[u8]) -> Vec<u8> {
    let modes = Modes::get();
    [modes.sync_begin.as_bytes(), bytes, modes.sync_end.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::num::NonZeroU16;

    use proptest::prelude::*;
    use ratatui::style::{Modifier, Style};

    use super::*;

    fn draw(canvas: &mut Canvas, lines: &[&str]) -> Vec<u8> {
        let buffer = canvas.blank();
        for (y, line) in (0..).zip(lines) {
            buffer.set_string(0, y, line, Style::new());
        }
        canvas.frame()
    }

    #[test]
    fn what_did_not_change_costs_nothing() {
        let mut canvas = Canvas::new((20, 3));
        assert!(!draw(&mut canvas, &["pine", "42 s"]).is_empty());
        assert_eq!(draw(&mut canvas, &["pine", "42 s"]), b"");
        assert_eq!(draw(&mut canvas, &["pine", "43 s"]), b"\x1b[2;2H3");
        assert_eq!(draw(&mut canvas, &["pine", "53 tt"]), b"\r53 tt");
        assert_eq!(draw(&mut canvas, &["pine"]), b"\r\x1b[K");
        draw(&mut canvas, &["pine", "43 s"]);
        canvas.sync = true;
        assert_eq!(draw(&mut canvas, &["pine", "43 s"]), b"");
        assert_eq!(draw(&mut canvas, &["pine", "44 s"]), b"\x1b[?2026h\x1b[2;2H4\x1b[?2026l");
    }

    #[test]
    fn after_a_resize_or_a_stranger_everything_is_drawn() {
        let mut canvas = Canvas::new((20, 3));
        draw(&mut canvas, &["pine"]);
        canvas.forget();
        assert_eq!(draw(&mut canvas, &["pine"]), b"\x1b[m\x1b[2J\x1b[Hpine");
        canvas.resize((20, 3));
        assert_eq!(draw(&mut canvas, &["pine"]), b"");
        canvas.resize((0, 60_000));
        assert_eq!(canvas.size(), (1, LENGTH_MAX));
        assert_eq!(draw(&mut canvas, &["p"]), b"\x1b[m\x1b[2J\x1b[Hp");
    }

    fn style() -> impl Strategy<Value = Style> {
        let colour = prop_oneof![
            Just(Color::Reset),
            (0u8..=255).prop_map(Color::Indexed),
            any::<(u8, u8, u8)>().prop_map(|(r, g, b)| Color::Rgb(r, g, b))
        ];
        let modifiers = [Modifier::BOLD, Modifier::ITALIC, Modifier::UNDERLINED, Modifier::REVERSED];
        let modifiers = prop::sample::subsequence(modifiers.to_vec(), 0..=3);
        (colour.clone(), colour, modifiers).prop_map(|(fg, bg, modifiers)| {
            Style::new().fg(fg).bg(bg).add_modifier(modifiers.into_iter().fold(Modifier::empty(), Modifier::union))
        })
    }

    /// At most one text per row: a text that cuts a wide character in two is no frame.
    fn strokes() -> impl Strategy<Value = BTreeMap<u16, (u16, String, Style)>> {
        prop::collection::btree_map(0u16..6, (0u16..18, "[a-z 漢é]{1,9}", style()), 0..6)
    }

    proptest! {
        #[test]
        fn the_terminal_shows_what_was_drawn(frames in prop::collection::vec(strokes(), 1..6)) {
            let mut canvas = Canvas::new((18, 6));
            let size = |n| NonZeroU16::new(n).unwrap();
            let mut terminal = vt100::Parser::new(size(6), size(18), 0);
            for strokes in frames {
                let buffer = canvas.blank();
                for (y, (x, text, style)) in strokes {
                    buffer.set_string(x, y, text, style);
                }
                terminal.process(&canvas.frame());
                for (x, y) in (0..18).flat_map(|x| (0..6).map(move |y| (x, y))) {
                    compare(terminal.screen().cell(y, x).unwrap(), &canvas.shown()[(x, y)])?;
                }
            }
        }
    }

    /// What one sees of a cell is what was drawn.
    fn compare(seen: &vt100::Cell, drawn: &Cell) -> Result<(), TestCaseError> {
        if seen.is_wide_continuation() {
            return Ok(());
        }
        let text = if seen.contents().is_empty() { " " } else { seen.contents() };
        prop_assert_eq!(text, drawn.symbol());
        prop_assert_eq!(seen.bgcolor(), colour(drawn.bg));
        if text != " " {
            prop_assert_eq!(seen.fgcolor(), colour(drawn.fg));
            prop_assert_eq!(seen.bold(), drawn.modifier.contains(Modifier::BOLD));
        }
        prop_assert_eq!(seen.inverse(), drawn.modifier.contains(Modifier::REVERSED));
        prop_assert_eq!(seen.underline(), drawn.modifier.contains(Modifier::UNDERLINED));
        Ok(())
    }

    fn colour(colour: Color) -> vt100::Color {
        match colour {
            Color::Indexed(n) => vt100::Color::Idx(n),
            Color::Rgb(r, g, b) => vt100::Color::Rgb(r, g, b),
            _ => vt100::Color::Default,
        }
    }
}
