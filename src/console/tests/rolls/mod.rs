//! Fleet rolls and nodes on screen: what is listed, what is said, what needs a human, and what keys do about it.

mod bed;
mod screens;
mod nodes;
mod now;
mod verbs;
mod chaos;
