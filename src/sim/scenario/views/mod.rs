//! Views: what can be looked at, one file per kind of thing.

mod body;
mod rollouts;
mod outside;
mod kura;
mod metrics;
mod audit;
mod screens;
mod rolls;
