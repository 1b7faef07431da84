//! Worlds worth looking at: each is a script and a roster, reached by really living through its past.

mod preset;
mod cluster;
mod window;
mod fresh;
mod halted;
mod superseded;
mod fleet;
mod kept;
mod incident;

pub use incident::{Family, INCIDENTS, Incident, REFERENCE, incident};
pub use kept::{KEPT, Kept, kept};
pub use preset::{PRESETS, Preset, preset};
pub mod reference_roll;
