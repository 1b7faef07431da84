//! Bodies about fleet rolls: what is shown of them and of nodes, and the requests that verbs on them are.

pub mod shown;
pub mod node;
pub mod request;
pub mod figures;
