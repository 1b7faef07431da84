//! What the escape sequences of keys mean: one parsed control sequence in, one chord out.

use crate::console::chord::{Chord, Key};

/// A control sequence (`ESC [ ... final`), taken apart.
#[derive(Debug, Clone, Copy)]
pub struct Sequence<'a> {
    /// Parameter bytes, such as `1;5`.
    pub parameters: &'a str,
    /// Intermediate bytes, such as `$`.
    pub intermediates: &'a str,
    /// The byte that ends it.
    pub last: u8,
}

impl Sequence<'_> {
    /// The chord it stands for, if it is a key at all. Releases are none.
    pub fn chord(self) -> Option<Chord> {
        if !self.intermediates.is_empty() || self.parameters.starts_with(['?', '>', '<', '=']) {
            return None;
        }
        let first = self.number(0, 0).unwrap_or(1);
        let pressed = match self.last {
            b'~' if first == 27 => return self.pressed(character(self.number(2, 0)?)?, None),
            b'~' => numbered(first)?,
            b'u' => return self.pressed(character(first)?, self.number(0, 1).and_then(char::from_u32)),
            b'Z' => Key::BackTab,
            last => lettered(last)?,
        };
        self.pressed(pressed, None)
    }

    /// What the terminal says of a private mode: its number and whether the terminal knows it.
    pub fn mode_report(self) -> Option<(u32, bool)> {
        if self.last != b'y' || self.intermediates != "$" {
            return None;
        }
        let (mode, setting) = self.parameters.strip_prefix('?')?.split_once(';')?;
        Some((mode.parse().ok()?, matches!(setting, "1" | "2" | "3")))
    }

    /// Sub-parameter `sub` of parameter `at`, both from 0.
    fn number(&self, at: usize, sub: usize) -> Option<u32> {
        self.parameters.split(';').nth(at)?.split(':').nth(sub)?.parse().ok()
    }

    /// The key with the modifiers and the kind that stand in the second parameter.
    fn pressed(&self, key: Key, shifted: Option<char>) -> Option<Chord> {
        let bits = self.number(1, 0).unwrap_or(1).saturating_sub(1);
        let (shift, alt, ctrl, foreign) = (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0, bits & 0b11_1000 != 0);
        let kind = self.number(1, 1).unwrap_or(PRESS);
        let counts = kind == PRESS || kind == REPEAT && moves(key);
        (counts && !foreign).then(|| with_modifiers(key, shifted, Modifiers { shift, alt, ctrl }))
    }
}

/// Kinds of key reports.
const PRESS: u32 = 1;
const REPEAT: u32 = 2;

struct Modifiers {
    shift: bool,
    alt: bool,
    ctrl: bool,
}

fn with_modifiers(key: Key, shifted: Option<char>, Modifiers { shift, alt, ctrl }: Modifiers) -> Chord {
    match key {
        Key::Char(c) if shift && !ctrl => {
            let upper = shifted.or_else(|| c.to_uppercase().next()).unwrap_or(c);
            Chord { key: Key::Char(upper), ctrl, alt, shift: false }
        }
        Key::Char(_) | Key::BackTab => Chord { key, ctrl, alt, shift: false },
        Key::Tab if shift => Chord { key: Key::BackTab, ctrl, alt, shift: false },
        _ => Chord { key, ctrl, alt, shift },
    }
}

/// Keys that go on while they are held down.
fn moves(key: Key) -> bool {
    matches!(key, Key::Up | Key::Down | Key::Left | Key::Right | Key::PageUp | Key::PageDown)
}

/// Keys that end in a letter of their own, after `ESC [` or `ESC O`.
pub fn lettered(last: u8) -> Option<Key> {
    Some(match last {
        b'A' => Key::Up,
        b'B' => Key::Down,
        b'C' => Key::Right,
        b'D' => Key::Left,
        b'H' => Key::Home,
        b'F' => Key::End,
        b'M' => Key::Enter,
        b'P'..=b'S' => Key::F(last - b'P' + 1),
        _ => return None,
    })
}

/// Keys that have a number and end in `~`.
fn numbered(number: u32) -> Option<Key> {
    let function = |base: u32| u8::try_from(number - base).ok().map(Key::F);
    match number {
        1 | 7 => Some(Key::Home),
        2 => Some(Key::Insert),
        3 => Some(Key::Delete),
        4 | 8 => Some(Key::End),
        5 => Some(Key::PageUp),
        6 => Some(Key::PageDown),
        11..=15 => function(10),
        17..=21 => function(11),
        23..=26 => function(12),
        28..=29 => function(13),
        31..=34 => function(14),
        _ => None,
    }
}

/// Keys that are reported by the code of their character.
fn character(code: u32) -> Option<Key> {
    match code {
        9 => Some(Key::Tab),
        13 => Some(Key::Enter),
        27 => Some(Key::Esc),
        8 | 127 => Some(Key::Backspace),
        // Function and media keys of the kitty protocol live in the private use area.
        0xe000..=0xf8ff => None,
        code => char::from_u32(code).filter(|c| !c.is_control()).map(Key::Char),
    }
}
