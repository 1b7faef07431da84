//! Who did what, when, why, with which outcome; and the same in words.

use serde_json::{Map, Value, json};

use super::super::run::Run;
use super::super::screens::Consoles;
use super::super::witness::verdicts;
use crate::domain::audit::Fate;
use crate::domain::change::{Cause, Change, Entry};

impl<C: Consoles> Run<C> {
    /// One row per verdict since the start and one per verb that was refused, oldest first.
    pub(super) fn audit(&self) -> Value {
        let done = verdicts(&self.witness.entries)
            .filter(|verdict| !is_refusal(verdict))
            .filter_map(|verdict| Some((verdict.first()?.at, self.row(verdict))));
        let refused = self.records.turned.iter().map(|turned| {
            let row = json!({
                "revision": null,
                "at": turned.at,
                "by": turned.by,
                "cause": "verb",
                "verb": turned.verb,
                "reason": turned.reason,
                "key": turned.key,
                "outcome": "refused",
                "detail": turned.detail,
                "changes": [],
            });
            (turned.at, row)
        });
        let mut rows: Vec<_> = done.chain(refused).collect();
        rows.sort_by_key(|(at, _)| *at);
        self.dressed(Value::Array(rows.into_iter().map(|(_, row)| row).collect()))
    }

    /// Changes in words, oldest first.
    pub(in super::super) fn log(&self) -> Vec<String> {
        self.witness.lines.clone()
    }

    fn row(&self, verdict: &[Entry]) -> Value {
        let Some(first) = verdict.first() else { return Value::Null };
        let (cause, verb, reason, key) = match &first.cause {
            Cause::Verb { name, reason, key, .. } => ("verb", Some(name), reason.as_ref(), key.as_ref()),
            Cause::Tick => ("tick", None, None, None),
            Cause::Poll => ("poll", None, None, None),
            Cause::Report => ("report", None, None, None),
            Cause::Seat => ("seat", None, None, None),
            Cause::Repository => ("repository", None, None, None),
            Cause::Seen => ("seen", None, None, None),
        };
        let changes: Vec<Value> = verdict.iter().map(|entry| self.change(entry)).collect();
        json!({
            "revision": first.revision,
            "at": first.at,
            "by": first.by,
            "cause": cause,
            "verb": verb,
            "reason": reason,
            "key": key,
            "outcome": "done",
            "detail": null,
            "changes": changes,
        })
    }

    /// A change with the ids of the file for its uuids.
    fn change(&self, entry: &Entry) -> Value {
        fn named(ids: &super::super::ids::Ids, value: Value) -> Value {
            match value {
                Value::String(text) => match ids.name_of(&text) {
                    Some(name) => json!(name),
                    None => Value::String(text),
                },
                Value::Array(items) => Value::Array(items.into_iter().map(|item| named(ids, item)).collect()),
                Value::Object(fields) => {
                    let dress = |(field, value)| (field, named(ids, value));
                    Value::Object(fields.into_iter().map(dress).collect::<Map<_, _>>())
                }
                plain => plain,
            }
        }
        named(&self.ids, json!(entry.change))
    }
}

/// Nothing but the link of a verb that was refused, which has a row of its own.
fn is_refusal(verdict: &[Entry]) -> bool {
    let refused = |entry: &Entry| matches!(&entry.change, Change::Audited { link } if link.fate != Fate::Done);
    verdict.iter().all(refused)
}
