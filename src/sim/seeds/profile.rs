//! Which kind of worlds is generated.

/// A family of generated worlds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Profile {
    /// Ring rollouts: fleets, releases, operators, agents, processes.
    #[default]
    Rings,
    /// Kura servers: releases, deployments, a cluster that other hands write to.
    Kura,
    /// Fleet rolls: nodes, images, gates, people, a cluster that other hands write to.
    Rolls,
    /// All of that at once, on one account.
    All,
}

impl Profile {
    /// Every family there is.
    pub const ALL: [Self; 4] = [Self::Rings, Self::Kura, Self::Rolls, Self::All];

    /// The word it is called by.
    pub fn word(self) -> &'static str {
        match self {
            Self::Rings => "rings",
            Self::Kura => "kura",
            Self::Rolls => "rolls",
            Self::All => "all",
        }
    }

    /// Ring rollouts are among what happens.
    pub fn has_rings(self) -> bool {
        matches!(self, Self::Rings | Self::All)
    }

    /// Kura servers are among what there is.
    pub fn has_kura(self) -> bool {
        matches!(self, Self::Kura | Self::All)
    }

    /// Fleet rolls are among what happens.
    pub fn has_rolls(self) -> bool {
        matches!(self, Self::Rolls | Self::All)
    }
}
