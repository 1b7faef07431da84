//! Metrics in the text format of OpenMetrics: what was counted, and how every account stands when it is asked for.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use jiff::{SignedDuration, Timestamp};
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use super::build::Builder;
use super::failure::{Answer, Failure};
use super::process::account;
use super::shared::{STREAMS_MAX, Shared, Tenant};
use crate::control::host::Host;
use crate::control::ports::Clock;
use crate::domain::rows::{LaneView, lanes_in_order};
use crate::wire::problem::{Problem, ProblemKind};

type Labels = Vec<(&'static str, String)>;

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
        let mut registry = Registry::with_prefix("kura");
        registry.register("http_requests", "Requests by route, method and status", requests.clone());
        registry.register("http_request_seconds", "Time to an answer, polls and streams excepted", seconds.clone());
        registry.register("turn_seconds", "Time from a verb's arrival to its durable decision", turns.clone());
        registry.register("commit_entries", "Entries of the journal that became visible together", entries.clone());
        registry.register("polls_held", "Agents' polls that are being answered or held", held.clone());
        Self { counted: Arc::new(registry), requests, seconds, turns, entries, held }
    }
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
        let labels = vec![("route", route.to_owned()), ("method", method.to_owned()), ("status", status.to_string())];
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
    let written = encode_registry(&mut text, &shared.metrics.counted)
        .and_then(|()| encode_registry(&mut text, &standing))
        .and_then(|()| encode_eof(&mut text));
    written.map_err(|error| Failure(Problem::new(ProblemKind::Internal, "metrics", error.to_string())))?;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok((StatusCode::OK, [(CONTENT_TYPE, kind)], text).into_response())
}

/// The gauges, made anew each time: what is gone has no series any more.
#[derive(Default)]
struct Standing {
    running: Family<Labels, Gauge>,
    halted: Family<Labels, Gauge>,
    holders: Family<Labels, Gauge>,
    settling: Family<Labels, Gauge>,
    queued: Family<Labels, Gauge>,
    revision: Family<Labels, Gauge>,
    seat: Family<Labels, Gauge>,
    journal: Family<Labels, Gauge>,
    tick_age: Family<Labels, Gauge>,
}

fn standing<H: Host, B: Builder>(shared: &Shared<H, B>) -> Registry {
    let gauges = Standing::default();
    shared.tenants().for_each(|tenant| gauges.measure(tenant, shared.setup.tick_every));
    let streams: Gauge = Gauge::default();
    streams.set(whole(STREAMS_MAX.saturating_sub(shared.streams.available_permits())));
    let mut registry = Registry::with_prefix("kura");
    registry.register("rollouts_running", "1 while a rollout runs", gauges.running);
    registry.register("rings_halted", "Halted rings of the running rollout", gauges.halted);
    registry.register("slot_holders", "Machines with a slot", gauges.holders);
    registry.register("slots_settling", "Machines without a slot whose settle window is open", gauges.settling);
    registry.register("queue_length", "Machines that wait for a slot", gauges.queued);
    registry.register("journal_revision", "Revision of the last change", gauges.revision);
    registry.register("seat_held", "1 where this process ticks", gauges.seat);
    registry.register("journal_reachable", "1 while the journal answers", gauges.journal);
    registry.register("tick_age_seconds", "Since the last tick of this process, where it ticks", gauges.tick_age);
    registry.register("change_streams", "Change streams that are open", streams);
    registry
}

impl Standing {
    fn measure<H: Host>(&self, tenant: &Tenant<H>, tick_every: Duration) {
        let labels = vec![("account", tenant.name.clone())];
        let world = tenant.service.door.world();
        let running = world.running();
        let halted = running.map_or(0, |rollout| rollout.halted_rings.len());
        let ready = account(tenant, tick_every);
        self.running.get_or_create(&labels).set(i64::from(running.is_some()));
        self.halted.get_or_create(&labels).set(whole(halted));
        self.revision.get_or_create(&labels).set(i64::try_from(world.revision).unwrap_or(i64::MAX));
        self.seat.get_or_create(&labels).set(i64::from(ready.holds_seat));
        self.journal.get_or_create(&labels).set(i64::from(ready.journal == "live"));
        if let Some(age) = ready.tick_age_seconds {
            self.tick_age.get_or_create(&labels).set(i64::try_from(age).unwrap_or(i64::MAX));
        }
        self.lanes(tenant, tenant.service.host().clock().now());
    }

    fn lanes<H: Host>(&self, tenant: &Tenant<H>, now: Timestamp) {
        let world = tenant.service.door.world();
        let Some(rollout) = world.running() else { return };
        let keys = lanes_in_order(&world).into_iter();
        for view in keys.filter_map(|key| LaneView::of(&world, rollout, key, now)) {
            let environment = world.environment_slug(view.key.0).to_owned();
            let ring = world.ring_slug(view.key.1).to_owned();
            let labels = vec![("account", tenant.name.clone()), ("environment", environment), ("ring", ring)];
            let slots = view.slots(now);
            let queued = if view.ring.is_capped() { view.queue().count() } else { 0 };
            self.holders.get_or_create(&labels).set(whole(slots.holding));
            self.settling.get_or_create(&labels).set(whole(slots.settling));
            self.queued.get_or_create(&labels).set(whole(queued));
        }
    }
}

fn whole(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
