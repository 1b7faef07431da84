//! A journal that cannot be written, by rights or by its disk: `serve` says so, and whoever only reads it goes on.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::super::e2e::command::{Said, shell};
use super::super::e2e::plane::Plane;
use super::frozen::{CHAPTER, ticks};
use super::judge::judge;
use super::load::{Fleet, Load, Story};
use super::mount::Mount;

/// Rights are for those who are not root; what root is without its capabilities.
const UNPRIVILEGED: &str = r#"if [ "$(id -u)" = 0 ]; then set -- setpriv --inh-caps=-all --bounding-set=-all "$@"; fi
exec "$@""#;

/// Runs the program as somebody who has no more than the rights that files give.
fn unprivileged(folder: &Path, journal: &str, arguments: &str) -> Said {
    let script = format!("set -- \"$KURA\" {arguments}\n{UNPRIVILEGED}");
    shell(folder, &[("KURA_CONSOLE_JOURNAL", journal)], &script)
}

/// A journal with something in it, at this address; everything somebody was told of it.
fn filled(journal: &str) -> (Plane, Story) {
    let plane = Plane::on(journal);
    ticks(&plane, 1);
    let load = Load::on(&Fleet::lay(&plane), &[&plane]);
    load.goes_on(CHAPTER);
    let story = load.end();
    (plane, story)
}

/// Whatever reads it says what it said before, and whatever would change it says why it does not.
fn is_read(folder: &Path, journal: &str, exported: &str) {
    let verified = unprivileged(folder, journal, "journal verify");
    assert!(verified.code == Some(0) && verified.stdout.contains("nothing is wrong"), "{verified:?}");
    assert_eq!(unprivileged(folder, journal, "journal export").stdout, exported);
    let audit = unprivileged(folder, journal, &format!("audit verify --journal {journal} --account default"));
    assert!(audit.code == Some(0) && audit.stdout.contains("none broken"), "{audit:?}");
    let copied = unprivileged(folder, journal, &format!("journal copy {journal} sqlite:copy.db"));
    assert!(copied.code == Some(0) && copied.stdout.contains("both ends are the same"), "{copied:?}");
    assert_eq!(unprivileged(folder, "sqlite:copy.db", "journal export").stdout, exported);
    fs::remove_file(folder.join("copy.db")).expect("the copy");
    fs::remove_dir_all(folder.join("copy.db.vault")).expect("its vault");
    let doctor = unprivileged(folder, journal, "doctor --api http://127.0.0.1:9");
    let said = doctor.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("fallback not possible from here: it is read-only for this user"), "{doctor:?}");
    let compacted = unprivileged(folder, journal, "journal compact --keep-entries 0");
    assert!(compacted.code.is_some_and(|code| code != 0), "{compacted:?}");
    assert!(compacted.stderr.contains("it is read-only") && compacted.stderr.contains("hint: "), "{compacted:?}");
}

fn is_not_served(folder: &Path, journal: &str, words: &[&str]) {
    let flags = "serve --tokens new.yaml --create-tokens --listen 127.0.0.1:0";
    unprivileged(folder, journal, flags).fails(2, words);
    assert!(!folder.join("new.yaml").exists(), "tokens nobody can use");
}

/// Everything in a folder, the deepest first.
fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut all: Vec<PathBuf> =
        entries.flat_map(|path| if path.is_dir() { below(&path) } else { vec![path] }).collect();
    all.push(folder.to_owned());
    all
}

fn set_rights(folder: &Path, file: u32, directory: u32) {
    for path in below(folder) {
        let mode = if path.is_dir() { directory } else { file };
        fs::set_permissions(&path, Permissions::from_mode(mode)).expect("rights");
    }
}

#[test]
fn without_the_right_to_write_it_is_read_and_not_served() {
    let kept = tempfile::tempdir().expect("a folder");
    let (path, journal) = {
        let path = kept.path().join("kura.db");
        (path.clone(), format!("sqlite:{}", path.display()))
    };
    let (mut plane, story) = filled(&journal);
    let folder = plane.folder().to_owned();
    // It was killed: the end of the journal lies in its log.
    plane.kill();
    let log = kept.path().join("kura.db-wal");
    assert!(fs::metadata(&log).is_ok_and(|log| log.len() > 0), "a log with something in it");
    set_rights(kept.path(), 0o444, 0o555);
    let exported = unprivileged(&folder, &journal, "journal export").stdout;
    is_read(&folder, &journal, &exported);
    let file = path.display().to_string();
    is_not_served(&folder, &journal, &["this user may not read and write", &file]);

    // Only the folder: SQLite would have to write beside it.
    set_rights(kept.path(), 0o644, 0o555);
    is_not_served(&folder, &journal, &["this user may not read and write", "writes two more files beside it"]);
    is_read(&folder, &journal, &exported);

    // And with nothing beside it, as it is left by whoever stops in order.
    set_rights(kept.path(), 0o644, 0o755);
    judge(&folder, &journal, &story);
    plane.start_again();
    assert!(plane.ends_in_order());
    assert!(!log.exists(), "whoever ends in order tidies up");
    set_rights(kept.path(), 0o444, 0o555);
    let all = unprivileged(&folder, &journal, "journal export").stdout;
    assert!(all.starts_with(&exported), "what was read of the log is in the file by now");
    let exported = all;
    is_read(&folder, &journal, &exported);
    assert!(!log.exists(), "nothing is written");
    set_rights(kept.path(), 0o644, 0o755);
}

#[test]
fn on_a_disk_that_is_write_protected_it_is_read_and_not_served() {
    let Some(disk) = Mount::of(16) else { return };
    let journal = disk.journal();
    let (mut plane, story) = filled(&journal);
    let folder = plane.folder().to_owned();
    plane.kill();
    disk.protect();
    let exported = unprivileged(&folder, &journal, "journal export").stdout;
    assert!(exported.lines().count() > CHAPTER, "{exported}");
    is_read(&folder, &journal, &exported);
    is_not_served(&folder, &journal, &["it is read-only", "ls -l"]);
    judge(&folder, &journal, &story);
}
