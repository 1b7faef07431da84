//! How often a token may ask: a bucket per token, and for agents per machine, that fills again by the second.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;

use super::caller::{Caller, Grant};
use super::tokens::Fingerprint;
use crate::domain::ids::MachineId;
use crate::wire::problem::{Problem, ProblemKind};

/// Requests a second that a token of a reader may send in the long run, where nothing else is said.
pub const RATE_DEFAULT: u32 = 100;

/// So many seconds' worth may come at once.
pub const BURST_SECONDS: u32 = 10;

/// Requests a second that one machine's agent may send in the long run: a poll every ten seconds is what it needs.
pub const AGENT_RATE: u32 = 5;

/// Buckets that are kept; full ones are forgotten first, then all.
const BUCKETS_MAX: usize = 300_000;

type Who = (Fingerprint, Option<MachineId>);

/// What is left in a bucket, in thousandths of a request.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    left: u64,
    at: Timestamp,
}

/// The buckets of one process.
#[derive(Debug)]
pub struct Rates {
    /// Requests a second for readers; 0 = no limit for anybody.
    rate: u32,
    buckets: Mutex<BTreeMap<Who, Bucket>>,
}

impl Rates {
    /// Full buckets for everybody; 0 limits nobody.
    pub fn new(rate: u32) -> Self {
        Self { rate, buckets: Mutex::default() }
    }

    /// Takes one request out of the caller's bucket; 429 where it is empty.
    pub(super) fn take(&self, caller: &Caller, now: Timestamp) -> Result<(), Problem> {
        if self.rate == 0 {
            return Ok(());
        }
        let (machine, rate) = match caller.grant {
            Grant::Reader(_) => (None, self.rate),
            Grant::Agent { bound, named } => (bound.or(named), AGENT_RATE),
        };
        let full = u64::from(rate) * u64::from(BURST_SECONDS) * 1_000;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= BUCKETS_MAX {
            forget(&mut buckets, now);
        }
        let bucket = buckets.entry((caller.token, machine)).or_insert(Bucket { left: full, at: now });
        let passed = u64::try_from(now.duration_since(bucket.at).as_millis()).unwrap_or(0);
        *bucket = Bucket { left: bucket.left.saturating_add(passed * u64::from(rate)).min(full), at: now };
        match bucket.left.checked_sub(1_000) {
            Some(left) => {
                bucket.left = left;
                Ok(())
            }
            None => Err(too_often(rate)),
        }
    }
}

/// Forgets who has been quiet for as long as it takes to fill any bucket; everybody, where that frees nothing.
fn forget(buckets: &mut BTreeMap<Who, Bucket>, now: Timestamp) {
    let span = i128::from(BURST_SECONDS) * 1_000;
    buckets.retain(|_, bucket| now.duration_since(bucket.at).as_millis() < span);
    if buckets.len() >= BUCKETS_MAX {
        buckets.clear();
    }
}

fn too_often(rate: u32) -> Problem {
    let message = format!("this token asks more often than {rate} times a second");
    Problem::new(ProblemKind::TooMany, "too_often", message)
        .hint("come again after Retry-After seconds; follow GET /api/changes instead of asking again and again")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::picture::Role;
    use crate::domain::ids::AccountId;

    fn caller(token: u8, grant: Grant) -> Caller {
        Caller { name: "ann".into(), account: AccountId::named("default"), grant, token: [token; 32] }
    }

    fn taken(rates: &Rates, caller: &Caller, now: Timestamp) -> usize {
        (0..100_000).take_while(|_| rates.take(caller, now).is_ok()).count()
    }

    #[test]
    fn a_burst_is_let_through_and_then_so_many_a_second() {
        let (rates, ann) = (Rates::new(20), caller(1, Grant::Reader(Role::Operator)));
        let at = |second| Timestamp::from_second(second).unwrap();
        assert_eq!(taken(&rates, &ann, at(0)), 200);
        assert_eq!(rates.take(&ann, at(0)).unwrap_err().retry_after(), Some(1));
        assert_eq!(taken(&rates, &ann, at(1)), 20);
        assert_eq!(taken(&rates, &ann, at(1_000)), 200, "a bucket holds no more than it holds");
        assert_eq!(taken(&rates, &caller(2, Grant::Reader(Role::Viewer)), at(1_000)), 200, "another token");
        assert!(taken(&Rates::new(0), &ann, at(0)) == 100_000, "0 limits nobody");
    }

    #[test]
    fn the_machines_behind_one_token_do_not_use_up_each_others_requests() {
        let rates = Rates::new(20);
        let agent = |name: &str| caller(1, Grant::Agent { bound: None, named: Some(MachineId::named(name)) });
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!(taken(&rates, &agent("ash"), now), 50);
        assert_eq!(taken(&rates, &agent("birch"), now), 50);
    }
}
