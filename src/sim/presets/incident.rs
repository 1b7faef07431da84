//! Incidents of Kura servers and of fleet rolls, kept as scenarios: played to the moment at which somebody looks, they go on
//! live, and a key heals them.

use std::borrow::Cow;

use jiff::Timestamp;

use super::super::cluster::api::healthy;
use super::super::cluster::objects::{Objects, SimChain};
use super::super::scenario::run::{Run, Stuck};
use super::super::scenario::screens::Consoles;
use super::kept::begin;
use super::reference_roll::{OPENS_AT, PULL_SHARE, at_its_gate};
use crate::domain::span::Seconds;

/// What an incident is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Rings, and whoever reconciles them.
    Rings,
    /// Kura servers.
    Kura,
    /// A fleet roll and its nodes.
    Fleet,
}

/// Where the scenario of an incident comes from.
#[derive(Debug, Clone, Copy)]
enum Text {
    /// A file.
    Kept(&'static str),
    /// It is made for a share of the pull, in percent.
    Made(fn(u8) -> String),
}

/// One incident, alive.
#[derive(Debug, Clone, Copy)]
pub struct Incident {
    /// What it is called on the command line.
    pub name: &'static str,
    /// One sentence for a list.
    pub summary: &'static str,
    /// What it is about.
    pub family: Family,
    /// How much of the scenario's time has passed when it is first looked at.
    pub past: Seconds,
    /// How much of a node's time its pull takes where that can be chosen, in percent.
    pub pull: u8,
    text: Text,
    /// What is true of the cluster from then on, so that what is done about it shows.
    goes_on: fn(&mut Objects),
}

macro_rules! incident {
    ($family:ident, $name:literal, $file:literal, $past:expr, $goes_on:expr, $summary:literal) => {
        Incident {
            name: $name,
            summary: $summary,
            family: Family::$family,
            past: Seconds($past),
            pull: PULL_SHARE,
            text: Text::Kept(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scenarios/", $file, ".yaml"))),
            goes_on: $goes_on,
        }
    };
}

/// The roll of the seed, whose share of the pull can be chosen.
pub const REFERENCE: Incident = Incident {
    name: "reference-roll",
    summary: "fleet: a canary and five nodes; its gate has waited for a person for 14 minutes",
    family: Family::Fleet,
    past: OPENS_AT,
    pull: PULL_SHARE,
    text: Text::Made(at_its_gate),
    goes_on: |_| {},
};

/// Every incident that can be looked at.
pub const INCIDENTS: [Incident; 8] = [
    incident!(
        Rings,
        "bad-night",
        "bad-night",
        632,
        |_| {},
        "rings: the control plane died in mid-drain; take the seat, skip the holder, and see it come back"
    ),
    incident!(
        Kura,
        "manifest-deadlock",
        "preset-manifest-deadlock",
        21_600,
        follow_classes,
        "Kura: an object edited by hand, nothing applied by itself for six hours"
    ),
    incident!(
        Kura,
        "stuck-14h",
        "preset-stuck-14h",
        50_400,
        |_| {},
        "Kura: a deployment open for 14 hours, both pods not Ready"
    ),
    incident!(
        Kura,
        "version-skew",
        "preset-version-skew",
        7_200,
        |_| {},
        "Kura: 12 of 18 servers wedged between two versions that are no neighbours"
    ),
    REFERENCE,
    incident!(
        Fleet,
        "wedged-runtime",
        "wedged-runtime",
        2_970,
        |objects| objects.fleet.mends_when_asked = true,
        "fleet: 40 minutes after green a runtime makes no containers; a probe by key proves it mended"
    ),
    incident!(
        Fleet,
        "registry-host",
        "registry-host",
        970,
        |objects| objects.registry_comes_back("wk-3", REGISTRY_BACK_AFTER),
        "fleet: the registry is lost, so nobody is drained; it comes back, and its host goes last"
    ),
    incident!(
        Fleet,
        "foreign-uncordon",
        "a11-cordons",
        820,
        |_| {},
        "fleet: somebody lifted the cordon of a node before its boot, and the roll stopped"
    ),
];

/// The registry that was lost is somewhere again.
const REGISTRY_BACK_AFTER: Seconds = Seconds(1_200);

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
        let text = match self.text {
            Text::Kept(text) => Cow::Borrowed(text),
            Text::Made(make) => Cow::Owned(make(self.pull)),
        };
        begin(&text, self.past, opening, consoles)
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

    #[test]
    fn every_incident_can_be_read_whatever_the_share_of_its_pull() {
        use super::super::super::scenario::file::scenario::Scenario;
        use super::super::reference_roll::PULL_SHARES;
        for share in PULL_SHARES {
            assert!(Scenario::parse(&at_its_gate(share)).is_ok(), "{share} %");
        }
        for incident in &INCIDENTS {
            let Text::Kept(text) = incident.text else { continue };
            assert!(Scenario::parse(text).is_ok(), "{}", incident.name);
        }
    }
}
