//! The screenshots: made by the program from simulated worlds at fixed moments and sizes, kept as SVG, and compared.
//!
//! To draw them anew: `KURA_REGENERATE=1 cargo test --test suite screenshots`.

mod first_screens;
mod incidents;

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use kura_console::console::keys::Keymap;
use kura_console::console::model::{Model, Setup};
use kura_console::console::msg::Msg;
use kura_console::console::theme::{Depth, Theme};
use kura_console::console::update::update;
use kura_console::console::view::view;
use kura_console::control::link::Link;
use kura_console::control::local::Introduction;
use kura_console::control::picture::{Picture, Role};
use kura_console::sim::presets::preset;
use kura_console::sim::stage::Stage;
use kura_console::terminal::{convert, record};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// What is on a picture: a world, what is pressed, the size, the theme.
struct Shot {
    name: &'static str,
    preset: &'static str,
    keys: &'static str,
    size: (u16, u16),
    theme: &'static str,
}

const SHOTS: &[Shot] = &[
    Shot { name: "now-80x24", preset: "window", keys: "", size: (80, 24), theme: "dark" },
    Shot { name: "rollout-120x36", preset: "window", keys: "2 j j j j j j", size: (120, 36), theme: "dark" },
    Shot { name: "rollout-80x24", preset: "window", keys: "2 j j j j j j", size: (80, 24), theme: "dark" },
    Shot { name: "halt-80x24", preset: "window", keys: "2 x h", size: (80, 24), theme: "dark" },
    Shot { name: "halted-120x36", preset: "halted", keys: "2 j j j j j j", size: (120, 36), theme: "dark" },
    Shot { name: "superseded-80x24", preset: "superseded", keys: "", size: (80, 24), theme: "dark" },
    Shot { name: "light-120x36", preset: "window", keys: "2 j j j j j j", size: (120, 36), theme: "light" },
    Shot { name: "log-80x24", preset: "window", keys: "0", size: (80, 24), theme: "dark" },
];

#[test]
fn the_kept_pictures_are_what_the_program_draws() {
    let stale: Vec<&str> = SHOTS.iter().filter(|shot| !is_kept(shot.name, &draw(shot))).map(|s| s.name).collect();
    assert!(stale.is_empty(), "stale: {stale:?}; run KURA_REGENERATE=1 cargo test --test suite screenshots");
}

#[test]
fn every_kept_picture_is_drawn() {
    let written = SHOTS.iter().map(|shot| path(shot.name));
    let others = first_screens::names().into_iter().chain(incidents::names());
    let known: Vec<PathBuf> = written.chain(others.map(|name| path(&name))).collect();
    let kept = fs::read_dir(folder()).unwrap().flatten().map(|entry| entry.path());
    let orphans: Vec<PathBuf> = kept.filter(|file| !known.contains(file)).collect();
    assert!(orphans.is_empty(), "{orphans:?}");
}

fn is_kept(name: &str, drawn: &str) -> bool {
    if std::env::var_os("KURA_REGENERATE").is_some() {
        fs::write(path(name), drawn).unwrap();
    }
    fs::read_to_string(path(name)).is_ok_and(|kept| kept == drawn)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("screenshots")
}

fn path(name: &str) -> PathBuf {
    folder().join(format!("{name}.svg"))
}

/// Opens the world, presses the keys, and draws once.
fn draw(shot: &Shot) -> String {
    let mut stage = preset(shot.preset).unwrap().stage(opening(), 1);
    stage.advance_to(opening()).unwrap();
    let theme = Theme::shipped(shot.theme, Depth::True).unwrap();
    let model = look_at(picture(&mut stage, shot.preset), shot.size, shot.keys);
    record::svg(&frame(&model, &theme, shot.size), "kura-console", theme.ground())
}

/// The moment every picture shows.
fn opening() -> Timestamp {
    "2026-11-03T03:12:00Z".parse().unwrap()
}

/// A console of that size that sees one picture, and on which keys are pressed.
fn look_at(picture: Picture, size: (u16, u16), keys: &str) -> Model {
    let mut model = Model::new(Setup {
        keymap: Keymap::shipped("default").unwrap(),
        ascii: false,
        read_only: false,
        by: "jane".to_owned(),
        session: "screenshot".to_owned(),
        endpoint: "demo".to_owned(),
        context: Some("demo".to_owned()),
        now: opening(),
        size,
    });
    update(&mut model, Msg::Picture(Box::new(convert::snapshot(picture))));
    for key in keys.split_whitespace() {
        update(&mut model, Msg::Key(key.parse().unwrap()));
        update(&mut model, Msg::Drawn);
    }
    model
}

fn frame(model: &Model, theme: &Theme, size: (u16, u16)) -> Buffer {
    let mut frame = Buffer::empty(Rect::new(0, 0, size.0, size.1));
    view(model, theme, opening(), frame.area, &mut frame);
    frame
}

fn picture(stage: &mut Stage, account: &str) -> Picture {
    let (endpoint, account) = ("demo".to_owned(), account.to_owned());
    let (link, painter) = stage.link(Introduction { endpoint, account, role: Role::Operator }).unwrap();
    stage.drive(painter);
    stage.settle().unwrap();
    link.pictures().borrow().clone()
}
