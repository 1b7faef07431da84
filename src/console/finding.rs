//! What a linter found in a theme or a keymap: where, and what to do about it.

use std::fmt;

use serde_yaml::Location;

/// One fault of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// From 1; 0 = about the file as a whole.
    pub line: u64,
    /// From 1; 0 = about the file as a whole.
    pub column: u64,
    /// What is wrong and what would be right.
    pub message: String,
}

impl Finding {
    /// A fault at a place.
    pub fn at(place: Location, message: impl Into<String>) -> Self {
        Self { line: place.line(), column: place.column(), message: message.into() }
    }

    /// A fault of the file as a whole.
    pub fn of_file(message: impl Into<String>) -> Self {
        Self { line: 0, column: 0, message: message.into() }
    }

    /// A fault the parser found.
    pub fn of_yaml(error: &serde_yaml::Error) -> Self {
        let (line, column) = error.location().map_or((0, 0), |at| (at.line(), at.column()));
        let text = error.to_string();
        let message = text.lines().next().unwrap_or("this is no YAML").to_owned();
        Self { line, column, message }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (0, _) => f.write_str(&self.message),
            (line, column) => write!(f, "{line}:{column}: {}", self.message),
        }
    }
}
