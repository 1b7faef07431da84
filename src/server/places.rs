//! Places for change streams: so many altogether, and so many of them for one token.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::shared::{STREAMS_EACH, STREAMS_MAX};
use super::tokens::Fingerprint;
use crate::wire::problem::{Problem, ProblemKind};

/// How many streams every token has open. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Places {
    taken: Arc<Mutex<BTreeMap<Fingerprint, usize>>>,
}

/// A place that is taken, for as long as this lives.
#[derive(Debug)]
pub(super) struct Place {
    places: Places,
    token: Fingerprint,
}

impl Places {
    /// A place for one more stream of this token; 429 where it has too many, or all have.
    pub(super) fn take(&self, token: Fingerprint) -> Result<Place, Problem> {
        let mut taken = self.lock();
        if taken.values().sum::<usize>() >= STREAMS_MAX {
            return Err(full(format!("{STREAMS_MAX} change streams are open already")));
        }
        let own = taken.entry(token).or_default();
        if *own >= STREAMS_EACH {
            return Err(full(format!("this token has {STREAMS_EACH} change streams open already"))
                .hint("close those that nobody reads, or give every reader a token of its own"));
        }
        *own += 1;
        Ok(Place { places: self.clone(), token })
    }

    /// Streams that are open.
    pub(super) fn open(&self) -> usize {
        self.lock().values().sum()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Fingerprint, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.lock();
        match taken.get_mut(&self.token) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(taken.remove(&self.token)),
        }
    }
}

fn full(message: String) -> Problem {
    Problem::new(ProblemKind::TooMany, "too_many_streams", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_token_takes_all_places_and_every_place_comes_back() {
        let places = Places::default();
        let greedy: Vec<Place> = (0..STREAMS_EACH).map(|_| places.take([0; 32]).unwrap()).collect();
        assert!(places.take([0; 32]).unwrap_err().message.contains("this token"));
        let mut others = Vec::new();
        'all: for token in 1..=u8::MAX {
            for _ in 0..STREAMS_EACH {
                match places.take([token; 32]) {
                    Ok(place) => others.push(place),
                    Err(problem) => {
                        assert!(!problem.message.contains("this token"), "{problem}");
                        break 'all;
                    }
                }
            }
        }
        assert_eq!((greedy.len() + others.len(), places.open()), (STREAMS_MAX, STREAMS_MAX));
        drop((greedy, others));
        assert_eq!((places.open(), places.lock().len()), (0, 0));
        assert!(places.take([0; 32]).is_ok());
    }
}
