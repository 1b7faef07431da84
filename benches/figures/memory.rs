//! How much memory a process has in use.

use std::fs;

/// Prints what of a process is resident, as the kernel says; a process that cannot be read is said to be.
pub(super) fn print_resident(who: &str, pid: u32) {
    let told = fs::read_to_string(format!("/proc/{pid}/status")).ok().and_then(|status| kibibytes(&status));
    match told {
        Some(kibibytes) => println!("resident memory of {who}: {:.1} MB (VmRSS)", kibibytes * 1024.0 / 1e6),
        None => println!("resident memory of {who}: not told by /proc/{pid}/status"),
    }
}

fn kibibytes(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}
