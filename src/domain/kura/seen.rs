//! Whether enough is seen of the cluster to say or do something; a no that names what cannot be read (K27, K43).

use jiff::Timestamp;

use super::super::observed::Observed;
use super::refusal::KuraRefusal;
use super::sight::{NO_CLUSTER, Sight};
use super::source::{Contact, Source};

/// The cluster.
///
/// # Errors
/// Where none is connected.
pub fn cluster(observed: &Observed) -> Result<&Sight, KuraRefusal> {
    observed.cluster.as_ref().ok_or_else(|| KuraRefusal::Unseen { why: NO_CLUSTER.to_owned() })
}

/// A kind that something may be decided on.
///
/// # Errors
/// Where the reading is not fresh.
pub fn fresh<T: Clone>(kind: &str, source: &Source<T>, now: Timestamp) -> Result<(), KuraRefusal> {
    source.contact.trouble(now).map_or(Ok(()), |trouble| Err(unseen(kind, &trouble)))
}

/// A kind that can be shown, with its age: a complete list of it was read once.
///
/// # Errors
/// Where no list was ever read: that is not the same as an empty one.
pub fn read<T: Clone>(kind: &str, source: &Source<T>, now: Timestamp) -> Result<(), KuraRefusal> {
    match &source.contact {
        Contact::Live { .. } | Contact::Lost { as_of: Some(_), .. } => Ok(()),
        _ => fresh(kind, source, now),
    }
}

fn unseen(kind: &str, trouble: &str) -> KuraRefusal {
    KuraRefusal::Unseen { why: format!("{kind}: {trouble}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_never_read_is_not_empty_and_what_is_old_is_shown_but_not_decided_on() {
        // K27, K43
        let (then, now) = (Timestamp::from_second(0).unwrap(), Timestamp::from_second(1_000).unwrap());
        let lost = |as_of| Contact::Lost { as_of, why: "401".to_owned() };
        let cases = [
            (Contact::Never, false, false),
            (Contact::Live { as_of: now }, true, true),
            (Contact::Live { as_of: then }, true, false),
            (lost(Some(then)), true, false),
            (lost(None), false, false),
            (Contact::Forbidden { as_of: now, why: "rbac".to_owned() }, false, false),
            (Contact::Absent { as_of: now }, false, false),
        ];
        for (contact, shown, decided) in cases {
            let source: Source<u8> = Source { contact, ..Source::default() };
            let told = (read("gateways", &source, now).is_ok(), fresh("gateways", &source, now).is_ok());
            assert_eq!(told, (shown, decided), "{source:?}");
        }
        assert!(cluster(&Observed::starting_at(now)).unwrap_err().to_string().contains(NO_CLUSTER));
    }
}
