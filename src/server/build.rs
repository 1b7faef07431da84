//! Where releases are built from: a port of the server, since only it builds.

use std::future::Future;

use crate::domain::ids::AccountId;
use crate::wire::problem::Problem;

/// What a reference became.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// What it resolved to.
    pub commit: String,
    /// For the Vault.
    pub content: Vec<u8>,
}

/// Resolves references to contents.
pub trait Builder: Send + Sync + 'static {
    /// Where it looks, for people; none = nothing is configured.
    fn source(&self) -> Option<String>;

    /// Why what arrives there cannot be followed for an account; none = it can, or nobody wants it.
    fn trouble(&self, _account: AccountId) -> Option<String> {
        None
    }

    /// Resolves and reads a reference. The problem is for whoever asked.
    fn build(&self, git_ref: &str) -> impl Future<Output = Result<Built, Problem>> + Send;
}
