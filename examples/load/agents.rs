//! The fleet: every agent polls again as soon as it is answered, and reports a success for what it is served.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use kura_console::adapters::clock::SystemClock;
use kura_console::control::ports::Clock;
use serde_json::json;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::Instant;
use uuid::Uuid;

use super::Fallible;
use super::http::{Connection, request};
use super::plane::{Machine, Plane};

/// Connections that are opened at a time.
const OPENED_AT_ONCE: usize = 256;

/// How a poll that serves nothing begins.
const NOTHING: &[u8] = b"{\"assignment\":null";

/// What came of the polls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Polled {
    pub(crate) polls: u64,
    pub(crate) reports: u64,
    /// Requests that were turned away (429): an agent asked more often than it may.
    pub(crate) refused: u64,
    pub(crate) seconds: f64,
    /// Slowest answer, and the one that 99 of 100 were faster than, in milliseconds.
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) slowest: f64,
}

/// A machine's agent, and what it was served: how often in which generation.
#[derive(Debug)]
struct Agent {
    machine: Uuid,
    connection: Connection,
    poll: Vec<u8>,
    have: Option<String>,
    served: BTreeMap<u64, u64>,
    waits: Vec<u32>,
}

/// All agents.
#[derive(Debug)]
pub(crate) struct Fleet {
    agents: Vec<Arc<Mutex<Agent>>>,
    token: String,
    clock: SystemClock,
    stop: AtomicBool,
    polls: AtomicU64,
    reports: AtomicU64,
    refused: AtomicU64,
}

impl Fleet {
    pub(crate) async fn connect(plane: &Arc<Plane>, machines: Vec<Machine>) -> Fallible<Self> {
        let token = plane.token("agent")?.to_owned();
        let (mut agents, mut opening) = (Vec::new(), JoinSet::new());
        for Machine { id } in machines {
            let (address, poll) = (plane.address.clone(), poll(&token, id, None));
            opening.spawn(async move {
                let connection = Connection::open(&address).await?;
                Fallible::Ok(Agent {
                    machine: id,
                    connection,
                    poll,
                    have: None,
                    served: BTreeMap::new(),
                    waits: Vec::new(),
                })
            });
            if opening.len() >= OPENED_AT_ONCE
                && let Some(opened) = opening.join_next().await
            {
                agents.push(Arc::new(Mutex::new(opened??)));
            }
        }
        while let Some(opened) = opening.join_next().await {
            agents.push(Arc::new(Mutex::new(opened??)));
        }
        let (polls, reports, refused) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        let clock = SystemClock::start();
        Ok(Self { agents, token, clock, stop: AtomicBool::new(false), polls, reports, refused })
    }

    /// Lets everybody poll for that long.
    pub(crate) async fn poll_for(self: &Arc<Self>, span: Duration) -> Fallible<Polled> {
        let began = Instant::now();
        let mut running = JoinSet::new();
        for agent in &self.agents {
            let (fleet, agent) = (Arc::clone(self), Arc::clone(agent));
            running.spawn(async move { fleet.live(&mut *agent.lock().await).await });
        }
        tokio::time::sleep(span).await;
        let (polls, seconds) = (self.polls.load(Ordering::Relaxed), began.elapsed().as_secs_f64());
        self.stop.store(true, Ordering::Relaxed);
        while let Some(ended) = running.join_next().await {
            ended??;
        }
        let mut waits: Vec<u32> = Vec::new();
        for agent in &self.agents {
            waits.append(&mut agent.lock().await.waits);
        }
        waits.sort_unstable();
        let at = |share: usize| {
            waits.get(waits.len().saturating_sub(1) * share / 100).map_or(0.0, |us| f64::from(*us) / 1e3)
        };
        let (reports, refused) = (self.reports.load(Ordering::Relaxed), self.refused.load(Ordering::Relaxed));
        Ok(Polled { polls, reports, refused, seconds, p50: at(50), p99: at(99), slowest: at(100) })
    }

    async fn live(&self, agent: &mut Agent) -> Fallible<()> {
        while !self.stop.load(Ordering::Relaxed) {
            let asked = Instant::now();
            let answer = agent.connection.ask(&agent.poll).await?;
            agent.waits.push(u32::try_from(asked.elapsed().as_micros()).unwrap_or(u32::MAX));
            match answer.status {
                200 => self.polls.fetch_add(1, Ordering::Relaxed),
                429 => {
                    self.turned_away().await;
                    continue;
                }
                status => return Err(format!("a poll was answered with {status}").into()),
            };
            let body = agent.connection.body(answer);
            if !body.starts_with(NOTHING) {
                let body: serde_json::Value = serde_json::from_slice(body)?;
                self.run(agent, &body["assignment"]).await?;
            }
        }
        Ok(())
    }

    /// An agent that asked more often than it may waits, as it is told.
    async fn turned_away(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_secs(1)).await;
    }

    /// A run that succeeds at once. What it has already it does not run again.
    async fn run(&self, agent: &mut Agent, assignment: &serde_json::Value) -> Fallible<()> {
        let (Some(release), Some(generation)) =
            (assignment["release_uuid"].as_str(), assignment["generation"].as_u64())
        else {
            return Err(format!("an assignment without a release: {assignment}").into());
        };
        let have = format!("{release}:{generation}");
        if agent.have.as_ref() == Some(&have) {
            return Ok(());
        }
        *agent.served.entry(generation).or_default() += 1;
        let now = self.clock.now();
        let report = json!({"release_uuid": release, "generation": generation, "outcome": "success", "started_at": now,
                            "finished_at": now, "changed_count": 1, "failed_states": [], "log_tail": ""});
        let headers = format!("x-machine: {}\r\n", agent.machine);
        let report = request("POST", "/api/agent/apply-results", &self.token, &headers, &report.to_string());
        loop {
            match agent.connection.ask(&report).await?.status {
                200 => break,
                429 => self.turned_away().await,
                status => return Err(format!("a report was answered with {status}").into()),
            }
        }
        self.reports.fetch_add(1, Ordering::Relaxed);
        agent.poll = poll(&self.token, agent.machine, Some(&have));
        agent.have = Some(have);
        Ok(())
    }

    /// What each machine was served: how often in which generation.
    pub(crate) async fn served(&self) -> BTreeMap<Uuid, BTreeMap<u64, u64>> {
        let mut served = BTreeMap::new();
        for agent in &self.agents {
            let agent = agent.lock().await;
            served.insert(agent.machine, agent.served.clone());
        }
        served
    }
}

fn poll(token: &str, machine: Uuid, have: Option<&str>) -> Vec<u8> {
    let have = have.map(|have| format!("?have={have}")).unwrap_or_default();
    let path = format!("/api/agent/assignment{have}");
    request("GET", &path, token, &format!("x-machine: {machine}\r\n"), "")
}
