//! The way to run: serve.

use crate::wire::problem::{Problem, ProblemKind};

/// Flags.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs it.
pub fn run(_args: Args) -> Result<(), Problem> {
    Err(Problem::new(ProblemKind::Internal, "not_built", "this way to run is being built"))
}
