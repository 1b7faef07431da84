//! Releases on disk and in git: what `build-from-git` builds from.

// Folders.
pub mod fault;
pub mod folder;
// A repository.
pub mod repository_fault;
pub mod address;
mod git;
mod tree;
pub mod repository;
