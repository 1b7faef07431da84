//! The pen: writes changed cells with as few bytes as it can, and knows across frames where it is and with which ink.

use std::io::Write;

use ratatui::buffer::{Cell, CellWidth};

use super::ink::Ink;

/// Stands for a symbol that must never reach a terminal.
const REPLACEMENT: &str = "\u{fffd}";

/// Where the terminal's cursor is, what it writes with, and bytes that are not sent yet.
#[derive(Debug, Default)]
pub struct Pen {
    out: Vec<u8>,
    at: Option<(u16, u16)>,
    ink: Option<Ink>,
}

impl Pen {
    /// Erases the screen; after this everything about the terminal is known.
    pub fn wipe(&mut self) {
        self.out.extend_from_slice(b"\x1b[m\x1b[2J\x1b[H");
        self.at = Some((0, 0));
        self.ink = Some(Ink::PLAIN);
    }

    /// Writes a cell on a screen of so many columns.
    pub fn write(&mut self, x: u16, y: u16, cell: &Cell, columns: u16) {
        self.go_to(x, y);
        self.dip(cell);
        self.put(x, y, cell, columns);
    }

    /// Leaves everything from here to the end of the row blank, on the terminal's own ground: erasing to another one is
    /// not what all terminals do.
    pub fn erase_from(&mut self, x: u16, y: u16) {
        self.go_to(x, y);
        self.dip(&Cell::EMPTY);
        self.out.extend_from_slice(b"\x1b[K");
    }

    /// Where the next cell goes by itself, if that is certain and in row `y`.
    pub fn column(&self, y: u16) -> Option<u16> {
        self.at.filter(|(_, row)| *row == y).map(|(x, _)| x)
    }

    /// Whether writing this cell costs one byte and nothing else.
    pub fn is_cheap(&self, cell: &Cell) -> bool {
        let symbol = cell.symbol();
        symbol.len() == 1 && !steers(symbol) && self.ink.is_some_and(|ink| ink.for_cell(cell) == ink)
    }

    /// Takes what was written since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    fn go_to(&mut self, x: u16, y: u16) {
        match self.at {
            Some(at) if at == (x, y) => return,
            Some((from, line)) if line == y && from + 1 == x => self.out.extend_from_slice(b"\x1b[C"),
            Some((from, line)) if line == y && from < x => self.tell(format_args!("\x1b[{}C", x - from)),
            Some((_, line)) if line == y && x == 0 => self.out.push(b'\r'),
            Some((_, line)) if line + 1 == y && x == 0 => self.out.extend_from_slice(b"\r\n"),
            _ if x == 0 => self.tell(format_args!("\x1b[{}H", u32::from(y) + 1)),
            _ => self.tell(format_args!("\x1b[{};{}H", u32::from(y) + 1, u32::from(x) + 1)),
        }
        self.at = Some((x, y));
    }

    fn dip(&mut self, cell: &Cell) {
        let from = self.ink.unwrap_or_else(|| {
            self.out.extend_from_slice(b"\x1b[m");
            Ink::PLAIN
        });
        let to = from.for_cell(cell);
        from.turn_into(to, &mut self.out);
        self.ink = Some(to);
    }

    fn put(&mut self, x: u16, y: u16, cell: &Cell, columns: u16) {
        let symbol = if steers(cell.symbol()) { REPLACEMENT } else { cell.symbol() };
        self.out.extend_from_slice(symbol.as_bytes());
        let width = symbol.cell_width();
        let next = x.saturating_add(width);
        // At the edge terminals wait before they wrap, and of wide or combined characters they do not all think alike:
        // there the place is not relied upon.
        let certain = next < columns && (symbol.is_ascii() || symbol.chars().count() == 1 && width == 1);
        self.at = certain.then_some((next, y));
    }

    fn tell(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to memory cannot fail.
        let _ = self.out.write_fmt(text);
    }
}

/// Whether a symbol holds anything that steers a terminal or turns the direction of reading.
fn steers(symbol: &str) -> bool {
    let ends_nothing = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    symbol.chars().any(|c| c.is_control() || ends_nothing(c))
}

#[cfg(test)]
mod tests {
    use ratatui::style::Color;

    use super::*;

    fn written(cells: &[(u16, u16, &str)]) -> String {
        let mut pen = Pen::default();
        pen.wipe();
        pen.take();
        for (x, y, symbol) in cells {
            let mut cell = Cell::default();
            cell.set_symbol(symbol);
            pen.write(*x, *y, &cell, 10);
        }
        String::from_utf8(pen.take()).unwrap()
    }

    #[test]
    fn it_takes_the_shortest_way() {
        assert_eq!(written(&[(0, 0, "a"), (1, 0, "b")]), "ab");
        assert_eq!(written(&[(0, 0, "a"), (2, 0, "b"), (6, 0, "c")]), "a\x1b[Cb\x1b[3Cc");
        assert_eq!(written(&[(3, 0, "a"), (0, 1, "b"), (0, 4, "c"), (4, 5, "d")]), "\x1b[3Ca\r\nb\x1b[5Hc\x1b[6;5Hd");
    }

    #[test]
    fn after_the_edge_and_after_doubtful_widths_it_says_where_it_is() {
        assert_eq!(written(&[(9, 0, "a"), (0, 1, "b")]), "\x1b[9Ca\x1b[2Hb");
        assert_eq!(written(&[(0, 0, "漢"), (2, 0, "b")]), "漢\x1b[1;3Hb");
        assert_eq!(written(&[(0, 0, "é"), (1, 0, "b")]), "éb");
        assert_eq!(written(&[(0, 0, "e\u{301}"), (1, 0, "b")]), "e\u{301}\x1b[1;2Hb");
    }

    #[test]
    fn nothing_that_steers_gets_through() {
        for hostile in ["\u{1b}[2J", "\u{7}", "\u{9b}31m", "\u{202e}", "a\nb"] {
            assert_eq!(written(&[(0, 0, hostile)]), REPLACEMENT, "{hostile:?}");
        }
    }

    #[test]
    fn ink_is_remembered_between_frames() {
        let mut pen = Pen::default();
        pen.wipe();
        pen.take();
        let mut red = Cell::new("x");
        red.set_fg(Color::Red);
        pen.write(0, 0, &red, 10);
        assert_eq!(pen.take(), b"\x1b[31mx");
        pen.write(1, 0, &red, 10);
        assert_eq!(pen.take(), b"x");
    }
}
