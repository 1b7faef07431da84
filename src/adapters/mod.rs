//! Technology behind the ports. Siblings do not see each other; `sqlite`, `postgres`, `kube` and `pause` are floors that some
//! of them stand on.

pub mod clock;
pub mod sqlite;
pub mod postgres;
pub mod pause;
pub mod journal;
pub mod presence;
pub mod results;
pub mod vault;
pub mod releases;
pub mod remote;
pub mod kube;
pub mod probe;
pub mod local_audit;
pub mod beside;
