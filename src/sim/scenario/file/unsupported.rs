//! What the contract knows and this version does not do: said at its place, rather than passed over.

use super::place::{Fault, Place};

/// Keys of `given` about fleet rolls.
const GIVEN: [&str; 1] = ["registry"];

/// Verbs about fleet rolls.
const VERBS: [&str; 12] = [
    "start_roll",
    "stage_result",
    "step_result",
    "probe_result",
    "approve",
    "deny",
    "abort",
    "displace",
    "runtime_wedged",
    "registry_moves",
    "probe",
    "uncordon",
];

/// Views of fleet rolls, without what stands behind the colon.
const VIEWS: [&str; 1] = ["roll"];

/// Kinds of things that `explain` knows in the contract only.
const KINDS: [&str; 2] = ["server", "roll"];

/// A fault if this key of `given` is not supported.
pub(super) fn given(key: &str, place: Place) -> Result<(), Fault> {
    refuse(&GIVEN, "given.", key, place)
}

/// A fault if this verb is not supported.
pub(super) fn verb(word: &str, place: Place) -> Result<(), Fault> {
    refuse(&VERBS, "the verb ", word, place)
}

/// A fault if this view is not supported.
pub(super) fn view(name: &str, place: Place) -> Result<(), Fault> {
    let head = name.split(':').next().unwrap_or(name);
    let kind = name.strip_prefix("explain:").and_then(|rest| rest.split('/').next());
    refuse(&VIEWS, "the view ", head, place)?;
    refuse(&KINDS, "explain of a ", kind.unwrap_or(""), place)
}

fn refuse(known: &[&str], what: &str, word: &str, place: Place) -> Result<(), Fault> {
    match known.contains(&word) {
        false => Ok(()),
        true => Err(Fault::at(place, format!("{what}{word} is not supported by this version"))),
    }
}
