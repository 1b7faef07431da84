//! The local audit: a verb is on this machine's disk before it leaves, and what came of it after. The chain that counts
//! is the control plane's; this file says what was meant where no answer ever came.

use std::fs::{self, File, OpenOptions};
use std::future::Future;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::spawn_blocking;

use crate::control::link::{Answer, Link, SeatOrder, SeatWish};
use crate::control::picture::Picture;
use crate::control::ports::{ApplyResult, Clock};
use crate::domain::change::Entry;
use crate::domain::ids::{MachineId, Revision, RolloutId};
use crate::domain::input::Order;

/// Bytes after which a file is put aside as `audit.jsonl.1`, in place of the one before.
pub const BYTES_MAX: u64 = 16 * 1024 * 1024;

/// One line of the file.
#[derive(Debug, Clone, Serialize)]
pub struct Line {
    /// By this machine's clock, or that of what it speaks to.
    pub at: Timestamp,
    /// `intent` before the verb leaves, `outcome` after.
    pub phase: &'static str,
    /// Which control plane.
    pub api: String,
    /// Who, as far as this machine knows.
    pub by: String,
    /// In the words of the journal.
    pub verb: String,
    /// The verb with everything that was asked for; of a secret its name only.
    pub asked: Value,
    /// Why.
    pub reason: Option<String>,
    /// The idempotency key.
    pub key: Option<String>,
    /// The revision the person's plan was made from.
    pub planned_at: Option<Revision>,
    /// What was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
}

/// Where the lines go.
#[derive(Debug)]
enum Pages {
    /// To a file.
    Open(Mutex<File>),
    /// Nowhere: why.
    Shut(String),
    /// Nowhere, and the person said so.
    Unwanted,
}

/// The local audit of one process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Book(Arc<Pages>);

impl Book {
    /// Writes to `audit.jsonl` in this directory, which only its owner can read. Where it cannot be written, `keep` says
    /// why.
    pub fn of(directory: Option<&Path>) -> Self {
        let pages = match directory.ok_or_else(|| io::Error::other("neither XDG_STATE_HOME nor HOME is set")) {
            Ok(directory) => open(directory).map_err(|error| format!("{}: {error}", directory.display())),
            Err(error) => Err(error.to_string()),
        };
        let pages = pages.map_or_else(Pages::Shut, |file| Pages::Open(Mutex::new(file)));
        if let Pages::Shut(why) = &pages {
            tracing::warn!(%why, "{UNWRITABLE}: only verbs that stop something are sent");
        }
        Self(Arc::new(pages))
    }

    /// Writes nothing, as the person asked.
    pub fn of_nobody() -> Self {
        Self(Arc::new(Pages::Unwanted))
    }

    /// One line, on the disk when it returns; the error says why it is not.
    pub async fn keep(&self, line: &Line) -> Result<(), String> {
        let mut line = serde_json::to_vec(line).map_err(|error| error.to_string())?;
        line.push(b'\n');
        let pages = Arc::clone(&self.0);
        let written = spawn_blocking(move || match &*pages {
            Pages::Open(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.write_all(&line).and_then(|()| file.sync_data()).map_err(|error| error.to_string())
            }
            Pages::Shut(why) => Err(why.clone()),
            Pages::Unwanted => Ok(()),
        });
        written.await.map_err(|error| error.to_string())?
    }
}

/// A link whose verbs are written down before they leave and once they are answered.
#[derive(Debug, Clone)]
pub struct Witnessed<L, C> {
    link: L,
    clock: C,
    api: Arc<str>,
    book: Book,
}

impl<L: Link, C: Clock> Witnessed<L, C> {
    /// Writes to `audit.jsonl` in this directory, which only its owner can read. Where it cannot be written, stopping
    /// verbs go on, and others are refused with the reason.
    pub fn by(link: L, clock: C, api: &str, directory: Option<&Path>) -> Self {
        Self { link, clock, api: api.into(), book: Book::of(directory) }
    }

    /// Writes nothing, as the person asked.
    pub fn by_nobody(link: L, clock: C) -> Self {
        Self { link, clock, api: "".into(), book: Book::of_nobody() }
    }

    /// An intent, and what is done about it: on the disk before it leaves, and once it was answered. Where it cannot be
    /// written, only what stops something leaves.
    async fn witnessed(&self, intent: Line, is_stop: bool, leaves: impl Future<Output = Answer>) -> Answer {
        let kept = self.book.keep(&intent).await;
        match &kept {
            Err(why) if !is_stop => {
                let hint = "make room for it, or start the console with --no-local-audit".to_owned();
                return Answer::Refused { sentence: format!("{UNWRITABLE} ({why})"), hints: vec![hint] };
            }
            _ => {}
        }
        let answer = leaves.await;
        let outcome = Line { at: self.clock.now(), phase: "outcome", answer: Some(told(&answer)), ..intent };
        match kept.and(self.book.keep(&outcome).await) {
            Ok(()) => answer,
            Err(why) => marked(answer, &why),
        }
    }

    fn intent(&self, by: &str, verb: &str, asked: Value, reason: Option<&String>) -> Line {
        Line {
            at: self.clock.now(),
            phase: "intent",
            api: self.api.to_string(),
            by: by.to_owned(),
            verb: verb.to_owned(),
            asked,
            reason: reason.cloned(),
            key: None,
            planned_at: None,
            answer: None,
        }
    }
}

/// What is said of a local audit that cannot be written.
pub const UNWRITABLE: &str = "the local audit cannot be written";

impl<L: Link, C: Clock> Link for Witnessed<L, C> {
    fn pictures(&self) -> watch::Receiver<Picture> {
        self.link.pictures()
    }

    async fn order(&self, order: Order, planned_at: Option<Revision>) -> Answer {
        let intent = self.intent(&order.by, order.verb.name(), json!(order.verb), order.reason.as_ref());
        let intent = Line { key: order.key.clone(), planned_at, ..intent };
        let is_stop = order.verb.is_stop();
        self.witnessed(intent, is_stop, self.link.order(order, planned_at)).await
    }

    async fn seat(&self, order: SeatOrder) -> Answer {
        let verb = match order.wish {
            SeatWish::Take => "take-seat",
            SeatWish::Leave => "leave-seat",
        };
        let intent = self.intent(&order.by, verb, Value::Null, order.reason.as_ref());
        let intent = Line { key: Some(order.key.clone()), ..intent };
        self.witnessed(intent, order.wish == SeatWish::Leave, self.link.seat(order)).await
    }

    async fn results(&self, rollout: RolloutId, machine: MachineId) -> Result<Vec<ApplyResult>, String> {
        self.link.results(rollout, machine).await
    }

    async fn past(&self, before: Revision) -> Result<Vec<Entry>, String> {
        self.link.past(before).await
    }
}

/// The answer, with what went wrong beside it.
fn marked(answer: Answer, why: &str) -> Answer {
    tracing::warn!(why, "{UNWRITABLE}");
    match answer {
        Answer::Done { sentence } => Answer::Done { sentence: format!("{sentence}; {UNWRITABLE} ({why})") },
        other => other,
    }
}

fn told(answer: &Answer) -> Value {
    match answer {
        Answer::Done { sentence } => json!({ "kind": "done", "sentence": sentence }),
        Answer::Refused { sentence, hints } => json!({ "kind": "refused", "sentence": sentence, "hints": hints }),
        Answer::Moved { sentence } => json!({ "kind": "moved", "sentence": sentence }),
        Answer::Unknown { why } => json!({ "kind": "unknown", "why": why }),
        Answer::Unseen { why } => json!({ "kind": "unseen", "why": why }),
        Answer::Unsent { why } => json!({ "kind": "unsent", "why": why }),
    }
}

/// Opens the file for appending, and puts a large one aside.
fn open(directory: &Path) -> io::Result<File> {
    fs::create_dir_all(directory)?;
    let path: PathBuf = directory.join("audit.jsonl");
    if fs::metadata(&path).is_ok_and(|known| known.len() >= BYTES_MAX) {
        fs::rename(&path, directory.join("audit.jsonl.1"))?;
    }
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path)?;
    // The name of a new file has to be on the disk as well.
    File::open(directory)?.sync_all()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::domain::change::Level;
    use crate::domain::ids::RingId;
    use crate::domain::input::Verb;

    /// Says what the file held when the order came by.
    #[derive(Clone)]
    struct Looking(PathBuf);

    impl Link for Looking {
        fn pictures(&self) -> watch::Receiver<Picture> {
            unreachable!("nobody looks")
        }

        async fn order(&self, _: Order, _: Option<Revision>) -> Answer {
            Answer::Done { sentence: fs::read_to_string(&self.0).unwrap_or_default() }
        }

        async fn results(&self, _: RolloutId, _: MachineId) -> Result<Vec<ApplyResult>, String> {
            Err("none".to_owned())
        }
    }

    #[derive(Clone)]
    struct Still;

    impl Clock for Still {
        fn now(&self) -> Timestamp {
            Timestamp::UNIX_EPOCH
        }

        async fn sleep(&self, _: Duration) {}
    }

    fn order(verb: Verb) -> Order {
        Order { verb, by: "op-a".to_owned(), reason: Some("disk".to_owned()), key: Some("k-1".to_owned()) }
    }

    fn lines(path: &Path) -> Vec<Value> {
        let text = fs::read_to_string(path).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    const PINE: fn() -> Level = || Level::Ring(RingId::named("pine"));

    #[tokio::test]
    async fn the_intent_is_on_disk_before_the_verb_leaves_and_the_outcome_after() {
        let folder = tempfile::tempdir().unwrap();
        let (place, file) = (folder.path().join("state"), folder.path().join("state/audit.jsonl"));
        let link = Witnessed::by(Looking(file.clone()), Still, "http://kura", Some(&place));
        let Answer::Done { sentence } = link.order(order(Verb::Unpause(PINE())), Some(7)).await else { panic!("done") };
        let seen: Value = serde_json::from_str(sentence.trim()).unwrap();
        assert_eq!(
            (&seen["phase"], &seen["verb"], &seen["key"]),
            (&json!("intent"), &json!("unpause-ring"), &json!("k-1"))
        );
        assert_eq!(
            (&seen["planned_at"], &seen["reason"], &seen["api"]),
            (&json!(7), &json!("disk"), &json!("http://kura"))
        );
        let kept = lines(&file);
        assert_eq!(kept.len(), 2);
        assert_eq!((&kept[1]["phase"], &kept[1]["answer"]["kind"]), (&json!("outcome"), &json!("done")));
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&file).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }

    #[tokio::test]
    async fn where_it_cannot_be_written_stopping_goes_on_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let (file, below) = (folder.path().join("file"), folder.path().join("file/state"));
        fs::write(&file, "in the way").unwrap();
        let link = Witnessed::by(Looking(file.clone()), Still, "", Some(&below));
        let refused = link.order(order(Verb::Unpause(PINE())), None).await;
        let Answer::Refused { sentence, hints } = refused else { panic!("refused") };
        assert!(sentence.starts_with(UNWRITABLE) && hints[0].contains("--no-local-audit"), "{sentence} {hints:?}");
        let stopped = link.order(order(Verb::Pause(PINE())), None).await;
        assert!(matches!(&stopped, Answer::Done { sentence } if sentence.starts_with("in the way; ")), "{stopped:?}");
        let unwanted = Witnessed::by_nobody(Looking(file), Still);
        let done = Answer::Done { sentence: "in the way".to_owned() };
        assert_eq!(unwanted.order(order(Verb::Unpause(PINE())), None).await, done);
    }

    #[test]
    fn a_large_file_is_put_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        File::create(&path).unwrap().set_len(BYTES_MAX).unwrap();
        assert_eq!(open(folder.path()).unwrap().metadata().unwrap().len(), 0);
        assert_eq!(fs::metadata(folder.path().join("audit.jsonl.1")).unwrap().len(), BYTES_MAX);
    }
}
