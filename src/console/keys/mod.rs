//! Keymaps: which chords mean which command, in which mode.

mod keymap;
mod parse;
mod page;

#[cfg(test)]
mod tests;

pub use keymap::{Found, Keymap, Mode, written};
pub use page::page;
