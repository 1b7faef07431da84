//! Secrets: that there is one of a name, never what it is.

use super::super::change::Change;
use super::super::ids::SecretVersion;
use super::super::refusal::Refusal;
use super::super::verdict::Reply;
use super::super::world::SECRETS_MAX;
use super::draft::Draft;
use super::text::check_name;

/// Recorded each time one is set, whatever it was before: contents are rendered anew.
pub(super) fn set(draft: &mut Draft<'_>, name: &str, version: SecretVersion) -> Reply {
    if let Err(refusal) = check_secret_name(name) {
        return Reply::Refused(refusal);
    }
    let known = &draft.world().secrets;
    if known.len() >= SECRETS_MAX && !known.contains_key(name) {
        return Reply::Refused(Refusal::Full { what: "secrets", limit: SECRETS_MAX });
    }
    draft.push(Change::SecretSet { name: name.to_owned(), version });
    Reply::Done
}

/// A name that can stand in a template and be that of a file. What is refused is not repeated: it may be the value.
pub fn check_secret_name(name: &str) -> Result<(), Refusal> {
    let odd = |problem: &str| Err(Refusal::BadName { field: "name", problem: problem.to_owned() });
    check_name("name", name)?;
    match name.split('.').any(str::is_empty) {
        true => odd("has an empty part before, after or between dots"),
        false => Ok(()),
    }
}
