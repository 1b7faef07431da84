//! The loop: hears one thing at a time, lets the console answer, does what it asks for, draws.

use std::io;
use std::ops::ControlFlow;

use tokio::sync::mpsc::{Receiver, Sender};
use tokio::sync::watch;

use super::clipboard::{COPY_MAX, copy};
use super::convert;
use super::decode::Token;
use super::effects::Errands;
use super::heard::Heard;
use super::job;
use super::screen::Screen;
use super::stage::{Moment, Stage};
use crate::console::effect::Effect;
use crate::console::msg::{Level, Msg, Notice};
use crate::control::link::Link;
use crate::control::picture::Picture;
use crate::control::ports::Clock;

/// Things heard that are taken in before the next frame at most; a frame is never starved.
const BATCH_MAX: usize = 256;

/// Why the console ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The person left.
    Quit,
    /// This signal asked for it.
    Signal(i32),
    /// The terminal is gone.
    HungUp,
}

/// Both ends of what the loop hears.
pub type Channel = (Sender<Heard>, Receiver<Heard>);

/// Everything the loop holds.
pub struct Run<L, W, S> {
    screen: Screen,
    stage: Stage,
    /// Ours.
    wall: W,
    /// The world's.
    shown: S,
    heard: Receiver<Heard>,
    pictures: watch::Receiver<Picture>,
    errands: Errands<L>,
    /// A newer picture is there and not taken in yet.
    fresh: bool,
    /// The link ended; no picture will come any more.
    deaf: bool,
}

impl<L: Link, W: Clock, S: Clock> Run<L, W, S> {
    /// A loop over `link`, whose world lives by the clock `shown`; answers are told to it through `tell`.
    pub fn new(screen: Screen, stage: Stage, (link, shown): (L, S), wall: W, (tell, heard): Channel) -> Self {
        let mut pictures = link.pictures();
        pictures.mark_changed();
        let errands = Errands::new(link, tell);
        Self { screen, stage, wall, shown, heard, pictures, errands, fresh: false, deaf: false }
    }

    /// Runs until somebody ends it, gives the screen back, and lets orders under way finish.
    ///
    /// # Errors
    /// When the terminal takes no more output.
    pub async fn go(mut self) -> io::Result<End> {
        let end = self.until_the_end().await;
        self.screen.leave();
        self.errands.finish(&self.wall).await;
        // A frame may notice before the reader of keys does.
        if end.is_err() && self.screen.tty().is_gone() { Ok(End::HungUp) } else { end }
    }

    fn now(&self) -> Moment {
        Moment { wall: self.wall.now(), shown: self.shown.now() }
    }

    async fn until_the_end(&mut self) -> io::Result<End> {
        loop {
            if let ControlFlow::Break(end) = self.turn().await? {
                return Ok(end);
            }
        }
    }

    /// Waits for something, takes in everything that is there, draws if it is time to.
    async fn turn(&mut self) -> io::Result<ControlFlow<End>> {
        let mut heard = self.listen().await;
        for _ in 0..BATCH_MAX {
            let Some(thing) = heard.take().or_else(|| self.heard.try_recv().ok()) else { break };
            if let ControlFlow::Break(end) = self.take(thing)? {
                return Ok(ControlFlow::Break(end));
            }
        }
        self.draw()
    }

    /// The next thing heard; none when it is time to draw or a newer picture is there.
    async fn listen(&mut self) -> Option<Heard> {
        let wait = self.stage.wait(self.now());
        let time_to_draw = async {
            match wait {
                Some(span) => self.wall.sleep(span).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            heard = self.heard.recv() => heard,
            picture = self.pictures.changed(), if !self.deaf => {
                self.hear_picture(picture.is_ok());
                None
            }
            () = time_to_draw => None,
        }
    }

    fn hear_picture(&mut self, alive: bool) {
        self.deaf = !alive;
        self.fresh |= alive;
        self.stage.touch();
        if self.deaf {
            tracing::error!("the link to the control plane ended; leave the console and start it again");
        }
    }

    fn take(&mut self, heard: Heard) -> io::Result<ControlFlow<End>> {
        let now = self.now();
        let effects = match heard {
            Heard::Ending(signal) => return Ok(ControlFlow::Break(End::Signal(signal))),
            Heard::HungUp => return Ok(ControlFlow::Break(End::HungUp)),
            Heard::Suspend => return self.suspend(now).map(ControlFlow::Continue),
            Heard::Continued => self.stage.come_back(now)?,
            Heard::Resized => self.stage.resize(now),
            Heard::Theme(theme) => {
                self.stage.set_theme(*theme);
                Vec::new()
            }
            Heard::Token(Token::Sync(known)) => {
                self.stage.set_sync(known);
                Vec::new()
            }
            Heard::Token(Token::Key(chord)) => self.stage.take(Msg::Key(chord), now),
            Heard::Token(Token::Paste(text)) => self.stage.take(Msg::Paste(text), now),
            Heard::Msg(msg) => self.stage.take(*msg, now),
        };
        self.perform(effects, now)
    }

    /// The newest picture is taken in right before it is drawn: those in between cost nothing.
    fn draw(&mut self) -> io::Result<ControlFlow<End>> {
        let now = self.now();
        if !self.stage.is_due(now) {
            return Ok(ControlFlow::Continue(()));
        }
        let mut effects = Vec::new();
        if std::mem::take(&mut self.fresh) {
            let picture = self.pictures.borrow_and_update().clone();
            effects = self.stage.take(Msg::Picture(Box::new(convert::snapshot(picture))), now);
        }
        effects.extend(self.stage.draw(now)?);
        self.perform(effects, now)
    }

    fn perform(&mut self, effects: Vec<Effect>, now: Moment) -> io::Result<ControlFlow<End>> {
        for effect in effects {
            match effect {
                Effect::Quit => return Ok(ControlFlow::Break(End::Quit)),
                Effect::Suspend => self.suspend(now)?,
                Effect::Redraw => self.stage.forget(),
                Effect::Copy(text) => self.copy(&text, now)?,
                Effect::SendOrder(sealed) => self.errands.order(*sealed),
                Effect::Seat(sealed) => self.errands.seat(*sealed),
                Effect::LoadResults { rollout, machine } => self.errands.results(rollout, machine),
                Effect::LoadPast { before } => self.errands.past(before),
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn copy(&mut self, text: &str, now: Moment) -> io::Result<()> {
        match copy(text) {
            Some(sequence) => self.screen.write(&sequence)?,
            None => self.notice(format!("not copied: longer than the {COPY_MAX} bytes terminals take"), now),
        }
        Ok(())
    }

    /// Stops the process until it is continued; SIGCONT brings the console back.
    fn suspend(&mut self, now: Moment) -> io::Result<()> {
        if job::has_shell() {
            self.stage.go_away();
            job::stop()?;
        } else {
            self.notice("not suspended: no shell is there to continue it".to_owned(), now);
        }
        Ok(())
    }

    fn notice(&mut self, text: String, now: Moment) {
        let notice = Notice { at: now.shown, level: Level::Warning, text };
        // A notice asks for nothing in return.
        let _ = self.stage.take(Msg::Notice(notice), now);
    }
}
