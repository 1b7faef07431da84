//! From the bytes a terminal sends to keys, pastes and answers.
//!
//! A decoder of our own, because the usual one takes the answer to a mode question for the beginning of a key and then
//! swallows what is typed. This one also waits a moment after an escape, so that a slow link does not tear arrows apart.

use std::time::Duration;

use super::sequence::{Sequence, lettered};
use crate::console::chord::{Chord, Key};

/// How long an escape may be alone before it is the escape key.
pub const ESCAPE_WAIT: Duration = Duration::from_millis(50);

/// How long a paste may pause before it counts as over.
pub const PASTE_WAIT: Duration = Duration::from_secs(1);

/// Longest paste that is kept, in bytes; what exceeds it is dropped.
pub const PASTE_MAX: usize = 16_384;

/// Longest sequence, in bytes; a longer one is no key and dropped.
const SEQUENCE_MAX: usize = 4_096;

/// The private mode of synchronized output.
const SYNC_MODE: u32 = 2026;

const PASTE_BEGIN: &str = "200";
const PASTE_END: &[u8] = b"\x1b[201~";

/// What a terminal said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// A key was pressed.
    Key(Chord),
    /// Text was pasted, without control characters other than line ends.
    Paste(String),
    /// Whether it knows synchronized output.
    Sync(bool),
}

/// Takes bytes as they come, in pieces of any size.
#[derive(Debug, Default)]
pub struct Decoder {
    pending: Vec<u8>,
    paste: Option<Vec<u8>>,
}

/// What the beginning of the pending bytes is.
enum Parsed {
    /// So many bytes, which mean this or nothing.
    Whole(usize, Option<Token>),
    /// So many bytes, after which pasted text follows.
    PasteBegins(usize),
    /// The beginning of something.
    Part,
}

impl Decoder {
    /// Takes in what arrived.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Token> {
        self.pending.extend_from_slice(bytes);
        let mut tokens = Vec::new();
        while self.step(&mut tokens) {}
        tokens
    }

    /// How long to wait for the rest of what began; none = nothing began.
    pub fn waits(&self) -> Option<Duration> {
        match (&self.paste, self.pending.is_empty()) {
            (Some(_), _) => Some(PASTE_WAIT),
            (None, false) => Some(ESCAPE_WAIT),
            (None, true) => None,
        }
    }

    /// The rest did not come: an escape alone is the key, anything else that began is dropped.
    pub fn give_up(&mut self) -> Vec<Token> {
        let pending = std::mem::take(&mut self.pending);
        if let Some(mut pasted) = self.paste.take() {
            pasted.extend(pending);
            return vec![pasted_token(&pasted)];
        }
        let alone = pending == [ESC];
        alone.then_some(Token::Key(Chord::plain(Key::Esc))).into_iter().collect()
    }

    fn step(&mut self, tokens: &mut Vec<Token>) -> bool {
        if self.pending.is_empty() {
            return false;
        }
        if self.paste.is_some() {
            return self.step_paste(tokens);
        }
        match parse(&self.pending) {
            Parsed::Part if self.pending.len() > SEQUENCE_MAX => self.pending.clear(),
            Parsed::Part => return false,
            Parsed::PasteBegins(length) => {
                self.pending.drain(..length);
                self.paste = Some(Vec::new());
            }
            Parsed::Whole(length, token) => {
                self.pending.drain(..length);
                tokens.extend(token);
            }
        }
        true
    }

    fn step_paste(&mut self, tokens: &mut Vec<Token>) -> bool {
        let end = self.pending.windows(PASTE_END.len()).position(|window| window == PASTE_END);
        // What may be the beginning of the end stays pending.
        let taken = end.unwrap_or_else(|| self.pending.len().saturating_sub(PASTE_END.len() - 1));
        let text: Vec<u8> = self.pending.drain(..taken).collect();
        let Some(pasted) = &mut self.paste else { return false };
        pasted.extend(text.iter().take(PASTE_MAX.saturating_sub(pasted.len())));
        if end.is_some() {
            tokens.push(pasted_token(pasted));
            self.pending.drain(..PASTE_END.len());
            self.paste = None;
        }
        end.is_some()
    }
}

const ESC: u8 = 0x1b;

fn pasted_token(bytes: &[u8]) -> Token {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n");
    Token::Paste(text.chars().filter(|c| *c == '\n' || !c.is_control()).collect())
}

fn parse(bytes: &[u8]) -> Parsed {
    match bytes {
        [ESC] => Parsed::Part,
        [ESC, b'[', rest @ ..] => parse_control(rest),
        [ESC, b'O'] => Parsed::Part,
        [ESC, b'O', last, ..] => Parsed::Whole(3, lettered(*last).map(|key| Token::Key(Chord::plain(key)))),
        [ESC, b']' | b'P' | b'_' | b'^' | b'X', rest @ ..] => parse_string(rest),
        // Two escapes are two key presses, or the second begins a sequence.
        [ESC, ESC, ..] => Parsed::Whole(1, Some(Token::Key(Chord::plain(Key::Esc)))),
        [ESC, rest @ ..] => match parse_plain(rest) {
            Parsed::Whole(length, Some(Token::Key(chord))) => {
                Parsed::Whole(length + 1, Some(Token::Key(Chord { alt: true, ..chord })))
            }
            Parsed::Whole(length, token) => Parsed::Whole(length + 1, token),
            other => other,
        },
        bytes => parse_plain(bytes),
    }
}

/// After `ESC [`.
fn parse_control(rest: &[u8]) -> Parsed {
    // The function keys of the Linux console: `ESC [ [ A`.
    if let [b'[', tail @ ..] = rest {
        return match tail {
            [] => Parsed::Part,
            [last @ b'A'..=b'E', ..] => Parsed::Whole(4, Some(Token::Key(Chord::plain(Key::F(last - b'A' + 1))))),
            _ => Parsed::Whole(3, None),
        };
    }
    let parameters = rest.iter().take_while(|b| (0x30..=0x3f).contains(*b)).count();
    let intermediates = rest[parameters..].iter().take_while(|b| (0x20..=0x2f).contains(*b)).count();
    let Some(last) = rest.get(parameters + intermediates) else { return Parsed::Part };
    let length = 2 + parameters + intermediates + 1;
    if !(0x40..=0x7e).contains(last) {
        // Broken off; the byte that broke it may begin something of its own.
        return Parsed::Whole(length - 1, None);
    }
    let text = |bytes| std::str::from_utf8(bytes).unwrap_or_default();
    let (parameters, intermediates) = rest.split_at(parameters);
    let sequence = Sequence {
        parameters: text(parameters),
        intermediates: text(&intermediates[..length - 3 - parameters.len()]),
        last: *last,
    };
    if sequence.last == b'~' && sequence.parameters == PASTE_BEGIN {
        return Parsed::PasteBegins(length);
    }
    let report = sequence.mode_report().filter(|(mode, _)| *mode == SYNC_MODE);
    let token = report.map(|(_, known)| Token::Sync(known)).or_else(|| sequence.chord().map(Token::Key));
    Parsed::Whole(length, token)
}

/// A string a terminal sends by itself, such as its name: up to BEL or `ESC \`, and never a key.
fn parse_string(rest: &[u8]) -> Parsed {
    let bell = rest.iter().position(|b| *b == 0x07).map(|at| at + 1);
    let terminator = rest.windows(2).position(|pair| pair == [ESC, b'\\']).map(|at| at + 2);
    match bell.into_iter().chain(terminator).min() {
        Some(end) => Parsed::Whole(2 + end, None),
        None => Parsed::Part,
    }
}

/// A character or a control character.
fn parse_plain(bytes: &[u8]) -> Parsed {
    let Some(first) = bytes.first().copied() else { return Parsed::Part };
    if let Some(chord) = control_key(first) {
        return Parsed::Whole(1, Some(Token::Key(chord)));
    }
    let length = match first {
        0x20..=0x7e => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Parsed::Whole(1, None),
    };
    let Some(encoded) = bytes.get(..length) else {
        let broken = bytes[1..].iter().any(|b| !(0x80..=0xbf).contains(b));
        return if broken { Parsed::Whole(1, None) } else { Parsed::Part };
    };
    match std::str::from_utf8(encoded).ok().and_then(|text| text.chars().next()) {
        Some(c) => Parsed::Whole(length, (!c.is_control()).then_some(Token::Key(Chord::char(c)))),
        None => Parsed::Whole(1, None),
    }
}

/// The key a control character stands for.
fn control_key(byte: u8) -> Option<Chord> {
    Some(match byte {
        b'\r' | b'\n' => Chord::plain(Key::Enter),
        b'\t' => Chord::plain(Key::Tab),
        0x7f | 0x08 => Chord::plain(Key::Backspace),
        0x00 => Chord::ctrl(' '),
        0x01..=0x1a => Chord::ctrl(char::from(byte - 1 + b'a')),
        0x1c..=0x1f => Chord::ctrl(char::from(byte - 0x1c + b'\\')),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys(bytes: &[u8]) -> Vec<String> {
        let mut decoder = Decoder::default();
        let mut tokens = decoder.feed(bytes);
        tokens.extend(decoder.give_up());
        tokens
            .iter()
            .map(|token| match token {
                Token::Key(chord) => chord.to_string(),
                Token::Paste(text) => format!("paste({text})"),
                Token::Sync(known) => format!("sync({known})"),
            })
            .collect()
    }

    #[test]
    fn keys_of_all_common_terminals() {
        for (bytes, chord) in [
            ("j", "j"),
            ("G", "G"),
            ("ä", "ä"),
            ("漢", "漢"),
            (" ", "space"),
            ("\r", "enter"),
            ("\t", "tab"),
            ("\x1b[Z", "backtab"),
            ("\x7f", "backspace"),
            ("\x08", "backspace"),
            ("\x03", "ctrl-c"),
            ("\x1f", "ctrl-_"),
            ("\x1bx", "alt-x"),
            ("\x1b\x03", "ctrl-alt-c"),
            ("\x1b[A", "up"),
            ("\x1bOA", "up"),
            ("\x1b[1;5C", "ctrl-right"),
            ("\x1b[1;2D", "shift-left"),
            ("\x1b[H", "home"),
            ("\x1b[4~", "end"),
            ("\x1b[3~", "delete"),
            ("\x1b[5;3~", "alt-pageup"),
            ("\x1bOP", "f1"),
            ("\x1b[[B", "f2"),
            ("\x1b[15~", "f5"),
            ("\x1b[17~", "f6"),
            ("\x1b[24~", "f12"),
            ("\x1b[97;5u", "ctrl-a"),
            ("\x1b[103;2u", "G"),
            ("\x1b[49:33;2u", "!"),
            ("\x1b[27u", "esc"),
            ("\x1b[27;5;46~", "ctrl-."),
            ("\x1b", "esc"),
        ] {
            assert_eq!(keys(bytes.as_bytes()), [chord], "{bytes:?}");
        }
    }

    #[test]
    fn releases_are_no_keys_and_only_moves_repeat() {
        assert!(keys(b"\x1b[97;1:3u\x1b[1;1:3A").is_empty());
        assert!(keys(b"\x1b[97;1:2u").is_empty());
        assert_eq!(keys(b"\x1b[1;1:2B"), ["down"]);
    }

    #[test]
    fn a_mode_report_is_an_answer_and_what_follows_is_typed() {
        assert_eq!(keys(b"\x1b[?2026;2$yq"), ["sync(true)", "q"]);
        assert_eq!(keys(b"\x1b[?2026;0$yq"), ["sync(false)", "q"]);
        assert_eq!(keys(b"\x1b[?1;2cq\x1b[I\x1b]11;rgb:0/0/0\x07w\x1bP1$r0m\x1b\\e"), ["q", "w", "e"]);
    }

    #[test]
    fn pastes_are_one_piece_and_never_keys() {
        assert_eq!(keys(b"a\x1b[200~q\r\ny\x1b[31m\x1b[201~b"), ["a", "paste(q\ny[31m)", "b"]);
        let mut decoder = Decoder::default();
        assert!(decoder.feed(b"\x1b[200~never ends").is_empty());
        assert_eq!(decoder.waits(), Some(PASTE_WAIT));
        assert_eq!(decoder.give_up(), [Token::Paste("never ends".to_owned())]);
        let long = [b"\x1b[200~".as_slice(), &[b'x'; PASTE_MAX * 3], PASTE_END].concat();
        assert!(matches!(&Decoder::default().feed(&long)[..], [Token::Paste(text)] if text.len() == PASTE_MAX));
    }

    #[test]
    fn an_escape_alone_waits_and_then_is_the_key() {
        let mut decoder = Decoder::default();
        assert!(decoder.feed(b"\x1b").is_empty());
        assert_eq!(decoder.waits(), Some(ESCAPE_WAIT));
        assert_eq!(decoder.feed(b"[B"), [Token::Key(Chord::plain(Key::Down))]);
        assert_eq!(decoder.waits(), None);
        assert_eq!(keys(b"\x1b\x1b[A"), ["esc", "up"]);
        assert!(keys(b"\x1b[1;").is_empty());
    }

    #[test]
    fn broken_sequences_take_nothing_with_them() {
        assert_eq!(keys(b"\x1b[12\x1b[Aj"), ["up", "j"]);
        assert_eq!(keys(b"\xff\xc3(j"), ["(", "j"]);
        assert_eq!(keys(&[b"\x1b]".as_slice(), &[b'x'; 5_000], b"\x1b\\"].concat()).last().map(String::as_str), None);
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_pieces_give_the_same(bytes in prop::collection::vec(any::<u8>(), 0..60), cut in 0usize..60) {
            let mut whole = Decoder::default();
            let expected = whole.feed(&bytes);
            let (head, tail) = bytes.split_at(cut.min(bytes.len()));
            let mut pieces = Decoder::default();
            let mut tokens = pieces.feed(head);
            tokens.extend(pieces.feed(tail));
            prop_assert_eq!(tokens, expected);
            prop_assert_eq!(pieces.give_up(), whole.give_up());
        }
    }
}
