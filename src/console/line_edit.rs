//! A text field of one line, edited with the keys people know from a shell.

use tui_textarea::{CursorMove, Input, TextArea};

use super::chord::{Chord, Key};

/// Characters one field may hold.
pub const LINE_MAX: usize = 200;

/// One line of text with a cursor.
#[derive(Debug, Clone, Default)]
pub struct LineEdit(TextArea<'static>);

impl LineEdit {
    /// A field that begins with `text`, the cursor at its end.
    pub fn with(text: &str) -> Self {
        let mut field = Self::default();
        field.paste(text);
        field
    }

    /// What is in it.
    pub fn text(&self) -> &str {
        self.0.lines().first().map_or("", String::as_str)
    }

    /// Characters before the cursor.
    pub fn cursor(&self) -> usize {
        self.0.cursor().1
    }

    /// Takes a key: a character or one that edits. Nothing makes a second line.
    pub fn press(&mut self, chord: Chord) {
        let breaks = chord.key == Key::Enter || chord.ctrl && matches!(chord.key, Key::Char('m' | 'j'));
        let full = chord.typed().is_some() && self.text().chars().count() >= LINE_MAX;
        let yanks = chord.ctrl && chord.key == Key::Char('y');
        if !breaks && !full && !yanks {
            self.0.input(Input { key: key(chord.key), ctrl: chord.ctrl, alt: chord.alt, shift: chord.shift });
        }
    }

    /// Inserts pasted text: its first line, without what does not show, as far as there is room.
    pub fn paste(&mut self, text: &str) {
        let room = LINE_MAX.saturating_sub(self.text().chars().count());
        let line = text.lines().next().unwrap_or_default();
        let shown: String = line.chars().filter(|c| !c.is_control()).take(room).collect();
        self.0.insert_str(shown);
    }

    /// Empties it.
    pub fn clear(&mut self) {
        self.0.move_cursor(CursorMove::End);
        self.0.delete_line_by_head();
    }
}

fn key(key: Key) -> tui_textarea::Key {
    use tui_textarea::Key as K;
    match key {
        Key::Char(c) => K::Char(c),
        Key::Backspace => K::Backspace,
        Key::Delete => K::Delete,
        Key::Left => K::Left,
        Key::Right => K::Right,
        Key::Home => K::Home,
        Key::End => K::End,
        _ => K::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(field: &mut LineEdit, keys: &str) {
        keys.split(' ').for_each(|key| field.press(key.parse().unwrap()));
    }

    #[test]
    fn it_edits_like_a_shell_and_stays_one_line() {
        let mut field = LineEdit::with("drain test");
        pressed(&mut field, "ctrl-w a s h enter ctrl-m ctrl-j");
        assert_eq!(field.text(), "drain ash");
        pressed(&mut field, "home X left backspace end !");
        assert_eq!(field.text(), "Xdrain ash!");
        field.clear();
        assert_eq!((field.text(), field.cursor()), ("", 0));
    }

    #[test]
    fn a_paste_is_one_line_without_controls_and_has_a_limit() {
        let mut field = LineEdit::default();
        field.paste("ash\u{1b}[2J\nhalt");
        assert_eq!(field.text(), "ash[2J");
        field.paste(&"x".repeat(500));
        field.press(Chord::char('y'));
        assert_eq!(field.text().chars().count(), LINE_MAX);
    }
}
