//! What happens to processes, clocks, lines, the journal and nodes.

use super::super::file::act::Act;
use super::super::file::faults::{FarEnd, FaultAct, Wrong};
use super::super::file::moment::Moment;
use super::super::process::Process;
use super::super::records::{Answer, Ended};
use super::super::run::{Run, Stuck};
use super::super::screens::Consoles;
use crate::control::seat::Bid;
use crate::domain::observed::Node;
use crate::sim::journal::JournalFault;
use crate::wire::problem::{Problem, ProblemKind};

impl<C: Consoles> Run<C> {
    pub(super) fn act_of_fate(&mut self, act: &Act, doing: &FaultAct) -> Result<Answer, Stuck> {
        let name = self.process_of(act).to_owned();
        match doing {
            FaultAct::TakeSeat => return self.take_seat(&name),
            FaultAct::LeaveSeat => return self.bid(&name, Bid::Abstain),
            FaultAct::Partition { from, to, until } => self.part(from, *to, *until),
            FaultAct::Node { name, ready, unschedulable, gone } => {
                self.change_node(name, *ready, *unschedulable, *gone);
            }
            _ => {}
        }
        let process = self.processes.iter_mut().find(|one| one.name == name);
        let ground = &mut self.ground;
        let happened = match (doing, process) {
            (FaultAct::Crash, Some(process)) => process.crash(ground),
            (FaultAct::Restart, Some(process)) => {
                process.crash(ground);
                process.start(ground)?;
                true
            }
            (FaultAct::Freeze, Some(process)) => process.freeze(ground),
            (FaultAct::Thaw, Some(process)) => process.thaw(ground)?,
            (FaultAct::ClockJump { by }, Some(process)) => {
                process.means.clock.jump(by.span());
                true
            }
            (FaultAct::Spawn(given), None) => {
                let mut process = Process::new(&name, given, ground);
                process.start(ground)?;
                self.processes.push(process);
                true
            }
            (FaultAct::JournalFault { next }, _) => {
                let fault = match next {
                    Wrong::Conflict => JournalFault::Conflict,
                    Wrong::Error => JournalFault::Error,
                    Wrong::LostAnswer => JournalFault::LostAnswer,
                };
                ground.outside.journal.fail_next(ground.account, fault);
                true
            }
            (FaultAct::Partition { .. } | FaultAct::Node { .. }, _) => true,
            _ => false,
        };
        self.rest()?;
        Ok(Answer::none(if happened { Ended::Done } else { Ended::Refused }))
    }

    /// The seat of a holder that lives is not taken from it.
    fn take_seat(&mut self, name: &str) -> Result<Answer, Stuck> {
        let now = self.ground.now();
        let holds = |one: &&Process| one.service().is_some_and(|service| service.held.epochs().borrow().is_some());
        let lives = |one: &&Process| one.name != name && one.is_awake() && !one.means.to_journal.is_cut(now);
        let Some(holder) = self.processes.iter().filter(holds).find(lives).map(|one| one.name.clone()) else {
            return self.bid(name, Bid::Take);
        };
        let message = format!("{holder} has the seat and lives");
        let hint = "let it leave the seat first";
        Ok(self.refusal(&Problem::new(ProblemKind::Conflict, "seat_taken", message).hint(hint)))
    }

    /// The process bids for the seat; done where it has it, or has it no more.
    fn bid(&mut self, process: &str, bid: Bid) -> Result<Answer, Stuck> {
        let Some(service) = self.service(process).cloned() else { return Ok(Answer::none(Ended::Refused)) };
        let held = service.held.epochs().borrow().is_some();
        service.bidding.set(bid);
        self.ground.settle()?;
        self.rest()?;
        let holds = service.held.epochs().borrow().is_some();
        let happened = if bid == Bid::Take { holds } else { held && !holds };
        Ok(Answer::none(if happened { Ended::Done } else { Ended::Refused }))
    }

    fn part(&self, from: &str, to: FarEnd, until: Moment) {
        let Some(process) = self.processes.iter().find(|one| one.name == from) else { return };
        let line = match to {
            FarEnd::Journal => &process.means.to_journal,
            FarEnd::Cluster => &process.means.to_cluster,
            FarEnd::Agents => &process.means.from_agents,
        };
        line.cut(until.after(self.ground.start));
    }

    fn change_node(&self, name: &str, ready: Option<bool>, unschedulable: Option<bool>, gone: bool) {
        self.ground.outside.nodes.with(|nodes| {
            if gone {
                nodes.remove(name);
                return;
            }
            let known = nodes.get(name).cloned();
            let mut node = known.unwrap_or(Node { ready: true, unschedulable: false, version: None, holds_vip: false });
            node.ready = ready.unwrap_or(node.ready);
            node.unschedulable = unschedulable.unwrap_or(node.unschedulable);
            nodes.insert(name.to_owned(), node);
        });
    }
}
