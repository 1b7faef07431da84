//! What is said about a row: the explanation of the core, what can be done, and until when it reads the same.
//!
//! Explaining looks at whole queues, so it is done while messages are taken in, once per second at most, and not for
//! every frame.

use jiff::Timestamp;

use super::advice::advice;
use super::facts::{Facts, Node, Standing, Tier};
use super::model::{Model, Subject};
use super::need::{NeedKind, recognised};
use super::shelf;
use super::snapshot::Snapshot;
use super::{carry, fleet, kura};
use crate::domain::explain::{self, Explanation, explain, told};
use crate::domain::failure_mode::Finding;
use crate::domain::ids::RingId;
use crate::domain::kura::advice::Advice;
use crate::domain::span::Seconds;

/// An explanation that was true for that long is looked at again; it costs nothing on the wire.
const LOOKED_AT_AGAIN: Seconds = Seconds(60);

/// What is said about one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saying {
    /// About what.
    pub subject: Subject,
    /// What.
    pub text: Explanation,
    /// What can be done, where that is not said with the explanation alone.
    pub advice: Option<Vec<Advice>>,
    /// When it may read differently by time alone; none while the picture stands still.
    pub until: Option<Timestamp>,
}

/// Says something about a row at a moment.
pub fn say(picture: &Snapshot, facts: &Facts, subject: Subject, moment: Timestamp) -> Explanation {
    let (world, observed) = (&*picture.world, &*picture.observed);
    if let Some(matter) = kura::matter(picture, subject) {
        return kura::explain(picture, &facts.kura, matter, moment);
    }
    if let Some(asked) = fleet::subject_of(&facts.fleet, subject) {
        return explain(world, observed, asked, moment);
    }
    if let (Subject::Need(NeedKind::Silent, _), Some(fallback)) = (subject, &picture.fallback) {
        return carry::explain(fallback);
    }
    let asked = match subject {
        Subject::Item(item) => return shelf::explain(picture, item, moment),
        Subject::Need(kind, node) => return need(picture, facts, (kind, node), moment),
        Subject::Nothing | Subject::Rollout => explain::Subject::Rollout,
        Subject::Node(Node::Kura(_) | Node::Roll(_) | Node::Host(_)) => explain::Subject::Rollout,
        Subject::Node(Node::Spare) => return out_of_reach(facts),
        Subject::Node(Node::Ring(id)) => return bare(picture, id),
        Subject::Node(Node::Lane((_, ring))) => explain::Subject::Ring(ring),
        Subject::Node(Node::Machine(id)) => explain::Subject::Machine(id),
        Subject::Node(Node::Environment(id)) => match facts.tiers.iter().find(|tier| tier.id == id) {
            Some(tier) if !is_awaited(picture, tier) => return environment(tier),
            _ => explain::Subject::Rollout,
        },
    };
    match &picture.glimpse {
        Some(glimpse) => told(world, observed, glimpse, asked, moment),
        None => explain(world, observed, asked, moment),
    }
}

/// A need is explained by its own row of the table of failure modes, whatever else is true of the same ring.
fn need(picture: &Snapshot, facts: &Facts, need: (NeedKind, Option<Node>), moment: Timestamp) -> Explanation {
    let said = say(picture, facts, Subject::Need(need.0, need.1).row(), moment);
    match recognised(picture, need, moment) {
        Some(finding) if said.failure_mode != Some(finding.mode) => of_finding(picture, finding),
        _ => said,
    }
}

fn of_finding(picture: &Snapshot, finding: Finding) -> Explanation {
    Explanation {
        on: finding.machine.map(|id| picture.world.hostname(id).to_owned()),
        next: finding.next(&picture.world),
        verify: finding.verify(),
        failure_mode: Some(finding.mode),
        since: finding.since,
        sentence: finding.sentence,
    }
}

fn out_of_reach(facts: &Facts) -> Explanation {
    let next = match facts.spare.machines.is_empty() {
        true => "put machines into the ring, or leave it",
        false => "give each an environment and a ring, or remove it",
    };
    Explanation { sentence: facts.spare.sentence(), next: vec![next.to_owned()], ..Explanation::default() }
}

fn bare(picture: &Snapshot, id: RingId) -> Explanation {
    let sentence = format!("{} has no machine in any environment", picture.world.ring_slug(id));
    Explanation { sentence, next: vec!["put machines into it".to_owned()], ..Explanation::default() }
}

/// The environment the rollout waits for: what is said about it is what is said about the rollout.
fn is_awaited(picture: &Snapshot, tier: &Tier) -> bool {
    tier.standing == Standing::Current && tier.paused.is_none() && picture.world.running().is_some()
}

fn environment(tier: &Tier) -> Explanation {
    let slug = &tier.slug;
    let sentence = match (&tier.paused, tier.standing) {
        (Some(pause), _) => {
            let why = pause.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
            format!("{slug} is paused by {}{why}", pause.by)
        }
        (None, Standing::Current) => format!("the cursor stopped at {slug}"),
        (None, Standing::Passed) if tier.done < tier.total => {
            format!("{slug} was passed; {} of its machines still converge", tier.total - tier.done)
        }
        (None, Standing::Passed) => format!("{slug} was passed and every machine in it is done"),
        (None, Standing::Ahead) => format!("{slug} waits for the cursor to come to it"),
        (None, Standing::Resting) => format!("{slug} waits for a first rollout"),
        (None, Standing::OutOfPath) => format!("{slug} has no promotion order, so the cursor never comes to it"),
    };
    let next = tier.paused.as_ref().map(|_| "end the hold of the environment".to_owned());
    let since = tier.paused.as_ref().map(|pause| pause.at);
    Explanation { sentence, since, next: next.into_iter().collect(), ..Explanation::default() }
}

/// The moment at which a row is shown: what is of the cluster goes on being seen where it is seen from here.
pub(super) fn shown_at(picture: &Snapshot, subject: Subject, now: Timestamp) -> Timestamp {
    match subject.row() {
        Subject::Node(Node::Kura(_) | Node::Host(_)) => picture.seen_at(now),
        _ => picture.moment(now),
    }
}

/// Says what the screen shows: the rollout, and the row that is selected or open.
pub(super) fn refresh(model: &mut Model) {
    let Some(picture) = &model.picture else {
        model.sayings.clear();
        return;
    };
    let subjects = [Subject::Rollout, model.shown()];
    let wanted = subjects.iter().take(if subjects[0] == subjects[1] { 1 } else { 2 });
    let mut sayings = Vec::with_capacity(2);
    for subject in wanted {
        let moment = whole(shown_at(picture, *subject, model.now));
        let frozen = moment < whole(model.now);
        let known = model.sayings.iter().find(|said| said.subject == *subject);
        let holds = |said: &&Saying| said.until.map_or(frozen, |until| moment < until);
        sayings.push(match known.filter(holds) {
            Some(said) => said.clone(),
            None => saying(picture, &model.facts, *subject, moment, frozen),
        });
    }
    model.sayings = sayings;
}

fn saying(picture: &Snapshot, facts: &Facts, subject: Subject, moment: Timestamp, frozen: bool) -> Saying {
    let say = |moment| say(picture, facts, subject, moment);
    let (text, advice) = (say(moment), advice(picture, facts, subject, moment));
    // An explanation tells its advice: while the one reads the same the other does.
    let until = (!frozen).then(|| first_change(moment, |at| say(at) == text));
    Saying { subject, text, advice, until }
}

/// The first second at which `same` no longer holds, looked for within a minute.
fn first_change(moment: Timestamp, same: impl Fn(Timestamp) -> bool) -> Timestamp {
    let at = |seconds: u64| Seconds(seconds).after(moment);
    if !same(at(1)) {
        return at(1);
    }
    if same(at(LOOKED_AT_AGAIN.0)) {
        return at(LOOKED_AT_AGAIN.0);
    }
    let (mut same_at, mut other_at) = (1, LOOKED_AT_AGAIN.0);
    while other_at - same_at > 1 {
        let middle = (same_at + other_at) / 2;
        if same(at(middle)) { same_at = middle } else { other_at = middle }
    }
    at(other_at)
}

/// The second a moment is in.
pub(super) fn whole(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_change_is_found_to_the_second() {
        let start = Timestamp::UNIX_EPOCH;
        for change in [1, 2, 17, 59, 60] {
            let end = Seconds(change).after(start);
            assert_eq!(first_change(start, |at| at < end), end, "{change}");
        }
        assert_eq!(first_change(start, |_| true), LOOKED_AT_AGAIN.after(start));
    }
}
