//! The way from a manifest to an answering endpoint, drawn as a chain: what holds, the first broken link, and what hangs
//! on it (K29).

use super::super::glyph::Glyph;
use super::super::theme::Role;
use super::detail::{Text, item};
use super::pen::{Pen, piece};
use crate::domain::kura::chain::{ChainLink, LinkName, Standing, chain};
use crate::domain::kura::server::Server;
use crate::domain::kura::sight::Sight;
use crate::domain::kura::ways::Ways;

/// Columns of the names of links.
const NAME: usize = 12;

/// Draws the chain of a server; nothing where it was never led to a tag.
pub(super) fn drawn(server: &Server, sight: &Sight, width: usize, pen: &mut Pen<'_>) -> Vec<Text> {
    let Some(tag) = server.wanted_tag() else { return Vec::new() };
    let links = chain(server, tag, &Ways::of(sight), pen.now());
    let first = links.iter().position(|link| link.standing != Standing::Whole).unwrap_or(links.len());
    let since = server.open().and_then(|row| row.wait.as_ref()).map(|wait| wait.since);
    let mut lines = Vec::new();
    for (n, link) in links.iter().enumerate() {
        lines.extend(one(link, n.cmp(&first), width, pen));
        if let Some(since) = since.filter(|_| n == first && matches!(link.standing, Standing::Broken { .. })) {
            let age = pen.age(since);
            lines.push(vec![
                piece(Role::Rule, format!("{} ", pen.glyph(Glyph::Bar))),
                piece(Role::Failed, format!("{:NAME$}broken for {age}", "")),
            ]);
        }
    }
    lines
}

fn one(link: &ChainLink, place: std::cmp::Ordering, width: usize, pen: &Pen<'_>) -> Vec<Text> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let name = format!("{:<NAME$}", word(link.link));
    let (glyph, role, text) = match (&link.standing, place) {
        (Standing::Whole, Less | Equal) => (Glyph::Done, Role::Done, name + "holds"),
        (Standing::Whole, Greater) => (Glyph::Waiting, Role::Dim, name + "would hold"),
        (Standing::Broken { detail, .. }, Equal) => (Glyph::Failed, Role::Failed, name + detail),
        (Standing::Broken { detail, .. }, _) => (Glyph::Waiting, Role::Dim, format!("{name}{detail}")),
        (Standing::Unknown { why }, Equal) => (Glyph::Offline, Role::Warning, format!("{name}not known: {why}")),
        (Standing::Unknown { why } | Standing::Unreadable { why }, _) => {
            (Glyph::Offline, Role::Dim, format!("{name}not known: {why}"))
        }
    };
    let mut lines = item(glyph, role, &text, width, pen);
    if let Some((mark, _)) = lines.first_mut().and_then(|line| line.first_mut()) {
        *mark = role;
    }
    lines
}

/// What people call a link.
fn word(link: LinkName) -> &'static str {
    match link {
        LinkName::Observed => "controller",
        LinkName::Workload => "pods",
        LinkName::Class => "class",
        LinkName::Address => "address",
        LinkName::Dns => "name",
        LinkName::Certificate => "certificate",
        LinkName::Up => "/up",
    }
}
