//! Consoles of a run: who sits at which process, and what is done for them.

use std::collections::BTreeMap;

use super::file::given::ProcessKind;
use super::ladders::ConsoleLink;
use super::process::{Process, introduction};
use super::run::{Run, Stuck};
use super::screens::{Console, Consoles, Told, Touch, Wish};
use crate::control::link::{Answer, Link, SeatOrder};
use crate::control::picture::Picture;
use crate::domain::input::{Order, Verb};

/// The size of a terminal until somebody changes it.
pub(super) const SIZE: (u16, u16) = (80, 24);

/// Wishes that may follow from one another before a console is thought to be mad.
const WISHES_MAX: usize = 100;

/// The consoles that were touched, by process.
#[derive(Debug)]
pub(super) struct Seats<K> {
    consoles: BTreeMap<String, K>,
    last: Option<String>,
}

impl<K> Default for Seats<K> {
    fn default() -> Self {
        Self { consoles: BTreeMap::new(), last: None }
    }
}

impl<K> Seats<K> {
    /// The console that was touched last.
    pub(super) fn last(&self) -> Option<(&str, &K)> {
        let name = self.last.as_deref()?;
        Some((name, self.consoles.get(name)?))
    }
}

impl<C: Consoles> Run<C> {
    /// The picture a process paints or painted last; of the first one that goes on where none is named.
    pub(super) fn picture(&self, process: Option<&str>) -> Option<Picture> {
        let named = |one: &&Process| process.is_none_or(|name| name == one.name);
        let mut named = self.processes.iter().filter(named);
        named.clone().find(|one| one.is_awake()).or(named.next())?.picture()
    }

    /// Does something at the console of a process, and everything that follows from it. An error where the words are
    /// not known.
    pub(super) fn touch(&mut self, process: &str, by: &str, touch: &Touch) -> Result<Result<(), String>, Stuck> {
        self.attach(process)?;
        let now = self.ground.now();
        let picture = self.picture(Some(process));
        let seats = &mut self.seats;
        seats.last = Some(process.to_owned());
        let console = seats.consoles.entry(process.to_owned()).or_insert_with(|| self.consoles.open(now, by, SIZE));
        let mut wishes = Vec::new();
        if let Some(picture) = picture {
            wishes.extend(console.tell(now, Told::Picture(Box::new(picture))));
        }
        match console.touch(now, touch) {
            Ok(wished) => wishes.extend(wished),
            Err(unknown) => return Ok(Err(unknown)),
        }
        self.fulfil(process, wishes)?;
        Ok(Ok(()))
    }

    /// A console is attached to the first server there is.
    pub(super) fn attach(&mut self, console: &str) -> Result<(), Stuck> {
        let server = self.processes.iter().find(|one| one.kind == ProcessKind::Server);
        let Some(server) = server.map(|server| server.answering.clone()) else { return Ok(()) };
        let ground = &mut self.ground;
        match self.processes.iter_mut().find(|one| one.name == console) {
            Some(process) => Ok(process.attach(&server, ground)?),
            None => Ok(()),
        }
    }

    /// A console's end of a process: of the ladder it stands on, or of the process itself.
    fn link_of(&self, process: &str) -> Option<ConsoleLink> {
        let known = self.processes.iter().find(|one| one.name == process)?;
        let ladder = known.ladder().cloned().map(ConsoleLink::Attached);
        ladder.or_else(|| known.service().map(|service| ConsoleLink::Local(service.link(introduction()).0)))
    }

    fn seat_order(&mut self, process: &str, order: SeatOrder) -> Result<Told, Stuck> {
        let key = order.key.clone();
        let answer = match self.link_of(process) {
            Some(link) => self.ground.run("seat", async move { link.seat(order).await })?,
            None => Some(Answer::Unsent { why: "the process is gone".to_owned() }),
        };
        let answer = answer.unwrap_or_else(|| Answer::Done { sentence: "this console waits for the seat".to_owned() });
        Ok(Told::Answer { key, answer })
    }

    fn fulfil(&mut self, process: &str, mut wishes: Vec<Wish>) -> Result<(), Stuck> {
        for _ in 0..WISHES_MAX {
            if wishes.is_empty() {
                break;
            }
            let wish = wishes.remove(0);
            let told = match wish {
                Wish::Give(order) => Some(self.order(process, *order)?),
                Wish::Seat(order) => Some(self.seat_order(process, *order)?),
                Wish::Read { rollout, machine } => {
                    let results = match self.link_of(process) {
                        Some(link) => {
                            self.ground.run("results", async move { link.results(rollout, machine).await })?
                        }
                        None => None,
                    };
                    let results = results.unwrap_or_else(|| Err("the process does not answer".to_owned()));
                    Some(Told::Results { rollout, machine, results })
                }
                Wish::Leave => {
                    self.seats.consoles.remove(process);
                    return Ok(());
                }
            };
            self.rest()?;
            let (now, picture) = (self.ground.now(), self.picture(Some(process)));
            let Some(console) = self.seats.consoles.get_mut(process) else { return Ok(()) };
            if let Some(picture) = picture {
                wishes.extend(console.tell(now, Told::Picture(Box::new(picture))));
            }
            if let Some(told) = told {
                wishes.extend(console.tell(now, told));
            }
        }
        Ok(())
    }

    /// Gives an order of a console once. A rollout that comes of it is called like every other.
    fn order(&mut self, process: &str, mut order: Order) -> Result<Told, Stuck> {
        let key = order.key.clone().unwrap_or_default();
        if let Verb::Start { .. } = &order.verb {
            let fresh = self.fresh_rollout(None);
            if let Verb::Start { id, .. } = &mut order.verb {
                *id = fresh;
            }
        }
        let answer = match self.link_of(process) {
            Some(link) => self.ground.run("order", async move { link.order(order, None).await })?,
            None => Some(Answer::Unsent { why: "the process is gone".to_owned() }),
        };
        let answer = answer.unwrap_or_else(|| Answer::Unknown { why: "no answer came".to_owned() });
        Ok(Told::Answer { key, answer })
    }
}
