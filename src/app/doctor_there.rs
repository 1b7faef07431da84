//! What the control plane says about itself and about whoever asks.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::doctor::Finding;
use crate::adapters::clock::SystemClock;
use crate::adapters::remote::basic::reading::{offers_no_world, probe};
use crate::adapters::remote::client::{Client, Failure};
use crate::control::known::Known;
use crate::control::ports::Clock;
use crate::domain::span::Seconds;
use crate::wire::problem::{Problem, ProblemKind};
use crate::wire::process::{FEATURES, SeatBody, VERSION_PATH, VersionBody};
use crate::wire::world::{PATH as WORLD_PATH, RoleWord, WorldBody};

/// Until one question is answered.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// Two clocks may differ by this before it is worth a word, in seconds.
const SKEW_TOLD: i64 = 5;

/// Beyond this certificates and the ages in logs of two hosts make no sense together, in seconds.
const SKEW_MAX: i64 = 300;

/// A tick that is older than this is late (console.md).
const TICK_LATE: Seconds = Seconds(90);

/// Everything the far end tells.
pub async fn there(client: &Client, encrypted: bool) -> Vec<Finding> {
    let version = match ask::<VersionBody>(client, VERSION_PATH).await {
        Ok(version) => version,
        Err(failure) if offers_no_world(&failure) => {
            return std::iter::once(encryption(client, encrypted)).chain(basic(client).await).collect();
        }
        Err(Failure::Answered(problem)) => return vec![encryption(client, encrypted), refused(&problem)],
        Err(failure) => {
            let check = if encrypted { "tls" } else { "answer" };
            return vec![Finding::of(check, &failure.into_problem())];
        }
    };
    let mut findings = vec![encryption(client, encrypted), versions(&version)];
    let clock = SystemClock::start();
    let asked = clock.now();
    match ask::<WorldBody>(client, WORLD_PATH).await {
        Ok(world) => findings.extend(account(&version, &world, asked, clock.now())),
        Err(Failure::Answered(problem)) => findings.push(refused(&problem)),
        Err(failure) => findings.push(Finding::of("answer", &failure.into_problem())),
    }
    findings
}

/// A control plane that tells no version: one with the runbook's endpoints only, or none at all.
async fn basic(client: &Client) -> Vec<Finding> {
    match probe(client).await {
        Ok(_) => {
            let told = "basic link: it has the runbook's endpoints only; who asks, and what they may do, is not told";
            let hint = "status, verbs and results work; there are no plans, keys or audit, and no change stream";
            vec![Finding::warn("link", told, hint)]
        }
        Err(Failure::Answered(problem)) if problem.kind == ProblemKind::NotFound => {
            vec![Finding::of("answer", &problem)]
        }
        Err(Failure::Answered(problem)) => vec![refused(&problem)],
        Err(failure) => vec![Finding::of("answer", &failure.into_problem())],
    }
}

/// The uid of the cluster it looks at, where it tells one.
pub async fn cluster_of(client: &Client) -> Option<String> {
    ask::<VersionBody>(client, VERSION_PATH).await.ok()?.cluster_uid
}

/// What it shows of its account, where it shows that.
pub async fn known_of(client: &Client) -> Option<Known> {
    let body = ask::<WorldBody>(client, &format!("{WORLD_PATH}?tail=1")).await.ok()?;
    let last = body.tail.into_iter().next_back().filter(|entry| entry.revision == body.revision).map(Arc::new);
    Some(Known { account: body.account.name, revision: body.revision, at: body.world.at, last })
}

async fn ask<T: DeserializeOwned>(client: &Client, path: &str) -> Result<T, Failure> {
    let late = || {
        let message = format!("{} did not answer in {} s", client.endpoint(), ANSWER_LIMIT.as_secs());
        let problem = Problem::new(ProblemKind::Unreachable, "late", message);
        Failure::Lost(problem.hint("look at its log, and at the network on the way"))
    };
    timeout(ANSWER_LIMIT, client.get(path)).await.unwrap_or_else(|_| Err(late()))
}

fn encryption(client: &Client, encrypted: bool) -> Finding {
    match (encrypted, client.endpoint().is_local()) {
        (true, _) => Finding::ok("tls", "encrypted, and its certificate is trusted"),
        (false, true) => Finding::ok("tls", "not encrypted, and nothing leaves this host"),
        (false, false) => {
            Finding::warn("tls", "not encrypted: the token is readable on the way", "use an https:// address")
        }
    }
}

fn refused(problem: &Problem) -> Finding {
    let finding = Finding::of("identity", problem);
    let hint = match problem.kind {
        ProblemKind::Unauthenticated => {
            "take the token of this control plane: kura-console token list shows them there"
        }
        ProblemKind::Forbidden => "this is no token of a person: take one of a viewer, an operator or an owner",
        _ => return finding,
    };
    Finding { hint: Some(hint.to_owned()), ..finding }
}

fn versions(there: &VersionBody) -> Finding {
    let here = env!("CARGO_PKG_VERSION");
    let told = format!("{here} here, {} there", there.version);
    let missing: Vec<&str> =
        FEATURES.into_iter().filter(|feature| !there.features.iter().any(|known| known == feature)).collect();
    match (missing.is_empty(), there.version == here) {
        (true, true) => Finding::ok("version", told),
        (true, false) => Finding::warn("version", told, "they understand each other; use the same one where you can"),
        (false, _) => {
            let told = format!("{told}, which does not know {}", missing.join(", "));
            Finding::warn("version", told, "upgrade the control plane; until then this is not available")
        }
    }
}

fn account(version: &VersionBody, body: &WorldBody, asked: Timestamp, answered: Timestamp) -> Vec<Finding> {
    vec![
        Finding::ok("identity", format!("{} in account {}", body.bearer, body.account.name)),
        rights(body.role),
        skew(body.now, asked, answered),
        journal(version, body),
        seat(&body.seat, body.now),
        tick(&body.seat, body.now),
        cluster(version, body),
    ]
    .into_iter()
    .chain(fleet(body))
    .collect()
}

/// Nodes, pods and Jobs, where fleets are rolled: nothing is decided on what is not read.
fn fleet(body: &WorldBody) -> Option<Finding> {
    let sight = body.observed.cluster.as_ref().filter(|_| !body.world.rolls.is_empty())?;
    Some(match sight.fleet.trouble(body.now) {
        None => Finding::ok("fleet", "it sees the nodes, and what runs on them"),
        Some(why) => Finding::bad(
            "fleet",
            format!("no fleet roll goes on: {why}"),
            "look at its rights: kura-console manifests --fleet-rolls prints them",
        ),
    })
}

fn rights(role: RoleWord) -> Finding {
    let told = match role {
        RoleWord::Viewer => "viewer: may look; every verb is refused",
        RoleWord::Operator => "operator: may look and act",
        RoleWord::Owner => "owner: may look, act and configure the account",
    };
    Finding::ok("rights", told)
}

/// How far the clocks are apart. The answer was made somewhere between the two moments it was asked for and arrived at.
fn skew(there: Timestamp, asked: Timestamp, answered: Timestamp) -> Finding {
    let ahead = if there > answered {
        there.duration_since(answered).as_secs()
    } else {
        -asked.duration_since(there).as_secs().max(0)
    };
    let apart = Seconds(ahead.unsigned_abs());
    let word = if ahead > 0 { "behind" } else { "ahead of" };
    let told = format!("this host is {apart} {word} the control plane");
    let hint = "set both clocks by NTP; ages on screen are counted on the control plane's";
    match ahead.abs() {
        0..=SKEW_TOLD => Finding::ok("clock", format!("the two clocks are within {SKEW_TOLD} s")),
        near if near <= SKEW_MAX => Finding::warn("clock", told, hint),
        _ => Finding::bad("clock", told, hint),
    }
}

fn journal(version: &VersionBody, body: &WorldBody) -> Finding {
    let told = format!("{}, at revision {}", version.journal_kind, body.revision);
    match (&body.journal, version.journal_kind.as_str()) {
        (Some(trouble), _) => {
            let said = format!("{told}: {}, for {}", trouble.why, Seconds::between(trouble.since, body.now));
            Finding::bad("journal", said, "no verb is kept until it is back; the log of the control plane says more")
        }
        (None, "memory") => Finding::warn(
            "journal",
            format!("{told}: a restart forgets everything"),
            "serve with --journal sqlite:FILE",
        ),
        (None, _) => Finding::ok("journal", told),
    }
}

fn seat(seat: &SeatBody, now: Timestamp) -> Finding {
    let since = seat.since.map_or_else(String::new, |since| format!(", since {}", Seconds::between(since, now)));
    match &seat.holder {
        Some(holder) => Finding::ok("seat", format!("{holder} holds it, epoch {}{since}", seat.epoch)),
        None => Finding::bad(
            "seat",
            "nobody holds it: nothing starts or moves by itself",
            "run kura-console serve on its journal",
        ),
    }
}

fn tick(seat: &SeatBody, now: Timestamp) -> Finding {
    match seat.last_tick.map(|at| Seconds::between(at, now)) {
        Some(age) if age > TICK_LATE => {
            Finding::bad("tick", format!("the last one was {age} ago"), "look at the log of whoever holds the seat")
        }
        Some(age) => Finding::ok("tick", format!("the last one was {age} ago")),
        None => Finding::warn(
            "tick",
            "the process that answers does not tick, so the age of the last one is not known from here",
            "ask the process that holds the seat: GET /readyz there",
        ),
    }
}

/// The cluster of the Kura servers, as the control plane sees it.
fn cluster(version: &VersionBody, body: &WorldBody) -> Finding {
    let Some(sight) = &body.observed.cluster else {
        let told = "it looks at no cluster: Kura servers are not applied; what is known of nodes comes from agents";
        return match body.world.kura.servers.is_empty() {
            true => Finding::ok("cluster", told),
            false => Finding::warn("cluster", told, "serve with --context NAME, or in a pod of the cluster"),
        };
    };
    let uid = version.cluster_uid.as_deref().unwrap_or("a cluster that does not say which it is");
    let troubles = sight.troubles(body.now);
    let Some((kind, why)) = troubles.first() else {
        return Finding::ok("cluster", format!("it looks at {uid}"));
    };
    let more = troubles.len() - 1;
    let more = if more > 0 { format!(", and {more} more kinds") } else { String::new() };
    let hint = "log in there where it says so; else look at its rights: kura-console manifests prints them";
    Finding::bad("cluster", format!("it looks at {uid}, and not at {kind}: {why}{more}"), hint)
}

#[cfg(test)]
mod tests {
    use super::super::doctor::Verdict;
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_000_000 + seconds).unwrap()
    }

    #[test]
    fn a_slow_answer_is_no_skew_and_a_skew_says_which_way() {
        assert_eq!(skew(at(4), at(0), at(9)).verdict, Verdict::Ok);
        for (there, verdict, words) in [
            (29, Verdict::Warn, "20s behind"),
            (-60, Verdict::Warn, "1m ahead of"),
            (-3600, Verdict::Bad, "1h ahead of"),
            (3609, Verdict::Bad, "1h behind"),
        ] {
            let finding = skew(at(there), at(0), at(9));
            assert_eq!(finding.verdict, verdict, "{finding:?}");
            assert!(finding.said.contains(words), "{finding:?}");
        }
    }

    #[test]
    fn an_empty_seat_and_a_late_tick_are_bad() {
        let held = SeatBody { holder: Some("a".to_owned()), epoch: 2, since: Some(at(0)), last_tick: Some(at(10)) };
        assert_eq!((seat(&held, at(20)).verdict, tick(&held, at(20)).verdict), (Verdict::Ok, Verdict::Ok));
        assert_eq!(tick(&held, at(101)).verdict, Verdict::Bad);
        assert_eq!(seat(&SeatBody::default(), at(0)).verdict, Verdict::Bad);
        assert_eq!(tick(&SeatBody::default(), at(0)).verdict, Verdict::Warn);
    }

    #[test]
    fn an_older_control_plane_is_told_by_what_it_lacks() {
        let features = FEATURES.iter().filter(|feature| **feature != "dry-run").map(|f| (*f).to_owned()).collect();
        let version =
            VersionBody { version: "0.0.9".to_owned(), journal_kind: "sqlite".to_owned(), cluster_uid: None, features };
        let finding = versions(&version);
        assert_eq!(finding.verdict, Verdict::Warn);
        assert!(finding.said.contains("0.0.9 there, which does not know dry-run"), "{finding:?}");
    }
}
