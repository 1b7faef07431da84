//! The loop around the core: inputs in, decisions appended, worlds published. Technology stays behind the ports.

// What the loop runs on, and what a reader holds.
pub mod ports;
pub mod batch;
mod links;
pub mod host;
pub mod picture;
pub mod link;

// Inputs in, decisions appended, worlds published.
pub mod door;
pub mod publish;
pub mod observe;
pub mod nudges;
pub mod repeat;
mod draft;
mod reader;
pub mod turn;
pub mod turns;

// Who ticks.
pub mod seat;
pub mod ticker;
mod execute;
mod lookout;
pub mod following;

// Whom it serves: agents and a console in the same process.
pub mod render;
pub mod desk;
mod contents;
pub mod answer;
pub mod past;
pub mod local;

// A console that carries on without its control plane.
pub mod afar;
pub mod embedded;
pub mod ladder;
pub mod known;
mod climber;

// Everything of one account, put together.
pub mod upkeep;
pub mod stop;
mod time;
mod chronicle;
pub mod trouble;
pub mod service;

#[cfg(test)]
mod tests;
