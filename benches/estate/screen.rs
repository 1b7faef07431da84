//! A pod changes while the screen of 5,000 servers is open: the picture taken in, and the frame drawn.

use std::hint::black_box;
use std::sync::Arc;

use criterion::Criterion;
use imbl::Vector;
use jiff::Timestamp;
use kura_console::console::keys::Keymap;
use kura_console::console::model::{Model, Setup};
use kura_console::console::msg::Msg;
use kura_console::console::past::Past;
use kura_console::console::snapshot::{Access, Freshness, Seat, Snapshot};
use kura_console::console::theme::{Depth, Theme};
use kura_console::console::update::update;
use kura_console::console::view::view;
use kura_console::domain::observed::Observed;
use kura_console::domain::world::World;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The chord that opens the screen of Kura servers.
const OPENS: &str = "3";

/// Columns and rows of the terminal.
const SIZE: (u16, u16) = (120, 36);

/// Measures both, on pictures that differ in one pod.
pub(super) fn change(c: &mut Criterion, world: &World, before: &Observed, now: Timestamp) {
    let mut after = before.clone();
    let pods = &mut after.cluster.as_mut().expect("a cluster").pods.rows;
    let name = pods.keys().next().expect("a pod").clone();
    pods.get_mut(&name).expect("a pod").ready ^= true;
    let world = Arc::new(world.clone());
    let pictures = [after, before.clone()].map(|observed| snapshot(&world, observed, now));
    let mut model = model(now);
    update(&mut model, Msg::Picture(Box::new(pictures[1].clone())));
    update(&mut model, Msg::Key(OPENS.parse().expect("a chord")));
    let mut turns = pictures.iter().cycle();
    c.bench_function("a pod change taken in by the console, 5,000 servers", |b| {
        b.iter(|| {
            let picture = turns.next().expect("there are two").clone();
            black_box(update(&mut model, Msg::Picture(Box::new(picture))));
        });
    });
    let theme = Theme::shipped("dark", Depth::True).expect("a theme");
    let mut frame = Buffer::empty(Rect::new(0, 0, SIZE.0, SIZE.1));
    c.bench_function("a frame of 5,000 servers at 120x36", |b| {
        b.iter(|| {
            frame.reset();
            black_box(view(&model, &theme, now, frame.area, &mut frame));
        });
    });
    let rows: Vec<&str> = frame.content.iter().map(|cell| cell.symbol()).collect();
    assert!(rows.concat().contains("tenant-"), "the screen of servers is open: {}", rows.concat());
}

fn model(now: Timestamp) -> Model {
    Model::new(Setup {
        keymap: Keymap::shipped("default").expect("a keymap"),
        ascii: false,
        read_only: false,
        by: "jane".into(),
        session: "bench".into(),
        endpoint: "bench".into(),
        context: None,
        now,
        size: SIZE,
    })
}

fn snapshot(world: &Arc<World>, observed: Observed, now: Timestamp) -> Snapshot {
    Snapshot {
        world: Arc::clone(world),
        observed: Arc::new(observed),
        tail: Vector::new(),
        past: Past::default(),
        seat: Seat { holder: Some("serve".into()), last_tick: Some(now), ..Seat::default() },
        api: Freshness::Live(now),
        endpoint: "bench".into(),
        account: "bench".into(),
        access: Access::Operator,
        glimpse: None,
        own: None,
        fallback: None,
    }
}
