//! Kura runtime deployments: what is seen of the cluster, what is to become of it, and every rule in between (K1-K52).

// What passes between the core and whoever talks to the cluster.
pub mod object;
pub mod source;
pub mod workload;
pub mod traffic;
pub mod sight;
pub mod step;
