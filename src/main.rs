//! The program: everything is in the library.

use std::process::ExitCode;

use tikv_jemallocator::Jemalloc;

/// A cluster is read in large pieces that are thrown away: this one gives back what they took.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> ExitCode {
    kura_console::app::entry::run()
}
