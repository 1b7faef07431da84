//! Consoles of a run: who sits at which process, and what is done for them.

use std::collections::BTreeMap;

use super::process::{Process, introduction};
use super::run::{Run, Stuck};
use super::screens::{Console, Consoles, Told, Touch, Wish};
use crate::control::link::{Answer, Link};
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

    fn fulfil(&mut self, process: &str, mut wishes: Vec<Wish>) -> Result<(), Stuck> {
        for _ in 0..WISHES_MAX {
            if wishes.is_empty() {
                break;
            }
            let wish = wishes.remove(0);
            let told = match wish {
                Wish::Give(order) => Some(self.order(process, *order)?),
                Wish::Read { rollout, machine } => {
                    let link = self.service(process).map(|service| service.link(introduction()).0);
                    let results = match link {
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
        let link = self.service(process).map(|service| service.link(introduction()).0);
        let answer = match link {
            Some(link) => self.ground.run("order", async move { link.order(order, None).await })?,
            None => Some(Answer::Unsent { why: "the process is gone".to_owned() }),
        };
        let answer = answer.unwrap_or_else(|| Answer::Unknown { why: "no answer came".to_owned() });
        Ok(Told::Answer { key, answer })
    }
}
