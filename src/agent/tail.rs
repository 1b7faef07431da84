//! The end of what a command writes: bounded while it comes in, text when it is over.

use std::collections::VecDeque;

use crate::wire::agent::{LOG_TAIL_MAX, tail_of};

/// The last `LOG_TAIL_MAX` bytes that were pushed.
#[derive(Debug, Default)]
pub struct Tail {
    bytes: VecDeque<u8>,
    cut: bool,
}

impl Tail {
    /// Takes in the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        let skipped = bytes.len().saturating_sub(LOG_TAIL_MAX);
        let bytes = &bytes[skipped..];
        let surplus = (self.bytes.len() + bytes.len()).saturating_sub(LOG_TAIL_MAX);
        self.bytes.drain(..surplus);
        self.bytes.extend(bytes);
        self.cut |= skipped + surplus > 0;
    }

    /// As text of at most `LOG_TAIL_MAX` bytes. What is not UTF-8 and NUL, which some stores cannot keep, become
    /// U+FFFD; a character that was cut in half at the beginning is left out.
    pub fn into_text(mut self) -> String {
        let is_rest = |byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
        let rest = if self.cut { self.bytes.iter().take(3).take_while(|byte| is_rest(byte)).count() } else { 0 };
        self.bytes.drain(..rest);
        let text = String::from_utf8_lossy(self.bytes.make_contiguous()).replace('\0', "\u{fffd}");
        tail_of(&text, LOG_TAIL_MAX).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(pieces: &[&[u8]]) -> String {
        let mut tail = Tail::default();
        pieces.iter().for_each(|piece| tail.push(piece));
        tail.into_text()
    }

    #[test]
    fn a_short_log_is_kept_whole() {
        assert_eq!(tail(&[b"one\n", b"two\n"]), "one\ntwo\n");
        assert_eq!(tail(&[]), "");
    }

    #[test]
    fn only_the_end_of_a_long_log_is_kept() {
        let long = vec![b'a'; LOG_TAIL_MAX];
        let text = tail(&[b"beginning", &long, b"end"]);
        assert_eq!(text.len(), LOG_TAIL_MAX);
        assert!(text.ends_with("aend") && text.starts_with('a'));
        let huge = [long.as_slice(), long.as_slice(), b"z"].concat();
        assert_eq!(tail(&[b"x", &huge]), tail(&[&huge]));
    }

    #[test]
    fn what_is_not_text_is_replaced_and_still_fits() {
        assert_eq!(tail(&[b"a\xffb\0c"]), "a\u{fffd}b\u{fffd}c");
        let text = tail(&[&vec![0xff; LOG_TAIL_MAX]]);
        assert!(text.len() <= LOG_TAIL_MAX && text.chars().all(|c| c == '\u{fffd}'));
    }

    #[test]
    fn a_character_that_was_cut_in_half_is_left_out() {
        let log = "é".repeat(LOG_TAIL_MAX / 2) + "x";
        let text = tail(&[log.as_bytes()]);
        assert_eq!(text.len(), LOG_TAIL_MAX - 1);
        assert!(text.starts_with('é') && text.ends_with('x'));
    }
}
