//! A mind without a body: does what the mind wants on paper, and checks on every step what must never happen.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::agent::heard::{Answer, Deed, Ending, Exit, Heard, Mail, Setback};
use crate::agent::memory::{Memory, Offer, ProcessMark, REPORTS_MAX, Run, RunKind};
use crate::agent::mind::{Habits, Mind};
use crate::agent::pace::later;
use crate::domain::ids::{MachineId, ReleaseId};
use crate::domain::input::Edition;
use crate::domain::release::{Digest, Outcome};
use crate::domain::span::Seconds;
use crate::wire::agent::ReportBody;

/// Retries, retry after 60 s, drift after 900 to 1800 s.
pub(super) fn habits(retries: u32) -> Habits {
    let drift = Some((Seconds(900), Seconds(1800)));
    Habits { retries, retry_after: Seconds(60), drift, wait: Seconds(25), once: false }
}

/// A release whose content never changes, in a generation.
pub(super) fn offer(release: &str, generation: u64) -> Offer {
    let edition = Edition { release: ReleaseId::named(release), generation };
    Offer { edition, digest: Digest(format!("content of {release}")), timeout_seconds: Seconds(600), rebuilds: Some(0) }
}

pub(super) struct Scene {
    pub(super) mind: Mind,
    pub(super) now: Timestamp,
    /// The poll in flight: its number, what it said the machine has, how long it may be held.
    pub(super) asked: Option<(u64, Option<Edition>, Seconds)>,
    /// What is being sent.
    pub(super) sent: Option<Mail>,
    /// The run in flight and whether it was let go.
    pub(super) run: Option<(Run, bool)>,
    pub(super) stopped: bool,
    /// Every run that began.
    pub(super) begun: Vec<Run>,
    pub(super) said: Vec<String>,
    /// What was served last.
    served: Option<Offer>,
    /// An answer was heard since the start.
    word: bool,
    /// Runs whose report has to be in the memory.
    owed: BTreeSet<Timestamp>,
    failures: Vec<Edition>,
    last_success: Option<Digest>,
}

impl Scene {
    pub(super) fn new(retries: u32) -> Self {
        Self::with(Memory::new(MachineId::named("ash")), habits(retries))
    }

    pub(super) fn with(memory: Memory, habits: Habits) -> Self {
        let now = Timestamp::from_second(1_750_000_000).expect("an instant");
        let owed = memory.reports.iter().map(|report| report.started_at).collect();
        let mind = Mind::new(memory, habits, 7, now);
        let (begun, said, failures) = (Vec::new(), Vec::new(), Vec::new());
        let (asked, sent, run, served, last_success) = (None, None, None, None, None);
        let (stopped, word) = (false, false);
        let mut scene =
            Self { mind, now, asked, sent, run, stopped, begun, said, served, word, owed, failures, last_success };
        scene.hear(Heard::Woke);
        scene
    }

    /// The agent is killed and starts again with what is on its disk.
    pub(super) fn restart(&mut self) {
        let text = serde_json::to_string(self.mind.memory()).expect("a memory can be written");
        let memory: Memory = serde_json::from_str(&text).expect("and read");
        assert_eq!(&memory, self.mind.memory());
        self.mind = Mind::new(memory, self.mind.habits.clone(), 11, self.now);
        (self.asked, self.sent, self.run, self.stopped, self.word) = (None, None, None, false, false);
        self.hear(Heard::Woke);
    }

    pub(super) fn hear(&mut self, heard: Heard) {
        let deeds = self.mind.hear(heard, self.now);
        for deed in deeds {
            self.perform(deed);
        }
        self.check();
    }

    fn perform(&mut self, deed: Deed) {
        match deed {
            Deed::Ask { number, have, wait } => {
                assert!(self.asked.is_none_or(|(last, _, _)| last < number), "polls are numbered");
                self.asked = Some((number, have, wait));
            }
            Deed::Start(run) => self.start(run),
            Deed::LetGo => {
                let (_, free) = self.run.as_mut().expect("a run to let go");
                assert!(!*free && !self.stopped, "let go once, and not after a stop");
                *free = true;
            }
            Deed::Stop => {
                assert!(self.run.is_some() && !self.stopped, "a run is stopped once");
                self.stopped = true;
            }
            Deed::Send(mail) => assert!(self.sent.replace(mail).is_none(), "one letter at a time"),
            Deed::Say(words) => self.said.push(words),
        }
    }

    fn start(&mut self, run: Run) {
        assert!(self.run.is_none(), "one run at a time");
        assert!(self.word, "nothing runs before the control plane has said what is wanted");
        let served = self.served.as_ref().expect("nothing runs where nothing is served");
        assert!(self.begun.last().is_none_or(|last| last.started_at < run.started_at), "a run has a name of its own");
        match run.kind {
            RunKind::Arc | RunKind::Drift => assert_eq!(&run.offer, served, "what runs is what is served"),
            RunKind::LastGood => {
                assert_eq!(Some(&run.offer.digest), self.last_success.as_ref(), "R62: the last that succeeded");
                assert_ne!(run.offer.digest, served.digest);
            }
        }
        self.begun.push(run.clone());
        self.run = Some((run, false));
    }

    fn check(&mut self) {
        let memory = self.mind.memory();
        let kept: BTreeSet<Timestamp> = memory.reports.iter().map(|report| report.started_at).collect();
        while self.owed.len() > REPORTS_MAX {
            self.owed.pop_first();
        }
        assert_eq!(kept, self.owed, "a report is kept until it is acknowledged");
        assert_eq!(memory.run.is_some(), self.run.is_some());
        let served = self.served.as_ref().map(|offer| offer.edition);
        let withdrawn = self.run.is_some() && served != memory.edition();
        assert!(!withdrawn || self.stopped);
        for edition in &self.failures {
            let count = self.failures.iter().filter(|other| *other == edition).count();
            assert!(count <= self.mind.habits.retries as usize + 1, "R63: retry, then latch");
        }
        let idle = self.asked.is_none() && self.sent.is_none() && self.run.is_none();
        assert!(!idle || self.mind.wake_at().is_some() || self.mind.may_leave(), "it would sleep for ever");
    }

    pub(super) fn answer(&mut self, offer: Option<Offer>) {
        self.answer_with(offer, false);
    }

    pub(super) fn answer_with(&mut self, offer: Option<Offer>, cancel: bool) {
        let (number, have, _) = self.asked.take().expect("a poll in flight");
        let edition = offer.as_ref().map(|offer| offer.edition);
        let takes_away = self.run.is_some() && (cancel || edition != have);
        self.word = true;
        self.served = offer.clone();
        self.hear(Heard::Answer { number, answer: Answer { offer, cancel, poll_after: Seconds(10) } });
        assert!(!takes_away || self.stopped, "R95: a withdrawn run is stopped");
    }

    pub(super) fn no_answer(&mut self, setback: Setback) {
        let (number, _, _) = self.asked.take().expect("a poll in flight");
        self.hear(Heard::NoAnswer { number, setback });
    }

    pub(super) fn spawned(&mut self) {
        self.hear(Heard::Spawned(ProcessMark { pid: 4711, start_ticks: 1, boot: "b".to_owned() }));
    }

    /// The run in flight ends with this exit code; returns how it is reported, if it is.
    pub(super) fn ends(&mut self, code: i32) -> Option<ReportBody> {
        let (run, _) = self.run.take().expect("a run in flight");
        let reported = run.kind != RunKind::LastGood;
        if reported {
            self.owed.insert(run.started_at);
        }
        match (reported, self.stopped, code) {
            (true, false, 0) => {
                self.last_success = Some(run.offer.digest.clone());
                self.failures.retain(|edition| *edition != run.offer.edition);
            }
            (true, false, _) => self.failures.push(run.offer.edition),
            _ => {}
        }
        self.stopped = false;
        let (failed_states, log_tail) = (Vec::new(), "log".to_owned());
        self.hear(Heard::Ended(Ending { exit: Exit::Code(code), changed_count: 1, failed_states, log_tail }));
        self.mind.memory().reports.iter().find(|report| report.started_at == run.started_at).cloned()
    }

    fn letter_is_over(&mut self) {
        if let Some(Mail::Report(report)) = self.sent.take() {
            self.owed.remove(&report.started_at);
        }
    }

    pub(super) fn delivered(&mut self) {
        self.letter_is_over();
        self.hear(Heard::Delivered);
    }

    pub(super) fn refused(&mut self) {
        self.letter_is_over();
        self.hear(Heard::Refused("no".to_owned()));
    }

    pub(super) fn undelivered(&mut self, setback: Setback) {
        self.sent = None;
        self.hear(Heard::Undelivered(setback));
    }

    pub(super) fn wait(&mut self, seconds: u64) {
        self.now = later(self.now, seconds * 1_000);
        self.hear(Heard::Woke);
    }

    /// Sleeps as long as the mind wants to.
    pub(super) fn sleep(&mut self) {
        self.now = self.now.max(self.mind.wake_at().expect("it wants to wake up"));
        self.hear(Heard::Woke);
    }

    pub(super) fn running(&self) -> Option<(RunKind, Edition)> {
        self.run.as_ref().map(|(run, _)| (run.kind, run.offer.edition))
    }

    /// Converged on this offer, known to the control plane, polling.
    pub(super) fn done_with(&mut self, offer: &Offer) {
        self.answer(Some(offer.clone()));
        assert_eq!(self.ends(0).expect("a report").outcome, Outcome::Success);
        self.delivered();
        self.answer(Some(offer.clone()));
        assert!(self.mind.memory().applied.as_ref().expect("applied").confirmed);
        self.poll_again();
    }

    /// Until a poll is in flight.
    pub(super) fn poll_again(&mut self) {
        while self.asked.is_none() {
            self.sleep();
        }
    }
}
