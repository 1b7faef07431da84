//! Releases on disk: what `build-from-git` builds from.

pub mod fault;
pub mod folder;
pub mod content;
