//! The one decision function and its parts, a file per question.

mod entry;
mod draft;
mod text;

// People.
mod start;
mod stop;
mod pause;
mod ring;
mod environment;
mod machine;
mod release;
mod secret;

// Agents.
mod poll;
mod report;

// Kura servers.
mod kura;
mod roll;

// The reconciler.
mod tick;
mod unattended;

pub use entry::decide;
pub use secret::check_secret_name;
pub use unattended::next_unattended;
