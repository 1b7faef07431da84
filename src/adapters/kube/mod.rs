//! A Kubernetes cluster: which one, how to get in, what it holds right now, and the few things done to it.

// The way in.
pub mod fault;
pub mod target;
pub mod credential;
pub mod connection;
pub mod identity;
pub mod rights;

// What is there: objects as they come, rows as they are kept, one stream for each kind.
pub mod place;
pub mod object;
pub mod managers;
pub mod rows;
pub mod listing;
pub mod stream;
pub mod deleter;
pub mod mirror;

// What is done.
pub mod deed;
pub mod cluster;

// What this program keeps in it.
pub mod piece;
pub mod drawer;
