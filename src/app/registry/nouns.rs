//! The nouns of the registry: where each is listed, what it is called by, and its columns for people.

use serde_json::Value;

use super::row::Row;
use crate::wire::{environment, machine, release, ring, rollout};

/// A column of a list.
#[derive(Debug)]
pub struct Column {
    /// Its head.
    pub title: &'static str,
    /// Numbers stand on the right.
    pub right: bool,
    /// Its text for one thing.
    pub cell: fn(&Row<'_>) -> String,
}

/// A kind of thing that a control plane lists.
#[derive(Debug)]
pub struct Noun {
    /// What one is called.
    pub one: &'static str,
    /// Where all are listed; one is behind it, by its uuid, where `single` says so.
    pub path: &'static str,
    /// One can be asked for, and tells more than the list does.
    pub single: bool,
    /// The field that tells one from all others.
    pub id: &'static str,
    /// The field that names one, for people.
    pub name: &'static str,
    /// The field that stands before it where people write both, as PROJECT/TARGET.
    pub within: Option<&'static str>,
    /// Of several of one name, the one that is meant, if there is one such.
    pub is_meant: fn(&Value) -> bool,
    /// What is shown.
    pub columns: &'static [Column],
    /// What is said where there is none, and what to do.
    pub empty: [&'static str; 2],
}

pub(super) const fn left(title: &'static str, cell: fn(&Row<'_>) -> String) -> Column {
    Column { title, right: false, cell }
}

pub(super) const fn right(title: &'static str, cell: fn(&Row<'_>) -> String) -> Column {
    Column { title, right: true, cell }
}

/// Rollouts.
pub static ROLLOUTS: Noun = Noun {
    one: "rollout",
    path: rollout::PATH,
    single: true,
    id: "uuid",
    name: "git_ref",
    within: None,
    is_meant: |body| body["status"] == "running",
    columns: &[
        left("UUID", |row| row.digits("uuid")),
        left("RELEASE", |row| row.text("git_ref")),
        left("STATUS", rollout_status),
        left("ENVIRONMENT", |row| row.text("current_environment")),
        right("GEN", |row| row.text("generation")),
        left("STARTED", |row| row.ago("started_at")),
        left("BY", |row| row.text("started_by")),
    ],
    empty: ["no rollout was ever started", "start one from a release: kura-console releases"],
};

/// Rings.
pub static RINGS: Noun = Noun {
    one: "ring",
    path: ring::PATH,
    single: false,
    id: "uuid",
    name: "slug",
    within: None,
    is_meant: |_| false,
    columns: &[
        left("RING", |row| row.text("slug")),
        right("CAP", |row| row.count("max_in_flight", "none")),
        right("SETTLE", |row| row.span("min_settle_seconds", "off")),
        right("STALL", |row| row.span("stall_timeout_seconds", "never")),
        right("FAILURES", |row| row.text("failure_count_threshold")),
        left("LADDER", ladder),
        left("HELD", |row| row.held("pause", "PAUSED")),
    ],
    empty: ["there is no ring yet", "machines without a ring are out of scope of every rollout"],
};

/// Machines.
pub static MACHINES: Noun = Noun {
    one: "machine",
    path: machine::PATH,
    single: true,
    id: "uuid",
    name: "hostname",
    within: None,
    is_meant: |_| false,
    columns: &[
        left("MACHINE", |row| row.text("hostname")),
        left("ENVIRONMENT", |row| row.text("environment")),
        left("RING", |row| row.text("ring")),
        left("SLOT OR HOLD", slot),
        left("SEEN", seen),
    ],
    empty: [
        "there is no machine yet",
        "add one: kura-console add-machine HOST --environment NAME --ring NAME; in the console the keys s i",
    ],
};

/// Environments.
pub static ENVIRONMENTS: Noun = Noun {
    one: "environment",
    path: environment::PATH,
    single: false,
    id: "uuid",
    name: "slug",
    within: None,
    is_meant: |_| false,
    columns: &[
        left("ENVIRONMENT", |row| row.text("slug")),
        left("NAME", |row| row.text("name")),
        right("ORDER", order),
        left("HELD", |row| row.held("pause", "PAUSED")),
    ],
    empty: ["there is no environment yet", "machines without one are out of scope of every rollout"],
};

/// Releases.
pub static RELEASES: Noun = Noun {
    one: "release",
    path: release::PATH,
    single: true,
    id: "uuid",
    name: "git_ref",
    within: None,
    is_meant: |body| body["yanked"] == false,
    columns: &[
        left("UUID", |row| row.digits("uuid")),
        left("RELEASE", |row| row.text("git_ref")),
        left("COMMIT", |row| row.digits("commit")),
        left("VERSION", |row| row.text("target_version")),
        right("TIMEOUT", |row| row.span("timeout_seconds", "none")),
        right("WARNINGS", |row| row.body["warnings"].as_array().map_or(0, Vec::len).to_string()),
        left("BUILT", |row| row.ago("created_at")),
        left("YANKED", |row| row.held("yank", "YANKED")),
    ],
    empty: ["no release was built yet", "releases are built over HTTP: POST /api/config/releases/build-from-git"],
};

fn rollout_status(row: &Row<'_>) -> String {
    let protected = if row.is("protected") { ", protected" } else { "" };
    row.text("status") + protected
}

/// `10% 1h, 100% 4h`: how much of an environment is elected, and how long after it opened.
fn ladder(row: &Row<'_>) -> String {
    let rungs = row.body["wave_ladder"].as_array().map_or(&[][..], Vec::as_slice);
    let told = rungs.iter().map(|body| {
        let rung = Row { body, now: row.now };
        format!("{}% {}", rung.text("pct"), rung.span("after_seconds", "at once"))
    });
    match told.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => "all at once".to_owned(),
        told => told,
    }
}

fn order(row: &Row<'_>) -> String {
    if row.body["promotion_order"].is_null() { "off path".to_owned() } else { row.text("promotion_order") }
}

fn slot(row: &Row<'_>) -> String {
    let slot = row.age("held_since").filter(|_| row.is("holds_slot")).map(|age| format!("holds {age}"));
    let parts: Vec<String> = slot.into_iter().chain(row.hold("pause", "PAUSED")).collect();
    if parts.is_empty() { "-".to_owned() } else { parts.join(", ") }
}

fn seen(row: &Row<'_>) -> String {
    match (row.body["is_online"].as_bool(), row.age("last_seen_at")) {
        (Some(true), Some(age)) => format!("{age} ago"),
        (Some(false), Some(age)) => format!("OFFLINE {age}"),
        (Some(false), None) => "OFFLINE".to_owned(),
        (_, Some(age)) => format!("not known, {age} ago"),
        _ => "not known".to_owned(),
    }
}
