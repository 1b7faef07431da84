//! Incidents of Kura servers, kept as scenarios: played to the moment at which somebody looks, they go on live, and a key
//! heals them.

use jiff::Timestamp;

use super::super::cluster::api::healthy;
use super::super::cluster::objects::{Objects, SimChain};
use super::super::scenario::run::{Run, Stuck};
use super::super::scenario::screens::Consoles;
use super::kept::begin;
use crate::domain::span::Seconds;

/// One incident, alive.
#[derive(Debug, Clone, Copy)]
pub struct Incident {
    /// What it is called on the command line.
    pub name: &'static str,
    /// One sentence for a list.
    pub summary: &'static str,
    /// How much of the scenario's time has passed when it is first looked at.
    pub past: Seconds,
    /// Its file.
    text: &'static str,
    /// What is true of the cluster from then on, so that what is done about it shows.
    goes_on: fn(&mut Objects),
}

macro_rules! text {
    ($file:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scenarios/preset-", $file, ".yaml"))
    };
}

/// Every incident that can be looked at.
pub const INCIDENTS: [Incident; 3] = [
    Incident {
        name: "manifest-deadlock",
        summary: "Kura: an object edited by hand, nothing applied by itself for six hours",
        past: Seconds(21_600),
        text: text!("manifest-deadlock"),
        goes_on: follow_classes,
    },
    Incident {
        name: "stuck-14h",
        summary: "Kura: a deployment open for 14 hours, both pods not Ready",
        past: Seconds(50_400),
        text: text!("stuck-14h"),
        goes_on: |_| {},
    },
    Incident {
        name: "version-skew",
        summary: "Kura: 12 of 18 servers wedged between two versions that are no neighbours",
        past: Seconds(7_200),
        text: text!("version-skew"),
        goes_on: |_| {},
    },
];

/// The incident of this name.
pub fn incident(name: &str) -> Option<&'static Incident> {
    INCIDENTS.iter().find(|incident| incident.name == name)
}

/// Nobody repairs an address, a name or an answer by hand: they come back with a class that is served.
fn follow_classes(objects: &mut Objects) {
    objects.chains.values_mut().for_each(|chain| *chain = SimChain { follows_class: true, ..healthy(&chain.host) });
}

impl Incident {
    /// The world at its beginning, which lies so far back that its past is over at `opening`.
    pub fn begin<C: Consoles>(&self, opening: Timestamp, consoles: C) -> Result<Run<C>, Stuck> {
        begin(self.text, self.past, opening, consoles)
    }

    /// Its past is over: from here on what a person does is all that happens.
    pub fn open<C: Consoles>(&self, run: &mut Run<C>) {
        run.with_cluster(self.goes_on);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_none_is_that_of_another_world() {
        for wanted in &INCIDENTS {
            assert_eq!(incident(wanted.name).map(|found| found.summary), Some(wanted.summary));
            assert!(super::super::preset(wanted.name).is_none() && super::super::kept(wanted.name).is_none());
        }
        assert!(incident("nonsense").is_none());
    }
}
