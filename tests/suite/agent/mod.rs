//! The node agent as a process, against a small control plane that does what a test says.

mod desk;
pub(crate) mod node;
mod runs;
mod ends;
mod restarts;
mod mistakes;
mod tls;
