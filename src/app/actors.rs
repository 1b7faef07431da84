//! The consoles of a simulation: the pure half of the console, drawn into a buffer nobody sees but the scenario.

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::look::{Look, ScreenArgs};
use crate::console::chord::Chord;
use crate::console::effect::Effect;
use crate::console::keys::Keymap;
use crate::console::model::{Model, Setup};
use crate::console::msg::Msg;
use crate::console::theme::Theme;
use crate::console::update::update;
use crate::console::view::view;
use crate::console::words::say;
use crate::control::picture::Picture;
use crate::domain::change::Entry;
use crate::domain::world::World;
use crate::sim::scenario::screens::{Console, Consoles, Told, Touch, Wish};
use crate::terminal::{convert, linear};
use crate::wire::problem::Problem;

/// Screens by name, and the chord that leads to each.
const SCREENS: [(&str, &str); 6] =
    [("now", "1"), ("rollout", "2"), ("kura", "3"), ("releases", "6"), ("history", "7"), ("log", "0")];

/// Opens consoles for a simulation.
#[derive(Debug, Clone)]
pub struct Actors {
    keymap: Keymap,
    theme: Theme,
}

impl Actors {
    /// With the keymap and the theme that are built in and usual, whatever this terminal is like.
    pub fn usual() -> Result<Self, Problem> {
        let Look { keymap, theme, .. } = Look::of(&ScreenArgs::default(), &|_| None)?;
        Ok(Self { keymap, theme })
    }
}

/// A console in a simulation.
#[derive(Debug, Clone)]
pub struct Actor {
    model: Model,
    theme: Theme,
    size: (u16, u16),
}

impl Consoles for Actors {
    type Console = Actor;

    fn open(&self, now: Timestamp, by: &str, size: (u16, u16)) -> Actor {
        let setup = Setup {
            keymap: self.keymap.clone(),
            ascii: false,
            read_only: false,
            by: by.to_owned(),
            session: format!("scenario-{by}"),
            endpoint: "scenario".to_owned(),
            context: Some("scenario".to_owned()),
            now,
            size,
        };
        Actor { model: Model::new(setup), theme: self.theme.clone(), size }
    }

    fn has(&self, screen: &str) -> bool {
        SCREENS.iter().any(|(name, _)| *name == screen)
    }

    fn knows_chord(&self, chord: &str) -> bool {
        chord.parse::<Chord>().is_ok()
    }

    fn screen(&self, name: &str, now: Timestamp, picture: Picture, size: (u16, u16)) -> Vec<String> {
        let mut actor = self.open(now, "operator", size);
        actor.tell(now, Told::Picture(Box::new(picture)));
        if let Some((_, chord)) = SCREENS.iter().find(|(known, _)| *known == name) {
            // The chord is one of our own table, and what it wishes for is nobody's here.
            let _ = actor.touch(now, &Touch::Chord((*chord).to_owned()));
        }
        actor.rows(now)
    }

    fn sentence(&self, world: &World, entry: &Entry) -> String {
        say(entry, world).text
    }
}

impl Actor {
    fn send(&mut self, now: Timestamp, msg: Msg) -> Vec<Wish> {
        let mut effects = update(&mut self.model, Msg::Clock(now));
        effects.extend(update(&mut self.model, msg));
        effects.into_iter().filter_map(wish).collect()
    }

    /// Sends something a person does, who sees the frame before doing anything else.
    fn seen(&mut self, now: Timestamp, msg: Msg) -> Vec<Wish> {
        let mut wishes = self.send(now, msg);
        wishes.extend(self.send(now, Msg::Drawn));
        wishes
    }
}

impl Console for Actor {
    fn touch(&mut self, now: Timestamp, touch: &Touch) -> Result<Vec<Wish>, String> {
        Ok(match touch {
            Touch::Chord(chord) => {
                let chord: Chord = chord.parse().map_err(|error| format!("{chord}: {error}"))?;
                self.seen(now, Msg::Key(chord))
            }
            Touch::Type(text) => text.chars().flat_map(|c| self.seen(now, Msg::Key(Chord::char(c)))).collect(),
            Touch::Paste(text) => self.seen(now, Msg::Paste(text.clone())),
            Touch::Resize(width, height) => {
                self.size = (*width, *height);
                self.seen(now, Msg::Resize { width: *width, height: *height })
            }
        })
    }

    fn tell(&mut self, now: Timestamp, told: Told) -> Vec<Wish> {
        let msg = match told {
            Told::Picture(picture) => Msg::Picture(Box::new(convert::snapshot(*picture))),
            Told::Answer { key, answer } => Msg::Answer { key, answer: convert::answer(answer) },
            Told::Results { rollout, machine, results } => {
                let results = results.map(|list| list.into_iter().map(convert::result).collect());
                Msg::Results { rollout, machine, results }
            }
        };
        self.seen(now, msg)
    }

    fn rows(&self, now: Timestamp) -> Vec<String> {
        let (width, height) = self.size;
        let area = Rect { x: 0, y: 0, width, height };
        let mut buffer = Buffer::empty(area);
        view(&self.model, &self.theme, now, area, &mut buffer);
        linear::rows(&buffer)
    }
}

/// What an effect asks of the world outside; the rest concerns a terminal, and there is none.
fn wish(effect: Effect) -> Option<Wish> {
    match effect {
        Effect::SendOrder(sealed) => Some(Wish::Give(Box::new(sealed.into_order()))),
        Effect::Seat(sealed) => Some(Wish::Seat(Box::new(convert::seat_order(*sealed)))),
        Effect::LoadResults { rollout, machine } => Some(Wish::Read { rollout, machine }),
        Effect::Quit => Some(Wish::Leave),
        Effect::LoadPast { .. } | Effect::Copy(_) | Effect::Redraw | Effect::Suspend => None,
    }
}
