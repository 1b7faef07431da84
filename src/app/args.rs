//! The command line: one table for parsing, help, man page and completions.

use clap::{Parser, Subcommand};

use super::registry::ask::Ask;
use super::verbs::args::Act;
use super::{agent, attach, audit, demo, doctor, journal, manifests, serve, shell, simulate, status, token};

/// What the exit codes mean, whatever is run (`Problem::exit_code`).
const EXIT_CODES: &str = "Exit codes:
  0  it was done, or all is well
  1  it was refused or failed, or something is not as it should be
  2  it cannot be run like this: flags, files, configuration, or a name that is not clear
  3  the control plane cannot be reached or is not ready; trying again may help
  4  conflict: not in this state
  5  something that the plan of a verb names has changed since it was made; look again
  6  unknown: no answer to a verb came back; it says how to find out";

/// The console for gated rollouts: see what a release waits for, on whom, since when, and stop it.
#[derive(Debug, Parser)]
#[command(name = "kura-console", version, about, long_about = None, max_term_width = 100, args_conflicts_with_subcommands = true, after_help = EXIT_CODES)]
pub struct Args {
    /// What to run; without it the console attaches to a control plane.
    #[command(subcommand)]
    pub run: Option<Run>,
    /// Flags of the console itself.
    #[command(flatten)]
    pub attach: attach::Args,
}

/// The ways to run. One value per process, so its size does not matter.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, Subcommand)]
pub enum Run {
    /// See everything alive on a simulated fleet; needs no network and no configuration.
    Demo(demo::Args),
    /// Run the control plane.
    Serve(serve::Args),
    /// Print the current rollout, without a screen.
    Status(status::Args),
    /// The registry.
    #[command(flatten)]
    Ask(Ask),
    /// Read who did what and why, and check that nobody has touched the record.
    Audit(audit::Args),
    /// Say what works between here and the control plane, and what does not.
    Doctor(doctor::Args),
    /// The verbs.
    #[command(flatten)]
    Act(Act),
    /// Back up, restore, compact, export and check a journal.
    Journal(journal::run::Args),
    /// Run scenario files in virtual time and check what they expect.
    Simulate(simulate::Args),
    /// Run the reference node agent.
    Agent(agent::Args),
    /// Make, list and revoke the tokens of a control plane.
    Token(token::Args),
    /// Print what a Kubernetes cluster needs to run the control plane.
    Manifests(manifests::args::Args),
    /// Print the completion script of a shell.
    Completions(shell::CompletionArgs),
    /// Print the man page.
    Man,
}
