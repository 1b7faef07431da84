//! What a shell wants to know about the program: completion scripts and the man page.

use std::io::{self, Write};

use clap::CommandFactory;

use super::args::Args;
use crate::wire::problem::{Problem, ProblemKind};

/// Which shell.
#[derive(Debug, clap::Args)]
pub struct CompletionArgs {
    /// The shell to complete for.
    pub shell: clap_complete::Shell,
}

/// Prints a completion script.
pub fn completions(args: &CompletionArgs) -> Result<(), Problem> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "kura-console", &mut script);
    print(&script)
}

/// Prints the man page.
pub fn man() -> Result<(), Problem> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Args::command()).render(&mut page).map_err(unwritable)?;
    print(&page)
}

/// A reader that went away, as `head` does, is no problem.
pub(super) fn print(text: &[u8]) -> Result<(), Problem> {
    match io::stdout().lock().write_all(text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable(error)),
        _ => Ok(()),
    }
}

#[allow(clippy::needless_pass_by_value)]
fn unwritable(error: io::Error) -> Problem {
    Problem::new(ProblemKind::Internal, "stdout", format!("the output could not be written: {error}"))
}
