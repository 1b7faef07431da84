//! A ring of 10,000 machines at 120x36: one frame, from the model to the cells.

use kura_console::console::keys::Keymap;
use kura_console::console::model::{Model, Setup};
use kura_console::console::msg::Msg;
use kura_console::console::theme::{Depth, Theme};
use kura_console::console::update::update;
use kura_console::console::view::view;
use kura_console::control::link::Link;
use kura_console::control::local::Introduction;
use kura_console::control::picture::Role;
use kura_console::sim::presets::preset;
use kura_console::terminal::convert;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{print_spread, timed};

pub(super) fn ring_of_10_000() {
    let opening = "2026-11-03T03:12:00Z".parse().expect("a time");
    let mut stage = preset("fleet").expect("the preset").stage(opening, 1);
    stage.advance_to(opening).expect("a world");
    let introduction = Introduction { endpoint: "demo".into(), account: "fleet".into(), role: Role::Operator };
    let (link, painter) = stage.link(introduction).expect("a process");
    stage.drive(painter);
    stage.settle().expect("a world");
    let theme = Theme::shipped("dark", Depth::True).expect("a theme");
    let mut model = Model::new(Setup {
        keymap: Keymap::shipped("default").expect("a keymap"),
        ascii: false,
        read_only: false,
        by: "jane".into(),
        session: "figures".into(),
        endpoint: "demo".into(),
        context: None,
        now: opening,
        size: (120, 36),
    });
    let picture = convert::snapshot(link.pictures().borrow().clone());
    let taken = timed(|| drop(update(&mut model, Msg::Picture(Box::new(picture)))));
    for key in ["2", "end"] {
        update(&mut model, Msg::Key(key.parse().expect("a chord")));
    }
    let mut frame = Buffer::empty(Rect::new(0, 0, 120, 36));
    let frames = (0..1_000).map(|_| {
        frame.reset();
        timed(|| {
            view(&model, &theme, opening, frame.area, &mut frame);
        })
    });
    print_spread("frame of a 10,000-machine ring at 120x36", frames.collect());
    println!("a new picture of 10,000 machines taken in: {:.2} ms", taken.as_secs_f64() * 1e3);
}
