//! What a rollout, a ring, a machine, a Kura server, a fleet roll or a node waits for: one sentence, on whom, since when, and the next verb.

mod sentence;
mod rollout;
mod ring;
mod machine;
mod server;
mod roll;
mod host;
mod told;

pub use sentence::{Explanation, Subject, explain};
pub use told::told;
