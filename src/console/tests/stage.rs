//! A stage: a world that is made by deciding and folding, and a console that looks at it.

use std::sync::Arc;

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::super::chord::Chord;
use super::super::effect::Effect;
use super::super::keys::Keymap;
use super::super::model::{Model, Setup};
use super::super::msg::Msg;
use super::super::past::Past;
use super::super::snapshot::{Access, Freshness, Seat, Snapshot};
use super::super::theme::{Depth, Role, Theme};
use super::super::update::update;
use super::super::view::view;
use crate::domain::audit::link;
use crate::domain::change::Change;
use crate::domain::decide::decide;
use crate::domain::fleet::ConfigValues;
use crate::domain::ids::{EnvironmentId, MachineId, ReleaseId, RingId, RolloutId};
use crate::domain::input::{Edition, Input, Order, Poll, Rendered, Report, RingPatch, Verb};
use crate::domain::observed::Observed;
use crate::domain::release::{Contract, Digest, Outcome};
use crate::domain::span::Seconds;
use crate::domain::verdict::Reply;
use crate::domain::world::World;

/// When every story begins.
pub(super) fn start() -> Timestamp {
    "2026-07-01T03:00:00Z".parse().unwrap()
}

/// A world, what is seen around it, and a console.
#[derive(Clone)]
pub(super) struct Stage {
    pub(super) model: Model,
    pub(super) picture: Snapshot,
    pub(super) now: Timestamp,
    theme: Theme,
}

impl Stage {
    /// Nothing is known yet.
    pub(super) fn blank(width: u16, height: u16) -> Self {
        let now = start();
        let setup = Setup {
            keymap: Keymap::shipped("default").unwrap(),
            ascii: false,
            read_only: false,
            by: "op-a".to_owned(),
            session: "test".to_owned(),
            endpoint: "https://kura.example:8080".to_owned(),
            context: Some("oak".to_owned()),
            now,
            size: (width, height),
        };
        let picture = Snapshot {
            world: Arc::new(World::default()),
            observed: Arc::new(Observed::starting_at(now)),
            tail: imbl::Vector::new(),
            past: Past::default(),
            seat: Seat { holder: Some("serve@bastion-1".to_owned()), epoch: 1, last_tick: Some(now) },
            api: Freshness::Live(now),
            endpoint: "https://kura.example:8080".to_owned(),
            account: "acme".to_owned(),
            access: Access::Operator,
            glimpse: None,
            own: None,
            fallback: None,
        };
        Self { model: Model::new(setup), picture, now, theme: Theme::shipped("dark", Depth::True).unwrap() }
    }

    /// The runbook's fleet: two tiers of three machines, one slot each.
    pub(super) fn fleet(width: u16, height: u16) -> Self {
        let mut stage = Self::blank(width, height);
        stage.input(&Input::TakeSeat { holder: "serve@bastion-1".to_owned(), agents: true });
        for (slug, order) in [("pine-cp", 10), ("pine-workers", 11)] {
            stage.environment(slug, order);
            stage.ring(slug, 1);
        }
        let tiers = [("pine-cp", ["ash", "birch", "cedar"]), ("pine-workers", ["fir", "larch", "maple"])];
        for (tier, names) in tiers {
            for (bucket, name) in (1..).zip(names) {
                stage.machine(name, tier, bucket);
            }
        }
        stage.release("v1.31.2");
        stage.shown()
    }

    /// The fleet with the rollout under way: everybody polled once, so the first machine of the first tier holds.
    pub(super) fn rolling(width: u16, height: u16) -> Self {
        let mut stage = Self::fleet(width, height);
        stage.start_rollout("v1.31.2");
        stage.pass(30);
        stage.poll_all();
        stage.shown()
    }

    /// Another process takes the seat; agents reach it or not.
    pub(super) fn take_seat(&mut self, holder: &str, agents: bool) {
        self.picture.seat.holder = Some(holder.to_owned());
        self.input(&Input::TakeSeat { holder: holder.to_owned(), agents });
    }

    pub(super) fn environment(&mut self, slug: &str, order: i64) {
        self.verb(Verb::CreateEnvironment {
            id: EnvironmentId::named(slug),
            slug: slug.to_owned(),
            name: slug.to_owned(),
            promotion_order: Some(order),
            config_values: ConfigValues::new(),
        });
    }

    pub(super) fn ring(&mut self, slug: &str, cap: u32) {
        let settings = RingPatch {
            max_in_flight: Some(cap),
            min_settle_seconds: Some(Seconds(300)),
            stall_timeout_seconds: (cap > 0).then_some(Seconds(5400)),
            failure_count_threshold: Some(1),
            ..RingPatch::default()
        };
        self.verb(Verb::CreateRing { id: RingId::named(slug), slug: slug.to_owned(), settings });
    }

    pub(super) fn machine(&mut self, name: &str, tier: &str, bucket: u8) {
        self.verb(Verb::AddMachine {
            id: MachineId::named(name),
            hostname: name.to_owned(),
            node: None,
            environment: Some(EnvironmentId::named(tier)),
            ring: Some(RingId::named(tier)),
            bucket: Some(bucket),
        });
    }

    pub(super) fn release(&mut self, name: &str) {
        self.verb(Verb::PublishRelease {
            id: ReleaseId::named(name),
            git_ref: name.to_owned(),
            commit: "4f1c2d9a77e0b3c5".to_owned(),
            engine: "salt".to_owned(),
            timeout_seconds: Seconds(1800),
            notes: String::new(),
            target_version: Some("v1.31.2".to_owned()),
            content: Digest("c0ffee".to_owned()),
            contract: Contract::default(),
        });
    }

    pub(super) fn start_rollout(&mut self, release: &str) {
        self.verb(Verb::Start {
            id: RolloutId::named("r1"),
            release: ReleaseId::named(release),
            protected: Some(true),
            force: false,
            intent: None,
        });
    }

    /// A person acts, with success.
    pub(super) fn verb(&mut self, verb: Verb) {
        self.verb_because(verb, None);
    }

    pub(super) fn verb_because(&mut self, verb: Verb, reason: Option<&str>) {
        let order = Order { verb, by: "op-a".to_owned(), reason: reason.map(str::to_owned), key: None };
        let reply = self.input(&Input::Verb(order));
        assert!(!matches!(reply, Reply::Refused(_)), "{reply:?}");
    }

    pub(super) fn order(&mut self, order: Order) -> Reply {
        self.input(&Input::Verb(order))
    }

    pub(super) fn poll(&mut self, name: &str) {
        let machine = MachineId::named(name);
        self.seen(machine);
        let release = self.picture.world.running().map(|r| r.release);
        let rendered = Rendered::Content(Digest(format!("for-{name}")));
        self.input(&Input::Poll(Poll { machine, have: None, rendered, release }));
    }

    pub(super) fn poll_missing(&mut self, name: &str, missing: &str) {
        let machine = MachineId::named(name);
        self.seen(machine);
        let release = self.picture.world.running().map(|r| r.release);
        let rendered = Rendered::Missing(vec![missing.to_owned()]);
        self.input(&Input::Poll(Poll { machine, have: None, rendered, release }));
    }

    pub(super) fn poll_all(&mut self) {
        let mut names: Vec<String> = self.picture.world.machines.values().map(|m| m.hostname.clone()).collect();
        names.sort();
        names.iter().for_each(|name| self.poll(name));
    }

    fn seen(&mut self, machine: MachineId) {
        Arc::make_mut(&mut self.picture.observed).last_poll.insert(machine, self.now);
    }

    pub(super) fn report(&mut self, name: &str, outcome: Outcome, failed_state: Option<&str>) {
        let rollout = self.picture.world.running().unwrap();
        let edition = Edition { release: rollout.release, generation: rollout.generation };
        let machine = MachineId::named(name);
        let failed_state = failed_state.map(str::to_owned);
        let run = Some(self.now);
        self.input(&Input::Report(Report { machine, edition, outcome, failed_state, run, rebuilds: None }));
    }

    /// When the seat's holder ticked last.
    pub(super) fn ticked_at(&mut self, at: Timestamp) {
        self.picture.seat.last_tick = Some(at);
        Arc::make_mut(&mut self.picture.observed).last_tick = Some(at);
    }

    pub(super) fn tick(&mut self) {
        self.ticked_at(self.now);
        self.input(&Input::Tick { fresh: RolloutId::named("fresh") });
    }

    fn input(&mut self, input: &Input) -> Reply {
        let picture = &mut self.picture;
        let mut verdict = decide(&picture.world, &picture.observed, input, self.now);
        if let Input::Verb(order) = input {
            let link = Box::new(link(order, &verdict, &picture.world, &picture.observed, self.now));
            verdict.changes.push(Change::Audited { link });
        }
        let author = input.author(&picture.world, "serve@bastion-1");
        let entries = author.entries(&picture.world, &verdict.changes, self.now);
        let world = Arc::make_mut(&mut picture.world);
        for entry in entries {
            world.apply(&entry);
            picture.tail.push_back(Arc::new(entry));
        }
        verdict.reply
    }

    /// Seconds go by; the source stays live and the seat ticks on.
    pub(super) fn pass(&mut self, seconds: u64) {
        self.now = Seconds(seconds).after(self.now);
        self.picture.api = Freshness::Live(self.now);
        self.ticked_at(self.now);
    }

    /// Seconds go by and every agent polls at the end of them.
    pub(super) fn pass_polling(&mut self, seconds: u64) {
        self.pass(seconds);
        self.poll_all();
    }

    /// The console gets to know what time it is and what the world looks like.
    pub(super) fn show(&mut self) {
        self.send(Msg::Clock(self.now));
        self.send(Msg::Picture(Box::new(self.picture.clone())));
    }

    pub(super) fn shown(mut self) -> Self {
        self.show();
        self
    }

    pub(super) fn send(&mut self, msg: Msg) -> Vec<Effect> {
        update(&mut self.model, msg)
    }

    /// Presses chords, each seen before the next; separated by spaces.
    pub(super) fn press(&mut self, chords: &str) -> Vec<Effect> {
        let mut effects = Vec::new();
        for chord in chords.split_whitespace() {
            effects.extend(self.send(Msg::Key(chord.parse::<Chord>().unwrap())));
            self.send(Msg::Drawn);
        }
        effects
    }

    /// Types a text, each character seen before the next.
    pub(super) fn type_text(&mut self, text: &str) {
        for c in text.chars() {
            self.send(Msg::Key(Chord::char(c)));
            self.send(Msg::Drawn);
        }
    }

    /// Arms the console with a reason.
    pub(super) fn arm(&mut self) {
        self.press("a");
        self.type_text("drain test");
        self.press("enter");
    }

    pub(super) fn draw(&self) -> (Buffer, Option<Timestamp>) {
        let (width, height) = self.model.setup.size;
        self.draw_at(width, height, self.now)
    }

    pub(super) fn draw_at(&self, width: u16, height: u16, now: Timestamp) -> (Buffer, Option<Timestamp>) {
        let area = Rect { x: 0, y: 0, width, height };
        let mut buffer = Buffer::empty(area);
        let wake = view(&self.model, &self.theme, now, area, &mut buffer);
        (buffer, wake)
    }

    /// The screen as right-trimmed rows of text.
    pub(super) fn screen(&self) -> String {
        text(&self.draw().0)
    }

    /// Whether this text, which has to be on the screen, is faded: nobody renews what it says.
    pub(super) fn is_faded(&self, words: &str) -> bool {
        let (screen, (buffer, _)) = (self.screen(), self.draw());
        let rows = screen.lines().enumerate();
        let found = rows.into_iter().find_map(|(y, row)| Some((y, row.get(..row.find(words)?)?.chars().count())));
        let (y, x) = found.unwrap_or_else(|| panic!("{words:?} is not on the screen:\n{screen}"));
        let place = |n: usize| (u16::try_from(x + n).unwrap(), u16::try_from(y).unwrap());
        let stale = self.theme.style(Role::Stale);
        (0..words.chars().count()).all(|n| buffer[place(n)].style().patch(stale) == buffer[place(n)].style())
    }
}

/// A buffer as right-trimmed rows of text.
pub(super) fn text(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width).max(1);
    let mut rows = Vec::new();
    for row in buffer.content.chunks(width) {
        let mut line = String::new();
        let mut skip = 0;
        for cell in row {
            if skip == 0 {
                line.push_str(cell.symbol());
                skip = super::super::text::width(cell.symbol()).saturating_sub(1);
            } else {
                skip -= 1;
            }
        }
        rows.push(line.trim_end().to_owned());
    }
    rows.join("\n")
}
