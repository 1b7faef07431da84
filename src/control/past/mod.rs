//! What the World no longer holds, read back from the journal: rolls that ended long ago, deployments of long ago.

pub mod reading;
pub mod rolls;
pub mod deployments;
