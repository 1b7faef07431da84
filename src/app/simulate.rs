//! The way to run: simulate. Scenario files in virtual time, and whether what had to be seen was seen.

use std::fs;
use std::io::{self, IsTerminal, Write as _};
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::actors::Actors;
use super::shell::print;
use super::status::{Output, yaml};
use crate::adapters::clock::SystemClock;
use crate::control::ports::Clock;
use crate::sim::scenario::file::moment::Moment;
use crate::sim::scenario::file::place::{Fault, Place, Placed};
use crate::sim::scenario::file::scenario::Scenario;
use crate::sim::scenario::file::view::View;
use crate::sim::scenario::run::{Run, Stuck};
use crate::sim::scenario::schema::schema;
use crate::sim::seeds;
use crate::sim::seeds::profile::Profile;
use crate::sim::seeds::run::Report;
use crate::sim::toll::{Mishap, Toll};
use crate::wire::problem::{Problem, ProblemKind};

/// Flags.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Scenario files.
    #[arg(value_name = "FILE", required_unless_present_any = ["schema", "seeds"], conflicts_with = "seeds")]
    files: Vec<PathBuf>,
    /// How it is printed.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: Output,
    /// Stop at this time after the start, such as 90s or 1h30m.
    #[arg(long, value_name = "TIME", value_parser = moment)]
    until: Option<Moment>,
    /// Print this view as it is at the end, instead of what came of the expectations; may be repeated.
    #[arg(long = "view", value_name = "NAME", value_parser = view)]
    views: Vec<(String, View)>,
    /// Print the JSON schema of scenario files.
    #[arg(long)]
    schema: bool,
    /// Play generated worlds instead: every seed from A up to, not including, B, until one fails.
    #[arg(long, value_name = "A..B", value_parser = seeds)]
    seeds: Option<Range<u64>>,
    /// Which kind of worlds is generated: rings, kura, rolls, all three at once (all), or small
    /// worlds of everything that goes wrong between processes (faults); without it each kind in turn.
    #[arg(long, value_name = "NAME", value_parser = family, requires = "seeds")]
    profile: Option<Profile>,
    /// Generated worlds: begin none after this time, such as 30m; how many were played is printed.
    #[arg(long, value_name = "TIME", value_parser = moment, requires = "seeds")]
    within: Option<Moment>,
}

/// From so many worlds of faults on every kind of mishap has to have happened in some of them.
const EVERY_KIND_FROM: u64 = 1_000;

/// What came of one file.
enum Ended {
    Passed,
    Failed,
    Faulty(Problem),
}

/// Runs it. Exit code 0 = everything held, 1 = something did not, 2 = a file is wrong.
pub fn run(args: Args) -> Result<(), Problem> {
    if args.schema {
        return print(format!("{:#}\n", schema()).as_bytes());
    }
    if let Some(range) = args.seeds.clone() {
        return generated(range, &args);
    }
    let (mut failed, mut faulty) = (0, None);
    for file in &args.files {
        match one(file, &args)? {
            Ended::Passed => {}
            Ended::Failed => failed += 1,
            Ended::Faulty(problem) => {
                faulty = Some(match faulty {
                    None => problem,
                    Some(first) => Problem::hint(first, problem.message),
                });
            }
        }
    }
    match (faulty, failed) {
        (Some(problem), _) => Err(problem),
        (None, 0) => Ok(()),
        (None, failed) => {
            let message = format!("{failed} of {} scenarios failed", args.files.len());
            Err(Problem::new(ProblemKind::Invalid, "expectations", message))
        }
    }
}

/// Prints what came of the worlds of each family, and the first one that failed.
fn generated(range: Range<u64>, args: &Args) -> Result<(), Problem> {
    for profile in Profile::ALL.iter().filter(|profile| args.profile.is_none_or(|asked| asked == **profile)) {
        let mut progress = Progress::of(range.end.saturating_sub(range.start), args.within);
        let report = seeds::run::run(range.clone(), *profile, |report| progress.after(report));
        progress.done();
        print(format!("{}: {report}\n", profile.word()).as_bytes())?;
        if let Some(failure) = report.failure {
            return Err(Problem::new(ProblemKind::Invalid, "seed", format!("seed {} fails", failure.seed)));
        }
        if *profile == Profile::Faults && report.seeds >= EVERY_KIND_FROM {
            all_happened(&report.tally.toll)?;
        }
    }
    Ok(())
}

/// Worlds in which something never happens prove nothing about it.
fn all_happened(toll: &Toll) -> Result<(), Problem> {
    let never = Mishap::ALL.into_iter().filter(|kind| toll.of(*kind) == 0);
    let never: Vec<&str> = never.map(Mishap::words).collect();
    if never.is_empty() {
        return Ok(());
    }
    let message = format!("nothing of this ever happened in these worlds: {}", never.join(", "));
    Err(Problem::new(ProblemKind::Invalid, "toll", message))
}

/// Says once a second on a terminal how far it is, and when the time is up.
struct Progress {
    clock: SystemClock,
    begun: Timestamp,
    said: i64,
    of: u64,
    within: Option<Moment>,
}

impl Progress {
    fn of(of: u64, within: Option<Moment>) -> Self {
        let clock = SystemClock::start();
        Self { begun: clock.now(), clock, said: 0, of, within }
    }

    fn after(&mut self, report: &Report) -> ControlFlow<()> {
        let passed = self.clock.now().duration_since(self.begun).as_secs();
        if passed > self.said && io::stderr().is_terminal() {
            self.said = passed;
            Self::write(&format!("\r{} of {} seeds, {passed} s ", report.seeds, self.of));
        }
        match self.within {
            Some(Moment(seconds)) if passed >= seconds => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    /// Leaves the line empty.
    fn done(&self) {
        if self.said > 0 {
            Self::write("\r\x1b[K");
        }
    }

    /// Progress nobody can read is no reason to stop.
    fn write(text: &str) {
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

fn one(file: &Path, args: &Args) -> Result<Ended, Problem> {
    let name = file.display().to_string();
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => return Ok(Ended::Faulty(usage(format!("{name} cannot be read: {error}")))),
    };
    let mut run = match begin(&text, Actors::usual()?) {
        Ok(run) => run,
        Err(Stuck::Fault(fault)) => return Ok(Ended::Faulty(usage(format!("{name}:{}", placed(&fault))))),
        Err(stuck) => return Err(broken(&name, &stuck)),
    };
    let until = args.until.unwrap_or(run.end());
    run.play_until(until).map_err(|stuck| broken(&name, &stuck))?;
    if !args.views.is_empty() {
        let bodies: Map<String, Value> = args.views.iter().map(|(name, view)| (name.clone(), run.view(view))).collect();
        print(format!("{}\n", Value::Object(bodies)).as_bytes())?;
        return Ok(Ended::Passed);
    }
    let report = run.report();
    let passed = report.passed;
    match args.output {
        Output::Text => print(report.text(&name).as_bytes())?,
        Output::Yaml => print(yaml(&report).map_err(|why| usage(format!("{name}: {why}")))?.as_bytes())?,
        Output::Json => {
            let unwritable = |error: serde_json::Error| broken(&name, &error);
            print(format!("{}\n", serde_json::to_string(&report).map_err(unwritable)?).as_bytes())?;
        }
    }
    Ok(if passed { Ended::Passed } else { Ended::Failed })
}

/// A scenario at its start, from the text of its file.
pub fn begin(text: &str, actors: Actors) -> Result<Run<Actors>, Stuck> {
    Run::new(Scenario::parse(text)?, actors)
}

fn placed(fault: &Fault) -> String {
    match fault.place {
        Place { line: 0, .. } => format!("1:1: {}", fault.message),
        _ => fault.to_string(),
    }
}

fn usage(message: String) -> Problem {
    Problem::new(ProblemKind::Usage, "scenario", message)
}

fn broken(file: &str, error: &dyn std::fmt::Display) -> Problem {
    Problem::new(ProblemKind::Internal, "simulation", format!("{file}: {error}"))
}

fn seeds(text: &str) -> Result<Range<u64>, String> {
    let range = text.split_once("..").and_then(|(first, end)| Some(first.parse().ok()?..end.parse().ok()?));
    range.filter(|range| !range.is_empty()).ok_or_else(|| "write a range such as 0..2000".to_owned())
}

fn family(text: &str) -> Result<Profile, String> {
    let known = Profile::ALL.into_iter().find(|profile| profile.word() == text);
    known.ok_or_else(|| "choose rings, kura, rolls, all or faults".to_owned())
}

fn moment(text: &str) -> Result<Moment, String> {
    Moment::parse(text).filter(|at| *at >= Moment(0)).ok_or_else(|| "write a time such as 90s or 1h30m".to_owned())
}

fn view(text: &str) -> Result<(String, View), String> {
    let name = Placed { place: Place::default(), value: text.to_owned() };
    View::read(&name).map(|view| (text.to_owned(), view)).map_err(|fault| fault.message)
}
