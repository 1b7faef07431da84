//! What an entry of `when` does: one file per family of verbs.

use super::super::file::act::{Act, Doing};
use super::super::records::Answer;
use super::super::run::{Run, Stuck};
use super::super::screens::Consoles;

impl<C: Consoles> Run<C> {
    /// Does it, and says how it ended.
    pub(in super::super) fn perform(&mut self, act: &Act) -> Result<Answer, Stuck> {
        match &act.doing {
            Doing::Agents(doing) => self.act_as_agent(act, doing),
            Doing::Rollouts(doing) => self.act_on_rollouts(act, doing),
            Doing::Faults(doing) => self.act_of_fate(act, doing),
            Doing::Kura(doing) => self.act_on_kura(act, doing),
            Doing::Rolls(doing) => self.act_on_rolls(act, doing),
            Doing::Console(doing) => self.act_at_console(act, doing),
        }
    }
}
