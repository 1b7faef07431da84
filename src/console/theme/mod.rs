//! Themes: closed roles on one side, colours and modifiers on the other.

mod role;
mod colour;
mod parse;
mod theme;

pub use role::Role;
pub use theme::{Depth, Theme};
