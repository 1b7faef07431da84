//! The way to run: journal. What a person does with the file a control plane keeps everything in.

pub mod run;
pub mod place;
pub mod progress;
pub mod part;
pub mod backup;
pub mod aside;
pub mod restore;
pub mod compact;
pub mod copy;
pub mod export;
pub mod verify;
