//! The stage: the console's model in front of a canvas. Takes messages, draws when something changed, keeps the pace.

use std::io;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::canvas::Canvas;
use super::screen::Screen;
use crate::console::effect::Effect;
use crate::console::model::Model;
use crate::console::msg::Msg;
use crate::console::theme::Theme;
use crate::console::update::update;
use crate::console::view::view;

/// Shortest time between two frames: a burst of changes costs 30 frames a second, the first change none of it.
pub const FRAME_MIN: SignedDuration = SignedDuration::from_millis(33);

/// Model, theme, canvas, and when to draw next.
#[derive(Debug)]
pub struct Stage {
    model: Model,
    theme: Theme,
    canvas: Canvas,
    screen: Screen,
    /// Something changed since the last frame.
    changed: bool,
    drawn_at: Option<Timestamp>,
    /// When the same model looks different by time alone.
    wake: Option<Timestamp>,
    /// Nothing is drawn while something else has the terminal.
    away: bool,
}

impl Stage {
    /// A stage on `screen`. Nothing is drawn yet.
    pub fn new(model: Model, theme: Theme, screen: Screen) -> Self {
        let canvas = Canvas::new(screen.tty().size());
        Self { model, theme, canvas, screen, changed: true, drawn_at: None, wake: None, away: false }
    }

    /// The console takes in a message at `now`; what it asks for in return.
    pub fn take(&mut self, msg: Msg, now: Timestamp) -> Vec<Effect> {
        self.changed = true;
        let mut effects = update(&mut self.model, Msg::Clock(now));
        effects.extend(update(&mut self.model, msg));
        effects
    }

    /// When to draw next: not before the pace allows it; none = not until something happens.
    fn due(&self) -> Option<Timestamp> {
        if self.away {
            return None;
        }
        let pace = self.drawn_at.map_or(Timestamp::MIN, |at| at.saturating_add(FRAME_MIN).unwrap_or(Timestamp::MAX));
        if self.changed { Some(pace) } else { self.wake.map(|wake| wake.max(pace)) }
    }

    /// How long to wait from `now` until it is time to draw; none = until something happens.
    pub fn wait(&self, now: Timestamp) -> Option<Duration> {
        let left = self.due()?.duration_since(now);
        // A moment longer rather than a moment too early, which would mean drawing twice.
        Some(Duration::try_from(left).unwrap_or_default() + Duration::from_micros(u64::from(left.is_positive())))
    }

    /// Whether it is time to draw.
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.due().is_some_and(|due| due <= now)
    }

    /// Something the next frame will show is there.
    pub fn touch(&mut self) {
        self.changed = true;
    }

    /// Draws for the first time, before anything is connected or heard. The loop draws again as soon as it runs.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn open(&mut self, now: Timestamp) -> io::Result<()> {
        self.paint(now)
    }

    /// Draws. Where nothing looks different, nothing is written.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn draw(&mut self, now: Timestamp) -> io::Result<Vec<Effect>> {
        let mut effects = update(&mut self.model, Msg::Clock(now));
        self.paint(now)?;
        (self.changed, self.drawn_at) = (false, Some(now));
        effects.extend(update(&mut self.model, Msg::Drawn));
        Ok(effects)
    }

    fn paint(&mut self, now: Timestamp) -> io::Result<()> {
        let buffer = self.canvas.blank();
        self.wake = view(&self.model, &self.theme, now, buffer.area, buffer);
        let frame = self.canvas.frame();
        if frame.is_empty() { Ok(()) } else { self.screen.write(&frame) }
    }

    /// The terminal may have another size.
    pub fn resize(&mut self, now: Timestamp) -> Vec<Effect> {
        let (width, height) = self.screen.tty().size();
        self.canvas.resize((width, height));
        self.take(Msg::Resize { width, height }, now)
    }

    /// Something else wrote to the terminal: draw everything again.
    pub fn forget(&mut self) {
        self.canvas.forget();
        self.changed = true;
    }

    /// The terminal said whether it knows synchronized output.
    pub fn set_sync(&mut self, known: bool) {
        self.canvas.sync = known;
    }

    /// Another theme.
    pub fn set_theme(&mut self, theme: Theme) {
        self.theme = theme;
        self.changed = true;
    }

    /// Gives the terminal back for a while; nothing is drawn until `come_back`.
    pub fn go_away(&mut self) {
        self.away = true;
        self.screen.leave();
    }

    /// Takes the terminal again and draws everything with the next frame.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn come_back(&mut self, now: Timestamp) -> io::Result<Vec<Effect>> {
        self.screen.enter()?;
        self.away = false;
        self.forget();
        Ok(self.resize(now))
    }
}
