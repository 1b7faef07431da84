//! Kura runtime deployments: what is seen of the cluster, what is to become of it, and every rule in between (K1-K52).

// What passes between the core and whoever talks to the cluster.
pub mod labels;
pub mod object;
pub mod source;
pub mod live_spec;
pub mod workload;
pub mod traffic;
pub mod notice;
pub mod sight;
pub mod ends;
pub mod home;
pub mod seen;
pub mod step;

// Facts.
pub mod tag;
pub mod beside;
pub mod server;
pub mod deployment;
pub mod change;
pub mod estate;
mod apply;
pub mod past;

// What people ask for, and why not.
pub mod verb;
pub mod refusal;
pub mod limits;

// From a server to its manifest.
pub mod canonical;
pub mod render;
pub mod remembered;
pub mod drift;

// What can be said about it.
pub mod front;
pub mod ways;
pub mod difference;
pub mod rested;
pub mod words;
pub mod chain;
pub mod orphans;
pub mod skew;
pub mod incidents;
pub mod advice;
