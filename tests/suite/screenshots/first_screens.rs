//! The first screen of each failure mode, as the demo opens on it: the sentence, the advice and what to verify of its
//! row, at both sizes, and the picture of it that is kept.

use kura_console::app::actors::Actors;
use kura_console::console::theme::{Depth, Theme};
use kura_console::control::link::Link;
use kura_console::control::local::Introduction;
use kura_console::control::picture::{Picture, Role};
use kura_console::domain::explain::{Subject, explain};
use kura_console::domain::failure_mode::findings;
use kura_console::sim::presets::{KEPT, Kept};
use kura_console::terminal::{linear, record};

use super::{frame, is_kept, look_at, opening};

/// The sizes a first screen has to work at.
const SIZES: [(u16, u16); 2] = [(80, 24), (120, 36)];

/// What a console sees when the demo opens on a row.
fn seen(kept: &Kept) -> Picture {
    let mut run = kept.begin(opening(), Actors::usual().unwrap()).unwrap();
    let introduction = Introduction { endpoint: "demo".to_owned(), account: kept.name(), role: Role::Operator };
    let (link, painter) = run.link(introduction).unwrap();
    run.advance_to(opening()).unwrap();
    run.go_live(painter).unwrap();
    link.pictures().borrow().clone()
}

/// The detail as one text without its line breaks, and the whole screen.
fn text(picture: Picture, size: (u16, u16)) -> (String, Vec<String>) {
    let theme = Theme::shipped("dark", Depth::True).unwrap();
    let rows = linear::rows(&frame(&look_at(picture, size, ""), &theme, size));
    let detail = |row: &String| row.rsplit('│').next().unwrap_or_default().to_owned();
    let words: Vec<String> = rows.iter().map(detail).collect();
    let words: Vec<&str> = words.iter().flat_map(|row| row.split_whitespace()).collect();
    (words.join(" "), rows)
}

fn name(kept: &Kept, (width, height): (u16, u16)) -> String {
    format!("{}-{width}x{height}", kept.name())
}

/// What the kept pictures are called.
pub(super) fn names() -> Vec<String> {
    KEPT.iter().flat_map(|kept| SIZES.map(|size| name(kept, size))).collect()
}

#[test]
fn the_kept_pictures_of_the_rows_are_what_the_demo_opens_on() {
    let theme = Theme::shipped("dark", Depth::True).unwrap();
    let mut stale = Vec::new();
    for kept in &KEPT {
        let picture = seen(kept);
        for size in SIZES {
            let drawn = frame(&look_at(picture.clone(), size, ""), &theme, size);
            let drawn = record::svg(&drawn, "kura-console", theme.ground());
            stale.extend(Some(name(kept, size)).filter(|name| !is_kept(name, &drawn)));
        }
    }
    assert!(stale.is_empty(), "stale: {stale:?}; run KURA_REGENERATE=1 cargo test --test suite screenshots");
}

#[test]
fn the_first_screen_of_every_row_has_its_sentence_its_advice_and_what_to_verify() {
    for kept in &KEPT {
        let picture = seen(kept);
        let (world, observed) = (&picture.world, &picture.observed);
        let found = findings(world, observed, opening()).into_iter().find(|found| found.mode == kept.mode).unwrap();
        let asked = [Some(Subject::Rollout), found.ring.map(Subject::Ring), found.machine.map(Subject::Machine)];
        let said = asked.into_iter().flatten().map(|subject| explain(world, observed, subject, opening()));
        let said = said.filter(|said| said.failure_mode == Some(kept.mode)).map(|said| said.sentence);
        let sentences: Vec<String> = said.chain([found.sentence.clone()]).collect();
        for size in SIZES {
            let (text, rows) = text(picture.clone(), size);
            let shown = rows.join("\n");
            assert!(
                sentences.iter().any(|sentence| text.contains(sentence)),
                "{}: {sentences:?}\n{shown}",
                kept.name()
            );
            assert!(text.contains(&kept.mode.id()), "{}\n{shown}", kept.name());
            for part in found.next(world).into_iter().chain(found.verify()) {
                assert!(text.contains(&part), "{}: {part}\n{shown}", kept.name());
            }
        }
    }
}
