//! Nodes as shown: the ledger of cordons, the verdict on each runtime, and who hosts the registry.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::ProbeBody;
use crate::domain::observed::Observed;
use crate::domain::roll::host::{Cordoned, Host, hosts};
use crate::domain::roll::node::Verdict;
use crate::domain::roll::rolls::{Cordon, Rolls};
use crate::domain::world::World;

/// Where nodes are.
pub const PATH: &str = "/api/nodes/";

/// A node. What is not known is null.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeBody {
    /// Its name.
    pub name: String,
    /// Its kubelet says so, which says nothing about whether containers can start.
    pub ready: Option<bool>,
    /// Cordoned, by whomever.
    pub unschedulable: Option<bool>,
    /// Version of its kubelet.
    pub version: Option<String>,
    /// The kernel it runs.
    #[serde(default)]
    pub kernel: Option<String>,
    /// Its operating system.
    #[serde(default)]
    pub os_image: Option<String>,
    /// It holds the VIP of the cluster.
    pub holds_vip: bool,
    /// The registry runs on it, as far as a roll looked for it.
    pub registry: bool,
    /// The cordon is ours.
    pub cordon: Option<Cordon>,
    /// The last word on its runtime.
    pub runtime: Option<Verdict>,
    /// Where that comes from.
    pub probe: Option<ProbeBody>,
    /// Pods on it that cannot be made.
    pub trouble: Option<String>,
    /// The roll in whose turn it is.
    pub in_turn_of: Option<String>,
}

impl NodeBody {
    /// Every node that is seen or in the books, by name.
    pub fn all(world: &World, observed: &Observed, now: Timestamp) -> Vec<Self> {
        hosts(world, observed, now).into_iter().map(|host| Self::of(&world.rolls, host)).collect()
    }

    fn of(rolls: &Rolls, host: Host) -> Self {
        let probe = host.finding.as_ref().map(|finding| ProbeBody::of(&host.name, finding));
        // What is to be seen there outweighs a probe that ran.
        let seen = host.fingerprints.as_ref().map(|_| Verdict::Broken);
        let whose = host.cordoned();
        Self {
            runtime: seen.or(host.finding.as_ref().map(|finding| finding.verdict)),
            probe,
            name: host.name,
            ready: host.ready,
            unschedulable: host.unschedulable,
            version: host.version,
            kernel: host.kernel,
            os_image: host.os_image,
            holds_vip: host.holds_vip,
            registry: host.registry,
            cordon: host.cordon.filter(|_| whose == Cordoned::Ours),
            trouble: host.fingerprints,
            in_turn_of: host.in_turn_of.map(|roll| rolls.name(roll)),
        }
    }
}
