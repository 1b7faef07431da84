//! The clipboard of the person's own terminal, also at the far end of an ssh connection (OSC 52).

/// Longest text that is copied, in bytes: what the common terminals take.
pub const COPY_MAX: usize = 74_994;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The sequence that puts `text` on the clipboard; none where it is too long. The text travels encoded, so whatever is
/// in it cannot steer the terminal.
pub fn copy(text: &str) -> Option<Vec<u8>> {
    (text.len() <= COPY_MAX).then(|| [b"\x1b]52;c;", base64(text.as_bytes()).as_bytes(), b"\x07"].concat())
}

fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| chunk.get(at).copied().map_or(0, u32::from);
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let sextet = (bits >> (18 - 6 * at)) & 0x3f;
            let filled = at <= chunk.len();
            text.push(if filled { char::from(ALPHABET[sextet as usize]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_as_everybody_writes_it() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
            ("\u{ff}\u{3ff}", "w7/Pvw=="),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn nothing_of_the_text_reaches_the_terminal_as_it_is() {
        let sequence = copy("a\u{7}\u{1b}[2J").unwrap();
        assert_eq!(sequence, b"\x1b]52;c;YQcbWzJK\x07");
        assert_eq!(copy(&"x".repeat(COPY_MAX + 1)), None);
    }
}
