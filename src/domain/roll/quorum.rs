//! How many may be down: two rolling and one that never comes back must leave a quorum (F24).

use super::spec::RollSpec;

/// The margin of a fleet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Margin {
    /// Nodes of the fleet.
    pub nodes: usize,
    /// Nodes that may be down while more than half are left.
    pub tolerated: usize,
    /// Nodes that may roll at the same time and leave one to spare: `concurrent + 1 <= floor((n - 1) / 2)`.
    pub concurrent: usize,
}

/// The margin of `nodes`.
pub fn margin(nodes: usize) -> Margin {
    let tolerated = nodes.saturating_sub(1) / 2;
    Margin { nodes, tolerated, concurrent: tolerated.saturating_sub(1) }
}

/// The fleet of a roll.
pub fn margin_of(spec: &RollSpec) -> Margin {
    margin(spec.all_nodes().len())
}

impl Margin {
    /// Not even one node can roll and leave one to spare: a person confirms it by typing (F56).
    pub fn is_bare(&self) -> bool {
        self.concurrent == 0
    }

    /// What a person is told where there is no margin.
    pub fn warning(&self) -> Option<String> {
        self.is_bare().then(|| {
            format!(
                "{} nodes tolerate {} down: while one rolls, another that fails is a lost quorum",
                self.nodes, self.tolerated
            )
        })
    }
}
