//! Process groups as Linux shows them: telling ours from another that has its number, and ending it.

use std::fs;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use super::memory::ProcessMark;

/// Between two looks at a group that was asked to end.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// How long a killed group is waited for; longer only if the kernel cannot let it go.
const KILL_LIMIT: Duration = Duration::from_secs(5);

/// What one line of `/proc/PID/stat` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    pid: i32,
    is_dead: bool,
    group: i32,
    start_ticks: u64,
}

/// Describes a leader that is alive, so that it can be told from a later process of that number.
pub fn mark(pid: i32) -> ProcessMark {
    let start_ticks = stat(pid).map_or(0, |stat| stat.start_ticks);
    ProcessMark { pid, start_ticks, boot: boot() }
}

/// True if some process of the marked group is alive.
pub fn is_alive(mark: &ProcessMark) -> bool {
    if mark.start_ticks == 0 || mark.boot.is_empty() || mark.boot != boot() {
        return false;
    }
    // A number stays taken while a group of that number has members: without its leader it is still the same group.
    match stat(mark.pid) {
        Some(leader) if leader.start_ticks != mark.start_ticks => false,
        _ => members(mark.pid).iter().any(|stat| !stat.is_dead && stat.start_ticks >= mark.start_ticks),
    }
}

/// Ends a marked group: gently, after `grace` by force. False if something of it is still there.
pub async fn end(mark: &ProcessMark, grace: Duration) -> bool {
    signal(mark.pid, Signal::TERM);
    if gone_within(mark, grace).await {
        return true;
    }
    signal(mark.pid, Signal::KILL);
    gone_within(mark, KILL_LIMIT).await
}

/// Signals a whole group; one that is gone is left alone.
pub fn signal(group: i32, signal: Signal) {
    if let Some(group) = Pid::from_raw(group) {
        let _ = kill_process_group(group, signal);
    }
}

async fn gone_within(mark: &ProcessMark, limit: Duration) -> bool {
    let gone = async {
        while is_alive(mark) {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    };
    tokio::time::timeout(limit, gone).await.is_ok()
}

fn members(group: i32) -> Vec<Stat> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter_map(stat).filter(|stat| stat.group == group).collect()
}

fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|id| id.trim().to_owned()).unwrap_or_default()
}

fn stat(pid: i32) -> Option<Stat> {
    parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The name in brackets may hold anything, brackets included; what counts comes after the last one.
fn parse(pid: i32, line: &str) -> Option<Stat> {
    let (_, rest) = line.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    Some(Stat {
        pid,
        is_dead: matches!(*fields.first()?, "Z" | "X"),
        group: fields.get(2)?.parse().ok()?,
        start_ticks: fields.get(19)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_kernel_is_read_whatever_the_name() {
        let rest = "S 1 77 77 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 8123 1 1";
        let stat = parse(77, &format!("77 (a) b (c) {rest}"));
        assert_eq!(stat, Some(Stat { pid: 77, is_dead: false, group: 77, start_ticks: 8123 }));
        assert_eq!(parse(77, "77 (sh) Z 1 77"), None);
    }

    #[test]
    fn a_process_is_told_from_another_of_its_number() {
        let own = i32::try_from(std::process::id()).expect("a pid");
        let mark = mark(stat(own).expect("we are alive").group);
        if stat(mark.pid).is_none() {
            return; // the leader of our group is out of sight in this namespace
        }
        assert!(is_alive(&mark));
        assert!(!is_alive(&ProcessMark { start_ticks: mark.start_ticks + 1, ..mark.clone() }));
        assert!(!is_alive(&ProcessMark { boot: "another".to_owned(), ..mark.clone() }));
        assert!(!is_alive(&ProcessMark { start_ticks: 0, ..mark }));
    }
}
