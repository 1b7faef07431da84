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
    /// Small worlds of all of that, with two to four processes on one journal and everything that goes wrong between
    /// them, the journal, the cluster and the agents.
    Faults,
}

impl Profile {
    /// Every family there is.
    pub const ALL: [Self; 5] = [Self::Rings, Self::Kura, Self::Rolls, Self::All, Self::Faults];

    /// The word it is called by.
    pub fn word(self) -> &'static str {
        match self {
            Self::Rings => "rings",
            Self::Kura => "kura",
            Self::Rolls => "rolls",
            Self::All => "all",
            Self::Faults => "faults",
        }
    }

    /// What there is in its worlds; in those of faults each draws it.
    pub fn families(self) -> Families {
        let (rings, kura, rolls) = (self.has_rings(), self.has_kura(), self.has_rolls());
        Families { rings, kura, rolls }
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

/// What there is in a world.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Families {
    /// Ring rollouts.
    pub rings: bool,
    /// Kura servers.
    pub kura: bool,
    /// Fleet rolls.
    pub rolls: bool,
}

impl Families {
    /// Something in it is in a cluster.
    pub fn has_cluster(self) -> bool {
        self.kura || self.rolls
    }
}
