//! Rendering: what a release becomes for one machine.

// What a release is made of.
pub mod content;
pub mod template;
pub mod top;
pub mod prepared;
pub mod contract;
// What fills it.
pub mod values;
pub mod secret;
mod cache;
// What the desk asks for.
mod renderer;
pub mod rendering;

pub use renderer::{AsPublished, Renderer};
