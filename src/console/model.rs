//! The model: everything the console knows between two messages.

use std::collections::BTreeMap;

use imbl::Vector;
use jiff::Timestamp;
use ratatui::layout::Rect;

use super::arming::Arming;
use super::chord::Chord;
use super::facts::{Facts, Node};
use super::filter::Filter;
use super::fleet::Listing;
use super::keys::{Keymap, Mode};
use super::kura::{KuraList, Part, Token};
use super::layer::Layer;
use super::layout::Frame;
use super::msg::Notice;
use super::need::NeedKind;
use super::order::{InFlight, Status};
use super::pick::Pick;
use super::saying::Saying;
use super::shelf::{Item, Shelf};
use super::snapshot::{RunResult, Snapshot};
use super::sort::Sorting;
use super::tree::{Folds, Line};
use crate::domain::ids::{MachineId, Revision, RollId, RolloutId};
use crate::domain::lane::LaneKey;
use crate::domain::plan::PlanLine;
use crate::domain::span::Seconds;

/// Own notices that are kept for the log.
pub const NOTICES_KEPT: usize = 500;

/// Machines whose results are kept.
pub const RESULTS_KEPT: usize = 64;

/// How long an answer to the question for results is waited for.
pub const RESULTS_WAIT: Seconds = Seconds(30);

/// What the console is started with.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Which keys mean what.
    pub keymap: Keymap,
    /// Glyphs of ASCII only.
    pub ascii: bool,
    /// Nothing can be ordered (`--read-only`).
    pub read_only: bool,
    /// The person, as orders will name them.
    pub by: String,
    /// Unique to this process; idempotency keys are made of it and a count.
    pub session: String,
    /// Whom it will talk to, before the first picture says so.
    pub endpoint: String,
    /// The context of `kubectl` in commands that are copied; none = whoever runs them puts it in.
    pub context: Option<String>,
    /// What time it is.
    pub now: Timestamp,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
}

/// The screens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// What needs a human, and what runs.
    Now,
    /// Environments, rings, machines.
    Rollout,
    /// Kura servers.
    Kura,
    /// Fleet rolls.
    Rolls,
    /// Nodes of the cluster.
    Nodes,
    /// What can be started.
    Releases,
    /// What was started and done.
    History,
    /// What changed.
    Log,
}

/// A row of the first screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NowRow {
    /// A need, by its kind and whose it is.
    Need(NeedKind, Option<Node>),
    /// The rollout.
    Rollout(RolloutId),
    /// A ring at work.
    Lane(LaneKey),
    /// The Kura servers.
    Servers,
    /// A fleet roll that goes on.
    Roll(RollId),
}

/// A row of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogRow {
    /// A change.
    Change(Revision),
    /// An own notice, by its number.
    Notice(u64),
}

/// What is known of the results of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Results {
    /// Of which rollout.
    pub rollout: RolloutId,
    /// When the last result that the world knew of was reported, as the question was asked.
    pub known: Option<Timestamp>,
    /// When it was asked for.
    pub asked_at: Timestamp,
    /// None while the answer is out.
    pub answer: Option<Result<Vec<RunResult>, String>>,
}

/// Everything the console knows.
#[derive(Debug, Clone)]
pub struct Model {
    pub(super) setup: Setup,
    pub(super) now: Timestamp,
    pub(super) picture: Option<Box<Snapshot>>,
    pub(super) facts: Facts,
    pub(super) screen: Screen,
    pub(super) now_rows: Vec<NowRow>,
    pub(super) now_pick: Pick<NowRow>,
    pub(super) lines: Vec<Line>,
    pub(super) tree_pick: Pick<Node>,
    pub(super) folds: Folds,
    pub(super) filter: Filter,
    /// How the machines of each ring are sorted on the screen of the rollout.
    pub(super) sorting: Sorting,
    pub(super) kura: KuraList,
    pub(super) rolls: Listing<RollId>,
    pub(super) hosts: Listing<Token>,
    pub(super) releases: Shelf,
    pub(super) history: Shelf,
    pub(super) log_rows: Vec<LogRow>,
    pub(super) log_pick: Pick<LogRow>,
    /// The log shows its newest row until somebody looks further back.
    pub(super) log_follows: bool,
    pub(super) notices: Vector<(u64, Notice)>,
    pub(super) layers: Vec<Layer>,
    pub(super) pending: Vec<Chord>,
    pub(super) arming: Arming,
    pub(super) orders: Vec<InFlight>,
    pub(super) orders_made: u64,
    pub(super) status: Option<Status>,
    pub(super) results: BTreeMap<MachineId, Results>,
    /// Whose command was copied last, and which of them.
    pub(super) copied: Option<(Subject, usize)>,
    /// What is said about the rollout and the selected row.
    pub(super) sayings: Vec<Saying>,
    /// What a first tick of this console would do, while somebody looks at that.
    pub(super) first_tick: Vec<PlanLine>,
}

impl Model {
    /// A console that knows nothing yet.
    pub fn new(setup: Setup) -> Self {
        Self {
            now: setup.now,
            setup,
            picture: None,
            facts: Facts::default(),
            screen: Screen::Now,
            now_rows: Vec::new(),
            now_pick: Pick::default(),
            lines: Vec::new(),
            tree_pick: Pick::default(),
            folds: Folds::new(),
            filter: Filter::default(),
            sorting: Sorting::default(),
            kura: KuraList::default(),
            rolls: Listing::default(),
            hosts: Listing::default(),
            releases: Shelf::default(),
            history: Shelf::default(),
            log_rows: Vec::new(),
            log_pick: Pick::default(),
            log_follows: true,
            notices: Vector::new(),
            layers: Vec::new(),
            pending: Vec::new(),
            arming: Arming::default(),
            orders: Vec::new(),
            orders_made: 0,
            status: None,
            results: BTreeMap::new(),
            copied: None,
            sayings: Vec::new(),
            first_tick: Vec::new(),
        }
    }

    /// The time of the last `Msg::Clock`.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// True while an order is on its way.
    pub fn has_orders_in_flight(&self) -> bool {
        !self.orders.is_empty()
    }

    /// The regions of the frame.
    pub(super) fn frame(&self) -> Frame {
        let (width, height) = self.setup.size;
        Frame::of(Rect { x: 0, y: 0, width, height })
    }

    /// Rows of the list of a screen that are shown at once.
    pub(super) fn list_height(&self, screen: Screen) -> usize {
        let frame = self.frame();
        usize::from(match screen {
            Screen::Now => frame.listed().0.height,
            Screen::Releases | Screen::History => frame.listed().0.height.saturating_sub(1),
            Screen::Kura => frame.table(self.facts.kura.veiled.len()).list.height,
            Screen::Rolls => frame.rolls(self.rolls.rows.len(), self.facts.fleet.veiled.len()).list.height,
            Screen::Nodes => frame.table(self.facts.fleet.veiled.len()).list.height,
            Screen::Log => frame.log().1.height,
            Screen::Rollout => frame.split().list.height,
        })
    }

    /// The list of a screen that is a shelf.
    pub(super) fn shelf(&self, screen: Screen) -> Option<&Shelf> {
        match screen {
            Screen::Releases => Some(&self.releases),
            Screen::History => Some(&self.history),
            _ => None,
        }
    }

    /// The same, to change it.
    pub(super) fn shelf_mut(&mut self, screen: Screen) -> Option<&mut Shelf> {
        match screen {
            Screen::Releases => Some(&mut self.releases),
            Screen::History => Some(&mut self.history),
            _ => None,
        }
    }

    /// Who gets the next key.
    pub(super) fn mode(&self) -> Mode {
        match self.layers.last() {
            None => Mode::List,
            Some(Layer::Page(_)) => Mode::Page,
            Some(Layer::Field(_)) => Mode::Text,
            Some(Layer::Dialog(dialog)) if dialog.is_typing() => Mode::Text,
            Some(Layer::Dialog(_)) => Mode::Dialog,
        }
    }

    /// The row a verb is about: that of the page on top, else the selected one.
    pub(super) fn subject(&self) -> Subject {
        self.shown().row()
    }

    /// What is explained: the page on top, else the selected row.
    pub(super) fn shown(&self) -> Subject {
        if let Some(Layer::Page(page)) = self.layers.last() {
            return page.subject().unwrap_or(Subject::Nothing);
        }
        match self.screen {
            Screen::Now => match self.now_pick.get() {
                Some(NowRow::Need(kind, node)) => Subject::Need(kind, node),
                Some(NowRow::Lane(key)) => Subject::Node(Node::Lane(key)),
                Some(NowRow::Rollout(_)) => Subject::Rollout,
                Some(NowRow::Servers) => Subject::Node(Node::Kura(Part::Estate)),
                Some(NowRow::Roll(id)) => Subject::Node(Node::Roll(id)),
                None => Subject::Nothing,
            },
            Screen::Rollout => self.tree_pick.get().map_or(Subject::Nothing, Subject::Node),
            Screen::Kura => self.kura.pick.get().map_or(Subject::Nothing, |part| Subject::Node(Node::Kura(part))),
            Screen::Rolls => self.rolls.pick.get().map_or(Subject::Nothing, |id| Subject::Node(Node::Roll(id))),
            Screen::Nodes => self.hosts.pick.get().map_or(Subject::Nothing, |id| Subject::Node(Node::Host(id))),
            Screen::Releases => self.releases.pick.get().map_or(Subject::Nothing, Subject::Item),
            Screen::History => self.history.pick.get().map_or(Subject::Nothing, Subject::Item),
            Screen::Log => Subject::Nothing,
        }
    }
}

/// What a page, a verb or an explanation is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// The current rollout.
    Rollout,
    /// A row.
    Node(Node),
    /// A reason for which a human is needed, and whose row it is.
    Need(NeedKind, Option<Node>),
    /// A release, or something of the past.
    Item(Item),
    /// No row is selected.
    Nothing,
}

impl Subject {
    /// The row behind it: what verbs are aimed at.
    pub fn row(self) -> Self {
        match self {
            Self::Need(_, Some(node)) => Self::Node(node),
            Self::Need(_, None) => Self::Rollout,
            row => row,
        }
    }
}
