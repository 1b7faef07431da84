//! The impure half of the terminal interface: the tty, the input, the loop.

// From keys to messages.
pub mod sequence;
pub mod decode;

// From cells to bytes.
pub mod ink;
pub mod pen;
pub mod canvas;

// The terminal itself: entered once, given back once.
