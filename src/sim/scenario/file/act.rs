//! An entry of `when`: when it happens, who does it, and what.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::agents::AgentAct;
use super::console::ConsoleAct;
use super::faults::FaultAct;
use super::hint::meant;
use super::kura::KuraAct;
use super::moment::Moment;
use super::node::{Key, Node};
use super::place::{Fault, Place};
use super::read::read_pairs;
use super::rollouts::RolloutAct;
use super::rolls::RollAct;
use super::tagged::{Tagged, words};

/// What every entry may say beside its verb. A verb with an argument of the same name has it instead.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Circumstances {
    /// When it happens.
    #[serde(default)]
    pub at: Option<Moment>,
    /// Or again and again, this far apart ...
    #[serde(default)]
    pub every: Option<Moment>,
    /// ... from here (0s) ...
    #[serde(default)]
    pub from: Option<Moment>,
    /// ... until here, or the end of the run.
    #[serde(default)]
    pub until: Option<Moment>,
    /// Who does it.
    #[serde(default)]
    pub by: Option<String>,
    /// Why; "scenario" where it is left out.
    #[serde(default)]
    pub reason: Option<String>,
    /// The process that is asked; "server" where it is left out.
    #[serde(default)]
    pub process: Option<String>,
    /// An idempotency key.
    #[serde(default)]
    pub key: Option<String>,
    /// Whether it must be done or refused.
    #[serde(default)]
    pub expect: Option<Expect>,
}

/// How an entry must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Expect {
    /// It is done.
    Ok,
    /// It is refused.
    Refused,
}

/// When an entry happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// Once.
    At(Moment),
    /// Again and again; until the end of the run where there is no last time.
    Every {
        /// How far apart, at least a second.
        step: i64,
        /// For the first time.
        from: Moment,
        /// Not after this.
        until: Option<Moment>,
    },
}

/// What happens.
#[derive(Debug, Clone)]
pub enum Doing {
    /// Ticks, agents and machines.
    Agents(AgentAct),
    /// Verbs of people about rollouts.
    Rollouts(RolloutAct),
    /// What goes wrong.
    Faults(FaultAct),
    /// Keys on a console.
    Console(ConsoleAct),
    /// About Kura servers.
    Kura(KuraAct),
    /// About fleet rolls.
    Rolls(RollAct),
}

/// An entry of `when`.
#[derive(Debug, Clone)]
pub struct Act {
    /// Where it stands.
    pub place: Place,
    /// When it happens.
    pub timing: Timing,
    /// Its verb as it was written.
    pub verb: String,
    /// Who, why, where, and what must come of it.
    pub circumstances: Circumstances,
    /// What happens.
    pub doing: Doing,
}

/// Keys of the circumstances.
const KEYS: [&str; 9] = ["at", "every", "from", "until", "by", "reason", "process", "key", "expect"];

/// Arguments of a verb that are called like a circumstance.
const OWN: [(&str, &[&str]); 3] = [("partition", &["from", "until"]), ("clock_jump", &["by"]), ("pod", &["reason"])];

impl Act {
    /// Reads an entry.
    pub fn read(node: &Node) -> Result<Self, Fault> {
        let pairs = node.pairs()?;
        let named = pairs.iter().find(|(key, _)| key.name == "do");
        let (_, word) = named.ok_or_else(|| Fault::at(node.place, "missing field `do`"))?;
        let verb = word.as_text().ok_or_else(|| Fault::at(word.place, "`do` names a verb"))?;
        let own = OWN.iter().find(|(name, _)| *name == verb).map_or(&[][..], |(_, own)| own);
        let is_circumstance = |key: &str| KEYS.contains(&key) && !own.contains(&key);
        let others = pairs.iter().filter(|(key, _)| key.name != "do");
        let (around, arguments): (Vec<_>, Vec<_>) = others.partition(|(key, _)| is_circumstance(&key.name));
        let circumstances: Circumstances = read_pairs(node.place, &around)?;
        let timing = timing(node, &circumstances)?;
        let doing = Doing::read(word, &arguments)?;
        Ok(Self { place: node.place, timing, verb: verb.to_owned(), circumstances, doing })
    }
}

fn timing(node: &Node, given: &Circumstances) -> Result<Timing, Fault> {
    let fault = |message: &str| Err(Fault::at(node.place, message));
    match (given.at, given.every) {
        (Some(at), None) if at < Moment(0) => fault("`at` lies before the start"),
        (Some(at), None) if given.from.is_none() && given.until.is_none() => Ok(Timing::At(at)),
        (Some(_), _) => fault("`at` stands alone, without `every`, `from` and `until`"),
        (None, Some(step)) if step < Moment(1) => fault("`every` is at least one second"),
        (None, Some(step)) => {
            let from = given.from.unwrap_or_default();
            if from < Moment(0) {
                fault("`from` lies before the start")
            } else {
                Ok(Timing::Every { step: step.0, from, until: given.until })
            }
        }
        (None, None) => fault("missing field `at` (or `every`)"),
    }
}

impl Doing {
    fn read(word: &Node, arguments: &[&(Key, Node)]) -> Result<Self, Fault> {
        fn of<T: DeserializeOwned>(word: &Node, arguments: &[&(Key, Node)]) -> Option<Result<T, Fault>> {
            let is_known = word.as_text().is_some_and(|verb| words::<T>().contains(&verb));
            is_known.then(|| T::deserialize(Tagged { word, arguments }).map_err(|fault| fault.or_at(word.place)))
        }
        None.or_else(|| of(word, arguments).map(|act| act.map(Self::Agents)))
            .or_else(|| of(word, arguments).map(|act| act.map(Self::Rollouts)))
            .or_else(|| of(word, arguments).map(|act| act.map(Self::Faults)))
            .or_else(|| of(word, arguments).map(|act| act.map(Self::Console)))
            .or_else(|| of(word, arguments).map(|act| act.map(Self::Kura)))
            .or_else(|| of(word, arguments).map(|act| act.map(Self::Rolls)))
            .unwrap_or_else(|| {
                let (unknown, known) = (word.as_text().unwrap_or(""), verbs());
                let hint = meant(unknown, &known);
                Err(Fault::at(word.place, format!("there is no verb {unknown}, only {}{hint}", known.join(", "))))
            })
    }
}

/// Every verb.
pub fn verbs() -> Vec<&'static str> {
    [
        words::<AgentAct>(),
        words::<RolloutAct>(),
        words::<FaultAct>(),
        words::<ConsoleAct>(),
        words::<KuraAct>(),
        words::<RollAct>(),
    ]
    .concat()
}
