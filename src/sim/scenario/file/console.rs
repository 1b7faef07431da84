//! Verbs of `when` on a console.

use schemars::JsonSchema;
use serde::Deserialize;

use super::name::texts;

/// What a person does at the keys of a console.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[schemars(tag = "do")]
pub enum ConsoleAct {
    /// Presses chords, one after the other, as keymaps write them.
    Key {
        /// Separated by blanks, or a list.
        #[serde(deserialize_with = "texts")]
        #[schemars(schema_with = "super::name::texts_schema")]
        chords: Vec<String>,
    },
    /// Types a text.
    Type {
        /// Which.
        text: String,
    },
    /// Pastes a text.
    Paste {
        /// Which.
        text: String,
    },
    /// The terminal changes its size.
    Resize {
        /// Columns and rows, as in 80x24.
        to: String,
    },
}
