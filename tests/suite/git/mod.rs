//! Releases from a real repository on disk, built, rendered and started by the real program; and that no secret of any
//! machine shows up anywhere else.

mod repository;
mod bench;
mod builds;
mod rendering;
mod canary;
mod unattended;
