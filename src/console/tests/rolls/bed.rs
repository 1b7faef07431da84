//! A bed for these tests: a fleet that is really rolled by the core, and a console that looks at it.

use std::sync::Arc;

use super::super::super::effect::{Effect, Sealed};
use super::super::super::need::NeedKind;
use super::super::stage::Stage;
use crate::domain::ids::RollId;
use crate::domain::input::{Order, Verb};
use crate::domain::observed::Node;
use crate::domain::roll::verb::RollVerb;
use crate::domain::tests::roll::rig::{ROLL, Rig, id};
use crate::domain::verdict::Reply;

/// A fleet, and a console.
pub(super) struct Bed {
    pub(super) stage: Stage,
    pub(super) rig: Rig,
}

impl Bed {
    /// A console that looks at a fleet as it is.
    pub(super) fn of(rig: Rig, width: u16, height: u16) -> Self {
        Self { stage: Stage::blank(width, height), rig }.shown()
    }

    /// `wk-1` is the canary of six, and its gate has waited for 14 minutes and a bit.
    pub(super) fn at_gate(width: u16, height: u16) -> Self {
        let mut rig = Rig::at_gate(6);
        rig.put_registry("wk-3");
        (0..14).for_each(|_| rig.tick());
        rig.pass_time(40);
        rig.look();
        Self::of(rig, width, height)
    }

    /// The console gets to know what time it is and what the fleet looks like.
    pub(super) fn show(&mut self) {
        let seat = self.stage.picture.seat.holder.clone();
        self.stage.now = self.rig.now;
        self.stage.pass(0);
        self.stage.picture.world = Arc::new(self.rig.world.clone());
        self.stage.picture.seat.holder = seat;
        let mut observed = self.rig.observed();
        let seen = |(name, node): (&String, &crate::domain::roll::sight::FleetNode)| {
            let version = Some("v1.31.2".to_owned());
            let (ready, unschedulable) = (node.ready, node.unschedulable);
            (name.clone(), Node { ready, unschedulable, version, holds_vip: name == "wk-2" })
        };
        observed.nodes = self.rig.fleet.nodes.rows.iter().map(seen).collect();
        observed.last_tick = Some(self.rig.now);
        self.stage.picture.observed = Arc::new(observed);
        self.stage.show();
    }

    pub(super) fn shown(mut self) -> Self {
        self.show();
        self
    }

    /// Somebody else opens a console on the same fleet.
    pub(super) fn reopened(self) -> Self {
        let (width, height) = self.stage.model.setup.size;
        Self::of(self.rig, width, height)
    }

    /// A person opens the gate from elsewhere.
    pub(super) fn approve(&mut self) {
        assert_eq!(self.rig.approve(ROLL, "x", None), Reply::Done);
    }

    pub(super) fn roll() -> RollId {
        id(ROLL)
    }

    /// The screen as one text without its line breaks and frames.
    pub(super) fn words(&self) -> String {
        let bare: String = self.stage.screen().replace(['│', '╭', '╮', '╰', '╯', '─'], " ");
        bare.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub(super) fn says(&self, text: &str) {
        let words = self.words();
        assert!(words.contains(text), "{text:?} is not on the screen:\n{}", self.stage.screen());
    }

    /// What needs a human, with its text.
    pub(super) fn needs(&self) -> Vec<(NeedKind, String, String)> {
        let needs = self.stage.model.facts.needs.iter();
        needs.map(|need| (need.kind, need.name.clone(), need.text.clone())).collect()
    }

    pub(super) fn kinds(&self) -> Vec<NeedKind> {
        self.needs().into_iter().map(|(kind, ..)| kind).collect()
    }
}

/// The order that left.
pub(super) fn sent(effects: &[Effect]) -> Option<Order> {
    effects.iter().find_map(|effect| match effect {
        Effect::SendOrder(sealed) => Some(Sealed::order(sealed).clone()),
        _ => None,
    })
}

/// The verb of an order on rolls.
pub(super) fn verb(order: Option<Order>) -> RollVerb {
    match order.map(|order| order.verb) {
        Some(Verb::Roll(verb)) => verb,
        other => panic!("{other:?}"),
    }
}
