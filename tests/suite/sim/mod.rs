//! The real loop on a simulated world, in virtual time: windows, waves, interventions, rivals.

mod bed;
mod determinism;
mod interventions;
mod kura;
mod on_screen;
mod presets;
mod rolls;
mod rows;
mod rivals;
mod wave;
mod window;
