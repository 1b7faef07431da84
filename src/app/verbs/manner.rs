//! How a verb is given: to whom, with which reason, asked back or not, and how its outcome is printed.

use crate::app::status::Output;
use crate::app::target::TargetArgs;
use crate::wire::call::checked_key;
use crate::wire::problem::Problem;
use crate::wire::reason;

/// What the exit codes of a verb mean.
pub const EXIT_CODES: &str = "\
Exit codes:
  0  done; with --dry-run: planned
  1  refused, not confirmed, not found or not allowed; nothing was done
  2  wrong arguments, or it would have had to ask and could not; nothing was done
  3  the control plane cannot be reached; nothing was done
  4  not in this state, such as a protected rollout that runs; nothing was done
  5  something the plan names has changed since it was made; nothing was done
  6  unknown: no answer came back; it says how to find out

Things are named by slug, host name, git ref or uuid; 8 hex digits of a uuid will do where they are unique.";

/// Flags of every verb.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Manner {
    /// Where it is given and as whom.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Print what would follow, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Why: kept with the change. Every verb but a stop (halt, pause ring, pause environment) needs one.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Do not ask back. Without a terminal, every verb but a stop needs it.
    #[arg(long)]
    pub yes: bool,
    /// Idempotency key; only to repeat a verb whose outcome stayed unknown: under its key it is never done twice.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Send it although it cannot be written down on this machine first.
    #[arg(long)]
    pub no_local_audit: bool,
    /// How it is printed; json and yaml are one document {verb, target, plan, outcome, revision, key, ...}.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    pub output: Output,
}

impl Manner {
    /// Nothing of it speaks of giving a verb.
    pub fn is_bare(&self) -> bool {
        !self.dry_run && !self.yes && self.reason.is_none() && self.key.is_none()
    }

    /// The reason that was given, trimmed.
    ///
    /// # Errors
    /// Where it is too long or more than one line.
    pub fn reason(&self) -> Result<Option<String>, Problem> {
        reason::checked(self.reason.clone())
    }

    /// The key to do it under: the given one, or a new one.
    ///
    /// # Errors
    /// Where the given one is too long or not printable.
    pub fn key(&self) -> Result<String, Problem> {
        let Some(key) = self.key.clone() else { return Ok(uuid::Uuid::new_v4().to_string()) };
        checked_key(key).map_err(|problem| problem.hint("leave --key out: each verb gets a key of its own"))
    }
}

/// A verb and how it is given.
#[derive(Debug, Clone, clap::Args)]
#[command(after_long_help = EXIT_CODES)]
pub struct Given<T: clap::Args> {
    /// What.
    #[command(flatten)]
    pub what: T,
    /// How.
    #[command(flatten)]
    pub manner: Manner,
}
