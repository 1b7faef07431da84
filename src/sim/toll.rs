//! The toll: what went wrong in a simulated world, counted where it happened.

use std::fmt;

/// Kinds of mishaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mishap {
    /// An append was refused as outrun, though nobody was faster.
    Conflict,
    /// An append failed and left nothing.
    FailedAppend,
    /// An append was kept, and its answer got lost.
    LostAnswer,
    /// A process could not reach the journal for one call.
    CutCall,
    /// A process died at whichever await it was.
    Crash,
    /// A process took no step for a while.
    Freeze,
    /// Another process took the seat.
    Takeover,
    /// A wall clock jumped.
    ClockJump,
    /// A person accepted the clocks as they were.
    AcceptedClock,
    /// A report came late.
    LateReport,
    /// A report came twice.
    DoubleReport,
    /// The answer to a poll never arrived.
    LostPoll,
    /// An agent went silent.
    SilentAgent,
    /// The results store went down.
    TelemetryDown,
    /// A machine could not be rendered when it asked.
    RenderError,
    /// A machine got a new system.
    Rebuild,
}

impl Mishap {
    /// Every kind.
    pub const ALL: [Self; 16] = [
        Self::Conflict,
        Self::FailedAppend,
        Self::LostAnswer,
        Self::CutCall,
        Self::Crash,
        Self::Freeze,
        Self::Takeover,
        Self::ClockJump,
        Self::AcceptedClock,
        Self::LateReport,
        Self::DoubleReport,
        Self::LostPoll,
        Self::SilentAgent,
        Self::TelemetryDown,
        Self::RenderError,
        Self::Rebuild,
    ];

    /// What people call several of them.
    pub fn words(self) -> &'static str {
        match self {
            Self::Conflict => "conflicts",
            Self::FailedAppend => "failed appends",
            Self::LostAnswer => "lost answers",
            Self::CutCall => "calls over a cut line",
            Self::Crash => "crashes",
            Self::Freeze => "freezes",
            Self::Takeover => "takeovers of the seat",
            Self::ClockJump => "clock jumps",
            Self::AcceptedClock => "clocks accepted",
            Self::LateReport => "late reports",
            Self::DoubleReport => "reports sent twice",
            Self::LostPoll => "polls without an answer",
            Self::SilentAgent => "silent agents",
            Self::TelemetryDown => "telemetry outages",
            Self::RenderError => "render errors",
            Self::Rebuild => "rebuilds",
        }
    }
}

/// How often each kind happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Toll([u64; Mishap::ALL.len()]);

impl Toll {
    /// Once more.
    pub fn count(&mut self, mishap: Mishap) {
        self.0[mishap as usize] += 1;
    }

    /// How often.
    pub fn of(&self, mishap: Mishap) -> u64 {
        self.0[mishap as usize]
    }

    /// Both together.
    pub fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(own, more)| *own += more);
    }
}

impl fmt::Display for Toll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told: Vec<String> = Mishap::ALL.iter().map(|kind| format!("{} {}", self.of(*kind), kind.words())).collect();
        f.write_str(&told.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_counted_by_itself_and_named() {
        let mut toll = Toll::default();
        Mishap::ALL.iter().for_each(|kind| toll.count(*kind));
        toll.count(Mishap::Rebuild);
        let mut twice = toll;
        twice.add(&toll);
        assert!(Mishap::ALL.iter().all(|kind| twice.of(*kind) == 2 * toll.of(*kind)));
        assert_eq!((toll.of(Mishap::Conflict), toll.of(Mishap::Rebuild)), (1, 2));
        let told = toll.to_string();
        assert!(Mishap::ALL.iter().all(|kind| told.contains(kind.words())), "{told}");
        assert!(told.ends_with("2 rebuilds"), "{told}");
    }
}
