//! Bodies of the API, compared with files that lock their shapes.

mod golden;
mod kura;
mod unknown;
