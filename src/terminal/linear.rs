//! The console without a screen: one picture as plain lines, for pipes and for terminals that can do nothing else.

use ratatui::buffer::{Buffer, CellWidth};

/// The first `rows` rows of a frame as text: no colours, no escapes, no blanks at the end of a line, no empty lines at the
/// end, and never two in a row: a frame is as high as its terminal, a text is as long as what it says.
pub fn lines(frame: &Buffer, rows: u16) -> String {
    let mut text = String::new();
    for row in self::rows(frame).into_iter().take(usize::from(rows)) {
        text.push_str(&row);
        if !text.ends_with("\n\n") {
            text.push('\n');
        }
    }
    text.truncate(text.trim_end_matches('\n').len());
    text.push('\n');
    text
}

/// Every row of a frame as text, without blanks at its end.
pub fn rows(frame: &Buffer) -> Vec<String> {
    frame.area.rows().map(|area| row(frame, area.y)).collect()
}

fn row(frame: &Buffer, y: u16) -> String {
    let (mut text, mut x) = (String::new(), frame.area.left());
    while x < frame.area.right() {
        let cell = &frame[(x, y)];
        text.push_str(cell.symbol());
        x += cell.cell_width().max(1);
    }
    text.truncate(text.trim_end_matches(' ').len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_as_plain_lines() {
        let frame =
            Buffer::with_lines(["┌ now ┐   ", "漢字 ash  ", "          ", "          ", "end       ", "          "]);
        assert_eq!(lines(&frame, 6), "┌ now ┐\n漢字 ash\n\nend\n");
        assert_eq!(lines(&Buffer::with_lines(["   ", "q quit"]), 1), "\n");
    }
}
