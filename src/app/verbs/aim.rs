//! A verb that is aimed: what is done, to what, and the request that carries it.

use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::adapters::remote::basic::stand_in::Kind;
use crate::console::text::escape;
use crate::domain::input::{Order, Verb};
use crate::domain::world::World;
use crate::wire::call::{Call, Method};
use crate::wire::problem::{Problem, ProblemKind};

/// Where a process is made to give its seat back.
const LEAVE_PATH: &str = "/api/seat/leave";

/// What is done.
#[derive(Debug, Clone, PartialEq)]
pub enum Deed {
    /// A verb of the core.
    Verb(Box<Verb>),
    /// A secret gets a value, which no verb carries.
    SetSecret {
        /// Which.
        name: String,
        /// To what.
        value: SecretValue,
    },
    /// The process that answers gives its seat back.
    LeaveSeat,
}

/// The value of a secret. Nothing prints it.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretValue(pub String);

impl std::fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretValue(..)")
    }
}

impl Deed {
    /// It only ever stops something: always easy, and held up by nothing.
    pub fn is_stop(&self) -> bool {
        matches!(self, Self::Verb(verb) if verb.is_stop())
    }

    /// True where the control plane knows it again by its key, so that asking twice does it once.
    pub fn is_repeatable(&self) -> bool {
        *self != Self::LeaveSeat
    }

    /// The request, without its key and what it relies on.
    pub fn call(&self, reason: Option<&str>) -> Call {
        match self {
            Self::Verb(verb) => {
                let (verb, reason) = (Verb::clone(verb), reason.map(str::to_owned));
                Call::of(&Order { verb, by: String::new(), reason, key: None })
            }
            Self::SetSecret { name, value } => {
                let path = format!("{}{name}", crate::wire::secret::PATH);
                Call { method: Method::Put, path, body: with_reason(json!({"value": value.0}), reason) }
            }
            Self::LeaveSeat => {
                Call { method: Method::Post, path: LEAVE_PATH.to_owned(), body: with_reason(json!({}), reason) }
            }
        }
    }
}

fn with_reason(mut body: Value, reason: Option<&str>) -> Value {
    if let Some(reason) = reason {
        body["reason"] = reason.into();
    }
    body
}

/// What it is done to, as it was when the command was run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Aimed {
    /// `machine`, `ring`, `environment`, `release`, `rollout`, `account`, `secret`, `clock`, `seat`,
    /// `server`, `runtime tag`, `gateway`, `instance` or `object`.
    pub kind: &'static str,
    /// What people call it.
    pub name: String,
    /// Its identity; null for what is only made now, and for what there is one of.
    pub uuid: Option<Uuid>,
}

impl Aimed {
    /// The thing as it is told to people: `ring workers (1a2b3c4d)`.
    pub fn told(&self) -> String {
        let name = escape(&self.name);
        let lead = if self.name == self.kind { format!("the {name}") } else { format!("{} {name}", self.kind) };
        match self.uuid {
            Some(uuid) => format!("{lead} ({})", short(uuid)),
            None => lead,
        }
    }

    /// What is typed to prove that it is meant: its name, or its short uuid where nobody could type the name.
    pub fn typed(&self) -> String {
        match (escape(&self.name) == self.name.trim(), self.uuid) {
            (false, Some(uuid)) => short(uuid),
            _ => self.name.trim().to_owned(),
        }
    }
}

fn short(uuid: Uuid) -> String {
    uuid.simple().to_string().chars().take(8).collect()
}

impl Aimed {
    /// A thing nothing is known of but its uuid, as it was typed in full; none where it was not.
    pub fn by_uuid(kind: &'static str, text: &str) -> Option<(Uuid, Self)> {
        let uuid = Uuid::try_parse(text).ok()?;
        Some((uuid, Self { kind, name: text.to_owned(), uuid: Some(uuid) }))
    }
}

/// A command as it was typed, which is aimed once the world is known.
pub trait Aim {
    /// The verb in the words of the command line, such as `pause`.
    fn verb(&self) -> &'static str;

    /// It will only ever stop something.
    fn is_stop(&self) -> bool {
        false
    }

    /// What is wrong with the words themselves, before anything is asked of anybody.
    ///
    /// # Errors
    /// Where they say nothing, or contradict each other.
    fn check(&self) -> Result<(), Problem> {
        Ok(())
    }

    /// What is meant by it where no world can be read: a stop of something that is named by its whole uuid.
    fn blind(&self) -> Option<(Deed, Aimed)> {
        None
    }

    /// What it is done to as it was typed, where a control plane that lists nothing can be told by its whole uuid.
    fn thing(&self) -> Option<(Kind, &str)> {
        None
    }

    /// What is meant by it in this world.
    ///
    /// # Errors
    /// Where a name is not known, or may be several things.
    fn aim(&self, world: &World) -> Result<(Deed, Aimed), Problem>;
}

/// A command that says what to change, but not how.
pub(super) fn nothing_to_change(flags: &str) -> Problem {
    Problem::new(ProblemKind::Usage, "nothing_to_change", "it does not say what to change")
        .hint(format!("give at least one of {flags}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aimed(name: &str) -> Aimed {
        Aimed { kind: "machine", name: name.to_owned(), uuid: Some(Uuid::nil()) }
    }

    #[test]
    fn a_thing_is_told_and_typed_by_its_name() {
        assert_eq!(aimed("wk-1").told(), "machine wk-1 (00000000)");
        assert_eq!(aimed("wk-1").typed(), "wk-1");
        let clock = Aimed { kind: "clock", name: "clock".to_owned(), uuid: None };
        assert_eq!(clock.told(), "the clock");
    }

    #[test]
    fn a_name_that_steers_the_terminal_is_neither_told_nor_asked_for() {
        let hostile = aimed("wk\u{1b}[2J\u{202e}");
        assert!(!hostile.told().contains('\u{1b}'), "{}", hostile.told());
        assert_eq!(hostile.typed(), "00000000");
    }

    #[test]
    fn the_reason_travels_in_the_body() {
        assert_eq!(Deed::LeaveSeat.call(Some("upgrade")).body, json!({"reason": "upgrade"}));
        assert_eq!(Deed::LeaveSeat.call(None).body, json!({}));
        let secret = Deed::SetSecret { name: "token".to_owned(), value: SecretValue("s".to_owned()) };
        assert_eq!(secret.call(Some("rotated")).body, json!({"value": "s", "reason": "rotated"}));
    }
}
