//! Keymaps: which chords mean which command, in which mode.

mod keymap;

pub use keymap::{Found, Keymap, Mode};
