//! The reference node agent: poll, run, deadline, cancel, report.
//!
//! `mind` decides (with `work` and `talk`), on what it `heard` and what is in its `memory`; `body` acts, with `client`,
//! `runner` and `store`.

pub mod memory;
pub mod heard;
pub mod pace;
pub mod mind;
mod work;
mod talk;
pub mod tail;
pub mod result;
pub mod process;
pub mod runner;
pub mod store;
pub mod token;
pub mod client;
pub mod body;
