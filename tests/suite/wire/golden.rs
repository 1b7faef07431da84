//! Every body that leaves the control plane, made from one small story and compared with a file. A field may be added;
//! one that is renamed, retyped or lost breaks somebody else's program. `KURA_REGENERATE=1` writes the files anew.

use std::path::PathBuf;

use jiff::Timestamp;
use kura_console::control::door::{DoorError, Stale};
use kura_console::domain::audit::link;
use kura_console::domain::change::{Change, Entry, Level};
use kura_console::domain::decide::decide;
use kura_console::domain::explain::{Subject, explain};
use kura_console::domain::fleet::Rung;
use kura_console::domain::ids::{AccountId, EnvironmentId, MachineId, ReleaseId, RingId, RolloutId, SecretVersion};
use kura_console::domain::input::{Edition, Input, Order, Poll, Rendered, Report, RingPatch, Verb};
use kura_console::domain::observed::{Observed, RefusedStart};
use kura_console::domain::plan::{moved, plan};
use kura_console::domain::release::{Contract, Digest, Outcome};
use kura_console::domain::span::Seconds;
use kura_console::domain::verdict::Reply;
use kura_console::domain::world::World;
use kura_console::wire::account::AccountBody;
use kura_console::wire::agent::{AssignmentBody, FailedStateBody, Filed, PollAnswer, ReportBody};
use kura_console::wire::audit::AuditRow;
use kura_console::wire::environment::EnvironmentBody;
use kura_console::wire::explain::ExplanationBody;
use kura_console::wire::machine::MachineBody;
use kura_console::wire::plan::PlanBody;
use kura_console::wire::problem::{Problem, ProblemKind};
use kura_console::wire::process::{AccountReady, FEATURES, ReadyBody, SeatBody, VersionBody};
use kura_console::wire::release::{ReleaseBody, ReleaseDetail, checks};
use kura_console::wire::result::ResultBody;
use kura_console::wire::ring::RingBody;
use kura_console::wire::rollout::RolloutBody;
use kura_console::wire::secret::SecretBody;
use kura_console::wire::status::status;
use kura_console::wire::stream::{PresenceBody, Trouble, change_frame, presence_frame};
use kura_console::wire::world::{AccountName, RoleWord, WorldBody};
use serde::Serialize;
use serde_json::json;

/// A control plane without a process: decides, folds, remembers.
struct Story {
    world: World,
    observed: Observed,
    now: Timestamp,
    tail: Vec<Entry>,
}

pub(super) fn at(seconds: i64) -> Timestamp {
    "2026-07-01T16:00:00Z".parse::<Timestamp>().unwrap() + jiff::SignedDuration::from_secs(seconds)
}

impl Story {
    fn begin() -> Self {
        let mut story =
            Self { world: World::default(), observed: Observed::starting_at(at(-600)), now: at(0), tail: Vec::new() };
        let environment = |slug: &str, order| Verb::CreateEnvironment {
            id: EnvironmentId::named(slug),
            slug: slug.to_owned(),
            name: slug.to_owned(),
            promotion_order: order,
            config_values: [("K8S_VIP".to_owned(), json!("10.0.0.1"))].into(),
        };
        story.verb(environment("oak-cp", Some(10)));
        story.verb(environment("oak-workers", Some(11)));
        story.verb(Verb::CreateRing {
            id: RingId::named("oak-ring"),
            slug: "oak-ring".to_owned(),
            settings: RingPatch {
                max_in_flight: Some(1),
                min_settle_seconds: Some(Seconds(300)),
                stall_timeout_seconds: Some(Seconds(5400)),
                failure_count_threshold: Some(1),
                wave_ladder: Some(vec![Rung { after_seconds: 0, pct: 100 }]),
                ..RingPatch::default()
            },
        });
        for (hostname, bucket) in [("ash", 1), ("birch", 2), ("cedar", 3), ("dogwood", 4)] {
            let environment = EnvironmentId::named(if hostname == "dogwood" { "oak-workers" } else { "oak-cp" });
            story.verb(Verb::AddMachine {
                id: MachineId::named(hostname),
                hostname: hostname.to_owned(),
                node: None,
                environment: Some(environment),
                ring: Some(RingId::named("oak-ring")),
                bucket: Some(bucket),
            });
        }
        story.verb(Verb::PublishRelease {
            id: ReleaseId::named("v1"),
            git_ref: "v1.31.4-upgrade".to_owned(),
            commit: "0f1e2d".to_owned(),
            engine: "saltstack".to_owned(),
            timeout_seconds: Seconds(1800),
            notes: "k8s 1.30 -> 1.31".to_owned(),
            target_version: Some("1.31.4".to_owned()),
            content: Digest("ab".repeat(32)),
            contract: Contract::default(),
        });
        let (id, release) = (RolloutId::named("r1"), ReleaseId::named("v1"));
        story.verb(Verb::Start { id, release, protected: Some(true), force: false, intent: None });
        story.take(Input::Tick { fresh: RolloutId::named("next") });
        story
    }

    /// ash settles, birch failed and holds, cedar is skipped: a halted ring with something of everything.
    fn halted() -> Self {
        let mut story = Self::begin();
        story.poll("ash");
        story.report("ash", Outcome::Success, 600);
        story.now = at(901);
        story.poll("birch");
        story.report("birch", Outcome::Failed, 1500);
        story.verb(Verb::Pause(Level::Machine(MachineId::named("cedar"))));
        story.observed.last_tick = Some(story.now);
        story
    }

    fn take(&mut self, input: Input) -> Reply {
        let verdict = decide(&self.world, &self.observed, &input, self.now);
        let entries =
            input.author(&self.world, "serve@bastion-1:4711").entries(&self.world, &verdict.changes, self.now);
        entries.iter().for_each(|entry| self.world.apply(entry));
        self.tail.extend(entries);
        verdict.reply
    }

    fn verb(&mut self, verb: Verb) {
        let order =
            Order { verb, by: "ann".to_owned(), reason: Some("window 42".to_owned()), key: Some("k".to_owned()) };
        let reply = self.take(Input::Verb(order));
        assert!(!matches!(reply, Reply::Refused(_)), "{reply:?}");
    }

    fn poll(&mut self, hostname: &str) {
        let machine = MachineId::named(hostname);
        self.observed.last_poll.insert(machine, self.now);
        let rendered = Rendered::Content(Digest("ab".repeat(32)));
        let poll = Poll { machine, have: None, rendered, release: Some(ReleaseId::named("v1")) };
        let reply = self.take(Input::Poll(poll));
        assert!(matches!(reply, Reply::Assignment { assignment: Some(_), .. }), "{hostname}: {reply:?}");
    }

    fn report(&mut self, hostname: &str, outcome: Outcome, seconds: i64) {
        self.now = at(seconds);
        let generation = self.world.running().unwrap().generation;
        let edition = Edition { release: ReleaseId::named("v1"), generation };
        let failed_state = outcome.is_failure().then(|| "drain".to_owned());
        let machine = MachineId::named(hostname);
        let run = Some(at(0));
        self.take(Input::Report(Report { machine, edition, outcome, failed_state, run, rebuilds: None }));
    }
}

fn compare(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/wire").join(name);
    if std::env::var_os("KURA_REGENERATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{} changed; if that is meant: KURA_REGENERATE=1", path.display());
}

pub(super) fn body(name: &str, body: &impl Serialize) {
    compare(&format!("{name}.json"), &format!("{}\n", serde_json::to_string_pretty(body).unwrap()));
}

fn seat() -> SeatBody {
    SeatBody {
        holder: Some("serve@bastion-1:4711".to_owned()),
        epoch: 3,
        since: Some(at(-600)),
        last_tick: Some(at(1500)),
    }
}

#[test]
fn statuses() {
    let empty = Story::begin();
    let rollout = empty.world.current().unwrap();
    body("status-started", &status(&empty.world, &empty.observed, rollout, at(1), 100));
    let story = Story::halted();
    let rollout = story.world.current().unwrap();
    let halted = status(&story.world, &story.observed, rollout, at(1510), 100);
    assert_eq!((halted.holding_slots, halted.total, halted.blocking.paused), (1, 4, 1));
    body("status-halted", &halted);
    let page = status(&story.world, &story.observed, rollout, at(1510), 1);
    assert_eq!((page.machines.len(), page.total, page.limit), (1, 4, 1));
    assert_eq!((page.holding_slots, page.settling), (halted.holding_slots, halted.settling), "counts are of all of it");
    body("explanation", &ExplanationBody::from(explain(&story.world, &story.observed, Subject::Rollout, at(1510))));
}

#[test]
fn nouns() {
    let mut story = Story::halted();
    story.verb(Verb::Pause(Level::Ring(RingId::named("oak-ring"))));
    story.verb(Verb::Yank { release: ReleaseId::named("v1") });
    let world = &story.world;
    body("account", &AccountBody::of(AccountId::named("default"), "default", &world.account, Some("/srv/releases")));
    body("environment", &EnvironmentBody::from(&world.environments[&EnvironmentId::named("oak-cp")]));
    body("ring", &RingBody::from(&world.rings[&RingId::named("oak-ring")]));
    let machine =
        |name: &str| MachineBody::of(world, &story.observed, &world.machines[&MachineId::named(name)], at(1510));
    body("machines", &["ash", "cedar", "dogwood"].map(machine));
    body("release", &ReleaseBody::from(&world.releases[&ReleaseId::named("v1")]));
    body("rollout", &RolloutBody::of(world, world.current().unwrap()));
}

#[test]
fn what_agents_hear_and_say() {
    let assignment = AssignmentBody {
        release_uuid: ReleaseId::named("v1"),
        generation: 4,
        timeout_seconds: Seconds(1800),
        content_digest: "ab".repeat(32),
        content: "base: {}\n".to_owned(),
        rebuilds: 1,
    };
    body(
        "poll-assignment",
        &PollAnswer { assignment: Some(assignment), cancel: false, poll_after_seconds: Seconds(1) },
    );
    body("poll-cancel", &PollAnswer { assignment: None, cancel: true, poll_after_seconds: Seconds(1) });
    body("filed", &Filed { filed: true });
    let state = FailedStateBody { id: "drain".to_owned(), name: "drain node".to_owned(), comment: "429".to_owned() };
    let report = ReportBody {
        release_uuid: ReleaseId::named("v1"),
        generation: 4,
        outcome: Outcome::Failed,
        started_at: at(0),
        finished_at: at(60),
        changed_count: 2,
        failed_states: vec![state.clone()],
        log_tail: "evicting\n".to_owned(),
        rebuilds: Some(1),
    };
    body("report", &report);
    let result = ResultBody {
        machine_uuid: MachineId::named("ash"),
        hostname: "ash".to_owned(),
        release_uuid: report.release_uuid,
        generation: report.generation,
        outcome: report.outcome,
        started_at: report.started_at,
        finished_at: report.finished_at,
        received_at: at(61),
        changed_count: report.changed_count,
        failed_states: vec![state],
        log_tail: report.log_tail,
    };
    body("apply-result", &result);
}

#[test]
fn what_owners_and_auditors_read() {
    let mut story = Story::halted();
    let verb = Verb::Pause(Level::Machine(MachineId::named("birch")));
    let order = Order { verb, by: "ann".to_owned(), reason: Some("disk".to_owned()), key: Some("k2".to_owned()) };
    let input = Input::Verb(order.clone());
    let mut verdict = decide(&story.world, &story.observed, &input, story.now);
    let link = Box::new(link(&order, &verdict, &story.world, &story.observed, story.now));
    verdict.changes.push(Change::Audited { link });
    let entries = input.author(&story.world, "").entries(&story.world, &verdict.changes, story.now);
    let rows: Vec<AuditRow> = entries.into_iter().filter_map(AuditRow::of).collect();
    body("audit", &rows);

    story.verb(Verb::SetSecret { name: "VIP_KEY".to_owned(), version: SecretVersion(uuid::Uuid::nil()) });
    body("secret", &SecretBody::of("VIP_KEY", &story.world.secrets["VIP_KEY"]));

    let release = ReleaseBody::from(&story.world.releases[&ReleaseId::named("v1")]);
    let content =
        json!({"files": [{"path": "k8s/init.sls", "content": "drain:\n  cmd.run:\n    - name: kubectl drain\n"}]});
    body("release-detail", &ReleaseDetail { release, checks: checks(content.to_string().as_bytes()) });
}

#[test]
fn what_replicas_read() {
    let story = Story::halted();
    let trouble = Trouble { since: at(1500), why: "the journal could not append: disk full".to_owned() };
    let presence = PresenceBody {
        everybody: true,
        last_poll: story.observed.last_poll.iter().map(|(machine, at)| (*machine, *at)).collect(),
        listening_since: at(-600),
        telemetry: story.observed.telemetry,
        last_tick: Some(at(1500)),
        refused_start: Some(RefusedStart { at: at(1505), by: "ci".to_owned(), release: ReleaseId::named("v1") }),
        clock_suspect: false,
        seat: seat(),
        journal: Some(trouble),
        now: at(1510),
    };
    let frames: Vec<String> = story.tail.iter().map(|entry| change_frame(entry).unwrap()).collect();
    compare("changes.sse", &(frames.concat() + &presence_frame(&presence).unwrap()));
    let account = AccountName { uuid: AccountId::named("default"), name: "default".to_owned() };
    let loaded = WorldBody {
        revision: story.world.revision,
        observed: story.observed.clone(),
        cluster_edition: None,
        tail: story.tail.iter().rev().take(1).cloned().collect(),
        seat: seat(),
        journal: None,
        account,
        role: RoleWord::Operator,
        bearer: "ann".to_owned(),
        now: at(1510),
        world: story.world,
    };
    body("world", &loaded);
    let text = serde_json::to_string(&loaded).unwrap();
    assert_eq!(serde_json::from_str::<WorldBody>(&text).unwrap(), loaded, "a replica reads what was written");
}

#[test]
fn what_would_follow_and_what_moved_meanwhile() {
    let story = Story::halted();
    let planned = |verb: &Verb| {
        let plan = plan(verb, &story.world, &story.observed, "ann", at(1510));
        assert_eq!(plan.refused, None);
        PlanBody::of(verb, &plan, &story.world)
    };
    body("plan-skip", &planned(&Verb::Pause(Level::Machine(MachineId::named("birch")))));
    let (id, release) = (RolloutId::named("r2"), ReleaseId::named("v1"));
    body("plan-reset", &planned(&Verb::Start { id, release, protected: None, force: false, intent: None }));
    let uncap = RingPatch { max_in_flight: Some(0), ..RingPatch::default() };
    body("plan-uncap", &planned(&Verb::PatchRing { ring: RingId::named("oak-ring"), patch: uncap }));
    body("plan-leave-seat", &PlanBody::leaving(story.world.revision, Seconds(60)));
    let skip = Verb::Pause(Level::Machine(MachineId::named("birch")));
    let plan = plan(&skip, &story.world, &story.observed, "ann", at(1510));
    let moved = moved(&plan, &story.world, story.tail.iter());
    let stale = Stale { planned_at: 12, revision: story.world.revision, moved };
    body("problem-moved", &Problem::from(DoorError::Moved(stale)).body());
}

#[test]
fn what_a_process_says_about_itself() {
    body("seat", &seat());
    let features = FEATURES.iter().map(|feature| (*feature).to_owned()).collect();
    let version =
        VersionBody { version: "0.1.0".to_owned(), journal_kind: "sqlite".to_owned(), cluster_uid: None, features };
    body("version", &version);
    let account = AccountReady {
        account: "default".to_owned(),
        journal: "live".to_owned(),
        holds_seat: true,
        tick_age_seconds: Some(12),
        tick_is_late: false,
    };
    body("ready", &ReadyBody { ready: true, accounts: vec![account] });
    let problem = Problem::new(ProblemKind::Conflict, "protected", "a protected rollout is running").field("force");
    body("problem", &problem.hint("wait until it completes").body());
}
