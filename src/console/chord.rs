//! Chords: one key with its modifiers, the way keymaps write them and people read them.

use std::fmt;
use std::str::FromStr;

/// A key without modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// A character, shift included: `G`, not shift and `g`.
    Char(char),
    /// Enter.
    Enter,
    /// Escape.
    Esc,
    /// Tab.
    Tab,
    /// Shift and tab.
    BackTab,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Insert.
    Insert,
    /// Arrow.
    Up,
    /// Arrow.
    Down,
    /// Arrow.
    Left,
    /// Arrow.
    Right,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// A function key, from 1.
    F(u8),
}

/// A key pressed together with modifiers. Shift counts only where the key is no character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Chord {
    /// Which key.
    pub key: Key,
    /// With control.
    pub ctrl: bool,
    /// With alt.
    pub alt: bool,
    /// With shift; always false for characters and for `BackTab`.
    pub shift: bool,
}

/// Names of keys that are no character of their own, as keymaps write them.
const NAMES: [(&str, Key); 17] = [
    ("enter", Key::Enter),
    ("esc", Key::Esc),
    ("tab", Key::Tab),
    ("backtab", Key::BackTab),
    ("backspace", Key::Backspace),
    ("delete", Key::Delete),
    ("insert", Key::Insert),
    ("up", Key::Up),
    ("down", Key::Down),
    ("left", Key::Left),
    ("right", Key::Right),
    ("home", Key::Home),
    ("end", Key::End),
    ("pageup", Key::PageUp),
    ("pagedown", Key::PageDown),
    ("space", Key::Char(' ')),
    ("minus", Key::Char('-')),
];

impl Chord {
    /// A key without modifiers.
    pub const fn plain(key: Key) -> Self {
        Self { key, ctrl: false, alt: false, shift: false }
    }

    /// A character without modifiers.
    pub const fn char(c: char) -> Self {
        Self::plain(Key::Char(c))
    }

    /// Control and a character.
    pub const fn ctrl(c: char) -> Self {
        Self { key: Key::Char(c), ctrl: true, alt: false, shift: false }
    }

    /// The character it types, if it types one.
    pub fn typed(self) -> Option<char> {
        match self.key {
            Key::Char(c) if !self.ctrl && !self.alt => Some(c),
            _ => None,
        }
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let modifiers = [(self.ctrl, "ctrl-"), (self.alt, "alt-"), (self.shift, "shift-")];
        for (_, name) in modifiers.iter().filter(|(on, _)| *on) {
            f.write_str(name)?;
        }
        match (NAMES.iter().find(|(_, key)| *key == self.key), self.key) {
            (Some((name, _)), _) => f.write_str(name),
            (None, Key::F(n)) => write!(f, "f{n}"),
            (None, Key::Char(c)) => write!(f, "{c}"),
            (None, _) => Ok(()),
        }
    }
}

/// Why a text is no chord.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChordError {
    /// Nothing is left after the modifiers.
    #[error("there is no key in it")]
    Empty,
    /// No such key.
    #[error("there is no key named {0}")]
    Unknown(String),
    /// `shift-g` is written `G`.
    #[error("shift with a character is written as the character itself")]
    ShiftedChar,
}

impl FromStr for Chord {
    type Err = ChordError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut chord = Self::plain(Key::Esc);
        let mut rest = text;
        while let Some((modifier, tail)) = rest.split_once('-').filter(|(_, tail)| !tail.is_empty()) {
            match modifier {
                "ctrl" => chord.ctrl = true,
                "alt" => chord.alt = true,
                "shift" => chord.shift = true,
                _ => break,
            }
            rest = tail;
        }
        chord.key = key(rest)?;
        match chord.key {
            Key::Char(_) if chord.shift => Err(ChordError::ShiftedChar),
            Key::Tab if chord.shift => Ok(Self { key: Key::BackTab, shift: false, ..chord }),
            _ => Ok(chord),
        }
    }
}

fn key(text: &str) -> Result<Key, ChordError> {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (None, _) => return Err(ChordError::Empty),
        (Some(c), None) if !c.is_control() && c != ' ' => return Ok(Key::Char(c)),
        _ => {}
    }
    let named = NAMES.iter().find(|(name, _)| *name == text).map(|(_, key)| *key);
    let function = || text.strip_prefix('f')?.parse().ok().filter(|n| (1..=24).contains(n)).map(Key::F);
    named.or_else(function).ok_or_else(|| ChordError::Unknown(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_read() {
        for text in
            ["j", "G", "?", "-", "ctrl-d", "alt-x", "shift-up", "enter", "space", "backtab", "f5", "ctrl-pageup"]
        {
            let chord: Chord = text.parse().unwrap();
            let again = chord.to_string();
            assert_eq!(again.parse::<Chord>().unwrap(), chord, "{text} became {again}");
        }
        assert_eq!("shift-tab".parse(), Ok(Chord::plain(Key::BackTab)));
    }

    #[test]
    fn nonsense_is_refused_with_its_reason() {
        assert_eq!("".parse::<Chord>(), Err(ChordError::Empty));
        assert_eq!("hyper-x".parse::<Chord>(), Err(ChordError::Unknown("hyper-x".to_owned())));
        assert_eq!("shift-g".parse::<Chord>(), Err(ChordError::ShiftedChar));
        assert_eq!("f99".parse::<Chord>(), Err(ChordError::Unknown("f99".to_owned())));
    }

    #[test]
    fn only_plain_characters_type() {
        assert_eq!(Chord::char('ä').typed(), Some('ä'));
        assert_eq!(Chord::ctrl('c').typed(), None);
        assert_eq!(Chord::plain(Key::Enter).typed(), None);
    }
}
