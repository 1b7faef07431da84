//! Which kind of worlds is generated.

/// A family of generated worlds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Profile {
    /// Ring rollouts: fleets, releases, operators, agents, processes.
    #[default]
    Rings,
}

impl Profile {
    /// Every family there is.
    pub const ALL: [Self; 1] = [Self::Rings];

    /// The word it is called by.
    pub fn word(self) -> &'static str {
        match self {
            Self::Rings => "rings",
        }
    }
}
