//! The registry without a screen: what a control plane lists, as text for people and in its own words for programs.

pub mod ask;
pub mod nouns;
pub mod kura;
pub mod rolls;
pub mod row;
pub mod fetch;
pub mod pages;
pub mod pick;
pub mod subject;
pub mod table;
pub mod sheet;
pub mod output;
pub mod run;
