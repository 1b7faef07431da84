//! Everything together as people run it: one program in all its parts, and how it is met for the first time.

pub(crate) mod plane;
pub(crate) mod screen;
mod rollout;
pub(crate) mod command;
mod audit;
mod bad_night;
mod registry;
mod past;
mod rolls;
mod doctor;
mod journal;
pub(crate) mod database;
mod copy;
mod first_contact;
mod help;
mod proxy;
mod verbs;
mod moved;
mod kura;
