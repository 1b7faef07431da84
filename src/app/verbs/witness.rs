//! The local audit of a verb of the command line, as the console keeps it: on the disk before it leaves, and what came
//! of it after.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::aim::Deed;
use super::record::{Outcome, Record};
use crate::adapters::local_audit::{Book, Line, UNWRITABLE};
use crate::wire::problem::{Problem, ProblemKind};

/// What is written down of one verb.
#[derive(Debug)]
pub struct Witness {
    book: Book,
    line: Line,
    is_stop: bool,
}

/// What the lines of one verb have in common, beside what its record knows.
#[derive(Debug)]
pub struct Given<'a> {
    /// What is done.
    pub deed: &'a Deed,
    /// Which control plane.
    pub api: &'a str,
    /// Who, as far as this machine knows.
    pub by: String,
    /// Why.
    pub reason: Option<&'a str>,
}

impl Witness {
    /// For a verb that is about to be sent.
    pub fn of(book: Book, given: Given<'_>, record: &Record) -> Self {
        let is_stop = given.deed.is_stop();
        let line = Line {
            at: Timestamp::UNIX_EPOCH,
            phase: "intent",
            api: given.api.to_owned(),
            by: given.by,
            verb: record.verb.to_owned(),
            asked: asked(given.deed),
            reason: given.reason.map(str::to_owned),
            key: record.key.clone(),
            planned_at: record.revision.filter(|_| !is_stop),
            answer: None,
        };
        Self { book, line, is_stop }
    }

    /// Before it leaves. Whatever only stops something goes on without; what is wrong is in the text.
    ///
    /// # Errors
    /// Where it cannot be written, of every other verb: it must not be sent.
    pub async fn before(&self, now: Timestamp) -> Result<Option<String>, Problem> {
        let line = Line { at: now, ..self.line.clone() };
        match self.book.keep(&line).await {
            Ok(()) => Ok(None),
            Err(why) if self.is_stop => Ok(Some(format!("{UNWRITABLE} ({why})"))),
            Err(why) => Err(Problem::new(ProblemKind::Usage, "local_audit", format!("{UNWRITABLE} ({why})"))
                .hint("make room for it, or give the verb with --no-local-audit")),
        }
    }

    /// Once it was answered, or was not; what is wrong with writing it down.
    pub async fn after(&self, now: Timestamp, came: &Result<(), &Problem>) -> Option<String> {
        let line = Line { at: now, phase: "outcome", answer: Some(told(came)), ..self.line.clone() };
        self.book.keep(&line).await.err().map(|why| format!("{UNWRITABLE} ({why})"))
    }
}

/// Everything that was asked for. The value of a secret is nobody's business.
fn asked(deed: &Deed) -> Value {
    match deed {
        Deed::Verb(verb) => json!(verb),
        Deed::SetSecret { name, .. } => json!({ "set_secret": { "name": name } }),
        Deed::LeaveSeat => json!("leave_seat"),
    }
}

fn told(came: &Result<(), &Problem>) -> Value {
    match came {
        Ok(()) => json!({ "kind": Outcome::Done }),
        Err(problem) => json!({ "kind": super::tell::outcome(problem), "sentence": problem.message }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::aim::{Aimed, SecretValue};
    use super::*;
    use crate::domain::change::Level;
    use crate::domain::ids::RingId;
    use crate::domain::input::Verb;

    fn record(verb: &'static str) -> Record {
        let target = Aimed { kind: "secret", name: "db".to_owned(), uuid: None };
        Record {
            verb,
            target,
            account: String::new(),
            plan: None,
            checks: Vec::new(),
            outcome: Outcome::Planned,
            revision: Some(7),
            key: Some("k-1".to_owned()),
            replayed: false,
            answer: None,
            problem: None,
        }
    }

    fn witness(book: Book, deed: &Deed) -> Witness {
        let given = Given { deed, api: "http://kura", by: "ann".to_owned(), reason: Some("rotated") };
        Witness::of(book, given, &record("set-secret"))
    }

    #[tokio::test]
    async fn a_verb_is_written_down_before_and_after_and_a_secret_never() {
        let folder = tempfile::tempdir().unwrap();
        let deed = Deed::SetSecret { name: "db".to_owned(), value: SecretValue("hunter2".to_owned()) };
        let witness = witness(Book::of(Some(folder.path())), &deed);
        assert_eq!(witness.before(Timestamp::UNIX_EPOCH).await.unwrap(), None);
        let lost = Problem::new(ProblemKind::Unavailable, crate::wire::call::UNKNOWN_OUTCOME, "no answer");
        assert_eq!(witness.after(Timestamp::UNIX_EPOCH, &Err(&lost)).await, None);
        let text = std::fs::read_to_string(folder.path().join("audit.jsonl")).unwrap();
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((&lines[0]["phase"], &lines[1]["phase"]), (&json!("intent"), &json!("outcome")));
        assert_eq!((&lines[0]["asked"]["set_secret"]["name"], &lines[0]["key"]), (&json!("db"), &json!("k-1")));
        assert_eq!((&lines[0]["planned_at"], &lines[1]["answer"]["kind"]), (&json!(7), &json!("unknown")));
        assert!(!text.contains("hunter2"), "{text}");
    }

    #[tokio::test]
    async fn where_it_cannot_be_written_only_a_stop_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "in the way").unwrap();
        let shut = || Book::of(Some(&file.join("state")));
        let refused = witness(shut(), &Deed::LeaveSeat).before(Timestamp::UNIX_EPOCH).await.unwrap_err();
        assert_eq!((refused.code.as_str(), refused.exit_code()), ("local_audit", 2));
        let stop = Deed::Verb(Box::new(Verb::Pause(Level::Ring(RingId::named("pine")))));
        let noted = witness(shut(), &stop).before(Timestamp::UNIX_EPOCH).await.unwrap();
        assert!(noted.unwrap().starts_with(UNWRITABLE));
        assert_eq!(witness(Book::of_nobody(), &Deed::LeaveSeat).before(Timestamp::UNIX_EPOCH).await.unwrap(), None);
    }
}
