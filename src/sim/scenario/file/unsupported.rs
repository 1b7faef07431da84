//! What the contract knows and this version does not do: said at its place, rather than passed over.

use super::place::{Fault, Place};

/// Kinds of things that `explain` knows in the contract only.
const KINDS: [&str; 1] = ["roll"];

/// A fault if this view is not supported.
pub(super) fn view(name: &str, place: Place) -> Result<(), Fault> {
    let kind = name.strip_prefix("explain:").and_then(|rest| rest.split('/').next());
    match KINDS.contains(&kind.unwrap_or("")) {
        false => Ok(()),
        true => Err(Fault::at(place, format!("explain of a {} is not supported by this version", kind.unwrap_or("")))),
    }
}
