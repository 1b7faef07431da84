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

/// One moment on two clocks. They differ where a simulated world is shown: its time runs at its own speed, while the
/// person and the terminal live in ours.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// Ours: keeps the pace.
    pub wall: Timestamp,
    /// The world's: what is shown.
    pub shown: Timestamp,
}

/// Model, theme, canvas, and when to draw next.
#[derive(Debug)]
pub struct Stage {
    model: Model,
    theme: Theme,
    canvas: Canvas,
    screen: Screen,
    /// Something changed since the last frame.
    changed: bool,
    /// By our clock.
    drawn_at: Option<Timestamp>,
    /// When the same model looks different by time alone, by the world's clock.
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

    /// The console takes in a message; what it asks for in return.
    pub fn take(&mut self, msg: Msg, now: Moment) -> Vec<Effect> {
        self.changed = true;
        let mut effects = update(&mut self.model, Msg::Clock(now.shown));
        effects.extend(update(&mut self.model, msg));
        effects
    }

    /// Whether it is time to draw: something changed, or time alone changes what one sees, and the pace allows it.
    pub fn is_due(&self, now: Moment) -> bool {
        self.wait(now).is_some_and(|wait| wait.is_zero())
    }

    /// How long to wait until it is time to draw; none = until something happens.
    pub fn wait(&self, now: Moment) -> Option<Duration> {
        if self.away {
            return None;
        }
        let pace = self.drawn_at.map_or(SignedDuration::ZERO, |at| FRAME_MIN - now.wall.duration_since(at));
        let change = if self.changed { SignedDuration::ZERO } else { self.wake?.duration_since(now.shown) };
        Some(Duration::try_from(pace.max(change)).unwrap_or_default())
    }

    /// Something the next frame will show is there.
    pub fn touch(&mut self) {
        self.changed = true;
    }

    /// Draws for the first time, before anything is connected or heard. The loop draws again as soon as it runs.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn open(&mut self, now: Moment) -> io::Result<()> {
        self.paint(now)
    }

    /// Draws. Where nothing looks different, nothing is written.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn draw(&mut self, now: Moment) -> io::Result<Vec<Effect>> {
        let mut effects = update(&mut self.model, Msg::Clock(now.shown));
        self.paint(now)?;
        (self.changed, self.drawn_at) = (false, Some(now.wall));
        effects.extend(update(&mut self.model, Msg::Drawn));
        Ok(effects)
    }

    fn paint(&mut self, now: Moment) -> io::Result<()> {
        let buffer = self.canvas.blank();
        self.wake = view(&self.model, &self.theme, now.shown, buffer.area, buffer);
        let frame = self.canvas.frame();
        if frame.is_empty() { Ok(()) } else { self.screen.write(&frame) }
    }

    /// The terminal may have another size.
    pub fn resize(&mut self, now: Moment) -> Vec<Effect> {
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
    pub fn come_back(&mut self, now: Moment) -> io::Result<Vec<Effect>> {
        self.screen.enter()?;
        self.away = false;
        self.forget();
        Ok(self.resize(now))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::*;
    use crate::console::chord::Chord;
    use crate::console::keys::Keymap;
    use crate::console::model::Setup;
    use crate::console::theme::Depth;
    use crate::terminal::tty::Tty;

    fn moment(wall: i64, shown: i64) -> Moment {
        let at = |ms| Timestamp::from_millisecond(ms).unwrap();
        Moment { wall: at(wall), shown: at(shown) }
    }

    /// A stage on a terminal that swallows everything.
    fn stage() -> Stage {
        let nowhere = || OpenOptions::new().read(true).write(true).open("/dev/null").unwrap().into();
        let setup = Setup {
            keymap: Keymap::shipped("default").unwrap(),
            ascii: false,
            read_only: false,
            by: "op-a".to_owned(),
            session: "test".to_owned(),
            endpoint: "nowhere".to_owned(),
            context: None,
            now: Timestamp::UNIX_EPOCH,
            size: (80, 24),
        };
        let theme = Theme::shipped("dark", Depth::Mono).unwrap();
        Stage::new(Model::new(setup), theme, Screen::of(Tty::new(nowhere(), nowhere())))
    }

    fn press(stage: &mut Stage, key: char, now: Moment) {
        stage.take(Msg::Key(Chord::char(key)), now);
    }

    #[test]
    fn the_first_change_is_drawn_at_once_and_a_burst_at_the_pace() {
        let mut stage = stage();
        stage.draw(moment(0, 0)).unwrap();
        assert!(!stage.is_due(moment(5_000, 5_000)), "nothing happened");
        press(&mut stage, '?', moment(5_000, 5_000));
        assert!(stage.is_due(moment(5_000, 5_000)));
        stage.draw(moment(5_000, 5_000)).unwrap();
        press(&mut stage, 'j', moment(5_001, 5_001));
        assert_eq!(stage.wait(moment(5_001, 5_001)), Some(Duration::from_millis(32)));
        press(&mut stage, 'j', moment(5_020, 5_020));
        assert!(!stage.is_due(moment(5_032, 5_032)));
        assert!(stage.is_due(moment(5_033, 5_033)));
    }

    #[test]
    fn the_pace_is_kept_by_our_clock_and_the_wake_by_the_worlds() {
        let mut stage = stage();
        stage.draw(moment(0, 0)).unwrap();
        stage.wake = Some(moment(0, 1_000).shown);
        assert_eq!(stage.wait(moment(50, 0)), Some(Duration::from_secs(1)));
        assert!(stage.is_due(moment(50, 1_000)));
        assert!(!stage.is_due(moment(10, 1_000)), "a fast world does not make more frames");
    }

    #[test]
    fn nothing_is_drawn_while_the_terminal_is_somebody_elses() {
        let mut stage = stage();
        stage.draw(moment(0, 0)).unwrap();
        stage.go_away();
        press(&mut stage, '?', moment(5_000, 5_000));
        assert_eq!(stage.wait(moment(9_000, 9_000)), None);
        // The screen of /dev/null cannot be taken again, and that is told.
        assert!(stage.come_back(moment(9_000, 9_000)).is_err());
    }
}
