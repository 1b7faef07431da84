//! A host: one set of technologies behind the ports. `serve`, the console's fallback and the simulator each have one.

use imbl::OrdMap;
use uuid::Uuid;

use super::ports::{Clock, Cluster, Heartbeats, Journal, Presence, Results, Vault};
use crate::domain::ids::AccountId;
use crate::domain::observed::Node;

/// Everything the loop runs on. One value per process.
pub trait Host: Send + Sync + 'static {
    /// The log of changes.
    type Journal: Journal;
    /// Signs of life of the seat.
    type Heartbeats: Heartbeats;
    /// Last polls.
    type Presence: Presence;
    /// Apply results.
    type Results: Results;
    /// Contents.
    type Vault: Vault;
    /// The cluster of the Kura servers.
    type Cluster: Cluster;
    /// Time.
    type Clock: Clock;

    /// The log of changes.
    fn journal(&self) -> &Self::Journal;
    /// Signs of life of the seat.
    fn heartbeats(&self) -> &Self::Heartbeats;
    /// Last polls.
    fn presence(&self) -> &Self::Presence;
    /// Apply results.
    fn results(&self) -> &Self::Results;
    /// Contents.
    fn vault(&self) -> &Self::Vault;
    /// The cluster of the Kura servers.
    fn cluster(&self) -> &Self::Cluster;
    /// Time.
    fn clock(&self) -> &Self::Clock;
    /// Whether the cluster is this account's: Kura servers of one account are in it, and no other one sees or touches
    /// them.
    fn looks_after(&self, _account: AccountId) -> bool {
        true
    }
    /// Nodes of the cluster by name, as they are known now; none where no cluster is connected.
    fn nodes(&self) -> OrdMap<String, Node> {
        OrdMap::new()
    }
    /// Whether agents can reach this process: an embedded control plane has no endpoint for them unless told so.
    fn serves_agents(&self) -> bool {
        true
    }
    /// A new identity: random, but for the simulator, which draws it from its seed.
    fn fresh(&self) -> Uuid;
    /// The name of this process in the journal and on screen, such as `serve@bastion-1:4711`.
    fn process(&self) -> &str;
}
