//! The way to run: attach.

use crate::wire::problem::{Problem, ProblemKind};

/// Flags.
#[derive(Debug, clap::Args)]
// Flattened into the top-level flags, whose group already has the name a second one would get.
#[group(skip)]
pub struct Args {}

/// Runs it.
pub fn run(_args: Args) -> Result<(), Problem> {
    Err(Problem::new(ProblemKind::Internal, "not_built", "this way to run is being built"))
}
