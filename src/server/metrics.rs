//! Metrics in the text format of OpenMetrics: what was counted, and how every account stands when it is asked for.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use jiff::SignedDuration;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use super::build::Builder;
use super::failure::{Answer, Failure};
use super::process::readiness;
use super::roll_figures;
use super::shared::{Account, Shared};
use crate::control::host::Host;
use crate::control::ports::Clock;
use crate::domain::kura::server::Server;
use crate::wire::counters::{COUNTERS, counts};
use crate::wire::gauges::{self, GAUGES, Labels, PREFIX, Standing};
use crate::wire::problem::{Problem, ProblemKind};

/// What is counted as it happens. Cheap to clone.
#[derive(Clone)]
pub struct Metrics {
    counted: Arc<Registry>,
    requests: Family<Labels, Counter>,
    seconds: Family<Labels, Histogram, fn() -> Histogram>,
    turns: Histogram,
    entries: Histogram,
    held: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        let requests = Family::<Labels, Counter>::default();
        let seconds = Family::new_with_constructor(of_seconds as fn() -> Histogram);
        let turns = of_seconds();
        let entries = Histogram::new(exponential_buckets(1.0, 2.0, 13));
        let held = Gauge::default();
        let mut registry = Registry::with_prefix(PREFIX);
        registry.register("http_requests", "Requests by route, method and status", requests.clone());
        registry.register("http_request_seconds", "Time to an answer, polls and streams excepted", seconds.clone());
        registry.register("turn_seconds", "Time from a verb's arrival to its durable decision", turns.clone());
        registry.register("commit_entries", "Entries of the journal that became visible together", entries.clone());
        registry.register("polls_held", "Agents' polls that are being answered or held", held.clone());
        Self { counted: Arc::new(registry), requests, seconds, turns, entries, held }
    }
}

/// The methods that have series of their own; anybody can make up others.
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// A method as a label.
fn method_label(method: &str) -> &str {
    if METHODS.contains(&method) { method } else { "other" }
}

/// A quarter of a millisecond to eight seconds; polls that are held last longer and are counted apart.
fn of_seconds() -> Histogram {
    Histogram::new(exponential_buckets(0.000_25, 2.0, 16))
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

/// A poll that is being answered or held; counted for as long as this lives.
pub(super) struct HeldPoll(Gauge);

impl Drop for HeldPoll {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    /// A request was answered. `route` is the pattern of its path, so that uuids make no series of their own.
    pub(super) fn answered(&self, route: &str, method: &str, status: u16, took: Duration) {
        let method = method_label(method).to_owned();
        let labels = vec![("route", route.to_owned()), ("method", method), ("status", status.to_string())];
        self.requests.get_or_create(&labels).inc();
        if !matches!(route, crate::wire::agent::ASSIGNMENT_PATH | crate::wire::stream::PATH) {
            let labels = vec![("route", route.to_owned())];
            self.seconds.get_or_create(&labels).observe(took.as_secs_f64());
        }
    }

    pub(super) fn turn(&self, took: SignedDuration) {
        self.turns.observe(took.as_secs_f64().max(0.0));
    }

    pub(super) fn committed(&self, entries: usize) {
        self.entries.observe(f64::from(u32::try_from(entries).unwrap_or(u32::MAX)));
    }

    pub(super) fn held(&self) -> HeldPoll {
        self.held.inc();
        HeldPoll(self.held.clone())
    }
}

/// `GET /metrics`.
pub(super) async fn show<H: Host, B: Builder>(State(shared): State<Arc<Shared<H, B>>>) -> Answer {
    let mut text = String::new();
    let standing = standing(&shared);
    let worlds = shared.accounts().iter().map(|account| account.service.door.world()).collect();
    let rolls = roll_figures::registry(worlds);
    let written = encode_registry(&mut text, &shared.metrics.counted)
        .and_then(|()| encode_registry(&mut text, &standing))
        .and_then(|()| encode_registry(&mut text, &rolls))
        .and_then(|()| encode_eof(&mut text));
    written.map_err(|error| Failure(Problem::new(ProblemKind::Internal, "metrics", error.to_string())))?;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok((StatusCode::OK, [(CONTENT_TYPE, kind)], text).into_response())
}

/// The gauges, made anew each time: what is gone has no series any more.
fn standing<H: Host, B: Builder>(shared: &Shared<H, B>) -> Registry {
    let mut families: BTreeMap<&str, Family<Labels, Gauge>> = BTreeMap::new();
    for gauge in shared.accounts().iter().flat_map(|account| gauges(account, shared.setup.tick_every)) {
        families.entry(gauge.name).or_default().get_or_create(&gauge.labels).set(gauge.value);
    }
    let mut registry = Registry::with_prefix(PREFIX);
    counted(shared, &mut registry);
    for (name, help) in GAUGES {
        registry.register(name, help, families.remove(name).unwrap_or_default());
    }
    let streams: Gauge = Gauge::default();
    streams.set(i64::try_from(shared.streams.open()).unwrap_or(i64::MAX));
    registry.register("change_streams", "Change streams that are open", streams);
    registry
}

/// What the worlds count. Where a process serves several accounts with servers of the same name they are one series.
fn counted<H: Host, B: Builder>(shared: &Shared<H, B>, registry: &mut Registry) {
    let mut families: BTreeMap<&str, Family<Labels, Counter>> = BTreeMap::new();
    for account in shared.accounts() {
        for count in counts(&account.service.door.world(), Server::name) {
            families.entry(count.name).or_default().get_or_create(&count.labels).inc_by(count.value);
        }
    }
    for (name, help) in COUNTERS {
        registry.register(name, help, families.remove(name).unwrap_or_default());
    }
}

fn gauges<H: Host>(account: &Account<H>, tick_every: Duration) -> Vec<gauges::Gauge> {
    let (world, ready) = (account.service.door.world(), readiness(account, tick_every));
    let standing = Standing {
        account: &account.name,
        world: &world,
        now: account.service.host().clock().now(),
        holds_seat: ready.holds_seat,
        tick_age: ready.tick_age_seconds,
        journal_is_live: ready.journal == "live",
    };
    standing.gauges()
}
