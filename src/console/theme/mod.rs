//! Themes: closed roles on one side, colours and modifiers on the other.

mod role;
mod colour;
mod parse;
mod style;
mod page;

pub use page::page;
pub use role::Role;
pub use style::{Depth, Theme};
