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
    /// The answer of the journal got lost on the way back.
    LostReply,
    /// A write was said to have failed and was still under way.
    LateWrite,
    /// A batch was appended after its caller had been told that this failed.
    LateLanding,
    /// The journal had no room.
    FullDisk,
    /// A read answered with the past.
    StaleRead,
    /// News of the journal came late.
    SlowWatch,
    /// A whole line became slow.
    SlowLine,
    /// What was seen of the cluster was of the past.
    StaleSight,
    /// A write to the cluster was done, and its answer got lost.
    LostOutcome,
    /// A write to the cluster arrived after its caller had given up.
    LateDeed,
    /// A process was struck in the middle of a call.
    StruckCall,
    /// The journal turned away what was decided under an epoch that was over.
    FencedAppend,
    /// The cluster turned away the write of somebody who had lost the seat.
    FencedWrite,
    /// Somebody who had lost the seat finished the write in flight.
    LastWrite,
    /// A process gave the seat back.
    HandOver,
    /// A process took the seat again that it had lost before.
    StoodAgain,
    /// A person took the seat.
    TakenByHand,
    /// A console found its control plane gone.
    LostControlPlane,
}

impl Mishap {
    /// Every kind.
    pub const ALL: [Self; 34] = [
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
        Self::LostReply,
        Self::LateWrite,
        Self::LateLanding,
        Self::FullDisk,
        Self::StaleRead,
        Self::SlowWatch,
        Self::SlowLine,
        Self::StaleSight,
        Self::LostOutcome,
        Self::LateDeed,
        Self::StruckCall,
        Self::FencedAppend,
        Self::FencedWrite,
        Self::LastWrite,
        Self::HandOver,
        Self::StoodAgain,
        Self::TakenByHand,
        Self::LostControlPlane,
    ];

    /// How many of them, from the first on, happen in worlds of rings too; the others belong to worlds of faults.
    pub const IN_RINGS: usize = 16;

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
            Self::LostReply => "replies lost on the way",
            Self::LateWrite => "writes still under way when they were given up",
            Self::LateLanding => "batches appended after they were given up",
            Self::FullDisk => "writes to a full disk",
            Self::StaleRead => "stale reads",
            Self::SlowWatch => "slow watches",
            Self::SlowLine => "slow lines",
            Self::StaleSight => "stale sights of the cluster",
            Self::LostOutcome => "outcomes of writes that got lost",
            Self::LateDeed => "writes to the cluster that arrived late",
            Self::StruckCall => "processes struck in mid-call",
            Self::FencedAppend => "appends fenced off",
            Self::FencedWrite => "writes to the cluster fenced off",
            Self::LastWrite => "writes that were in flight as the seat was lost",
            Self::HandOver => "hand-overs",
            Self::StoodAgain => "seats taken again",
            Self::TakenByHand => "seats taken by hand",
            Self::LostControlPlane => "consoles without their control plane",
        }
    }
}

/// How often each kind happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Toll([u64; Mishap::ALL.len()]);

impl Default for Toll {
    fn default() -> Self {
        Self([0; Mishap::ALL.len()])
    }
}

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
        let told = Mishap::ALL.iter().filter(|kind| self.of(**kind) > 0);
        let told: Vec<String> = told.map(|kind| format!("{} {}", self.of(*kind), kind.words())).collect();
        f.write_str(if told.is_empty() { "none" } else { "" })?;
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
        assert!(told.contains(", 2 rebuilds, "), "{told}");
        assert_eq!(Toll::default().to_string(), "none");
    }
}
