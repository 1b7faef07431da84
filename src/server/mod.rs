//! The control plane over HTTP: who may do what, verbs, agents, the world and its changes, metrics.

// Who asks, how often, and what goes wrong.
pub mod tokens;
pub mod caller;
pub mod rate;
mod places;
pub mod failure;
pub mod extract;

// What every route stands on.
pub mod build;
pub mod feed;
mod cluster_feed;
pub mod shared;
mod admit;
mod errand;

// The nouns.
mod account;
mod environment;
mod ring;
mod machine;
mod release;
mod rollout;
mod secrets;
mod explain;
mod kura;
mod gateway;
mod rolls;
mod past;

// Agents, replicas, the process itself.
mod agent;
mod world;
mod stream;
mod process;
mod audit;
mod roll_figures;
pub mod metrics;

// Put together.
pub mod schema;
pub mod endpoints;
pub mod openapi;
mod routes;
mod layers;
mod unread;
pub mod paced;
pub mod tls;
pub mod router;
pub mod connections;
