//! Which servers do not get on by themselves, and those among them that do not for one and the same reason.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::part::Token;
use super::row::ServerRow;
use crate::domain::ids::ServerId;
use crate::domain::kura::deployment::{DeploymentStatus, WaitKind};
use crate::domain::kura::server::ServerStatus;
use crate::domain::span::Seconds;

/// A server that served and does not for this long is down; less is a restart.
pub(super) const DOWN_AFTER: Seconds = Seconds(300);

/// A deployment that waits for the same link this long does not get on by itself.
pub(super) const STUCK_AFTER: Seconds = Seconds(1_800);

/// Servers of one cause that are listed one by one; more of them are one row.
pub(super) const PER_CAUSE_MAX: usize = 3;

/// In which way a server does not get on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Plight {
    /// It served, and does not now.
    Down,
    /// Its last deployment failed; no timer will try it again (K12).
    Failed,
    /// Its deployment waits and waits.
    Stuck,
}

/// What servers of one cause have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// In which way they do not get on.
    pub plight: Plight,
    /// The tag they are led to.
    pub tag: String,
    /// What they wait for.
    pub wait: Option<WaitKind>,
    /// Which ones, by name.
    pub members: Vec<ServerId>,
    /// Since when the first of them waits.
    pub since: Option<Timestamp>,
}

/// In which way a server does not get on at a moment, and since when; where only time is missing, `due` is when.
pub(super) fn plight(
    row: &ServerRow,
    moment: Timestamp,
    due: &mut Option<Timestamp>,
) -> Option<(Plight, Option<Timestamp>)> {
    if row.dead_node.is_some() || row.status.is_leaving() {
        return None;
    }
    let since = row.open().map(|open| row.wait.as_ref().map_or(open.at, |wait| wait.since));
    let mut over = |after: Seconds| {
        let at = since.map(|since| after.after(since)).filter(|at| *at > moment);
        *due = at.into_iter().chain(*due).min();
        at.is_none()
    };
    let failed = row.attempt.as_ref().filter(|attempt| attempt.status == DeploymentStatus::Failed);
    match row.status {
        ServerStatus::Replicating if over(DOWN_AFTER) => Some((Plight::Down, since)),
        _ if failed.is_some() => Some((Plight::Failed, failed.map(|attempt| attempt.at))),
        ServerStatus::Failed => Some((Plight::Failed, None)),
        _ if row.open().is_some() && row.progressing().is_none() && over(STUCK_AFTER) => Some((Plight::Stuck, since)),
        _ => None,
    }
}

/// What servers of one cause have in common: how they do not get on, their tag, and what they wait for.
type Common = (Plight, String, Option<WaitKind>);

/// Causes that more than a few servers share.
pub(super) fn causes(
    servers: &BTreeMap<ServerId, ServerRow>,
    moment: Timestamp,
    due: &mut Option<Timestamp>,
) -> BTreeMap<Token, Cause> {
    let mut found: BTreeMap<Common, Vec<(Option<Timestamp>, ServerId)>> = BTreeMap::new();
    for row in servers.values() {
        let Some((plight, since)) = plight(row, moment, due) else { continue };
        let tag = row.attempt.as_ref().map(|attempt| attempt.tag.clone()).unwrap_or_default();
        found.entry((plight, tag, row.wait.as_ref().map(|wait| wait.kind))).or_default().push((since, row.id));
    }
    found.retain(|_, members| members.len() > PER_CAUSE_MAX);
    let name = |id: &ServerId| servers.get(id).map(|row| row.name.as_str());
    let cause = |((plight, tag, wait), mut members): (Common, Vec<_>)| {
        members.sort_by_key(|(_, id)| name(id));
        let since = members.iter().filter_map(|(since, _)| *since).min();
        let id = Token::of("cause", &format!("{plight:?}/{tag}/{}", wait.map_or("", WaitKind::word)));
        (id, Cause { plight, tag, wait, members: members.into_iter().map(|(_, id)| id).collect(), since })
    };
    found.into_iter().map(cause).collect()
}
