//! The impure half of the terminal interface: the tty, the input, the loop.

// The terminal itself: taken once, given back once.
pub mod tty;
pub mod stderr;
pub mod modes;
pub mod screen;
pub mod job;
pub mod last;

// What is heard: keys, signals, everything through one channel.
pub mod heard;
pub mod sequence;
pub mod decode;
pub mod input;
pub mod signals;

// What is shown: from cells to as few bytes as possible.
pub mod ink;
pub mod pen;
pub mod canvas;
pub mod clipboard;

// The loop, and what it does for the console.
pub mod convert;
pub mod effects;
pub mod reload;
pub mod stage;
pub mod run;

// Without a screen: lines, pictures, the log.
pub mod linear;
pub mod palette;
pub mod record;
pub mod logfile;
