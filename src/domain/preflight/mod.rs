//! Preflight: what an operator checks before a window opens, as pass, warn or fail. Explains, enforces nothing (R167).

mod check;
mod account;
mod rings;
mod path;
mod vip;
mod window;
mod content;
mod published;

pub use check::{Check, Grade, Plan, preflight};
pub use content::{File, content};
pub use window::window;
