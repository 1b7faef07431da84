//! Figures of the whole: a wave on a real journal, a full screen, the way from a committed change to the screen.
//!
//! `cargo bench --bench figures [NAME...]` prints one line per figure; nothing here passes or fails. For `pod-to-screen`
//! `eval "$(tests/envtest/provision)"` first.

// A harness may stop with a sentence, and prints what it is for.
#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::unwrap_used, unreachable_pub)]

#[path = "../../tests/suite/envtest/assets.rs"]
#[allow(dead_code)]
mod assets;
#[path = "../../tests/suite/envtest/cluster.rs"]
#[allow(dead_code)]
mod cluster;
#[path = "../../examples/mirror/crowd.rs"]
#[allow(dead_code)]
mod crowd;
#[path = "../../tests/suite/pty/driver.rs"]
#[allow(dead_code)]
mod driver;
#[path = "../../tests/suite/envtest/objects.rs"]
#[allow(dead_code)]
mod objects;
#[path = "../../tests/suite/envtest/papers.rs"]
#[allow(dead_code)]
mod papers;
#[path = "../../tests/suite/envtest/programs.rs"]
#[allow(dead_code)]
mod programs;
#[path = "../../tests/suite/envtest/rest.rs"]
#[allow(dead_code)]
mod rest;
mod attached;
mod draw;
mod memory;
mod pod;
mod wave;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let figures: [(&str, fn()); 5] = [
        ("draw", draw::ring_of_10_000),
        ("wave", wave::of_10_000),
        ("first-frame", attached::first_frame),
        ("change-to-screen", attached::change_to_screen),
        ("pod-to-screen", pod::to_screen),
    ];
    for (name, measure) in figures {
        if wanted.is_empty() || wanted.iter().any(|w| w == name) {
            measure();
        }
    }
}

/// What parts that are shared with others may fail with.
pub(crate) type Fallible<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Prints a spread of times in milliseconds, and which of them was the worst.
fn print_spread(name: &str, times: Vec<std::time::Duration>) {
    let count = times.len();
    let which = (1..=count).max_by_key(|nth| times[nth - 1]).unwrap_or_default();
    let mut sorted = times;
    sorted.sort_unstable();
    let at = |share: usize| sorted[(count * share / 100).min(count - 1)].as_secs_f64() * 1e3;
    println!("{name}: median {:.2} ms, p99 {:.2} ms, worst {:.2} ms (no. {which} of {count})", at(50), at(99), at(100));
}

/// The time of one piece of work.
#[allow(clippy::disallowed_methods)]
fn timed(work: impl FnOnce()) -> std::time::Duration {
    let begun = std::time::Instant::now();
    work();
    begun.elapsed()
}
