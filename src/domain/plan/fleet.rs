//! What is said about machines that come, move and go, about environments, and about what is merely written down.

use super::super::ids::{EnvironmentId, MachineId};
use super::super::input::Verb;
use super::super::world::World;
use super::outline::PlanKind;
use super::rehearsal::Rehearsal;

impl Rehearsal<'_> {
    /// A machine joins.
    pub(super) fn add(&mut self, id: MachineId) {
        if self.after.machines.get(&id).and_then(|machine| machine.place()).is_none() {
            let text = "it is out of scope until it has an environment and a ring";
            self.say(PlanKind::Stays, text);
            return;
        }
        if self.after.running().is_some() {
            self.place_in_queue(id);
            self.starts();
        }
        self.say(PlanKind::Stays, "nobody loses a slot over it");
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
        self.say(PlanKind::Warns, "it is gone for good: its history stays in the journal, its agent is turned away");
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
            self.say(PlanKind::Starts, text);
            self.say(PlanKind::Stays, "the cursor of the running rollout stays where it is");
            self.starts();
        }
        if before.config_values != after.config_values {
            self.say(PlanKind::Starts, "what is rendered for its machines changes at their next poll");
        }
        self.say(PlanKind::Stays, "nobody loses a slot over it");
    }

    /// The switches of the account.
    pub(super) fn switches(&mut self) {
        let (before, after) = (self.before.account.clone(), self.after.account.clone());
        let told = [
            (before.auto_deploy, after.auto_deploy, "a new commit"),
            (before.track_config_tags, after.track_config_tags, "a new tag"),
        ];
        for (was, is, what) in told.into_iter().filter(|(was, is, _)| was != is) {
            let text = match (was, is) {
                (_, true) => format!("{what} is started unattended once nothing runs"),
                _ => format!("{what} is not started unattended any more"),
            };
            self.say(if is { PlanKind::Warns } else { PlanKind::Ends }, text);
        }
        if before.config_tag_pattern != after.config_tag_pattern {
            let pattern = after.config_tag_pattern.as_deref().unwrap_or("none");
            self.say(PlanKind::Starts, format!("tags that match {pattern} are followed where tags are tracked"));
        }
        self.say(PlanKind::Stays, "a rollout that runs is not touched");
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
