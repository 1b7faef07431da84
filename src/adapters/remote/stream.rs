//! Server-sent events, taken apart: bytes in as they arrive, frames out when they are whole. Pure.

/// The largest frame that is put together, in bytes; a far end that sends more is not one of ours.
pub const FRAME_MAX: usize = 64 * 1024 * 1024;

/// One event of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frame {
    /// Its `id`, if it has one of its own.
    pub id: Option<String>,
    /// Its `event`; `message` where it has none.
    pub event: String,
    /// Its `data`, lines joined by line feeds.
    pub data: String,
}

/// The far end sends a frame without an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a record of the change stream is larger than {FRAME_MAX} bytes")]
pub struct TooLarge;

/// Takes a stream apart. Holds at most `FRAME_MAX` bytes.
#[derive(Debug, Default)]
pub struct Parser {
    /// The line that is not at its end yet.
    line: Vec<u8>,
    /// The last byte was CR: an LF that follows belongs to it.
    after_cr: bool,
    /// A line was read before, so that no byte order mark can come any more.
    begun: bool,
    frame: Frame,
    has_data: bool,
}

impl Parser {
    /// Takes the next bytes, however they are cut, and returns the frames that came to their end in them.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Frame>, TooLarge> {
        let mut frames = Vec::new();
        let mut rest = bytes;
        if self.after_cr && !rest.is_empty() {
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
            self.after_cr = false;
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.line.extend_from_slice(rest.get(..end).unwrap_or_default());
            let line_end = rest.get(end..).unwrap_or_default();
            self.after_cr = line_end == b"\r";
            let skipped = if line_end.starts_with(b"\r\n") { 2 } else { 1 };
            rest = line_end.get(skipped..).unwrap_or_default();
            frames.extend(self.end_of_line());
            self.within_limit()?;
        }
        self.line.extend_from_slice(rest);
        self.within_limit()?;
        Ok(frames)
    }

    fn within_limit(&self) -> Result<(), TooLarge> {
        if self.line.len() + self.frame.data.len() > FRAME_MAX { Err(TooLarge) } else { Ok(()) }
    }

    /// Takes a line in; an empty one ends the frame.
    fn end_of_line(&mut self) -> Option<Frame> {
        let bytes = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&bytes);
        let line = if self.begun { text.as_ref() } else { text.trim_start_matches('\u{feff}') };
        self.begun = true;
        if line.is_empty() {
            return self.dispatch();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => self.data(value),
            "event" => value.clone_into(&mut self.frame.event),
            "id" if !value.contains('\0') => self.frame.id = Some(value.to_owned()),
            // `retry`, comments (an empty field) and what is yet to be invented.
            _ => {}
        }
        None
    }

    fn data(&mut self, value: &str) {
        if self.has_data {
            self.frame.data.push('\n');
        }
        self.has_data = true;
        self.frame.data.push_str(value);
    }

    /// A frame without data is none.
    fn dispatch(&mut self) -> Option<Frame> {
        let mut frame = std::mem::take(&mut self.frame);
        if !std::mem::take(&mut self.has_data) {
            return None;
        }
        if frame.event.is_empty() {
            "message".clone_into(&mut frame.event);
        }
        Some(frame)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(chunks: &[&[u8]]) -> Vec<Frame> {
        let mut parser = Parser::default();
        chunks.iter().flat_map(|chunk| parser.push(chunk).unwrap()).collect()
    }

    fn frame(id: Option<&str>, event: &str, data: &str) -> Frame {
        Frame { id: id.map(str::to_owned), event: event.to_owned(), data: data.to_owned() }
    }

    #[test]
    fn a_change_and_what_is_only_seen() {
        let text = b"id: 7\nevent: change\ndata: {\"a\":1}\n\nevent: presence\ndata: {}\n\n";
        assert_eq!(parse(&[text]), [frame(Some("7"), "change", "{\"a\":1}"), frame(None, "presence", "{}")]);
    }

    #[test]
    fn comments_retries_and_empty_events_are_no_frames() {
        assert_eq!(parse(&[b": heartbeat\n\nretry: 10\n\nevent: x\n\n\n\n: y\n"]), []);
        assert_eq!(parse(&[b": hello\ndata: a\n: between\ndata: b\n\n"]), [frame(None, "message", "a\nb")]);
    }

    #[test]
    fn every_way_to_end_a_line_is_understood() {
        for end in ["\n", "\r\n", "\r"] {
            let text = ["id:1", "data: a", "data:b", "", ""].join(end);
            // A lone CR at the very end may be half of a CRLF, yet the frame is whole.
            assert_eq!(parse(&[text.as_bytes()]), [frame(Some("1"), "message", "a\nb")], "{end:?}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_dropped_and_only_at_the_beginning() {
        assert_eq!(parse(&["\u{feff}data: a\n\n".as_bytes()]), [frame(None, "message", "a")]);
        assert_eq!(parse(&["data: a\n\n\u{feff}data: b\n\n".as_bytes()]), [frame(None, "message", "a")]);
    }

    #[test]
    fn a_frame_without_end_is_given_up() {
        let mut parser = Parser::default();
        let piece = vec![b'x'; FRAME_MAX / 4];
        let pushed: Result<Vec<_>, _> = (0..6).map(|_| parser.push(&piece)).collect();
        assert_eq!(pushed, Err(TooLarge));
    }

    proptest! {
        #[test]
        fn where_the_stream_is_cut_makes_no_difference(
            cuts in proptest::collection::vec(0_usize..120, 0..8),
            end in prop_oneof![Just("\n"), Just("\r\n"), Just("\r")],
        ) {
            let lines = ["id: 41", "event: change", "data: {\"name\":\"bl\u{e5}b\u{e6}r\"}", "", ": heartbeat", "",
                         "data: one", "data: two", "", "event: presence", "data: {}", "", ""];
            let text = lines.join(end);
            let bytes = text.as_bytes();
            let mut places: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            places.extend([0, bytes.len()]);
            places.sort_unstable();
            let chunks: Vec<&[u8]> = places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(parse(&chunks), parse(&[bytes]));
            prop_assert_eq!(parse(&[bytes]).len(), 3);
        }
    }
}
