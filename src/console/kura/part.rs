//! Identities of what the screen of Kura servers lists: selection, folds and dialogs know a row by these only.

use uuid::Uuid;

use crate::domain::ids::ServerId;

/// Stands for something that the cluster knows by a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Token(pub(in super::super) Uuid);

impl Token {
    /// That of a thing of this kind and name. An object of the cluster is named with its UID: another one under the
    /// same name is another thing.
    pub fn of(kind: &str, name: &str) -> Self {
        Self(Uuid::new_v5(&Uuid::NAMESPACE_URL, format!("kura:{kind}:{name}").as_bytes()))
    }
}

/// Something with a row of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A server.
    Server(ServerId),
    /// A gateway.
    Gateway(Token),
    /// Half of an instance and its row (K45).
    Orphan(Token),
    /// Rows that belong together: those on a dead node, those of a region.
    Group(Token),
    /// Servers that are stuck for one and the same reason.
    Cause(Token),
    /// The mesh of a tenant (K8).
    Mesh(Token),
    /// All servers together.
    Estate,
}
