//! What a run needs of a console and cannot make itself: screens, and changes in words.

use jiff::Timestamp;

use crate::control::link::{Answer, SeatOrder};
use crate::control::picture::Picture;
use crate::control::ports::ApplyResult;
use crate::domain::change::Entry;
use crate::domain::ids::{MachineId, RolloutId};
use crate::domain::input::Order;
use crate::domain::world::World;

/// Something a console wants done.
#[derive(Debug, Clone)]
pub enum Wish {
    /// Give this order, once.
    Give(Box<Order>),
    /// Take the seat for the process of the console, or leave it.
    Seat(Box<SeatOrder>),
    /// Read the last results of a machine.
    Read {
        /// In which rollout.
        rollout: RolloutId,
        /// Of which machine.
        machine: MachineId,
    },
    /// Leave.
    Leave,
}

/// What a person does at a console.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Touch {
    /// Presses one chord, as keymaps write it.
    Chord(String),
    /// Types a text.
    Type(String),
    /// Pastes a text.
    Paste(String),
    /// Gives the terminal another size.
    Resize(u16, u16),
}

/// What a console is told.
#[derive(Debug, Clone)]
pub enum Told {
    /// What time it is, and what is true.
    Picture(Box<Picture>),
    /// The answer to an order.
    Answer {
        /// Under which key it was given.
        key: String,
        /// What came back.
        answer: Answer,
    },
    /// The answer to `Wish::Read`.
    Results {
        /// As asked.
        rollout: RolloutId,
        /// As asked.
        machine: MachineId,
        /// Newest first, or why not.
        results: Result<Vec<ApplyResult>, String>,
    },
}

/// A console in a run.
pub trait Console: Clone {
    /// Somebody does something at it. An error where the words are not known.
    fn touch(&mut self, now: Timestamp, touch: &Touch) -> Result<Vec<Wish>, String>;

    /// It is told something.
    fn tell(&mut self, now: Timestamp, told: Told) -> Vec<Wish>;

    /// What it shows: rows of text, right-trimmed.
    fn rows(&self, now: Timestamp) -> Vec<String>;
}

/// Makes consoles.
pub trait Consoles {
    /// What it makes.
    type Console: Console;

    /// A console of this size that knows nothing yet; `by` sits at it.
    fn open(&self, now: Timestamp, by: &str, size: (u16, u16)) -> Self::Console;

    /// Whether there is a screen of this name.
    fn has(&self, screen: &str) -> bool;

    /// Whether keymaps write chords like this.
    fn knows_chord(&self, chord: &str) -> bool;

    /// One screen by name, as a console of this size would show it.
    fn screen(&self, name: &str, now: Timestamp, picture: Picture, size: (u16, u16)) -> Vec<String>;

    /// A change in words; `world` already knows it.
    fn sentence(&self, world: &World, entry: &Entry) -> String;
}
