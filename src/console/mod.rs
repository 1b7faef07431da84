//! The pure half of the terminal interface: messages in, effects out, a model in between.

// What it is told and what it asks for.
pub mod chord;
pub mod snapshot;
pub mod msg;
pub mod effect;
pub mod arming;

// Tables: commands, keys, colours, glyphs.
pub mod command;
pub mod finding;
mod yaml;
pub mod keys;
pub mod theme;
pub mod glyph;

// What is said about a picture.
pub mod text;
pub mod facts;
pub mod spare;
mod resting;
pub mod need;
mod needs;
mod terms;
pub mod filter;
pub mod sort;
pub mod tree;
pub mod words;
pub mod kura;
pub mod fleet;
mod advice;
pub mod saying;
pub mod shelf;
mod audited;
pub mod past;

// Verbs: at what, with which consequences, how confirmed.
pub mod deed;
pub mod gate;
mod wish;
pub mod target;
mod friction;
mod glimpsed;
mod carry;
mod line;
pub mod dialog;
pub mod order;

// Model, update, view.
pub mod line_edit;
pub mod pick;
pub mod layer;
pub mod layout;
pub mod model;
pub mod update;
pub mod view;

#[cfg(test)]
mod tests;
