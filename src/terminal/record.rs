//! A frame as a picture: SVG whose text is text, in the colours of the theme, inside the frame of a window.

use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell, CellWidth};
use ratatui::style::{Modifier, Style};

use super::palette::{Rgb, rgb};

/// Width and height of a cell, and the size of its text, in pixels.
const CELL: (u32, u32) = (9, 18);
const TEXT: u32 = 15;

/// From the top of a cell to the line its text stands on.
const BASELINE: u32 = 14;

/// Room around the frame, and the height of the bar above it.
const MARGIN: u32 = 12;
const BAR: u32 = 34;

const FONT: &str = "ui-monospace, 'JetBrains Mono', 'DejaVu Sans Mono', Menlo, Consolas, monospace";

/// The ground and the ink of a terminal whose theme leaves them to it.
const GROUND: Rgb = (17, 20, 24);
const INK: Rgb = (216, 222, 233);

/// The frame as SVG. `ground` is what a theme paints where nothing else is painted; the same frame gives the same text.
pub fn svg(frame: &Buffer, title: &str, ground: Style) -> String {
    let look = Look { ground: ground.bg.and_then(rgb).unwrap_or(GROUND), ink: ground.fg.and_then(rgb).unwrap_or(INK) };
    let (columns, rows) = (u32::from(frame.area.width), u32::from(frame.area.height));
    let (width, height) = (columns * CELL.0 + 2 * MARGIN, rows * CELL.1 + BAR + MARGIN);
    let mut out = String::new();
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\">\n<title>{}</title>\n<rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"{}\" \
         stroke=\"#3b4252\"/>\n",
        escaped(title),
        hex(look.ground),
    );
    for (at, colour) in (0u32..).zip(["#ec6a5e", "#f4bf4f", "#61c554"]) {
        let _ = writeln!(out, "<circle cx=\"{}\" cy=\"17\" r=\"5\" fill=\"{colour}\"/>", 20 + 18 * at);
    }
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"22\" text-anchor=\"middle\" font-family=\"{FONT}\" font-size=\"13\" fill=\"#8a93a5\">{}</text>",
        width / 2,
        escaped(title),
    );
    let _ = writeln!(
        out,
        "<g font-family=\"{FONT}\" font-size=\"{TEXT}\" xml:space=\"preserve\" style=\"white-space:pre\">"
    );
    for y in 0..frame.area.height {
        let runs = runs(frame, y, look);
        let top = BAR + u32::from(y) * CELL.1;
        runs.iter().for_each(|run| run.paint_ground(top, look, &mut out));
        runs.iter().for_each(|run| run.paint_text(top, &mut out));
    }
    out.push_str("</g>\n</svg>\n");
    out
}

#[derive(Clone, Copy)]
struct Look {
    ground: Rgb,
    ink: Rgb,
}

/// Cells of one row that look alike.
#[derive(PartialEq)]
struct Run {
    column: u32,
    columns: u32,
    text: String,
    ink: Rgb,
    ground: Rgb,
    modifier: Modifier,
}

fn runs(frame: &Buffer, y: u16, look: Look) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut x = 0;
    while x < frame.area.width {
        let cell = &frame[(frame.area.x + x, frame.area.y + y)];
        let width = cell.cell_width().max(1);
        let run = Run::of(cell, u32::from(x), u32::from(width), look);
        match runs.last_mut() {
            // Wide characters stand alone: fonts do not agree on how wide they are.
            Some(last) if last.continues_as(&run) => {
                last.text.push_str(&run.text);
                last.columns += run.columns;
            }
            _ => runs.push(run),
        }
        x += width;
    }
    runs
}

impl Run {
    fn of(cell: &Cell, column: u32, columns: u32, look: Look) -> Self {
        let (mut ink, mut ground) = (rgb(cell.fg).unwrap_or(look.ink), rgb(cell.bg).unwrap_or(look.ground));
        if cell.modifier.contains(Modifier::REVERSED) {
            std::mem::swap(&mut ink, &mut ground);
        }
        if cell.modifier.contains(Modifier::DIM) {
            ink = between(ink, ground);
        }
        let text = if cell.modifier.contains(Modifier::HIDDEN) { " " } else { cell.symbol() };
        Self { column, columns, text: text.to_owned(), ink, ground, modifier: cell.modifier }
    }

    fn continues_as(&self, next: &Self) -> bool {
        let narrow = |run: &Self| run.text.is_ascii() || run.columns as usize == run.text.chars().count();
        let alike = (self.ink, self.ground, self.modifier) == (next.ink, next.ground, next.modifier);
        alike && narrow(self) && narrow(next)
    }

    fn paint_ground(&self, top: u32, look: Look, out: &mut String) {
        if self.ground != look.ground {
            let (left, width) = (MARGIN + self.column * CELL.0, self.columns * CELL.0);
            let fill = hex(self.ground);
            let _ = writeln!(
                out,
                "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{}\" fill=\"{fill}\"/>",
                CELL.1
            );
        }
    }

    fn paint_text(&self, top: u32, out: &mut String) {
        if self.text.trim().is_empty() && !self.modifier.contains(Modifier::UNDERLINED) {
            return;
        }
        let mut manner = String::new();
        for (modifier, attribute) in [
            (Modifier::BOLD, " font-weight=\"bold\""),
            (Modifier::ITALIC, " font-style=\"italic\""),
            (Modifier::UNDERLINED, " text-decoration=\"underline\""),
            (Modifier::CROSSED_OUT, " text-decoration=\"line-through\""),
        ] {
            if self.modifier.contains(modifier) {
                manner.push_str(attribute);
            }
        }
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" textLength=\"{}\" fill=\"{}\"{manner}>{}</text>",
            MARGIN + self.column * CELL.0,
            top + BASELINE,
            self.columns * CELL.0,
            hex(self.ink),
            escaped(&self.text),
        );
    }
}

fn between((r, g, b): Rgb, (p, q, s): Rgb) -> Rgb {
    (r.midpoint(p), g.midpoint(q), b.midpoint(s))
}

fn hex((r, g, b): Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use ratatui::style::Color;

    use super::*;

    fn frame() -> Buffer {
        let mut frame = Buffer::with_lines(["<ash> & 漢字    ", "                "]);
        frame.set_style(ratatui::layout::Rect::new(0, 0, 5, 1), Style::new().fg(Color::Rgb(1, 2, 3)).bold());
        frame.set_style(ratatui::layout::Rect::new(0, 1, 16, 1), Style::new().reversed());
        frame
    }

    #[test]
    fn text_stays_text_and_the_same_frame_gives_the_same_picture() {
        let picture = svg(&frame(), "demo", Style::new());
        assert_eq!(picture, svg(&frame(), "demo", Style::new()));
        assert!(picture.contains(">&lt;ash&gt;</text>"), "{picture}");
        assert!(picture.contains("fill=\"#010203\" font-weight=\"bold\""));
        assert!(picture.contains(">漢</text>") && picture.contains(">字</text>"));
    }

    #[test]
    fn reversed_rows_are_painted_with_the_ink() {
        let picture = svg(&frame(), "demo", Style::new().bg(Color::Rgb(0, 0, 9)).fg(Color::Rgb(9, 9, 9)));
        let row = "<rect x=\"12\" y=\"52\" width=\"144\" height=\"18\" fill=\"#090909\"/>";
        assert!(picture.contains(row), "{picture}");
        assert!(picture.contains("rx=\"8\" fill=\"#000009\""));
    }

    #[test]
    fn nothing_in_it_is_markup_or_control() {
        let frame = Buffer::with_lines(["</text><script>"]);
        assert!(!svg(&frame, "a\u{1b}<b>", Style::new()).contains("<script>"));
        assert!(svg(&frame, "a\u{1b}<b>", Style::new()).contains("a\u{fffd}&lt;b&gt;"));
    }
}
