//! The pure half of the terminal interface: messages in, effects out, a model in between.
