//! Running scenarios from their text.

use kura_console::app::actors::Actors;
use kura_console::app::simulate::begin;
use kura_console::sim::scenario::file::place::{Fault, Place, Placed};
use kura_console::sim::scenario::file::view::View;
use kura_console::sim::scenario::report::{Checked, Report};
use kura_console::sim::scenario::run::{Run, Stuck};
use serde_json::Value;

/// Two machines in one capped ring, and nothing that answers by itself.
pub(crate) const PAIR: &str = "
given:
  environments: [{slug: oak, promotion_order: 1}]
  rings: [{slug: oak, max_in_flight: 1, stall_timeout_seconds: 3600, failure_count_threshold: 1}]
  machines:
    - {id: ash, environment: oak, ring: oak, bucket: 1}
    - {id: birch, environment: oak, ring: oak, bucket: 2}
  releases: [{id: v1, timeout_seconds: 1800}, {id: v2}]
  agents: none
";

pub(crate) fn start(text: &str) -> Run<Actors> {
    match begin(text, Actors::usual().unwrap()) {
        Ok(run) => run,
        Err(stuck) => panic!("{stuck}\n{text}"),
    }
}

/// The fault of a text that is no scenario.
pub(crate) fn fault(text: &str) -> Fault {
    match begin(text, Actors::usual().unwrap()) {
        Err(Stuck::Fault(fault)) => fault,
        Err(stuck) => panic!("{stuck}"),
        Ok(_) => panic!("this is taken:\n{text}"),
    }
}

/// A scenario of the pair with these entries, played to its end.
pub(crate) fn played(entries: &str) -> Run<Actors> {
    let mut run = start(&format!("scenario: a test\n{PAIR}{entries}"));
    run.play().unwrap();
    run
}

pub(crate) fn view(run: &Run<Actors>, name: &str) -> Value {
    let name = Placed { place: Place::default(), value: name.to_owned() };
    run.view(&View::read(&name).unwrap())
}

/// What failed, as `line view path`.
pub(crate) fn failed(report: &Report) -> Vec<String> {
    let all = report.expectations.iter().chain(&report.never).filter(|checked| !checked.ok);
    all.map(|Checked { place, view, path, .. }| format!("{} {view} {path}", place.line)).collect()
}
