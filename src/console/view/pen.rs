//! The pen: the only thing that writes cells. It escapes what it writes, and keeps the time.

use std::borrow::Cow;

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::glyph::Glyph;
use super::super::saying::whole;
use super::super::text::{cut, escape, width};
use super::super::theme::{Role, Theme};
use crate::domain::roll::words;
use crate::domain::span::Seconds;

/// A piece of a line: text and what it is.
pub(super) type Piece<'a> = (Role, Cow<'a, str>);

/// A piece.
pub(super) fn piece<'a>(role: Role, text: impl Into<Cow<'a, str>>) -> Piece<'a> {
    (role, text.into())
}

/// Writes into a buffer and remembers when what it wrote would read differently.
pub(super) struct Pen<'a> {
    buffer: &'a mut Buffer,
    theme: &'a Theme,
    ascii: bool,
    /// What time it is, in whole seconds.
    real: Timestamp,
    /// What ages are counted to, in whole seconds.
    now: Timestamp,
    /// What the control plane told is of this moment, in whole seconds: that of what is seen, or an older one.
    told: Timestamp,
    /// Ages stand still: they belong to a picture that is not renewed.
    frozen: bool,
    base: Option<Style>,
    wake: Option<Timestamp>,
}

impl<'a> Pen<'a> {
    pub(super) fn new(buffer: &'a mut Buffer, theme: &'a Theme, ascii: bool, now: Timestamp) -> Self {
        let now = whole(now);
        Self { buffer, theme, ascii, real: now, now, told: now, frozen: false, base: None, wake: None }
    }

    /// Everything from here on belongs to a picture of `moment`; an older one is faded and its ages stand still.
    pub(super) fn show_moment(&mut self, moment: Timestamp) {
        self.show_moments(moment, moment);
    }

    /// The same where what is seen of the cluster is newer than what the control plane told.
    pub(super) fn show_moments(&mut self, seen: Timestamp, told: Timestamp) {
        (self.now, self.told) = (whole(seen), whole(told));
        self.frozen = self.now < self.real;
    }

    /// Draws what only the control plane tells, as it was when it told it last.
    pub(super) fn as_told<T>(&mut self, draw: impl FnOnce(&mut Self) -> T) -> T {
        let (now, frozen) = (self.now, self.frozen);
        self.now = self.told;
        self.frozen = self.now < self.real;
        let drawn = draw(self);
        (self.now, self.frozen) = (now, frozen);
        drawn
    }

    /// Ages stand still here: nothing that is drawn now is renewed.
    pub(super) fn stands_still(&self) -> bool {
        self.frozen
    }

    /// The moment that is shown.
    pub(super) fn now(&self) -> Timestamp {
        self.now
    }

    /// When the frame would look different by time alone.
    pub(super) fn wake(&self) -> Option<Timestamp> {
        self.wake
    }

    /// The frame looks different from this moment on.
    pub(super) fn wake_at(&mut self, at: Timestamp) {
        if at > self.now && !self.frozen {
            self.wake = Some(self.wake.map_or(at, |wake| wake.min(at)));
        }
    }

    /// A glyph of the set in use.
    pub(super) fn glyph(&self, glyph: Glyph) -> &'static str {
        glyph.text(self.ascii)
    }

    /// Time since a moment, as people say it.
    pub(super) fn age(&mut self, since: Timestamp) -> String {
        let since = whole(since);
        let age = Seconds::between(since, self.now);
        let step = grain(age);
        self.wake_at(Seconds((age.0 / step + 1) * step).after(since));
        age.to_string()
    }

    /// The same in its largest unit only, for a narrow column.
    pub(super) fn short_age(&mut self, since: Timestamp) -> String {
        let since = whole(since);
        let age = Seconds::between(since, self.now);
        let (unit, name) = match age.0 {
            0..60 => (1, "s"),
            60..3_600 => (60, "m"),
            3_600..86_400 => (3_600, "h"),
            _ => (86_400, "d"),
        };
        self.wake_at(Seconds((age.0 / unit + 1) * unit).after(since));
        format!("{}{name}", age.0 / unit)
    }

    /// How long a gate has waited, in whole minutes as everywhere (F43).
    pub(super) fn waited(&mut self, since: Timestamp) -> String {
        let next = Seconds((Seconds::between(since, self.now).0 / 60 + 1) * 60).after(since);
        self.wake_at(if whole(next) == next { next } else { Seconds(1).after(whole(next)) });
        words::waited(since, self.now)
    }

    /// Whole minutes to a moment, rounded up: for what is known about only.
    pub(super) fn about(&mut self, until: Timestamp) -> String {
        let left = Seconds::between(self.now, whole(until)).0;
        self.wake_at(Seconds(left.saturating_sub(1) % 60 + 1).after(self.now));
        format!("{}m", left.div_ceil(60))
    }

    /// Time left to a moment, as people say it.
    pub(super) fn left(&mut self, until: Timestamp) -> String {
        let left = Seconds::between(self.now, whole(until));
        self.wake_at(Seconds(left.0 % grain(left) + 1).after(self.now));
        left.to_string()
    }

    /// Paints an area.
    pub(super) fn fill(&mut self, area: Rect, role: Role) {
        let style = self.style(role);
        self.buffer.set_style(area.intersection(self.buffer.area), style);
    }

    /// Blanks an area, for a layer.
    pub(super) fn clear(&mut self, area: Rect) {
        let area = area.intersection(self.buffer.area);
        for y in area.top()..area.bottom() {
            for x in area.left()..area.right() {
                if let Some(cell) = self.buffer.cell_mut((x, y)) {
                    cell.reset();
                    cell.set_style(self.theme.ground());
                }
            }
        }
    }

    /// From here on everything is laid over this role: the selected row.
    pub(super) fn lay_over(&mut self, role: Option<Role>) {
        self.base = role.map(|role| self.theme.style(role));
    }

    fn style(&self, role: Role) -> Style {
        let style = self.theme.style(role);
        let style = if self.frozen { style.patch(self.theme.style(Role::Stale)) } else { style };
        match self.base {
            Some(base) => style.patch(base),
            None => style,
        }
    }

    /// Writes pieces into the first row of an area and cuts what does not fit. Returns the columns it took.
    pub(super) fn line(&mut self, area: Rect, pieces: &[Piece<'_>]) -> u16 {
        if area.height == 0 || !self.buffer.area.contains((area.x, area.y).into()) {
            return 0;
        }
        let room = area.width.min(self.buffer.area.right() - area.x);
        let total: usize = pieces.iter().map(|(_, text)| width(&escape(text))).sum();
        let mut used = 0;
        for (role, text) in pieces {
            let text = escape(text);
            let left = usize::from(room - used);
            let fits = total <= usize::from(room) || width(&text) < left;
            let text = if fits { text } else { Cow::Owned(self.cut_hard(&text, left)) };
            let (x, _) = self.buffer.set_stringn(area.x + used, area.y, &text, left, self.style(*role));
            used = x - area.x;
            if !fits || used >= room {
                break;
            }
        }
        used
    }

    /// Cut with an ellipsis even where the text itself would just fit, since more was to come.
    fn cut_hard(&self, text: &str, columns: usize) -> String {
        let ellipsis = self.glyph(Glyph::Ellipsis);
        cut(&format!("{}{ellipsis}{ellipsis}", text.trim_end()), columns, ellipsis).into_owned()
    }

    /// Writes pieces so that they end at the right edge. Returns the columns it took.
    pub(super) fn line_right(&mut self, area: Rect, pieces: &[Piece<'_>]) -> u16 {
        let total: usize = pieces.iter().map(|(_, text)| width(&escape(text))).sum();
        let total = u16::try_from(total).unwrap_or(u16::MAX).min(area.width);
        self.line(Rect { x: area.x + area.width - total, width: total, ..area }, pieces);
        total
    }

    /// A thin line over the first row of an area.
    pub(super) fn rule(&mut self, area: Rect) {
        let line = self.glyph(Glyph::Rule).repeat(usize::from(area.width));
        self.line(area, &[piece(Role::Rule, line)]);
    }

    /// A frame around an area; returns what is inside, with a column of air on each side.
    pub(super) fn frame(&mut self, area: Rect, title: &[Piece<'_>]) -> Rect {
        self.clear(area);
        self.fill(area, Role::Layer);
        if area.width < 4 || area.height < 2 {
            return Rect { height: 0, ..area };
        }
        let across = self.glyph(Glyph::Rule).repeat(usize::from(area.width) - 2);
        let row = |y: u16| Rect { y, height: 1, ..area };
        let corners =
            [(Glyph::TopLeft, Glyph::TopRight, area.y), (Glyph::BottomLeft, Glyph::BottomRight, area.bottom() - 1)];
        for (left, right, y) in corners {
            let line = format!("{}{across}{}", self.glyph(left), self.glyph(right));
            self.line(row(y), &[piece(Role::Rule, line)]);
        }
        for y in area.y + 1..area.bottom() - 1 {
            let bar = self.glyph(Glyph::Bar);
            self.line(row(y), &[piece(Role::Rule, bar)]);
            self.line_right(row(y), &[piece(Role::Rule, bar)]);
        }
        self.line(Rect { x: area.x + 2, width: area.width.saturating_sub(4), ..row(area.y) }, title);
        Rect { x: area.x + 2, y: area.y + 1, width: area.width - 4, height: area.height - 2 }
    }
}

/// Ages shown to this many seconds: `12m 4s` by the second, `1h 17m` by the minute, `2d 2h` by the hour.
fn grain(age: Seconds) -> u64 {
    match age.0 {
        0..3_600 => 1,
        3_600..86_400 => 60,
        _ => 3_600,
    }
}
