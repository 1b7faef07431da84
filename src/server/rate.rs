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

/// Buckets of one generation.
const BUCKETS_MAX: usize = 150_000;

/// A token; and the machine, where one token speaks for many.
type Who = (Fingerprint, Option<MachineId>);

/// What is left in a bucket, in thousandths of a request.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    left: u64,
    at: Timestamp,
}

/// Two generations of buckets: once the younger is full the older is forgotten, which is whoever has not asked since it
/// was young. So room is made without a search, and nobody who asks all the time gets a new bucket by it.
#[derive(Debug, Default)]
struct Buckets {
    young: BTreeMap<Who, Bucket>,
    old: BTreeMap<Who, Bucket>,
}

impl Buckets {
    fn of(&mut self, who: Who, at_most: usize, new: Bucket) -> &mut Bucket {
        let kept = self.old.remove(&who);
        if self.young.len() >= at_most && !self.young.contains_key(&who) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.entry(who).or_insert_with(|| kept.unwrap_or(new))
    }
}

/// The buckets of one process.
#[derive(Debug)]
pub struct Rates {
    /// Requests a second for readers; 0 = no limit for anybody.
    rate: u32,
    buckets: Mutex<Buckets>,
}

impl Rates {
    /// Full buckets for everybody; 0 limits nobody.
    pub fn new(rate: u32) -> Self {
        Self { rate, buckets: Mutex::default() }
    }

    /// Takes one request out of the caller's bucket; 429 where it is empty. Machines that exist have one each; whatever
    /// else a token claims to speak for shares the token's own.
    pub(super) fn take(
        &self,
        caller: &Caller,
        exists: impl Fn(MachineId) -> bool,
        now: Timestamp,
    ) -> Result<(), Problem> {
        if self.rate == 0 {
            return Ok(());
        }
        let (machine, rate) = match caller.grant {
            Grant::Reader(_) => (None, self.rate),
            Grant::Agent { bound: Some(_), .. } => (None, AGENT_RATE),
            Grant::Agent { bound: None, named } => (named.filter(|machine| exists(*machine)), AGENT_RATE),
        };
        let full = u64::from(rate) * u64::from(BURST_SECONDS) * 1_000;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets.of((caller.token, machine), BUCKETS_MAX, Bucket { left: full, at: now });
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

    fn agent(machine: &str) -> Caller {
        caller(1, Grant::Agent { bound: None, named: Some(MachineId::named(machine)) })
    }

    fn taken(rates: &Rates, caller: &Caller, now: Timestamp) -> usize {
        (0..100_000).take_while(|_| rates.take(caller, exists, now).is_ok()).count()
    }

    fn exists(machine: MachineId) -> bool {
        ["ash", "birch"].map(MachineId::named).contains(&machine)
    }

    #[test]
    fn a_burst_is_let_through_and_then_so_many_a_second() {
        let (rates, ann) = (Rates::new(20), caller(1, Grant::Reader(Role::Operator)));
        let at = |second| Timestamp::from_second(second).unwrap();
        assert_eq!(taken(&rates, &ann, at(0)), 200);
        assert_eq!(rates.take(&ann, exists, at(0)).unwrap_err().retry_after(), Some(1));
        assert_eq!(taken(&rates, &ann, at(1)), 20);
        assert_eq!(taken(&rates, &ann, at(1_000)), 200, "a bucket holds no more than it holds");
        assert_eq!(taken(&rates, &caller(2, Grant::Reader(Role::Viewer)), at(1_000)), 200, "another token");
        assert!(taken(&Rates::new(0), &ann, at(0)) == 100_000, "0 limits nobody");
    }

    #[test]
    fn machines_that_exist_do_not_use_up_each_others_requests_and_made_up_ones_share_a_bucket() {
        let (rates, now) = (Rates::new(20), Timestamp::UNIX_EPOCH);
        assert_eq!(taken(&rates, &agent("ash"), now), 50);
        assert_eq!(taken(&rates, &agent("birch"), now), 50);
        assert_eq!(taken(&rates, &agent("nobody"), now), 50);
        assert_eq!(taken(&rates, &agent("nobody-else"), now), 0, "the next name is no new bucket");
        let bound = Grant::Agent { bound: Some(MachineId::named("ash")), named: Some(MachineId::named("oak")) };
        assert_eq!(taken(&rates, &caller(2, bound), now), 50);
    }

    #[test]
    fn room_is_made_without_a_new_bucket_for_whoever_asks_all_the_time() {
        let mut buckets = Buckets::default();
        let new = Bucket { left: 9, at: Timestamp::UNIX_EPOCH };
        let busy = ([0; 32], None);
        buckets.of(busy, 4, new).left = 1;
        for n in 1..=40 {
            buckets.of(([n; 32], None), 4, new);
            assert_eq!(buckets.of(busy, 4, new).left, 1, "after {n} others");
            assert!(buckets.young.len() + buckets.old.len() <= 8);
        }
        assert_eq!(buckets.of(([1; 32], None), 4, new).left, 9);
    }
}
