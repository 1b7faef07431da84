//! A control plane at the end of a wire: endpoint and token, client, change stream, replica, link.

pub mod endpoint;
pub mod token;
pub mod client;
pub mod stream;
pub mod replica;
pub mod far_clock;
pub mod basic;
pub mod follow;
pub mod link;
