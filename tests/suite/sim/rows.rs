//! The rows of the table of failure modes as worlds: each shows its row when it is opened, and goes on alive.

use jiff::Timestamp;
use kura_console::app::actors::Actors;
use kura_console::control::link::Link;
use kura_console::control::local::Introduction;
use kura_console::control::picture::{Picture, Role};
use kura_console::domain::failure_mode::{FailureMode, findings};
use kura_console::domain::ids::MachineId;
use kura_console::domain::observed::OFFLINE_AFTER;
use kura_console::domain::span::Seconds;
use kura_console::sim::presets::{KEPT, Kept, kept};
use kura_console::sim::scenario::run::Run;

fn opening() -> Timestamp {
    "2026-11-03T03:12:00Z".parse().unwrap()
}

/// What a console sees of a row when the demo opens on it, and `later` seconds later.
fn seen(kept: &Kept, later: u64) -> (Picture, Picture) {
    let mut run: Run<Actors> = kept.begin(opening(), Actors::usual().unwrap()).unwrap();
    let introduction = Introduction { endpoint: "demo".to_owned(), account: kept.name(), role: Role::Operator };
    let (link, painter) = run.link(introduction).unwrap();
    run.advance_to(opening()).unwrap();
    run.go_live(painter).unwrap();
    let first = link.pictures().borrow().clone();
    run.advance_to(Seconds(later).after(opening())).unwrap();
    (first, link.pictures().borrow().clone())
}

fn modes(picture: &Picture, at: Timestamp) -> Vec<FailureMode> {
    findings(&picture.world, &picture.observed, at).iter().map(|found| found.mode).collect()
}

#[test]
fn every_row_is_the_first_thing_that_is_found_when_its_world_opens() {
    for kept in &KEPT {
        let (first, _) = seen(kept, 0);
        assert_eq!(modes(&first, opening()).first(), Some(&kept.mode), "{}", kept.name());
    }
}

#[test]
fn everybody_who_can_be_heard_goes_on_by_itself_once_the_script_is_over() {
    for kept in &KEPT {
        let (first, later) = seen(kept, 1_200);
        let at = Seconds(1_200).after(opening());
        for machine in first.world.machines.values() {
            let was_heard = first.observed.is_online(machine.id, opening()) == Some(true);
            let is_heard = later.observed.is_online(machine.id, at) == Some(true);
            assert!(OFFLINE_AFTER < Seconds(1_200) && was_heard == is_heard, "{} {}", kept.name(), machine.hostname);
        }
    }
}

#[test]
fn what_failed_stays_failed_until_a_person_decides() {
    for name in ["fm-02", "fm-03", "fm-04", "fm-d8"] {
        let (_, later) = seen(kept(name).unwrap(), 3_000);
        assert_eq!(modes(&later, Seconds(3_000).after(opening())).first(), Some(&kept(name).unwrap().mode), "{name}");
        assert!(later.world.machines[&MachineId::named("ash")].lease.is_some(), "{name}");
    }
}
