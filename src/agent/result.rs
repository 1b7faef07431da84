//! What a command writes to `KURA_RESULT`, read with care: it is somebody else's program.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use serde::Deserialize;

use crate::wire::agent::{FAILED_STATES_MAX, FailedStateBody};

/// The longest result file that is read, in bytes.
pub const RESULT_MAX: u64 = 256 * 1024;

/// The longest text of one failing state that is passed on, in bytes.
pub const TEXT_MAX: usize = 2 * 1024;

/// What a command says of its own run. Fields that are not known are left alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct CommandResult {
    /// States that changed something.
    #[serde(default)]
    pub changed_count: u64,
    /// States that failed, the first one first.
    #[serde(default)]
    failed_states: Vec<StateNote>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct StateNote {
    id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    comment: String,
}

impl CommandResult {
    /// Reads it; nothing written is nothing to say. The error is a sentence for the log of the run.
    pub fn read(path: &Path) -> Result<Self, String> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(format!("KURA_RESULT cannot be read: {error}")),
        };
        let mut text = Vec::new();
        file.take(RESULT_MAX + 1).read_to_end(&mut text).map_err(|e| format!("KURA_RESULT cannot be read: {e}"))?;
        Self::parse(&text)
    }

    fn parse(text: &[u8]) -> Result<Self, String> {
        if text.len() as u64 > RESULT_MAX {
            return Err(format!("KURA_RESULT is longer than {RESULT_MAX} bytes and was not read"));
        }
        if text.iter().all(u8::is_ascii_whitespace) {
            return Ok(Self::default());
        }
        let shape = r#"{"changed_count": N, "failed_states": [{"id", "name", "comment"}]}"#;
        let object = serde_json::from_slice(text).map(serde_json::Value::Object);
        object.and_then(serde_json::from_value).map_err(|error| format!("KURA_RESULT is not {shape}: {error}"))
    }

    /// The failing states as they travel, within the limits.
    pub fn failed_states(&self) -> Vec<FailedStateBody> {
        let body = |state: &StateNote| FailedStateBody {
            id: shortened(&state.id),
            name: shortened(&state.name),
            comment: shortened(&state.comment),
        };
        self.failed_states.iter().take(FAILED_STATES_MAX).map(body).collect()
    }
}

fn shortened(text: &str) -> String {
    text[..text.floor_char_boundary(TEXT_MAX)].replace('\0', "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_read_leniently() {
        let text = br#"{"changed_count": 3, "more": 1, "failed_states": [{"id": "drain", "x": 2}]}"#;
        let read = CommandResult::parse(text).expect("a result");
        assert_eq!(read.changed_count, 3);
        let drain = FailedStateBody { id: "drain".to_owned(), ..FailedStateBody::default() };
        assert_eq!(read.failed_states(), [drain]);
        assert_eq!(CommandResult::parse(b" \n"), Ok(CommandResult::default()));
    }

    #[test]
    fn nonsense_is_named_and_not_guessed_at() {
        for text in [&b"[1]"[..], b"{", br#"{"changed_count": -1}"#, br#"{"failed_states": [{"name": "x"}]}"#] {
            let said = CommandResult::parse(text).expect_err("nonsense");
            assert!(said.starts_with("KURA_RESULT is not {"), "{said}");
        }
        let long = vec![b' '; usize::try_from(RESULT_MAX).expect("fits") + 1];
        assert!(CommandResult::parse(&long).expect_err("too long").contains("longer"));
    }

    #[test]
    fn what_travels_is_bounded() {
        let state = format!(r#"{{"id": "{}"}}"#, "é".repeat(TEXT_MAX));
        let text = format!(r#"{{"failed_states": [{}]}}"#, vec![state; 60].join(","));
        let read = CommandResult::parse(text.as_bytes()).expect("a result");
        assert!(read.failed_states().iter().all(|s| s.id.len() <= TEXT_MAX && s.id.ends_with('é')));
        let many = format!(r#"{{"failed_states": [{}]}}"#, vec![r#"{"id": "a"}"#; 500].join(","));
        let read = CommandResult::parse(many.as_bytes()).expect("a result");
        assert_eq!(read.failed_states().len(), FAILED_STATES_MAX);
    }
}
