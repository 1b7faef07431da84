//! Figures of the whole: a wave on a real journal, a full screen, the way from a committed change to the screen.
//!
//! `cargo bench --bench figures [NAME...]` prints one line per figure; nothing here passes or fails.

// A harness may stop with a sentence, and prints what it is for.
#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::unwrap_used, unreachable_pub)]

#[path = "../../tests/suite/pty/driver.rs"]
#[allow(dead_code)]
mod driver;
mod attached;
mod draw;
mod wave;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let figures: [(&str, fn()); 4] = [
        ("draw", draw::ring_of_10_000),
        ("wave", wave::of_10_000),
        ("first-frame", attached::first_frame),
        ("change-to-screen", attached::change_to_screen),
    ];
    for (name, measure) in figures {
        if wanted.is_empty() || wanted.iter().any(|w| w == name) {
            measure();
        }
    }
}

/// Prints a spread of times in milliseconds.
fn print_spread(name: &str, mut times: Vec<std::time::Duration>) {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)].as_secs_f64() * 1e3;
    println!("{name}: median {:.2} ms, p99 {:.2} ms, worst {:.2} ms of {}", at(50), at(99), at(100), times.len());
}

/// The time of one piece of work.
#[allow(clippy::disallowed_methods)]
fn timed(work: impl FnOnce()) -> std::time::Duration {
    let begun = std::time::Instant::now();
    work();
    begun.elapsed()
}
