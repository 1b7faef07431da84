//! The rules of the house, kept by tests: who may import whom, captions, sizes, and pages that are generated.

mod sources;
mod parts;
mod captions;
mod rules;
mod pages;
mod mutants;
mod corpora;
mod security;
