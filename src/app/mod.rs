//! Composition roots: one file per way to run. The only place that knows every part.

pub mod args;
pub mod entry;
pub mod target;
pub mod look;
pub mod console;
pub mod logging;
pub mod host;
pub mod listen;
pub mod token_file;
pub mod releases;
pub mod token;
pub mod tls;
pub mod reload;
pub mod attach;
pub mod demo;
pub mod pace;
pub mod serve;
pub mod agent;
pub mod status;
pub mod report;
pub mod audit;
pub mod verbs;
pub mod actors;
pub mod simulate;
pub mod shell;
