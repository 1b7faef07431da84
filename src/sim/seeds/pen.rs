//! The pen that scripts of generated worlds are written with: dice, the time, and what may happen in worlds of any kind.

use super::super::journal::JournalFault;
use super::plot::{Act, Happening};
use crate::domain::input::{Order, Verb};
use crate::domain::span::Seconds;

/// Dice, and what was written so far.
pub(super) struct Pen {
    pub(super) dice: fastrand::Rng,
    pub(super) now: u64,
    until: Seconds,
    script: Vec<Happening>,
}

/// Whoever writes what happens in worlds of one kind.
pub(super) trait Scribe {
    /// What it writes with.
    fn pen(&mut self) -> &mut Pen;

    /// Anything that may happen at the moment the pen is at.
    fn act(&mut self);

    /// So many acts, as far as there is time for them.
    fn acts(&mut self, count: usize) {
        let pace = self.pen().pace(count);
        for _ in 0..count {
            if !self.pen().goes_on(pace) {
                break;
            }
            self.act();
        }
    }
}

impl Pen {
    /// An empty script of what happens until a moment.
    pub(super) fn new(dice: fastrand::Rng, until: Seconds) -> Self {
        Self { dice, now: 0, until, script: Vec::new() }
    }

    /// What was written, by time.
    pub(super) fn finish(mut self) -> Vec<Happening> {
        self.script.retain(|entry| entry.at < self.until);
        self.script.sort_by_key(|entry| entry.at);
        self.script
    }

    /// How much was written so far.
    pub(super) fn len(&self) -> usize {
        self.script.len()
    }

    /// Time goes on: often hardly at all, else for about `pace` seconds. False once it is up.
    fn goes_on(&mut self, pace: u64) -> bool {
        self.now += if self.chance(40) { self.dice.u64(..=3) } else { self.dice.u64(1..=2 * pace) };
        self.now < self.until.0
    }

    /// Seconds between two acts, so that so many fill the time.
    fn pace(&self, acts: usize) -> u64 {
        self.until.0 / u64::try_from(acts).unwrap_or(1).max(1)
    }

    /// True in `pct` of a hundred cases.
    pub(super) fn chance(&mut self, pct: u8) -> bool {
        self.dice.u8(..100) < pct
    }

    /// Any of these; `of` is never empty.
    pub(super) fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.dice.usize(..of.len())].clone()
    }

    /// A process cannot reach the cluster for a while.
    pub(super) fn part(&mut self) {
        let (process, span) = (self.dice.usize(..2), Seconds(self.dice.u64(1..=400)));
        let words = format!("process {process} cannot reach the cluster for {span}");
        self.push(self.now, Act::Part { process, span }, words);
    }

    pub(super) fn spoil_journal(&mut self) {
        let fault = self.one(&[JournalFault::Conflict, JournalFault::Error, JournalFault::LostAnswer]);
        self.push(self.now, Act::Journal(fault), format!("the journal's next append: {fault:?}"));
    }

    /// Kills a process at any await: between plan and commit, between commit and write, between write and outcome.
    pub(super) fn crash(&mut self) {
        let (process, steps) = (self.dice.usize(..2), self.dice.u64(..200));
        self.push(self.now, Act::Crash { process, steps }, format!("process {process} dies {steps} steps later"));
        self.later(300, Act::Start(process), format!("process {process} starts"));
    }

    pub(super) fn freeze(&mut self) {
        let process = self.dice.usize(..2);
        self.push(self.now, Act::Freeze(process), format!("process {process} freezes"));
        self.later(120, Act::Thaw(process), format!("process {process} thaws"));
    }

    pub(super) fn cut(&mut self) {
        let (process, span) = (self.dice.usize(..2), Seconds(self.dice.u64(1..=120)));
        let words = format!("process {process} cannot reach the journal for {span}");
        self.push(self.now, Act::Cut { process, span }, words);
    }

    /// A person gives an order.
    pub(super) fn order(&mut self, verb: Verb, words: String) {
        let order = self.signed(verb);
        self.push(self.now, Act::Order(order), words);
    }

    /// An order with a tag of its own as its reason, by which the journal knows it again; two in three have a key.
    pub(super) fn signed(&mut self, verb: Verb) -> Order {
        let tag = format!("#{}", self.dice.u32(..));
        let key = self.chance(67).then(|| format!("key {tag}"));
        Order { verb, by: self.one(&["op-a", "op-b"]).to_owned(), reason: Some(tag), key }
    }

    /// Something happens within `at_most` seconds.
    pub(super) fn later(&mut self, at_most: u64, act: Act, words: String) {
        let at = self.now + self.dice.u64(1..=at_most);
        self.push(at, act, words);
    }

    /// Something happens.
    pub(super) fn push(&mut self, at: u64, act: Act, words: String) {
        self.script.push(Happening { at: Seconds(at), act, words });
    }
}
