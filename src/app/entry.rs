//! Parses, runs what was asked for, and turns what went wrong into a sentence and an exit code.

use std::process::ExitCode;

use clap::Parser;

use super::args::{Args, Run};
use super::{agent, attach, demo, serve, shell, status};
use crate::wire::problem::Problem;

/// Runs the program.
pub fn run() -> ExitCode {
    let args = Args::parse();
    match dispatch(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            complain(&problem);
            ExitCode::from(problem.kind.exit_code())
        }
    }
}

fn dispatch(args: Args) -> Result<(), Problem> {
    match args.run {
        None => attach::run(args.attach),
        Some(Run::Demo(args)) => demo::run(args),
        Some(Run::Serve(args)) => serve::run(args),
        Some(Run::Status(args)) => status::run(args),
        Some(Run::Agent(args)) => agent::run(args),
        Some(Run::Completions(args)) => shell::completions(&args),
        Some(Run::Man) => shell::man(),
    }
}

/// The one place that writes an error to stderr.
#[allow(clippy::print_stderr)]
fn complain(problem: &Problem) {
    eprintln!("kura-console: {}", problem.message);
    for hint in &problem.hints {
        eprintln!("  hint: {hint}");
    }
}
