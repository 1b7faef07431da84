//! The console as a person meets it: the real program on a real pseudo-terminal.

pub(crate) mod driver;
mod driver_works;
mod attached;
mod restored;
mod gone;
mod suspended;
mod faults;
mod sizes;
mod budget;
mod hostile;
mod kura;
mod rolls;
