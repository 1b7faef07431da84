//! The impure half of the terminal interface: the tty, the input, the loop.
