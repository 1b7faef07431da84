//! The basic link: a control plane that offers nothing but the runbook's own endpoints. Its status is read again and
//! again, and a world is sketched from it, with what is not known said beside it.

pub mod reading;
pub mod memory;
pub mod sketch;
mod row;
pub mod stand_in;
pub mod lacks;
pub mod orders;
pub mod watch;
