//! The view: the model as cells. It changes nothing and does nothing twice.

mod entry;
mod pen;

// On every screen.
mod header;
mod footer;
mod blank;

// Screens.
mod now;
mod rollout;
mod row;
mod table;
mod carry;
mod deed;
mod brakes;
mod detail;
mod log;
mod shelf;
mod servers;
mod server;
mod server_row;
mod chain;
mod rolls;
mod roll;
mod steps;
mod nodes;
mod remedy;

// Layers.
mod page;
mod dialog;
mod palette;

pub use entry::view;
