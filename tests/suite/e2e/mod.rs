//! Everything together as people run it: one program in all its parts, and how it is met for the first time.

mod plane;
mod screen;
mod rollout;
mod command;
mod first_contact;
mod help;
