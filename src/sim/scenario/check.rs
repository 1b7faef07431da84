//! What can be checked of a file before it runs: every name of a process, a screen or a chord it uses is known.

use super::file::act::{Act, Doing};
use super::file::console::ConsoleAct;
use super::file::expectation::Look;
use super::file::faults::FaultAct;
use super::file::place::Fault;
use super::file::rollouts::{RolloutAct, Target};
use super::file::scenario::Scenario;
use super::file::view::{View, size_of};
use super::process::{Process, check as check_process};
use super::screens::Consoles;

/// A fault where the file names what it does not have.
pub(super) fn check(scenario: &Scenario, processes: &[Process], consoles: &impl Consoles) -> Result<(), Fault> {
    let spawned = scenario.when.iter().filter(|act| matches!(act.doing, Doing::Faults(FaultAct::Spawn(_))));
    let spawned = spawned.filter_map(|act| act.circumstances.process.as_deref());
    let known: Vec<&str> = processes.iter().map(|process| process.name.as_str()).chain(spawned).collect();
    for act in &scenario.when {
        processes_of(act).try_for_each(|named| match known.contains(&named) {
            true => Ok(()),
            false => Err(Fault::at(act.place, format!("there is no process {named}, only {}", known.join(", ")))),
        })?;
        arguments(act, consoles)?;
    }
    let looks = scenario.then.iter().map(|then| &then.look).chain(scenario.never.iter().map(|never| &never.look));
    looks.into_iter().try_for_each(|look| screen(look, consoles))
}

fn processes_of(act: &Act) -> impl Iterator<Item = &str> {
    let own = match &act.doing {
        Doing::Faults(FaultAct::Partition { from, .. }) => Some(from.as_str()),
        _ => None,
    };
    act.circumstances.process.as_deref().into_iter().chain(own)
}

fn arguments(act: &Act, consoles: &impl Consoles) -> Result<(), Fault> {
    let fault = |message: String| Err(Fault::at(act.place, message));
    match &act.doing {
        Doing::Console(ConsoleAct::Key { chords }) => {
            let mut chords = chords.iter().flat_map(|chords| chords.split_whitespace());
            match chords.find(|chord| !consoles.knows_chord(chord)) {
                Some(unknown) => fault(format!("{unknown} is no chord, as keymaps write them")),
                None => Ok(()),
            }
        }
        Doing::Console(ConsoleAct::Resize { to }) if size_of(to).is_none() => {
            fault(format!("{to} is no size, such as 80x24"))
        }
        Doing::Faults(FaultAct::Spawn(given)) => match act.circumstances.process {
            Some(_) => check_process(given, act.place),
            None => fault("missing field `process`".to_owned()),
        },
        Doing::Rollouts(RolloutAct::Pause(target) | RolloutAct::Unpause(target)) => match target {
            Target { machine: Some(_), ring: None, environment: None }
            | Target { machine: None, ring: Some(_), environment: None }
            | Target { machine: None, ring: None, environment: Some(_) } => Ok(()),
            _ => fault("name exactly one of machine, ring and environment".to_owned()),
        },
        _ => Ok(()),
    }
}

fn screen(look: &Look, consoles: &impl Consoles) -> Result<(), Fault> {
    match &look.view {
        View::Screen(name, ..) if !consoles.has(name) => {
            Err(Fault::at(look.place, format!("there is no screen {name} in this version")))
        }
        _ => Ok(()),
    }
}
