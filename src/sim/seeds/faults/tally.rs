//! What was seen of processes and their seat in worlds of faults.

use std::fmt;

use super::super::super::trail::Strikes;
use super::super::plot::PROCESSES;

/// Sets of lines that can be cut at once: none of the four up to all of them.
const CUTS: usize = 16;

/// What was seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FaultTally {
    /// Worlds by how many processes they began with.
    pub worlds: [u64; PROCESSES + 1],
    /// Consoles in them.
    pub consoles: u64,
    /// Seconds in which whoever had the seat was cut off from these: journal 1, cluster 2, agents 4, servers 8.
    pub holder_cut: [u64; CUTS],
    /// The same of anybody else.
    pub other_cut: [u64; CUTS],
    /// At which calls processes died.
    pub died_at: Strikes,
    /// At which they froze.
    pub froze_at: Strikes,
    /// Times the seat was taken.
    pub takings: u64,
    /// Longest time the seat was empty while somebody could have had it, in seconds.
    pub longest_gap: u64,
    /// Longest time from a hand-over to the next holder, in seconds.
    pub longest_hand_over: u64,
}

impl FaultTally {
    /// Both together.
    pub fn add(&mut self, other: &Self) {
        let sum = |own: &mut [u64], more: &[u64]| own.iter_mut().zip(more).for_each(|(own, more)| *own += more);
        sum(&mut self.worlds, &other.worlds);
        sum(&mut self.holder_cut, &other.holder_cut);
        sum(&mut self.other_cut, &other.other_cut);
        self.consoles += other.consoles;
        self.takings += other.takings;
        self.died_at.join(other.died_at);
        self.froze_at.join(other.froze_at);
        self.longest_gap = self.longest_gap.max(other.longest_gap);
        self.longest_hand_over = self.longest_hand_over.max(other.longest_hand_over);
    }

    /// Different sets of lines that were cut.
    pub fn partitions(&self) -> (usize, usize) {
        let some = |cut: &[u64]| cut.iter().skip(1).filter(|seconds| **seconds > 0).count();
        (some(&self.holder_cut), some(&self.other_cut))
    }
}

impl fmt::Display for FaultTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let worlds = self.worlds.iter().enumerate().filter(|(_, worlds)| **worlds > 0);
        let worlds: Vec<String> = worlds.map(|(n, worlds)| format!("{worlds} worlds of {n}")).collect();
        let (holder, other) = self.partitions();
        let of = CUTS - 1;
        write!(f, "processes: {}, {} consoles; ", worlds.join(", "), self.consoles)?;
        write!(f, "{holder} of {of} partitions of the holder, {other} of {of} of others; ")?;
        let (died, froze) = (self.died_at.count(), self.froze_at.count());
        write!(f, "died at {died} and froze at {froze} of {} places of a call; ", Strikes::PLACES)?;
        let (takings, gap, hand_over) = (self.takings, self.longest_gap, self.longest_hand_over);
        write!(f, "the seat taken {takings} times, empty for {gap} s at the most, handed over within {hand_over} s")
    }
}
