//! Parses, runs what was asked for, and turns what went wrong into a sentence and an exit code.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use color_eyre::config::{HookBuilder, Theme};

use super::args::{Args, Run};
use super::verbs::args::Act;
use super::verbs::manner::Given;
use super::{
    agent, attach, audit, demo, doctor, journal, manifests, registry, serve, shell, simulate, status, token, verbs,
};
use crate::console::text::escape;
use crate::wire::problem::Problem;

/// Runs the program.
pub fn run() -> ExitCode {
    report_faults();
    let args = Args::try_parse().unwrap_or_else(|error| advised(error).exit());
    match dispatch(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            complain(&problem);
            ExitCode::from(problem.exit_code())
        }
    }
}

/// The console's own flags do not go with a subcommand; many of those know the same ones, behind their name.
fn advised(mut error: clap::Error) -> clap::Error {
    let (Some(ContextValue::String(run)), Some(flag), ErrorKind::ArgumentConflict) =
        (error.get(ContextKind::InvalidSubcommand), error.get(ContextKind::PriorArg), error.kind())
    else {
        return error;
    };
    let tip = format!("flags of {run} come after it: kura-console {run} {flag}");
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    error
}

/// A fault of our own is told in full, and told apart from whatever is wrong with a fleet.
fn report_faults() {
    let told = HookBuilder::default().theme(Theme::new()).display_env_section(false).panic_section(concat!(
        "This is a fault of kura-console ",
        env!("CARGO_PKG_VERSION"),
        ", not of your fleet. Please report it with the lines above."
    ));
    let (panics, _) = told.into_hooks();
    panics.install();
}

fn dispatch(args: Args) -> Result<(), Problem> {
    match args.run {
        None => attach::run(args.attach),
        Some(Run::Demo(args)) => demo::run(args),
        Some(Run::Serve(args)) => serve::run(args),
        Some(Run::Status(args)) => status::run(args),
        Some(Run::Ask(ask)) => registry::run::run(&ask),
        Some(Run::Audit(args)) => audit::run(args),
        Some(Run::Doctor(args)) => doctor::run(args),
        Some(Run::Act(Act::Account(Given { what, manner }))) if what.is_empty() && manner.is_bare() => {
            registry::run::account(manner.target, manner.output)
        }
        Some(Run::Act(act)) => verbs::run::run(&act),
        Some(Run::Journal(args)) => journal::run::run(args),
        Some(Run::Simulate(args)) => simulate::run(args),
        Some(Run::Agent(args)) => agent::run(args),
        Some(Run::Token(args)) => token::run(args),
        Some(Run::Manifests(args)) => manifests::run::run(&args),
        Some(Run::Completions(args)) => shell::completions(&args),
        Some(Run::Man) => shell::man(),
    }
}

/// The one place that writes an error to stderr. What a far end put into it cannot steer the terminal, and a stderr
/// that is gone, as after a hang-up, is no further error.
fn complain(problem: &Problem) {
    let said = once_per_line("kura-console: ", &problem.message);
    let hints: String = problem.hints.iter().map(|hint| once_per_line("  hint: ", hint)).collect();
    let _ = io::stderr().lock().write_all((said + &hints).as_bytes());
}

fn once_per_line(lead: &str, text: &str) -> String {
    text.lines().map(|line| format!("{lead}{}\n", escape(line))).collect()
}
