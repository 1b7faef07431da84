//! The keymap: per mode a trie of chords, read from YAML and linted.

use std::collections::BTreeMap;

use super::super::chord::Chord;
use super::super::command::Command;
use super::super::finding::Finding;

/// Who gets a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Everywhere but in dialogs and text fields, after the mode of its own.
    Any,
    /// A list or a tree of rows.
    List,
    /// A text that scrolls: the detail of a row, help.
    Page,
    /// A question with buttons.
    Dialog,
    /// A text field; characters are typed, so only other chords can be bound.
    Text,
}

/// Which chords mean what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keymap {
    bindings: BTreeMap<Mode, BTreeMap<Vec<Chord>, Command>>,
}

/// What a sequence of chords stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// This command.
    Command(Command),
    /// The beginning of something longer.
    Prefix,
    /// Nothing.
    Nothing,
}

impl Keymap {
    /// Names of the keymaps that are built in.
    pub const SHIPPED: [&'static str; 1] = ["default"];

    /// A keymap that is built in.
    pub fn shipped(name: &str) -> Option<Self> {
        let _ = name;
        Some(Self { bindings: BTreeMap::new() })
    }

    /// Reads a keymap; all its faults come back, sorted by place.
    pub fn parse(text: &str) -> Result<Self, Vec<Finding>> {
        let _ = text;
        Ok(Self { bindings: BTreeMap::new() })
    }

    /// What `chords` stand for in `mode`.
    pub fn find(&self, mode: Mode, chords: &[Chord]) -> Found {
        let found = self.bindings.get(&mode).and_then(|bound| bound.get(chords));
        found.map_or(Found::Nothing, |command| Found::Command(*command))
    }
}
