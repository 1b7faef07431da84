//! The rules of fleet rolls, one test per rule, each naming what it proves.

pub(crate) mod rig;
mod walking;
mod ordering;
mod gates;
mod proof;
mod deadlines;
mod soaking;
mod cordons;
mod leftovers;
mod envelope;
mod figures;
mod plans;
mod sentences;
mod random;
