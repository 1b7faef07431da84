//! Themes: closed roles on one side, colours and modifiers on the other.

mod role;
mod theme;

pub use role::Role;
pub use theme::{Depth, Theme};
