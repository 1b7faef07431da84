//! Names that try to steer the terminal: they are shown as what they are, and nothing of them reaches it as a control.
//!
//! This binary runs itself again on a pseudo-terminal, as a console whose link knows one picture: that of the demo, with
//! names that no control plane should have let in.

use std::future::Ready;
use std::time::Duration;

use kura_console::adapters::clock::SystemClock;
use kura_console::app::console::{Backstage, run_console};
use kura_console::app::look::ScreenArgs;
use kura_console::app::pace::{Paced, Show};
use kura_console::control::link::{Answer, Link};
use kura_console::control::picture::{Freshness, Picture};
use kura_console::control::ports::ApplyResult;
use kura_console::domain::ids::{MachineId, Revision, RolloutId};
use kura_console::domain::input::Order;
use kura_console::sim::presets::preset;
use tokio::sync::watch;

use super::driver::Launch;

const PART: &str = "KURA_TEST_HOSTILE";

/// Clears the screen, sets the window's title, rings, turns the text red by one byte, and turns the reading order.
const HOSTILE: &str = "w3\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}";

#[derive(Clone)]
struct Canned(watch::Receiver<Picture>);

impl Link for Canned {
    fn pictures(&self) -> watch::Receiver<Picture> {
        self.0.clone()
    }

    async fn order(&self, _: Order, _: Option<Revision>) -> Answer {
        Answer::Unsent { why: HOSTILE.to_owned() }
    }

    async fn results(&self, _: RolloutId, _: MachineId) -> Result<Vec<ApplyResult>, String> {
        Err(HOSTILE.to_owned())
    }
}

/// No test of its own: the part the other one asks for.
#[test]
fn a_part_is_played() {
    if std::env::var_os(PART).is_none() {
        return;
    }
    let flags = ScreenArgs::default();
    run_console(&flags, HOSTILE, async |clock: SystemClock| {
        let paced = Paced::start(Show::Preset(preset("window").unwrap(), 1), 1.0, clock)?;
        let mut pictures = paced.link().pictures();
        let picture = pictures.wait_for(|picture| matches!(picture.api, Freshness::Live(_))).await.unwrap().clone();
        let (sender, canned) = watch::channel(poisoned(picture));
        let farewell: Ready<()> = std::future::ready(());
        // Kept to the end: a link whose sender is gone says so.
        std::mem::forget(sender);
        Ok(Backstage { link: Canned(canned), clock: paced.clock(), farewell })
    })
    .unwrap();
}

fn poisoned(mut picture: Picture) -> Picture {
    let text = serde_json::to_string(&*picture.world).unwrap();
    let name = serde_json::to_string(HOSTILE).unwrap();
    let world =
        text.replace("oak-w3", name.trim_matches('"')).replace("oak-workers", &format!("o{}", name.trim_matches('"')));
    picture.world = serde_json::from_str::<kura_console::domain::world::World>(&world).unwrap().into();
    picture.account = HOSTILE.to_owned();
    picture
}

#[test]
fn hostile_names_reach_the_terminal_as_text_only() {
    let myself = std::env::current_exe().unwrap();
    let arguments = ["--exact", "pty::hostile::a_part_is_played", "--nocapture", "--test-threads=1"];
    let mut driver = Launch::program(myself, &arguments).env(PART, "1").size(120, 40).start();
    driver.wait_for("RUNNING");
    for keys in ["2", "G", "\r", "w", "0", "1", "c", "2", "xm"] {
        let known = driver.bytes();
        driver.send(keys);
        driver.wait_for_more(known);
        // An answer that comes after the key is drawn too; two keys at once may leave everything as it was.
        driver.settle(Duration::from_millis(100));
    }
    driver.send("\x1b\x1b");
    driver.wait_for("w3\u{241b}[2J\u{241b}]0;owned");
    // The first frame wipes the screen; nothing else does.
    assert_eq!(driver.count("\x1b[2J"), 1);
    for never in ["\x1b]0;", "\u{9b}", "\u{202e}", "owned\x07"] {
        assert_eq!(driver.count(never), 0, "{never:?}");
    }
    // An escape right before another key would make one chord of the two.
    driver.settle(2 * kura_console::terminal::decode::ESCAPE_WAIT);
    driver.send("\x03");
    assert_eq!(driver.wait_exit().code, Some(0));
}
