//! Tests of the whole: a stage to play on, what the screens look like, what keys do, what must never happen.

mod stage;
mod pictures;
mod shelves;
mod keys;
mod dialogs;
mod time;
mod verbs;
mod chaos;
mod ladder;
mod lines;
mod joining;
mod sorting;
mod kura;
mod rolls;
