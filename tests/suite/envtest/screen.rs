//! What a console shows of a control plane at one moment: the picture it would be sent, drawn by the code that draws it.

use jiff::Timestamp;
use kura_console::console::keys::Keymap;
use kura_console::console::model::{Model, Setup};
use kura_console::console::msg::Msg;
use kura_console::console::theme::{Depth, Theme};
use kura_console::console::update::update;
use kura_console::console::view::view;
use kura_console::control::picture::Picture;
use kura_console::terminal::{convert, linear};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Of the terminal.
const SIZE: (u16, u16) = (120, 40);

/// A screen, row by row.
pub struct Shown(Vec<String>);

impl Shown {
    /// The first screen, or the one some keys lead to.
    pub fn of(picture: Picture, keys: &str, now: Timestamp) -> Self {
        let mut model = Model::new(Setup {
            keymap: Keymap::shipped("default").expect("it is shipped"),
            ascii: false,
            read_only: false,
            by: "jane".to_owned(),
            session: "envtest".to_owned(),
            endpoint: "envtest".to_owned(),
            context: None,
            now,
            size: SIZE,
        });
        update(&mut model, Msg::Picture(Box::new(convert::snapshot(picture))));
        for key in keys.split_whitespace() {
            update(&mut model, Msg::Key(key.parse().expect("a key")));
            update(&mut model, Msg::Drawn);
        }
        let theme = Theme::shipped("dark", Depth::True).expect("it is shipped");
        let mut frame = Buffer::empty(Rect::new(0, 0, SIZE.0, SIZE.1));
        view(&model, &theme, now, frame.area, &mut frame);
        Self(linear::rows(&frame))
    }

    /// What is on a terminal.
    pub fn on(contents: &str) -> Self {
        Self(contents.lines().map(str::to_owned).collect())
    }

    /// Whether one of its panes says these things, in this order; where a line ends does not matter.
    pub fn says(&self, parts: &[&str]) -> bool {
        let panes = [self.pane(|row| row.split('│').next()), self.pane(|row| row.rsplit('│').next())];
        panes.iter().any(|pane| {
            let mut rest = pane.as_str();
            parts.iter().all(|part| match rest.split_once(part) {
                Some((_, behind)) => {
                    rest = behind;
                    true
                }
                None => false,
            })
        })
    }

    fn pane(&self, of: impl Fn(&str) -> Option<&str>) -> String {
        self.0.iter().filter_map(|row| of(row)).flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
    }
}

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}
