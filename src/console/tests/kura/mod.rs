//! Kura servers on screen: what is listed, what is said, what needs a human, and what keys do about it.

mod bed;
mod screens;
mod listing;
mod incidents;
mod kept;
mod verbs;
mod many;
mod chaos;
mod alone;
