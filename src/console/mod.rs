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
mod glyph;

// What is said about a picture.
mod text;
mod facts;
mod need;
mod filter;
mod tree;
mod words;

// Verbs: at what, with which consequences, how confirmed.
mod target;
mod plan;
mod dialog;
mod order;

// Model, update, view.
mod line_edit;
mod pick;
mod layer;
mod layout;
pub mod model;
pub mod update;
pub mod view;
