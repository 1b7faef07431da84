//! The ways to ask for something of the registry: one command per noun, all with the same flags.

use super::super::status::Output;
use super::super::target::TargetArgs;
use super::kura::{GATEWAYS, ORPHANS, RUNTIME_TAGS, SERVERS};
use super::nouns::{ENVIRONMENTS, MACHINES, Noun, RELEASES, RINGS, ROLLOUTS};
use super::rolls::{NODES, ROLLS};
use crate::wire::problem::{Problem, ProblemKind};

/// The word in front of names that asks for all of each.
const SHOW: &str = "show";

/// What every noun knows.
#[derive(Debug, clap::Args)]
pub struct Flags {
    /// Which control plane.
    #[command(flatten)]
    pub target: TargetArgs,
    /// How it is printed; json and yaml are the answers of the control plane as they came.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    pub output: Output,
    /// Print again whenever something changes, until it is interrupted.
    #[arg(long)]
    pub watch: bool,
}

/// Names and flags of a noun that has many.
#[derive(Debug, clap::Args)]
pub struct Listed {
    /// Only these, by name, uuid, or at least the first 8 digits of one; all of them where none is named. Json and yaml of
    /// one name are one object, else a list.
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Flags.
    #[command(flatten)]
    pub flags: Flags,
}

/// Rolls and flags.
#[derive(Debug, clap::Args)]
pub struct ListedRolls {
    /// Only these: PROJECT/TARGET, a target, a uuid, or at least the first 8 digits of one. With the word show before
    /// them everything the journal has of each is printed, however long ago it was: every step, every probe.
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// List those of long ago as well, from the journal.
    #[arg(long, conflicts_with_all = ["names", "watch"])]
    pub all: bool,
    /// Flags.
    #[command(flatten)]
    pub flags: Flags,
}

/// Subject and flags of a question.
#[derive(Debug, clap::Args)]
pub struct Question {
    /// A ring, machine or server by name or uuid, also written ring/NAME or ring NAME; without it the current rollout.
    #[arg(value_name = "SUBJECT", num_args = 0..=2)]
    pub subject: Vec<String>,
    /// Flags.
    #[command(flatten)]
    pub flags: Flags,
}

/// A server and flags.
#[derive(Debug, clap::Args)]
pub struct OfServer {
    /// The server, by name (TENANT-REGION), id, or at least the first 8 digits of one.
    #[arg(value_name = "SERVER")]
    pub server: String,
    /// Flags.
    #[command(flatten)]
    pub flags: Flags,
}

/// The nouns.
#[derive(Debug, clap::Subcommand)]
pub enum Ask {
    /// List rollouts, the newest first, or show some of them.
    Rollouts(Listed),
    /// List rings, or show some of them.
    Rings(Listed),
    /// List machines, or show some of them.
    Machines(Listed),
    /// List environments, or show some of them.
    Environments(Listed),
    /// List releases, the newest first, or show some of them.
    Releases(Listed),
    /// List Kura servers, or show some of them.
    #[command(visible_alias = "kura")]
    Servers(Listed),
    /// List all deployments of a Kura server, the newest first.
    ///
    /// With --watch the last ones, which the control plane has at hand.
    Deployments(OfServer),
    /// Show where a Kura server differs from what is rendered for it.
    Drift(OfServer),
    /// List runtime tags, the newest version first, or show some of them.
    RuntimeTags(Listed),
    /// List gateways of the cluster, or show some of them.
    Gateways(Listed),
    /// List instances without a server and servers without an instance.
    Orphans(Listed),
    /// List fleet rolls, the newest first, or show some of them, also those of years ago.
    Rolls(ListedRolls),
    /// List nodes, their cordons and their runtimes.
    Nodes(Listed),
    /// Say what something waits for, on whom, since when, and what to do next.
    Explain(Question),
}

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub enum Wanted<'a> {
    /// Things of a noun: all, or those named.
    Things(&'static Noun, &'a [String]),
    /// All rolls there ever were.
    EveryRoll,
    /// Rolls with everything that is known of them, whenever they were.
    WholeRolls(&'a [String]),
    /// The account.
    Account,
    /// Deployments of a server.
    Deployments(&'a str),
    /// The manifest of a server.
    Manifest(&'a str),
    /// What a subject waits for, in one word or in two; without any, the current rollout.
    Answer(&'a [String]),
}

impl Ask {
    /// What is asked for, and how.
    pub fn parts(&self) -> (Wanted<'_>, &Flags) {
        let (noun, listed) = match self {
            Self::Rollouts(listed) => (&ROLLOUTS, listed),
            Self::Rings(listed) => (&RINGS, listed),
            Self::Machines(listed) => (&MACHINES, listed),
            Self::Environments(listed) => (&ENVIRONMENTS, listed),
            Self::Releases(listed) => (&RELEASES, listed),
            Self::Servers(listed) => (&SERVERS, listed),
            Self::RuntimeTags(listed) => (&RUNTIME_TAGS, listed),
            Self::Gateways(listed) => (&GATEWAYS, listed),
            Self::Orphans(listed) => (&ORPHANS, listed),
            Self::Nodes(listed) => (&NODES, listed),
            Self::Rolls(listed) => return (rolls(listed), &listed.flags),
            Self::Deployments(of) => return (Wanted::Deployments(&of.server), &of.flags),
            Self::Drift(of) => return (Wanted::Manifest(&of.server), &of.flags),
            Self::Explain(question) => return (Wanted::Answer(&question.subject), &question.flags),
        };
        (Wanted::Things(noun, &listed.names), &listed.flags)
    }
}

impl Ask {
    /// Where `show` is no roll, it was meant as the word in front of names.
    pub(super) fn hinted(&self, problem: Problem) -> Problem {
        match self {
            Self::Rolls(listed) if listed.names == [SHOW] && problem.kind == ProblemKind::NotFound => {
                problem.hint("names follow the word show: kura-console rolls show PROJECT/TARGET")
            }
            _ => problem,
        }
    }
}

/// `show` alone may be the name of a target.
fn rolls(listed: &ListedRolls) -> Wanted<'_> {
    match listed.names.split_first() {
        Some((word, names)) if word == SHOW && !names.is_empty() => Wanted::WholeRolls(names),
        _ if listed.all => Wanted::EveryRoll,
        _ => Wanted::Things(&ROLLS, &listed.names),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Typed {
        #[command(subcommand)]
        ask: Ask,
    }

    #[test]
    fn the_word_show_without_a_name_says_what_it_takes() {
        let hints = |typed: &[&str], kind| {
            let Typed { ask } = Typed::parse_from(["kura-console"].iter().chain(typed));
            ask.hinted(Problem::new(kind, "no_roll", "there is no roll show")).hints
        };
        let told = hints(&["rolls", "show"], ProblemKind::NotFound);
        assert!(told.len() == 1 && told[0].contains("rolls show PROJECT/TARGET"), "{told:?}");
        assert!(hints(&["rolls", "show"], ProblemKind::Unreachable).is_empty());
        assert!(hints(&["rolls", "other"], ProblemKind::NotFound).is_empty());
        assert!(hints(&["rings", "show"], ProblemKind::NotFound).is_empty());
    }
}
