//! Plays seed after seed until one fails, and says of that one what it takes.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZero;
use std::ops::{ControlFlow, Range};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread::{available_parallelism, scope};

use super::super::journal::Defect;
use super::check::{Breach, Tally};
use super::faults::tally::FaultTally;
use super::generate::generate;
use super::kura::steps::KuraTally;
use super::play::{Played, beginning, play};
use super::profile::Profile;
use super::rolls::steps::RollTally;
use super::shrink::{Shrunk, shrink};
use crate::domain::span::Seconds;

/// A seed that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Which.
    pub seed: u64,
    /// Of which family.
    pub profile: Profile,
    /// Seconds after the beginning of its world.
    pub at: Seconds,
    /// The rule that was broken, and how.
    pub invariant: String,
    /// The fewest inputs that were found to break it, in order.
    pub inputs: Vec<String>,
    /// Inputs of the whole script.
    pub of: usize,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {} fails after {}: {}", self.seed, self.at, self.invariant)?;
        writeln!(f, "it takes {} of its {} inputs:", self.inputs.len(), self.of)?;
        self.inputs.iter().try_for_each(|input| writeln!(f, "  {input}"))?;
        let (first, end) = (self.seed, self.seed.saturating_add(1));
        write!(f, "reproduce it with: kura-console simulate --seeds {first}..{end} --profile {}", self.profile.word())
    }
}

/// What came of a range of seeds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Seeds that were played.
    pub seeds: u64,
    /// What was seen in all of them.
    pub tally: Tally,
    /// The first seed that failed; later ones were not played.
    pub failure: Option<Failure>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { changes, grants, handed, answers, races, completed, virtual_seconds, kura, rolls, faults, toll } =
            self.tally;
        write!(
            f,
            "{} seeds, {} of virtual time: {changes} changes, {answers} orders, {handed} assignments, {grants} leases, \
             {races} lost races, {completed} rollouts completed\nmishaps: {toll}",
            self.seeds,
            Seconds(virtual_seconds)
        )?;
        if kura != KuraTally::default() {
            let KuraTally { scheduled, superseded, succeeded, applied, rolled, collected } = kura;
            write!(
                f,
                "\nKura: {scheduled} deployments, {superseded} superseded, {succeeded} succeeded, {applied} manifests \
                 applied, {rolled} pods that were not Ready deleted, {collected} gateways and classes collected"
            )?;
        }
        if rolls != RollTally::default() {
            write!(f, "\nrolls: {rolls}")?;
        }
        if faults != FaultTally::default() {
            write!(f, "\nfaults: {faults}")?;
        }
        self.failure.as_ref().map_or(Ok(()), |failure| write!(f, "\n{failure}"))
    }
}

/// Plays every seed of `range` until one fails, or until `watch`, which sees the report after each, has seen enough.
pub fn run(range: Range<u64>, profile: Profile, watch: impl FnMut(&Report) -> ControlFlow<()>) -> Report {
    run_with(range, profile, None, watch)
}

/// The same with a journal that breaks a promise: proves that the checks find it.
pub fn run_with(
    range: Range<u64>,
    profile: Profile,
    defect: Option<Defect>,
    mut watch: impl FnMut(&Report) -> ControlFlow<()>,
) -> Report {
    let mut report = Report::default();
    each_in_order(
        range,
        |seed| played(profile, seed, defect),
        |seed, played| {
            report.seeds += 1;
            report.tally.add(&played.tally);
            match played.breach {
                Some(breach) => {
                    report.failure = Some(failure(profile, seed, &breach, defect));
                    ControlFlow::Break(())
                }
                None => watch(&report),
            }
        },
    );
    report
}

/// Plays seeds on all processors, and takes what came of them in their order until enough was seen.
fn each_in_order<T: Send>(
    range: Range<u64>,
    play: impl Fn(u64) -> T + Sync,
    mut take: impl FnMut(u64, T) -> ControlFlow<()>,
) {
    let workers = available_parallelism().map_or(1, NonZero::get);
    let (next, stopped) = (AtomicU64::new(range.start), AtomicBool::new(false));
    scope(|scope| {
        // While a seed that failed is made small nobody plays on for long.
        let (sender, played) = sync_channel(workers);
        for _ in 0..workers {
            let (sender, play, next, stopped) = (sender.clone(), &play, &next, &stopped);
            scope.spawn(move || {
                while !stopped.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= range.end || sender.send((seed, play(seed))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let (mut early, mut due) = (BTreeMap::new(), range.start);
        'all: for (seed, outcome) in &played {
            early.insert(seed, outcome);
            while let Some(outcome) = early.remove(&due) {
                if take(due, outcome).is_break() {
                    break 'all;
                }
                due += 1;
            }
        }
        stopped.store(true, Ordering::Relaxed);
        drop(played);
    });
}

/// A world in which something panics is a world that failed.
fn played(profile: Profile, seed: u64, defect: Option<Defect>) -> Played {
    let playing = || play(&generate(profile, seed), defect);
    catch_unwind(AssertUnwindSafe(playing)).unwrap_or_else(|_| Played {
        tally: Tally::default(),
        breach: Some(Breach { at: beginning(), what: PANICKED.to_owned() }),
    })
}

/// What is said of a world in which something panicked; where, the panic itself says.
const PANICKED: &str = "something panicked";

fn failure(profile: Profile, seed: u64, breach: &Breach, defect: Option<Defect>) -> Failure {
    let plot = generate(profile, seed);
    let of = plot.script.len();
    let Shrunk { script, breach } = match breach.what == PANICKED {
        true => Shrunk { script: plot.script, breach: breach.clone() },
        false => shrink(&plot, breach, defect),
    };
    let inputs = script.iter().map(ToString::to_string).collect();
    Failure { seed, profile, at: Seconds::between(beginning(), breach.at), invariant: breach.what, inputs, of }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Played where nobody asks for others.
    const USUAL: Range<u64> = 0..2;

    /// `KURA_SEEDS=0..40` asks for others, `KURA_PROFILE=kura` for those of one family: what `simulate --seeds` plays,
    /// without a second program to build and without making a failure small. So do `scripts/mutants`, which expect that
    /// one fails.
    #[test]
    fn the_seeds_that_are_asked_for_hold() {
        let asked = std::env::var("KURA_SEEDS").ok();
        let range = asked.as_deref().map_or(USUAL, |range| {
            let (first, end) = range.split_once("..").unwrap();
            first.parse().unwrap()..end.parse().unwrap()
        });
        assert!(!range.is_empty());
        let family = std::env::var("KURA_PROFILE").ok();
        let is_asked = |profile: &Profile| family.as_deref().is_none_or(|word| profile.word() == word);
        for profile in Profile::ALL.into_iter().filter(is_asked) {
            range.clone().for_each(|seed| holds(profile, seed));
        }
    }

    fn holds(profile: Profile, seed: u64) {
        let Played { tally, breach } = played(profile, seed, None);
        let fault = breach.map_or(String::new(), |breach| {
            let (word, after) = (profile.word(), Seconds::between(beginning(), breach.at));
            format!("seed {seed} of {word} fails after {after}: {breach}")
        });
        assert!(fault.is_empty(), "\n{fault}");
        let moved = if profile.has_rings() { tally.completed } else { tally.changes };
        assert!(moved > 0, "\nnothing moves in seed {seed} of {}", profile.word());
    }
}
