//! The way to a public endpoint, tried as a client would go it: name, certificate, `/up` (K29, K30, K32).
//!
//! `Probing` stands in front of a `Cluster` and fills `Sight.endpoints` of what it sees. A host keeps one:
//!
//! ```text
//! let cluster = KubeCluster::start(target, namespace, deleter, clock);
//! let cluster = Probing::start(cluster, Reach::of_this_machine()?, clock);
//! ```

// One look at one endpoint.
pub mod names;
pub mod handshake;
pub mod question;
pub mod reach;

// All of them, again and again.
pub mod schedule;
pub mod probing;
