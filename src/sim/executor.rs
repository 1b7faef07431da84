//! A small seeded executor: one thread, and a seed that picks which of the ready tasks goes next.
//!
//! The same seed and the same tasks give the same order of steps. A task can be killed at any of its awaits.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use super::shared::Shared;

/// Steps without a moment in which nothing is ready; beyond it some task wakes itself for ever.
pub const STEPS_MAX: u64 = 100_000_000;

/// What is called when a task becomes ready: lets a thread that paces a simulation sleep in between.
pub type Hook = Arc<dyn Fn() + Send + Sync>;

type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Name of a task, in order of spawning; never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskId(u64);

/// A simulation that never comes to rest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the simulation does not come to rest: task {task} was still ready after {STEPS_MAX} steps")]
pub struct Restless {
    /// The task that went last.
    pub task: String,
}

/// What becomes of a process at one of its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is dropped where it stands.
    Dies,
    /// It takes no step until it is thawed.
    Freezes,
}

/// Rung by tasks in the middle of a step: what is to become of all of them before anybody takes the next one.
#[derive(Debug, Clone)]
pub struct Alarm {
    ward: u64,
    rung: Shared<Vec<(u64, Fate)>>,
}

impl Alarm {
    /// The tasks it stands for meet this fate after the present step.
    pub fn ring(&self, fate: Fate) {
        self.rung.with(|rung| rung.push((self.ward, fate)));
    }
}

struct Task {
    name: &'static str,
    job: Job,
    waker: Waker,
    queued: bool,
}

/// Tasks that were woken since the last look, from whichever thread.
struct Wakes {
    woken: Shared<BTreeSet<TaskId>>,
    hook: Shared<Option<Hook>>,
}

struct Bell {
    task: TaskId,
    wakes: Arc<Wakes>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.wakes.woken.with(|woken| woken.insert(self.task))
            && let Some(hook) = self.wakes.hook.with(|hook| hook.clone())
        {
            hook();
        }
    }
}

/// Runs tasks, one step at a time.
pub struct Executor {
    tasks: BTreeMap<TaskId, Task>,
    ready: Vec<TaskId>,
    /// Tasks that take no step until they are thawed, and those of them that would be ready.
    frozen: BTreeSet<TaskId>,
    held: Vec<TaskId>,
    wakes: Arc<Wakes>,
    dice: fastrand::Rng,
    spawned: u64,
    steps: u64,
    doomed: BTreeMap<u64, Vec<TaskId>>,
    wards: BTreeMap<u64, Vec<TaskId>>,
    rung: Shared<Vec<(u64, Fate)>>,
    crashes: u64,
    freezes: u64,
}

impl Executor {
    /// No tasks yet; `seed` decides every choice.
    pub fn seeded(seed: u64) -> Self {
        Self {
            tasks: BTreeMap::new(),
            ready: Vec::new(),
            frozen: BTreeSet::new(),
            held: Vec::new(),
            wakes: Arc::new(Wakes { woken: Shared::default(), hook: Shared::default() }),
            dice: fastrand::Rng::with_seed(seed),
            spawned: 0,
            steps: 0,
            doomed: BTreeMap::new(),
            wards: BTreeMap::new(),
            rung: Shared::default(),
            crashes: 0,
            freezes: 0,
        }
    }

    /// Calls `hook` whenever a task becomes ready, on the thread that made it so.
    pub fn on_wake(&self, hook: Hook) {
        self.wakes.hook.with(|slot| *slot = Some(hook));
    }

    /// Adds a task; it is ready at once, but takes no step yet.
    pub fn spawn(&mut self, name: &'static str, job: impl Future<Output = ()> + Send + 'static) -> TaskId {
        let id = TaskId(self.spawned);
        self.spawned += 1;
        let waker = Waker::from(Arc::new(Bell { task: id, wakes: Arc::clone(&self.wakes) }));
        self.tasks.insert(id, Task { name, job: Box::pin(job), waker, queued: true });
        self.ready.push(id);
        id
    }

    /// Drops a task where it stands, as a crash would. True if it was there.
    pub fn kill(&mut self, task: TaskId) -> bool {
        self.ready.retain(|id| *id != task);
        self.held.retain(|id| *id != task);
        self.frozen.remove(&task);
        self.tasks.remove(&task).is_some()
    }

    /// Lets these tasks take no step until they are thawed; what wakes them meanwhile is not lost.
    pub fn freeze(&mut self, tasks: &[TaskId]) {
        self.frozen.extend(tasks.iter().filter(|task| self.tasks.contains_key(task)));
        let (held, ready) = self.ready.drain(..).partition(|task| self.frozen.contains(task));
        self.ready = ready;
        self.held.extend::<Vec<TaskId>>(held);
    }

    /// Lets them go on.
    pub fn thaw(&mut self, tasks: &[TaskId]) {
        self.frozen.retain(|task| !tasks.contains(task));
        let (ready, held) = self.held.drain(..).partition(|task| !self.frozen.contains(task));
        self.held = held;
        self.ready.extend::<Vec<TaskId>>(ready);
    }

    /// Drops tasks where they stand, after `steps` more steps of anybody: at whichever await they are by then.
    pub fn kill_after(&mut self, steps: u64, tasks: Vec<TaskId>) {
        self.doomed.entry(self.steps + steps).or_default().extend(tasks);
    }

    /// An alarm by which these tasks say in the middle of a step what becomes of all of them after it.
    pub fn ward(&mut self, tasks: Vec<TaskId>) -> Alarm {
        let ward = self.spawned;
        self.wards.insert(ward, tasks);
        Alarm { ward, rung: self.rung.clone() }
    }

    /// Whatever was to die goes on living.
    pub fn spare(&mut self) {
        self.doomed.clear();
    }

    /// How often `kill_after` or an alarm found something alive.
    pub fn crashes(&self) -> u64 {
        self.crashes
    }

    /// How often an alarm froze something.
    pub fn freezes(&self) -> u64 {
        self.freezes
    }

    /// True while a task takes no step until it is thawed.
    pub fn is_frozen(&self, task: TaskId) -> bool {
        self.frozen.contains(&task)
    }

    /// True until the task ended or was killed.
    pub fn is_alive(&self, task: TaskId) -> bool {
        self.tasks.contains_key(&task)
    }

    /// Lets one ready task take one step; none when nothing is ready.
    pub fn step(&mut self) -> Option<TaskId> {
        self.hear_alarms();
        self.kill_doomed();
        self.collect_woken();
        if self.ready.is_empty() {
            return None;
        }
        let chosen = self.ready.swap_remove(self.dice.usize(..self.ready.len()));
        let task = self.tasks.get_mut(&chosen)?;
        self.steps += 1;
        task.queued = false;
        if let Poll::Ready(()) = task.job.as_mut().poll(&mut Context::from_waker(&task.waker)) {
            self.tasks.remove(&chosen);
        }
        Some(chosen)
    }

    /// Steps until nothing is ready.
    pub fn run_until_idle(&mut self) -> Result<(), Restless> {
        let mut last = None;
        for _ in 0..STEPS_MAX {
            match self.step() {
                Some(task) => last = Some(task),
                None => return Ok(()),
            }
        }
        let task = last.and_then(|id| self.tasks.get(&id)).map_or("(ended)", |task| task.name);
        Err(Restless { task: task.to_owned() })
    }

    fn hear_alarms(&mut self) {
        for (ward, fate) in self.rung.with(std::mem::take) {
            let tasks = self.wards.get(&ward).cloned().unwrap_or_default();
            match fate {
                Fate::Freezes => {
                    self.freeze(&tasks);
                    self.freezes += 1;
                }
                Fate::Dies => {
                    let killed = tasks.into_iter().filter(|task| self.kill(*task)).count();
                    self.crashes += u64::from(killed > 0);
                }
            }
        }
    }

    fn kill_doomed(&mut self) {
        while let Some(next) = self.doomed.first_entry().filter(|next| *next.key() <= self.steps) {
            let killed = next.remove().into_iter().filter(|task| self.kill(*task)).count();
            self.crashes += u64::from(killed > 0);
        }
    }

    fn collect_woken(&mut self) {
        for id in self.wakes.woken.with(std::mem::take) {
            if let Some(task) = self.tasks.get_mut(&id)
                && !task.queued
            {
                task.queued = true;
                if self.frozen.contains(&id) { self.held.push(id) } else { self.ready.push(id) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::pending::pend_once;
    use super::*;

    /// Three tasks that write their name five times, yielding in between.
    fn order_of(seed: u64) -> String {
        let (mut executor, paper) = (Executor::seeded(seed), Shared::new(String::new()));
        for name in ["a", "b", "c"] {
            let paper = paper.clone();
            executor.spawn(name, async move {
                for _ in 0..5 {
                    paper.with(|text| text.push_str(name));
                    pend_once().await;
                }
            });
        }
        executor.run_until_idle().unwrap();
        paper.with(|text| text.clone())
    }

    #[test]
    fn a_seed_fixes_the_interleaving_and_seeds_differ() {
        assert_eq!(order_of(1), order_of(1));
        let orders: BTreeSet<String> = (0..20).map(order_of).collect();
        assert!(orders.len() > 10, "20 seeds gave only {} interleavings", orders.len());
        assert!(orders.iter().all(|order| order.len() == 15));
    }

    #[test]
    fn a_killed_task_is_dropped_where_it_stands() {
        struct Flag(Shared<bool>);
        impl Drop for Flag {
            fn drop(&mut self) {
                self.0.with(|dropped| *dropped = true);
            }
        }
        let (mut executor, dropped, passed) = (Executor::seeded(1), Shared::new(false), Shared::new(false));
        let (flag, beyond) = (Flag(dropped.clone()), passed.clone());
        let task = executor.spawn("victim", async move {
            let _flag = flag;
            pend_once().await;
            beyond.with(|passed| *passed = true);
        });
        assert_eq!(executor.step(), Some(task));
        assert!(executor.kill(task) && !executor.is_alive(task));
        assert_eq!(executor.step(), None);
        assert!(dropped.with(|d| *d) && !passed.with(|p| *p));
        assert!(!executor.kill(task));
    }

    #[test]
    fn a_doomed_task_takes_that_many_steps_and_no_more() {
        for steps in 0..5 {
            let (mut executor, count) = (Executor::seeded(1), Shared::new(0));
            let counted = count.clone();
            let task = executor.spawn("doomed", async move {
                loop {
                    counted.with(|count| *count += 1);
                    pend_once().await;
                }
            });
            executor.kill_after(steps, vec![task]);
            executor.run_until_idle().unwrap();
            assert_eq!(count.with(|count| *count), steps);
        }
    }

    /// Two tasks of one ward, the first of which rings in its second step.
    fn ringing(fate: Fate) -> (Executor, [TaskId; 2], Shared<[u32; 2]>) {
        let (mut executor, count) = (Executor::seeded(1), Shared::new([0, 0]));
        let alarm = Shared::new(None::<Alarm>);
        let tasks = [0, 1].map(|n| {
            let (count, alarm) = (count.clone(), alarm.clone());
            executor.spawn("ward", async move {
                for step in 0..3 {
                    count.with(|count| count[n] += 1);
                    if (n, step) == (0, 1) {
                        alarm.with(|alarm| alarm.iter().for_each(|alarm| alarm.ring(fate)));
                    }
                    pend_once().await;
                }
            })
        });
        let own = executor.ward(tasks.to_vec());
        alarm.with(|alarm| *alarm = Some(own));
        executor.run_until_idle().unwrap();
        (executor, tasks, count)
    }

    #[test]
    fn an_alarm_in_the_middle_of_a_step_is_heard_before_the_next_one() {
        let (executor, tasks, count) = ringing(Fate::Dies);
        assert!(count.with(|count| count[0] == 2) && tasks.iter().all(|task| !executor.is_alive(*task)));
        assert_eq!((executor.crashes(), executor.freezes()), (1, 0));
        let (mut executor, tasks, count) = ringing(Fate::Freezes);
        assert!(count.with(|count| count[0] == 2) && executor.is_alive(tasks[0]) && executor.is_frozen(tasks[0]));
        executor.thaw(&tasks);
        executor.run_until_idle().unwrap();
        assert_eq!(count.with(|count| *count), [3, 3], "nothing was lost by it");
        assert_eq!((executor.crashes(), executor.freezes()), (0, 1));
    }

    #[test]
    fn a_doomed_task_that_is_spared_lives_on() {
        let mut executor = Executor::seeded(1);
        let task = executor.spawn("doomed", async {
            loop {
                pend_once().await;
            }
        });
        executor.kill_after(3, vec![task]);
        executor.spare();
        for _ in 0..10 {
            executor.step();
        }
        assert!(executor.is_alive(task) && executor.crashes() == 0);
    }

    #[test]
    fn a_frozen_task_takes_no_step_and_loses_no_wake() {
        let (mut executor, count) = (Executor::seeded(1), Shared::new(0));
        let counted = count.clone();
        let task = executor.spawn("sleeper", async move {
            for _ in 0..3 {
                counted.with(|count| *count += 1);
                pend_once().await;
            }
        });
        executor.step();
        executor.freeze(&[task]);
        executor.run_until_idle().unwrap();
        assert_eq!(count.with(|count| *count), 1);
        executor.thaw(&[task]);
        executor.run_until_idle().unwrap();
        assert_eq!(count.with(|count| *count), 3);
    }

    #[test]
    fn a_wake_from_another_thread_calls_the_hook() {
        let mut executor = Executor::seeded(1);
        let (slot, calls) = (Shared::new(None::<Waker>), Shared::new(0));
        let (open, seen) = (slot.clone(), calls.clone());
        executor.on_wake(Arc::new(move || seen.with(|calls| *calls += 1)));
        let mut polls = 0;
        executor.spawn(
            "waits",
            std::future::poll_fn(move |context| {
                polls += 1;
                open.with(|waker| *waker = Some(context.waker().clone()));
                if polls < 2 { Poll::Pending } else { Poll::Ready(()) }
            }),
        );
        executor.run_until_idle().unwrap();
        let waker = slot.with(Option::take).unwrap();
        std::thread::spawn(move || waker.wake()).join().unwrap();
        assert_eq!(calls.with(|calls| *calls), 1);
        assert!(executor.step().is_some() && executor.step().is_none());
    }
}
