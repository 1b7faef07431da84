//! The way to run: demo. A control plane and a simulated fleet in this process; no network, no configuration.

use crate::console::snapshot::DEMO;
use crate::sim::presets::reference_roll::PULL_SHARES;
use crate::sim::presets::{INCIDENTS, KEPT, Kept, PRESETS, REFERENCE, incident, kept, preset};
use crate::wire::problem::{Problem, ProblemKind};

use super::console::{Backstage, run_console};
use super::look::ScreenArgs;
use super::pace::{Paced, Show};
use super::shell;

/// Slowest and fastest the virtual clock may go.
const SPEEDS: std::ops::RangeInclusive<f64> = 0.1..=3_600.0;

/// Flags.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How many times faster than the wall clock the simulated world moves
    #[arg(long, value_name = "X", default_value_t = 10.0, value_parser = speed)]
    pub speed: f64,
    /// Which world to show; see --list
    #[arg(long, value_name = "NAME", default_value = PRESETS[0].name)]
    pub preset: String,
    /// Print the worlds there are, and leave
    #[arg(long)]
    pub list: bool,
    /// The same seed gives the same world; rows of the table of failure modes have one of their own
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Of the preset reference-roll: how much of a node's time its pull takes, in percent
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    pub pull_share: Option<u8>,
    /// How it looks.
    #[command(flatten)]
    pub screen: ScreenArgs,
}

/// Runs it.
pub fn run(args: Args) -> Result<(), Problem> {
    if args.list {
        return list();
    }
    let show = pulled(chosen(&args.preset, args.seed)?, args.pull_share)?;
    let mut world = None;
    run_console(&args.screen, DEMO, async |wall| {
        let paced = world.insert(Paced::start(show, args.speed, wall)?);
        Ok(Backstage { link: paced.link(), clock: paced.clock(), farewell: async {} })
    })?;
    world.map_or(Ok(()), Paced::stop)
}

fn chosen(name: &str, seed: u64) -> Result<Show, Problem> {
    let found = preset(name).map(|preset| Show::Preset(preset, seed));
    let found = found.or_else(|| incident(name).copied().map(Show::Incident)).or_else(|| kept(name).map(Show::Kept));
    found.ok_or_else(|| {
        let written = PRESETS.iter().map(|preset| preset.name.to_owned());
        let written = written.chain(INCIDENTS.iter().map(|incident| incident.name.to_owned()));
        let names: Vec<String> = written.chain(KEPT.iter().map(Kept::name)).collect();
        Problem::new(ProblemKind::Usage, "preset", format!("there is no preset {name}"))
            .hint(format!("there are {}", names.join(", ")))
            .hint("kura-console demo --list says what each of them shows")
    })
}

/// The same with the share of its pull, where it has one.
fn pulled(show: Show, share: Option<u8>) -> Result<Show, Problem> {
    match (show, share) {
        (show, None) => Ok(show),
        (Show::Incident(mut incident), Some(share)) if incident.name == REFERENCE.name => {
            incident.pull = share;
            Ok(Show::Incident(incident))
        }
        (_, Some(_)) => {
            let message = format!("--pull-share is about the preset {}", REFERENCE.name);
            Err(Problem::new(ProblemKind::Usage, "pull_share", message).field("--pull-share"))
        }
    }
}

/// What there is, one line each.
fn lines() -> Vec<String> {
    let written = PRESETS.iter().map(|preset| (preset.name.to_owned(), preset.summary));
    let rows = KEPT.iter().map(|kept| (kept.name(), kept.mode.title()));
    let incidents = INCIDENTS.iter().map(|incident| (incident.name.to_owned(), incident.summary));
    written.chain(incidents).chain(rows).map(|(name, about)| format!("{name:<18}{about}")).collect()
}

fn list() -> Result<(), Problem> {
    shell::print((lines().join("\n") + "\n").as_bytes())
}

fn share(text: &str) -> Result<u8, String> {
    let share: u8 = text.parse().map_err(|_| "not a whole number".to_owned())?;
    if PULL_SHARES.contains(&share) {
        return Ok(share);
    }
    Err(format!("must lie between {} and {}", PULL_SHARES.start(), PULL_SHARES.end()))
}

fn speed(text: &str) -> Result<f64, String> {
    let speed: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if SPEEDS.contains(&speed) {
        return Ok(speed);
    }
    Err(format!("must lie between {} and {}", SPEEDS.start(), SPEEDS.end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_numbers_within_their_limits() {
        assert_eq!(speed("2.5"), Ok(2.5));
        for bad in ["0", "-1", "4000", "NaN", "inf"] {
            assert!(speed(bad).unwrap_err().contains("between 0.1 and 3600"), "{bad}");
        }
        assert!(speed("fast").is_err());
    }

    #[test]
    fn only_the_roll_of_the_seed_has_a_share_of_its_pull() {
        assert_eq!(super::share("30"), Ok(30));
        assert!(super::share("90").unwrap_err().contains("between 10 and 80") && super::share("all").is_err());
        let share = |name: &str| pulled(chosen(name, 1).unwrap(), Some(30));
        assert!(matches!(share("reference-roll"), Ok(Show::Incident(incident)) if incident.pull == 30));
        for name in ["window", "wedged-runtime", "fm-01"] {
            assert_eq!(share(name).unwrap_err().field.as_deref(), Some("--pull-share"), "{name}");
        }
    }

    #[test]
    fn a_preset_that_does_not_exist_is_answered_with_those_that_do() {
        let problem = chosen("nonsense", 1).unwrap_err();
        assert_eq!(problem.kind, ProblemKind::Usage);
        for name in lines().iter().filter_map(|line| line.split_whitespace().next()) {
            assert!(problem.hints[0].contains(name) && chosen(name, 1).is_ok(), "{name}");
        }
        assert_eq!(lines().len(), PRESETS.len() + INCIDENTS.len() + KEPT.len());
    }
}
