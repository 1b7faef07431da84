//! A fault of the console's own: the terminal is given back first, then it is said what happened (A24).
//!
//! The product has no switch that makes it panic, so this binary runs itself again on a pseudo-terminal and plays the
//! console there: same screen, same hook, a panic on purpose.

use std::future::Ready;
use std::io::Write;

use kura_console::adapters::clock::SystemClock;
use kura_console::adapters::remote::link::RemoteLink;
use kura_console::app::console::{Backstage, run_console};
use kura_console::app::look::ScreenArgs;
use kura_console::terminal::screen::Screen;
use kura_console::terminal::tty::Tty;
use kura_console::wire::problem::{Problem, ProblemKind};

use super::driver::{Driver, Launch};

/// Which part this binary plays when it runs itself.
const PART: &str = "KURA_TEST_PART";

fn play(part: &str) -> Driver {
    let myself = std::env::current_exe().unwrap();
    let arguments = ["--exact", "pty::faults::a_part_is_played", "--nocapture", "--test-threads=1"];
    Launch::program(myself, &arguments).env(PART, part).start()
}

/// No test of its own: the part another test asks for.
#[test]
fn a_part_is_played() {
    match std::env::var(PART).as_deref() {
        Ok("panic while drawing") => draw_and_panic(false),
        Ok("panic beside the loop") => draw_and_panic(true),
        Ok("fail half way") => fail_half_way(),
        _ => {}
    }
}

fn draw_and_panic(beside: bool) {
    let screen = Screen::of(Tty::of_process().unwrap()).without_stderr().unwrap();
    screen.give_back_on_panic();
    let _taken = screen.take().unwrap();
    screen.write(b"half a fra").unwrap();
    let fault = || panic!("the sky fell on row 7");
    if beside {
        let _ = std::thread::spawn(fault).join();
        screen.write(b"as if nothing had happened").unwrap();
        std::thread::park();
    }
    fault();
}

fn fail_half_way() {
    let connect = async |_: SystemClock| -> Result<Backstage<RemoteLink, SystemClock, Ready<()>>, Problem> {
        Err(Problem::new(ProblemKind::Unavailable, "nope", "the door is locked"))
    };
    let problem = run_console(&ScreenArgs::default(), "nowhere", connect).unwrap_err();
    let said = format!("then: {}\n", problem.message);
    std::io::stdout().write_all(said.as_bytes()).unwrap();
}

fn assert_given_back(driver: &mut Driver) {
    assert!(driver.modes_as_before());
    assert_eq!(driver.count("\x1b[?1049h"), 1);
    assert_eq!(driver.count("\x1b[?1049l"), 1);
    assert!(!driver.screen().hide_cursor() && !driver.screen().alternate_screen());
}

#[test]
fn a_panic_while_drawing_gives_the_terminal_back_and_says_what_happened() {
    let mut driver = play("panic while drawing");
    assert_eq!(driver.wait_exit().code, Some(101));
    assert_given_back(&mut driver);
    let text = driver.text();
    assert!(text.contains("stopped by a fault of its own") && text.contains("the sky fell on row 7"), "{text}");
}

#[test]
fn a_panic_beside_the_loop_ends_the_console_too() {
    let mut driver = play("panic beside the loop");
    assert_eq!(driver.wait_exit().code, Some(101));
    assert_given_back(&mut driver);
    let text = driver.text();
    assert!(text.contains("the sky fell on row 7") && !text.contains("as if nothing"), "{text}");
}

#[test]
fn a_start_that_fails_half_way_leaves_the_terminal_as_it_was() {
    let mut driver = play("fail half way");
    driver.wait_for("then: the door is locked");
    assert_eq!(driver.wait_exit().code, Some(0));
    assert_given_back(&mut driver);
}
