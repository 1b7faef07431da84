//! A control plane at the end of a wire: endpoint and token, client, change stream, link.

pub mod endpoint;
pub mod token;
