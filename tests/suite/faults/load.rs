//! Verbs and agents that go on whatever happens to what is beneath them: what they were told is what must be true after it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use kura_console::adapters::clock::SystemClock;
use kura_console::control::ports::Clock;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::super::e2e::plane::Plane;

/// Machines of the fleet; a ring of two slots has both a line and rivals in it.
const MACHINES: usize = 4;

/// The longest wait for one answer; a control plane whose journal is silent says so after ten seconds.
const ANSWER_MAX: Duration = Duration::from_secs(15);

/// Between two verbs.
const PAUSE: Duration = Duration::from_millis(100);

/// Between two requests of an agent, which may ask five times a second.
const AGENT_PAUSE: Duration = Duration::from_millis(250);

/// The longest anybody who watches waits for the next verb.
const LONGEST: Duration = Duration::from_secs(120);

/// How long a person insists on one verb, in tries.
const TRIES_MAX: usize = 2_000;

/// Of so many verbs one starts a rollout: often enough that slots are granted all the time, and seldom enough that ticks
/// complete it.
pub(super) const STARTS_EVERY: usize = 48;

/// A fleet that verbs and agents have to do with.
#[derive(Clone)]
pub(super) struct Fleet {
    machines: Vec<String>,
    releases: [String; 2],
    /// An environment that is paused and unpaused; no machine is in it.
    aside: String,
    /// What its verbs are called; no two loads use the same keys.
    name: &'static str,
}

/// What people and agents were told.
#[derive(Debug, Default)]
pub(super) struct Story {
    /// Keys of verbs that were said to be done.
    pub(super) acknowledged: Vec<String>,
    /// Keys of verbs nobody was told the end of.
    pub(super) unsure: Vec<String>,
    /// Answers that were none, or said that nothing is known or possible now.
    pub(super) troubles: usize,
    /// Reports that were taken.
    pub(super) reports: usize,
}

/// It goes on until it is ended.
pub(super) struct Load {
    over: Arc<AtomicBool>,
    tally: Arc<Tally>,
    thread: JoinHandle<Story>,
}

/// How it goes, for whoever watches.
#[derive(Default)]
struct Tally {
    verbs: AtomicUsize,
    troubles: AtomicUsize,
}

/// The way to the control planes.
#[derive(Clone)]
struct Desk {
    apis: Vec<String>,
    operator: String,
    agent: String,
    http: reqwest::Client,
    over: Arc<AtomicBool>,
}

fn uuid(body: &Value) -> String {
    body["uuid"].as_str().unwrap_or_else(|| panic!("no uuid in {body}")).to_owned()
}

impl Fleet {
    /// Makes it.
    pub(super) fn lay(plane: &Plane) -> Self {
        for (order, slug) in [(1, "oak"), (2, "elm")] {
            plane.post("/api/config/environments/", &json!({"slug": slug, "promotion_order": order}));
        }
        let ring = json!({"slug": "oak-ring", "max_in_flight": 2, "min_settle_seconds": 0});
        plane.post("/api/config/rings/", &ring);
        let machine = |n: usize| {
            let body = json!({"hostname": format!("wk-{n}"), "environment": "oak", "ring": "oak-ring"});
            uuid(&plane.post("/api/provisioning/machines/", &body))
        };
        let machines = (0..MACHINES).map(machine).collect();
        let release = |name: &str| uuid(&plane.post("/api/config/releases/build-from-git", &json!({"git_ref": name})));
        let elm = plane.get("/api/config/environments/");
        let elm = elm.as_array().expect("environments").iter().find(|one| one["slug"] == "elm").expect("elm").clone();
        let aside = format!("/api/config/environments/{}", uuid(&elm));
        Self { machines, releases: ["v1", "v2"].map(release), aside, name: "first" }
    }

    /// For another load that has keys of its own.
    pub(super) fn again(&self) -> Self {
        Self { name: "second", ..self.clone() }
    }

    /// What is asked for as the `n`th.
    fn verb(&self, n: usize) -> (String, Value) {
        if n.is_multiple_of(STARTS_EVERY) {
            let release = &self.releases[n / STARTS_EVERY % self.releases.len()];
            let body = json!({"config_release_uuid": release, "force": true, "reason": "a drill"});
            return ("/api/config/rollouts/".to_owned(), body);
        }
        let way = if n % 2 == 1 { "pause" } else { "unpause" };
        (format!("{}/{way}", self.aside), json!({"reason": "a drill"}))
    }
}

impl Story {
    /// And then.
    pub(super) fn add(&mut self, next: Self) {
        self.acknowledged.extend(next.acknowledged);
        self.unsure.extend(next.unsure);
        self.troubles += next.troubles;
        self.reports += next.reports;
    }
}

impl Load {
    /// A person and the agents of the fleet, who ask these in turn.
    pub(super) fn on(fleet: &Fleet, planes: &[&Plane]) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let tally = Arc::<Tally>::default();
        let http = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).timeout(ANSWER_MAX);
        let desk = Desk {
            apis: planes.iter().map(|plane| plane.url()).collect(),
            operator: planes[0].token("owner").to_owned(),
            agent: planes[0].token("agent").to_owned(),
            http: http.build().expect("a client"),
            over: Arc::clone(&over),
        };
        let (fleet, told) = (fleet.clone(), Arc::clone(&tally));
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(desk.everybody(&fleet, &told))
        });
        Self { over, tally, thread }
    }

    /// Waits until so many more verbs are done.
    pub(super) fn goes_on(&self, verbs: usize) {
        self.until_more(&self.tally.verbs, verbs, "no verb is done any more");
    }

    /// Waits until a verb comes to nothing.
    pub(super) fn meets_trouble(&self) {
        self.until_more(&self.tally.troubles, 1, "nothing is in its way");
    }

    fn until_more(&self, count: &AtomicUsize, more: usize, or: &str) {
        let wanted = count.load(Ordering::SeqCst) + more;
        let mut left = LONGEST.as_millis() / PAUSE.as_millis();
        while count.load(Ordering::SeqCst) < wanted {
            assert!(!self.thread.is_finished(), "somebody was told something unheard of");
            assert!(left > 0, "{or}");
            left -= 1;
            std::thread::sleep(PAUSE);
        }
    }

    /// Everybody finishes what they began.
    pub(super) fn end(self) -> Story {
        self.over.store(true, Ordering::SeqCst);
        self.thread.join().expect("nobody was told something unheard of")
    }
}

impl Desk {
    async fn everybody(self, fleet: &Fleet, tally: &Tally) -> Story {
        let agents: Vec<_> = fleet
            .machines
            .iter()
            .enumerate()
            .map(|(nth, machine)| tokio::spawn(self.clone().work(nth, machine.clone())))
            .collect();
        let mut story = self.operate(fleet, tally).await;
        for agent in agents {
            story.reports += agent.await.expect("an agent that goes on");
        }
        story
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// Verb after verb, each under a key of its own and until it is known what became of it.
    async fn operate(&self, fleet: &Fleet, tally: &Tally) -> Story {
        let mut story = Story::default();
        for n in 0.. {
            if self.is_over() {
                break;
            }
            let key = format!("{}-{n}", fleet.name);
            let (path, body) = fleet.verb(n);
            match self.insist(&path, &key, &body, n, tally).await {
                true => story.acknowledged.push(key),
                false => story.unsure.push(key),
            }
            tally.verbs.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(PAUSE).await;
        }
        story.troubles = tally.troubles.load(Ordering::SeqCst);
        story
    }

    async fn insist(&self, path: &str, key: &str, body: &Value, first: usize, tally: &Tally) -> bool {
        for tried in 0..TRIES_MAX {
            let api = &self.apis[(first + tried) % self.apis.len()];
            let request = self.http.request(Method::POST, format!("{api}{path}")).bearer_auth(&self.operator);
            match self.answer(request.header("idempotency-key", key).json(body)).await {
                Some((status, _)) if status.is_success() => return true,
                Some((status, said)) if !is_trouble(status) => panic!("{path} under {key}: {status} {said}"),
                _ => _ = tally.troubles.fetch_add(1, Ordering::SeqCst),
            }
            tokio::time::sleep(PAUSE).await;
        }
        false
    }

    /// Asks what to do, does it in no time, and says so until somebody takes it; how often that was.
    async fn work(self, nth: usize, machine: String) -> usize {
        let (mut asked, mut reports) = (nth, 0);
        while !self.is_over() {
            let api = &self.apis[asked % self.apis.len()];
            asked += 1;
            let poll = self.agents(Method::GET, api, "/api/agent/assignment", &machine);
            if let Some((StatusCode::OK, said)) = self.answer(poll).await {
                let told: Value = serde_json::from_str(&said).expect("an assignment");
                if !told["assignment"].is_null() {
                    reports += self.report(&machine, &told["assignment"], nth).await;
                }
            }
            tokio::time::sleep(AGENT_PAUSE).await;
        }
        reports
    }

    /// Whatever is not taken for good is sent again, as an agent does.
    async fn report(&self, machine: &str, told: &Value, first: usize) -> usize {
        tokio::time::sleep(AGENT_PAUSE).await;
        // A run is told from another one by its start.
        let now = SystemClock::start().now();
        let body = json!({
            "release_uuid": told["release_uuid"], "generation": told["generation"], "outcome": "success",
            "changed_count": 1, "failed_states": [], "started_at": now, "finished_at": now, "log_tail": "all is well",
        });
        for tried in 0..TRIES_MAX {
            let api = &self.apis[(first + tried) % self.apis.len()];
            let sent = self.agents(Method::POST, api, "/api/agent/apply-results", machine).json(&body);
            match self.answer(sent).await {
                Some((status, _)) if status.is_success() => return 1,
                Some((status, said)) if !is_trouble(status) => panic!("a report of {machine}: {status} {said}"),
                _ if self.is_over() => return 0,
                _ => {}
            }
            tokio::time::sleep(AGENT_PAUSE).await;
        }
        0
    }

    fn agents(&self, method: Method, api: &str, path: &str, machine: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{api}{path}")).bearer_auth(&self.agent).header("x-machine", machine)
    }

    /// None where there is no answer.
    async fn answer(&self, request: reqwest::RequestBuilder) -> Option<(StatusCode, String)> {
        let answer = request.send().await.ok()?;
        let status = answer.status();
        Some((status, answer.text().await.ok()?))
    }
}

/// It may be done, or could not be done now, or not so often: whoever asks again under the same key does nothing twice.
fn is_trouble(status: StatusCode) -> bool {
    matches!(status.as_u16(), 429 | 502 | 503 | 504)
}
