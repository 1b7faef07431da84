//! What a rollout, a ring, a machine or a Kura server waits for: one sentence, on whom, since when, and the next verb.

mod sentence;
mod rollout;
mod ring;
mod machine;
mod server;
mod told;

pub use sentence::{Explanation, Subject, explain};
pub use told::told;
