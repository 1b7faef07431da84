//! A console whose control plane cannot be reached, and one that cannot even begin: what it says, and how it is left.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use super::driver::Launch;

/// Nobody listens on the discard port.
pub(super) const NOBODY: &str = "http://127.0.0.1:9";

/// What the console says of a control plane that is not there.
pub(super) const LOST: &str = "cannot be reached";

/// A console on a control plane that is not there.
pub(super) fn attached() -> Launch {
    Launch::console(&["--api", NOBODY]).env("KURA_CONSOLE_TOKEN", "k_test")
}

fn said(launch: Launch) -> (Option<i32>, String) {
    let mut driver = launch.start();
    let ended = driver.wait_exit();
    (ended.code, driver.text())
}

#[test]
fn a_lost_control_plane_is_shown_and_the_console_goes_on() {
    let mut driver = attached().start();
    let text = driver.wait_for(LOST);
    assert!(text.contains(NOBODY) && text.contains("lost"), "{text}");
    driver.send("?");
    driver.wait_gone(LOST);
    driver.send("\x1b");
    driver.wait_for(LOST);
    driver.send("q");
    assert_eq!(driver.wait_exit().code, Some(0));
}

#[test]
fn keys_still_come_from_the_terminal_where_standard_input_is_something_else() {
    let program = format!("{} --api {NOBODY} </dev/null", env!("CARGO_BIN_EXE_kura-console"));
    let mut driver = Launch::program("/bin/sh", &["-c", &program]).env("KURA_CONSOLE_TOKEN", "k_test").start();
    driver.wait_for(LOST);
    driver.send("q");
    assert_eq!(driver.wait_exit().code, Some(0));
}

#[test]
fn without_an_address_it_says_how_to_name_one() {
    let (code, text) = said(Launch::console(&[]));
    assert_eq!(code, Some(2));
    assert!(text.contains("no control plane was named") && text.contains("kura-console demo"), "{text}");
}

#[test]
fn without_a_token_or_with_a_wrong_address_it_says_what_to_do() {
    let (code, text) = said(Launch::console(&["--api", NOBODY]));
    assert_eq!(code, Some(2));
    assert!(text.contains("KURA_CONSOLE_TOKEN") && text.contains("hint"), "{text}");
    let (code, text) = said(Launch::console(&["--api", "not an address"]).env("KURA_CONSOLE_TOKEN", "k_test"));
    assert_eq!(code, Some(2));
    assert!(text.contains("not an address") && text.contains("hint"), "{text}");
}

#[test]
fn a_theme_that_is_not_there_is_named_before_the_screen_is_taken() {
    let mut driver =
        Launch::console(&["--api", NOBODY, "--theme", "./mine.yaml"]).env("KURA_CONSOLE_TOKEN", "k").start();
    assert_eq!(driver.wait_exit().code, Some(2));
    assert!(driver.text().contains("--theme: ./mine.yaml cannot be read"));
    assert_eq!(driver.count("\x1b"), 0);
}

#[test]
fn a_pipe_and_a_dumb_terminal_get_lines_without_escapes() {
    let mut dumb = attached().env("TERM", "dumb").start();
    assert_eq!(dumb.wait_exit().code, Some(3));
    assert!(dumb.text().contains(LOST) && dumb.text().contains("hint"), "{}", dumb.text());
    assert_eq!(dumb.count("\x1b"), 0);
    let program = format!("{} --api {NOBODY} | cat", env!("CARGO_BIN_EXE_kura-console"));
    let mut piped = Launch::program("/bin/sh", &["-c", &program]).env("KURA_CONSOLE_TOKEN", "k_test").start();
    piped.wait_exit();
    assert!(piped.text().contains(LOST), "{}", piped.text());
    assert_eq!(piped.count("\x1b"), 0);
}

#[test]
fn frames_are_synchronized_where_the_terminal_knows_how_and_only_there() {
    let mut plain = attached().start();
    plain.wait_for(LOST);
    assert_eq!(plain.count("\x1b[?2026h"), 0);
    let mut knowing = attached().knows_sync().start();
    knowing.wait_for(LOST);
    // The seconds it is lost for tick, so there is always one more frame.
    while knowing.count("\x1b[?2026h") == 0 {
        let known = knowing.bytes();
        knowing.wait_for_more(known);
    }
    assert_eq!(knowing.count("\x1b[?2026h"), knowing.count("\x1b[?2026l"));
    knowing.send("q");
    assert_eq!(knowing.wait_exit().code, Some(0));
}

#[test]
fn a_home_that_cannot_be_written_is_no_obstacle() {
    let mut driver = attached().env("HOME", "/proc/nowhere").start();
    driver.wait_for(LOST);
    driver.send("0");
    driver.wait_for("the log is kept on the log screen only");
    driver.send("q");
    assert_eq!(driver.wait_exit().code, Some(0));
}

#[test]
fn the_log_lies_below_the_state_directory() {
    let mut driver = attached().start();
    driver.wait_for(LOST);
    driver.send("q");
    driver.wait_exit();
    let kept = std::fs::read_dir(driver.home().join(".local/state/kura-console")).unwrap();
    let text: String = kept.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
    assert!(text.contains("logs to"), "{text}");
    assert!(!text.contains("k_test"));
}

#[test]
fn a_token_that_is_not_known_is_told_with_what_to_do() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || listener.incoming().flatten().for_each(refuse));
    let launch = Launch::console(&["--api", &url]).env("KURA_CONSOLE_TOKEN", "k_wrong");
    let mut driver = launch.start();
    let text = driver.wait_for("this token is not known");
    assert!(text.contains("KURA_CONSOLE_TOKEN"), "{text}");
    driver.send("q");
    assert_eq!(driver.wait_exit().code, Some(0));
    assert_eq!(driver.count("k_wrong"), 0);
}

/// Says no to whatever is asked.
fn refuse(mut stream: TcpStream) {
    let mut request = [0; 4_096];
    let _ = stream.read(&mut request);
    let body = r#"{"type":"about:blank","title":"Not signed in","status":401,"detail":"this token is not known here","code":"unknown_token","hints":["check KURA_CONSOLE_TOKEN"]}"#;
    let head = "HTTP/1.1 401 Unauthorized\r\nContent-Type: application/problem+json\r\nConnection: close\r\n";
    let _ = write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len());
}

#[test]
fn a_theme_that_is_changed_is_taken_at_once_and_a_broken_one_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mine.yaml");
    std::fs::write(&path, "inherits: dark\n").unwrap();
    let theme = path.to_str().unwrap();
    let mut driver = Launch::console(&["--api", NOBODY, "--theme", theme]).env("KURA_CONSOLE_TOKEN", "k").start();
    driver.wait_for(LOST);
    driver.send("0");
    std::fs::write(&path, "inherits: nothing of the kind\n").unwrap();
    driver.wait_for("the last good one stays");
    std::fs::write(&path, "inherits: dark\npalette: {chalk: \"#ddeeff\"}\nroles: {dim: {fg: chalk}}\n").unwrap();
    driver.wait_for("was read again");
    driver.send("q");
    assert_eq!(driver.wait_exit().code, Some(0));
}
