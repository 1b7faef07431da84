//! Technology behind the ports. Siblings do not see each other.

pub mod clock;
pub mod sqlite;
pub mod journal;
pub mod remote;
