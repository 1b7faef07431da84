//! What is said about machines that come, move and go, about environments, and about what is merely written down.

use super::super::ids::{EnvironmentId, MachineId};
use super::super::input::Verb;
use super::super::rows::LaneView;
use super::super::world::World;
use super::outline::PlanKind;
use super::rehearsal::{Rehearsal, machines};

impl Rehearsal<'_> {
    /// A machine joins.
    pub(super) fn add(&mut self, id: MachineId) {
        if self.after.machines.get(&id).and_then(|machine| machine.place()).is_none() {
            let text = "it is out of scope until it has an environment and a ring";
            self.say(PlanKind::Stays, text);
            return;
        }
        if self.after.running().is_some() {
            self.newcomer(id);
        }
        self.say(PlanKind::Stays, "nobody loses a slot over it");
    }

    /// Who comes with a pinned bucket or finds nobody waiting has a place in the queue. Anybody else's is decided by an
    /// identity that is given only as it joins (R33), so none is promised.
    fn newcomer(&mut self, id: MachineId) {
        let machine = self.after.machines.get(&id);
        let pinned = machine.is_some_and(|machine| machine.bucket.is_some());
        let view = machine.and_then(|machine| machine.place()).zip(self.after.running());
        let view = view.and_then(|(key, rollout)| LaneView::of(self.after, rollout, key, self.now));
        let waiting = view.map_or(0, |view| view.queue().filter(|other| *other != id).count());
        match view.filter(|view| view.open && !pinned) {
            Some(view) if waiting > 0 => {
                let (others, ring) = (machines(waiting), &view.ring.slug);
                let text = format!("it joins the {others} in the queue of {ring}, at a place that its uuid decides");
                self.say(PlanKind::Starts, text);
            }
            Some(view) if view.elected < 100 => {
                let text = format!(
                    "{} % of {} are elected now: whether it is, its uuid decides",
                    view.elected, view.ring.slug
                );
                self.say(PlanKind::Starts, text);
            }
            _ => {
                self.place_in_queue(id);
                self.starts();
            }
        }
    }

    /// A machine gets another place.
    pub(super) fn assign(&mut self, id: MachineId) {
        let place = |world: &World| world.machines.get(&id).and_then(|machine| machine.place());
        let (from, to) = (place(self.before), place(self.after));
        if from == to {
            self.say(PlanKind::Stays, "its place and its slot stay as they are");
            return;
        }
        self.leaves(id);
        match to {
            None => self.say(PlanKind::Stays, "it is out of scope: nothing waits for it and nothing is served to it"),
            Some(_) if self.after.running().is_some() => self.place_in_queue(id),
            Some(_) => {}
        }
        self.starts();
        if let Some(key) = from {
            self.quorum(id, key);
        }
    }

    /// A machine leaves.
    pub(super) fn remove(&mut self, id: MachineId) {
        self.leaves(id);
        self.starts();
        if let Some(key) = self.before.machines.get(&id).and_then(|machine| machine.place()) {
            self.quorum(id, key);
        }
    }

    fn leaves(&mut self, id: MachineId) {
        if self.running().contains(&id) {
            self.cancelled(&[id], "");
        }
    }

    /// An environment gets another name, place or other values.
    pub(super) fn patch_environment(&mut self, id: EnvironmentId) {
        let of = |world: &World| world.environments.get(&id).cloned();
        let Some((before, after)) = of(self.before).zip(of(self.after)) else { return };
        if before.promotion_order != after.promotion_order {
            let text = match after.promotion_order {
                Some(_) => {
                    let path: Vec<&str> = self.after.path().iter().map(|e| e.slug.as_str()).collect();
                    format!("the promotion path is {} from now on", path.join(", "))
                }
                None => format!("{} leaves the promotion path: nothing is promoted into it", after.slug),
            };
            self.cursor_after(id);
            self.say(PlanKind::Starts, text);
            self.starts();
        }
        if before.config_values != after.config_values {
            self.say(PlanKind::Starts, "what is rendered for its machines changes at their next poll");
        }
        self.say(PlanKind::Stays, "nobody loses a slot over it");
    }

    /// The cursor is a place, not an environment (R77): one that is taken from under it is passed, done or not.
    fn cursor_after(&mut self, id: EnvironmentId) {
        let Some(rollout) = self.before.running() else { return };
        let stood = self.before.cursor_environment(rollout).is_some_and(|environment| environment.id == id);
        let stands = self.after.cursor_environment(rollout).is_some_and(|environment| environment.id == id);
        if !stood || stands {
            self.say(PlanKind::Stays, "the cursor of the running rollout stays where it is");
            return;
        }
        let lanes = self.before.lanes().of_environment(id);
        let (left, all) =
            lanes.fold((0, 0), |sum, (_, lane)| (sum.0 + lane.unfinished.len(), sum.1 + lane.members.len()));
        let text =
            format!("the cursor leaves it at the next tick, although {left} of its {} are not done", machines(all));
        self.say(PlanKind::Warns, text);
    }

    /// The switches of the account.
    pub(super) fn switches(&mut self) {
        let (before, after) = (self.before.account.clone(), self.after.account.clone());
        if before.auto_deploy != after.auto_deploy {
            self.switch(after.auto_deploy, "a new commit is started unattended, unprotected; one that arrives while something runs is dropped for good", "a new commit is not started unattended any more");
        }
        if before.track_config_tags != after.track_config_tags {
            let on = match after.config_tag_pattern.as_deref() {
                Some(pattern) => format!(
                    "the newest tag that matches {pattern} is started unattended, unprotected, as soon as nothing runs"
                ),
                None => "no tag is followed until an owner sets a pattern; then the newest one is started unattended"
                    .to_owned(),
            };
            self.switch(after.track_config_tags, &on, "a new tag is not started unattended any more");
        }
        if before.config_tag_pattern != after.config_tag_pattern {
            let pattern = after.config_tag_pattern.as_deref().unwrap_or("none");
            self.say(PlanKind::Starts, format!("tags that match {pattern} are followed where tags are tracked"));
        }
        self.say(PlanKind::Stays, "a rollout that runs is not touched");
    }

    fn switch(&mut self, is: bool, on: &str, off: &str) {
        self.say(if is { PlanKind::Warns } else { PlanKind::Ends }, if is { on } else { off });
    }

    /// A release comes into being.
    pub(super) fn publish(&mut self) {
        self.say(PlanKind::Starts, "the release can be started from then on, and is never edited");
        self.say(PlanKind::Stays, "nothing is started by it");
    }

    /// A tier or a ring comes into being.
    pub(super) fn create(&mut self, verb: &Verb) {
        let text = match verb {
            Verb::CreateRing { .. } => "machines can be put into it from then on",
            _ => "it is in the promotion path where it has a promotion_order, and empty until machines are put into it",
        };
        self.say(PlanKind::Stays, text);
    }
}
