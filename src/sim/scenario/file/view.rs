//! Names of views: what can be looked at.

use super::hint::meant;
use super::place::{Fault, Place, Placed};

/// What is looked at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum View {
    /// The status of a rollout, by id; none = the current one.
    Status(Option<String>),
    /// All rollouts, oldest first.
    Rollouts,
    /// Results of the current rollout, newest first.
    Results,
    /// The account.
    Account,
    /// What something waits for: kind and id.
    Explain(Kind, String),
    /// Who ticks.
    Seat,
    /// Who did what.
    Audit,
    /// The log in words.
    Log,
    /// Gauges by name.
    Metrics,
    /// The answer to the last entry of `when`.
    Reply,
    /// Assignments as they came to machines.
    Served,
    /// Writes of our processes to the cluster.
    ClusterWrites,
    /// Nodes of the cluster.
    Nodes,
    /// A fleet roll, by id.
    Roll(String),
    /// A Kura server, by id.
    Server(String),
    /// Its deployments, oldest first.
    Deployments(String),
    /// Its manifest.
    Manifest(String),
    /// Every Kura server.
    Kura,
    /// Gateways.
    Gateways,
    /// Orphans in both directions.
    Orphans,
    /// Pods.
    Pods,
    /// A screen by name, at columns and rows.
    Screen(String, u16, u16),
    /// What the console shows now.
    CurrentScreen,
}

/// Of what an explanation is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The account: its current rollout.
    Account,
    /// A ring.
    Ring,
    /// A machine.
    Machine,
    /// A Kura server.
    Server,
    /// A fleet roll.
    Roll,
    /// A node.
    Node,
}

/// Views without an argument.
const PLAIN: [(&str, View); 15] = [
    ("status", View::Status(None)),
    ("rollouts", View::Rollouts),
    ("results", View::Results),
    ("account", View::Account),
    ("seat", View::Seat),
    ("audit", View::Audit),
    ("log", View::Log),
    ("metrics", View::Metrics),
    ("reply", View::Reply),
    ("served", View::Served),
    ("cluster_writes", View::ClusterWrites),
    ("kura", View::Kura),
    ("gateways", View::Gateways),
    ("orphans", View::Orphans),
    ("pods", View::Pods),
];

impl View {
    /// Reads a name.
    pub fn read(name: &Placed<String>) -> Result<Self, Fault> {
        let plain = PLAIN.iter().find(|(known, _)| *known == name.value).map(|(_, view)| view.clone());
        match (plain, name.value.split_once(':')) {
            (Some(view), _) => Ok(view),
            (None, _) if name.value == "nodes" => Ok(Self::Nodes),
            (None, Some(("status", id))) if !id.is_empty() => Ok(Self::Status(Some(id.to_owned()))),
            (None, Some(("server", id))) if !id.is_empty() => Ok(Self::Server(id.to_owned())),
            (None, Some(("deployments", id))) if !id.is_empty() => Ok(Self::Deployments(id.to_owned())),
            (None, Some(("manifest", id))) if !id.is_empty() => Ok(Self::Manifest(id.to_owned())),
            (None, Some(("roll", id))) if !id.is_empty() => Ok(Self::Roll(id.to_owned())),
            (None, Some(("explain", subject))) => explain(subject, name.place),
            (None, Some(("screen", "current"))) => Ok(Self::CurrentScreen),
            (None, Some(("screen", screen))) => of_screen(screen, name.place),
            _ => {
                let plain: Vec<&str> = PLAIN.iter().map(|(known, _)| *known).chain(["nodes"]).collect();
                let (unknown, hint) = (&name.value, meant(&name.value, &plain));
                Err(Fault::at(name.place, format!("there is no view {unknown}, only {}{hint}", known())))
            }
        }
    }
}

fn known() -> String {
    let plain: Vec<&str> = PLAIN.iter().map(|(name, _)| *name).collect();
    format!(
        "{}, nodes, status:ROLLOUT, server:ID, deployments:ID, manifest:ID, roll:ID, explain:KIND/ID, screen:NAME@WxH, \
         screen:current",
        plain.join(", ")
    )
}

fn explain(subject: &str, place: Place) -> Result<View, Fault> {
    let kind = match subject.split_once('/') {
        Some(("account", _)) => Some(Kind::Account),
        Some(("ring", _)) => Some(Kind::Ring),
        Some(("machine", _)) => Some(Kind::Machine),
        Some(("server", _)) => Some(Kind::Server),
        Some(("roll", _)) => Some(Kind::Roll),
        Some(("node", _)) => Some(Kind::Node),
        _ => None,
    };
    match (kind, subject.split_once('/')) {
        (Some(kind), Some((_, id))) if !id.is_empty() => Ok(View::Explain(kind, id.to_owned())),
        _ => Err(Fault::at(place, "explain names account/ID, ring/ID, machine/ID, server/ID, roll/ID or node/NAME")),
    }
}

fn of_screen(text: &str, place: Place) -> Result<View, Fault> {
    let named = text.split_once('@').and_then(|(name, size)| Some((name, size_of(size)?)));
    match named {
        Some((name, (width, height))) => Ok(View::Screen(name.to_owned(), width, height)),
        None => Err(Fault::at(place, "a screen is written screen:NAME@WxH, such as screen:now@80x24")),
    }
}

/// `80x24`.
pub fn size_of(text: &str) -> Option<(u16, u16)> {
    let (width, height) = text.split_once('x')?;
    let size = (width.parse().ok()?, height.parse().ok()?);
    (size.0 > 0 && size.1 > 0 && size.0 <= SIZE_MAX && size.1 <= SIZE_MAX).then_some(size)
}

/// The most columns or rows of a screen.
pub const SIZE_MAX: u16 = 1_000;
