//! The pure half of the terminal interface: messages in, effects out, a model in between.

// What it is told and what it asks for.
pub mod chord;
pub mod snapshot;
pub mod msg;
pub mod effect;
pub mod arming;

// Tables: commands, keys, colours.
pub mod command;
pub mod finding;
pub mod keys;
pub mod theme;

// Model, update, view.
pub mod model;
pub mod update;
pub mod view;
