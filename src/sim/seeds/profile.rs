//! Which kind of worlds is generated.

/// A family of generated worlds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Profile {
    /// Ring rollouts: fleets, releases, operators, agents, processes.
    #[default]
    Rings,
    /// Kura servers: releases, deployments, a cluster that other hands write to.
    Kura,
}

impl Profile {
    /// Every family there is.
    pub const ALL: [Self; 2] = [Self::Rings, Self::Kura];

    /// The word it is called by.
    pub fn word(self) -> &'static str {
        match self {
            Self::Rings => "rings",
            Self::Kura => "kura",
        }
    }
}
