//! What a rollout, a ring or a machine waits for, on whom, since when, and the next verb.

mod sentence;

pub use sentence::{Explanation, Subject, explain};
