//! The figures in words, and whether they will do.

use super::agents::Polled;
use super::operator::Driven;
use super::plane::Usage;
use super::streams::Followed;
use super::verdict::Verdict;
use super::{Fallible, Flags};

/// Faults that are told one by one.
const FAULTS_TOLD: usize = 10;

/// Everything that was measured.
#[derive(Debug)]
pub(crate) struct Figures {
    pub(crate) flags: Flags,
    pub(crate) polled: Polled,
    pub(crate) used: Usage,
    pub(crate) followed: Followed,
    pub(crate) done: Driven,
    pub(crate) verdict: Verdict,
}

impl Figures {
    /// The report; an error where something is wrong.
    pub(crate) fn judged(&self) -> Fallible<String> {
        let text = self.text();
        let Verdict { faults, .. } = &self.verdict;
        if !faults.is_empty() {
            let told: Vec<&str> = faults.iter().take(FAULTS_TOLD).map(String::as_str).collect();
            return Err(format!("{} faults\n  {}\n{text}", faults.len(), told.join("\n  ")).into());
        }
        if self.followed.broken > 0 {
            return Err(format!("{} change streams broke\n{text}", self.followed.broken).into());
        }
        if self.per_second() < to_f64(self.flags.at_least) {
            return Err(format!("fewer than {} polls/s\n{text}", self.flags.at_least).into());
        }
        Ok(text)
    }

    fn per_second(&self) -> f64 {
        to_f64(self.polled.polls) / self.polled.seconds
    }

    fn text(&self) -> String {
        let Self { flags, polled, used, followed, done, verdict } = self;
        let requests = to_f64(polled.polls + polled.reports).max(1.0);
        let processor = used.user + used.system;
        format!(
            "agents {}, streams {}, cap {} a ring, {:.1} s\n\
             polls     {:.0}/s ({} in all), answered in {:.1} ms at the median, {:.1} ms for 99 of 100, {:.0} ms at worst\n\
             refused   {} requests, asked more often than an agent may\n\
             server    {:.1} s of processor ({:.1} user, {:.1} system), {:.0}% of one core, {:.1} us a request\n\
             streams   {} saw every change, {} broke, {:.1} MB in all\n\
             operator  {} orders, slowest {:.0} ms, slowest look at the status {:.0} ms; {} machines done\n\
             journal   {} entries, {} grants, at most {} holders in a ring; none lost, none doubled: {}\n",
            flags.agents,
            flags.streams,
            flags.cap,
            polled.seconds,
            self.per_second(),
            polled.polls,
            polled.p50,
            polled.p99,
            polled.slowest,
            polled.refused,
            processor,
            used.user,
            used.system,
            processor / polled.seconds * 100.0,
            processor / requests * 1e6,
            followed.whole,
            followed.broken,
            to_f64(followed.bytes) / 1e6,
            done.orders,
            done.slowest_order,
            done.slowest_look,
            done.done,
            verdict.entries,
            verdict.grants,
            verdict.most_at_once,
            if verdict.faults.is_empty() { "yes" } else { "NO" },
        )
    }
}

#[allow(clippy::cast_precision_loss)]
fn to_f64(count: u64) -> f64 {
    count as f64
}
