//! The keymap: per mode a trie of chords, each path ending in a command.

use super::super::chord::Chord;
use super::super::command::Command;
use super::super::finding::Finding;
use super::parse::{self, Bindings};

/// Who gets a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// In lists and pages, after the mode of their own.
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

impl Mode {
    /// Every mode with what keymap files call it and what people are told.
    pub const ALL: [(Self, &'static str, &'static str); 5] = [
        (Self::Any, "any", "Everywhere but in dialogs and text fields"),
        (Self::List, "list", "In a list"),
        (Self::Page, "page", "In a detail or in help"),
        (Self::Dialog, "dialog", "In a dialog"),
        (Self::Text, "text", "In a text field"),
    ];

    /// What keymap files call it.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(mode, ..)| *mode == self).map_or("", |(_, name, _)| name)
    }

    /// The modes asked for a chord, in order.
    fn chain(self) -> &'static [Self] {
        match self {
            Self::List => &[Self::List, Self::Any],
            Self::Page => &[Self::Page, Self::Any],
            Self::Any => &[Self::Any],
            Self::Dialog => &[Self::Dialog],
            Self::Text => &[Self::Text],
        }
    }
}

/// Which chords mean what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keymap {
    pub(super) bindings: Bindings,
    pub(super) prefixes: Vec<(Vec<Chord>, String)>,
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

/// Keymaps that are built in, with their texts.
const BUILT_IN: [(&str, &str); 3] = [
    ("default", include_str!("../../../keymaps/default.yaml")),
    ("vim", include_str!("../../../keymaps/vim.yaml")),
    ("k9s", include_str!("../../../keymaps/k9s.yaml")),
];

impl Keymap {
    /// The keymap that is taken unless another is asked for.
    pub const DEFAULT: &'static str = "default";

    /// Names of the keymaps that are built in.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// The text of a keymap that is built in: what a file of one's own can start from.
    pub fn text(name: &str) -> Option<&'static str> {
        BUILT_IN.iter().find(|(built_in, _)| *built_in == name).map(|(_, text)| *text)
    }

    /// A keymap that is built in.
    pub fn shipped(name: &str) -> Option<Self> {
        Self::parse(Self::text(name)?).ok()
    }

    /// Reads a keymap; what it inherits from must be built in. All its faults come back, sorted by place.
    pub fn parse(text: &str) -> Result<Self, Vec<Finding>> {
        parse::keymap(text, &Self::text)
    }

    /// What `chords` stand for in `mode`.
    pub fn find(&self, mode: Mode, chords: &[Chord]) -> Found {
        for bound in mode.chain().iter().filter_map(|mode| self.bindings.get(mode)) {
            if let Some(command) = bound.get(chords) {
                return Found::Command(*command);
            }
            if bound.keys().any(|keys| keys.len() > chords.len() && keys.starts_with(chords)) {
                return Found::Prefix;
            }
        }
        Found::Nothing
    }

    /// The chords of a command in `mode`, the shortest first; empty where it is not bound there.
    pub fn keys_of(&self, mode: Mode, command: Command) -> Vec<String> {
        let reachable = |keys: &&Vec<Chord>| self.find(mode, keys) == Found::Command(command);
        let bound = mode.chain().iter().filter_map(|mode| self.bindings.get(mode)).flatten();
        let mut keys: Vec<&Vec<Chord>> =
            bound.filter(|(_, c)| **c == command).map(|(keys, _)| keys).filter(reachable).collect();
        keys.sort_by_key(|keys| (keys.len(), keys.iter().map(|c| c.to_string().chars().count()).sum::<usize>()));
        keys.into_iter().map(|keys| written(keys)).collect()
    }

    /// What can follow the chords that were pressed already: the rest of each sequence and its command.
    pub fn after(&self, mode: Mode, pressed: &[Chord]) -> Vec<(String, Command)> {
        let bound = mode.chain().iter().filter_map(|mode| self.bindings.get(mode)).flatten();
        let longer = bound.filter(|(keys, _)| keys.len() > pressed.len() && keys.starts_with(pressed));
        longer.map(|(keys, command)| (written(&keys[pressed.len()..]), *command)).collect()
    }

    /// What a prefix is for, in the keymap's words.
    pub fn prefix_title(&self, chords: &[Chord]) -> Option<&str> {
        self.prefixes.iter().find(|(prefix, _)| prefix == chords).map(|(_, title)| title.as_str())
    }

    /// Every prefix that has a title, in the order of the file.
    pub fn prefixes(&self) -> impl Iterator<Item = (&[Chord], &str)> {
        self.prefixes.iter().map(|(chords, title)| (chords.as_slice(), title.as_str()))
    }
}

/// A sequence of chords as keymaps write it.
pub fn written(chords: &[Chord]) -> String {
    chords.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}
