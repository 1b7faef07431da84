//! The canaries: secrets of every kind go through every path, and are found in the assignment of the machine that needs
//! them and nowhere else: in no answer, no log, no journal, no table of results, and in nothing a console would fold.

use reqwest::Method;
use serde_json::{Value, json};

use super::bench::{Bench, text};
use super::builds::contains;
use super::repository::Repo;

const SECRET: &str = "canary-of-the-secret-0b51";
const NEWER: &str = "canary-of-the-secret-77ae";
const MISTYPED: &str = "canary-of-the-mistyped-91c2";
const TOKEN: &str = "kura_canary-of-the-token-3f08";

/// Everything that must not be found.
const CANARIES: [&str; 4] = [SECRET, NEWER, MISTYPED, TOKEN];

/// A scene in which every canary was let in, and everything that was answered since.
struct Aviary {
    bench: Bench,
    said: Vec<(String, String)>,
    worker: String,
    rollout: String,
    release: String,
}

impl Aviary {
    fn open() -> Self {
        let bench = Bench::on(Repo::example(), &[]);
        let (_, worker) = bench.fleet();
        let mut aviary = Self { bench, said: Vec::new(), worker, rollout: String::new(), release: String::new() };
        aviary.set("K8S_DRAIN_TOKEN", &json!({"value": SECRET, "reason": "first"}), 200);
        let built = aviary.bench.build("v1");
        aviary.release = text(&built, "uuid");
        aviary.rollout = aviary.bench.start(&built);
        aviary
    }

    /// Sends something as the owner and keeps what was answered.
    fn ask(&mut self, method: Method, path: &str, body: &Value) -> (u16, String) {
        let plane = &self.bench.plane;
        let request = plane.request(method.clone(), path).bearer_auth(plane.token("owner"));
        let request = if body.is_null() { request } else { request.json(body) };
        let (status, headers, text) = plane.send(request);
        self.said.push((format!("{method} {path}"), format!("{headers}\n{text}")));
        (status, text)
    }

    fn set(&mut self, name: &str, body: &Value, expected: u16) {
        let (status, text) = self.ask(Method::PUT, &format!("/api/secrets/{name}"), body);
        assert_eq!(status, expected, "{text}");
    }

    /// Everybody who sets a secret wrongly, and everybody who may not.
    fn mistakes(&mut self) {
        for body in [
            json!(MISTYPED),
            json!({"value": [MISTYPED]}),
            json!({"value": MISTYPED, MISTYPED: 1}),
            json!({"valeu": MISTYPED}),
        ] {
            self.set("K8S_DRAIN_TOKEN", &body, 422);
        }
        self.set("not%20a%20name", &json!({"value": MISTYPED}), 400);
        let plane = &self.bench.plane;
        for role in ["viewer", "operator", "agent"] {
            let request = plane.request(Method::PUT, "/api/secrets/K8S_DRAIN_TOKEN").bearer_auth(plane.token(role));
            let (status, headers, text) = plane.send(request.json(&json!({"value": MISTYPED})));
            assert_eq!(status, 403, "{role}: {text}");
            self.said.push((format!("{role} sets a secret"), headers + &text));
        }
        let request = plane.request(Method::GET, "/api/world").bearer_auth(TOKEN);
        let (status, headers, text) = plane.send(request);
        assert_eq!(status, 401, "{text}");
        self.said.push(("a token nobody knows".to_owned(), headers + &text));
    }

    /// A run whose log shows secrets, in every text an agent may send.
    fn report(&mut self, nth: u32, [first, second]: [&str; 2]) {
        let assignment = self.bench.plane.poll(&self.worker)["assignment"].clone();
        assert!(text(&assignment, "content").contains(SECRET) || text(&assignment, "content").contains(NEWER));
        let state =
            |n: u32| json!({"id": format!("id{n} {first}"), "name": second, "comment": format!("x {first}\n{second}")});
        let report = json!({
            "release_uuid": assignment["release_uuid"], "generation": assignment["generation"], "outcome": "failed",
            "started_at": format!("2026-11-29T10:00:0{nth}Z"), "finished_at": "2026-11-29T10:00:05Z", "changed_count": 1,
            "failed_states": [state(1), state(2)], "log_tail": format!("+ kubectl --token {first}\nnow {second}\n"),
        });
        let plane = &self.bench.plane;
        let request = plane.request(Method::POST, "/api/agent/apply-results").bearer_auth(plane.token("agent"));
        let (status, _, said) = plane.send(request.header("x-machine", &self.worker).json(&report));
        assert_eq!(status, 200, "{said}");
        let path = format!("/api/config/rollouts/{}/apply-results", self.rollout);
        let results = self.bench.plane.get_until(&path, "the result", |body| !body.as_array().unwrap().is_empty());
        assert_eq!(results[0]["log_tail"], "+ kubectl --token ***\nnow ***\n", "{results}");
        assert_eq!(results[0]["failed_states"][0]["id"], "id1 ***");
    }

    /// Reads everything there is to read.
    fn look_everywhere(&mut self) {
        let (rollout, release, worker) = (self.rollout.clone(), self.release.clone(), self.worker.clone());
        let paths = [
            "/api/config/account".to_owned(),
            "/api/config/environments/".to_owned(),
            "/api/config/rings/".to_owned(),
            "/api/config/releases/".to_owned(),
            format!("/api/config/releases/{release}"),
            "/api/config/rollouts/".to_owned(),
            format!("/api/config/rollouts/{rollout}"),
            format!("/api/config/rollouts/{rollout}/status"),
            format!("/api/config/rollouts/{rollout}/apply-results"),
            "/api/provisioning/machines/".to_owned(),
            format!("/api/provisioning/machines/{worker}"),
            "/api/world?tail=1000".to_owned(),
            "/api/audit".to_owned(),
            "/api/secrets/".to_owned(),
            "/api/secrets/K8S_DRAIN_TOKEN".to_owned(),
            "/api/seat".to_owned(),
            "/api/openapi.json".to_owned(),
            "/api/version".to_owned(),
            "/metrics".to_owned(),
            "/readyz".to_owned(),
        ];
        for path in paths {
            self.ask(Method::GET, &path, &Value::Null);
        }
        self.ask(Method::POST, "/api/explain", &json!({"machine": worker}));
        let changes = self.changes();
        self.said.push(("the stream of changes".to_owned(), changes));
    }

    /// The stream from the first change on, until it has said everything there is.
    fn changes(&self) -> String {
        let plane = &self.bench.plane;
        let revision = plane.get("/api/world")["revision"].as_u64().expect("a revision");
        plane.stream("/api/changes?after=0", &format!("id: {revision}\n"))
    }

    fn nothing_got_out(&self) {
        assert!(self.said.len() > 25);
        for (place, text) in &self.said {
            for canary in CANARIES {
                assert!(!text.contains(canary), "{place} says {canary}: {text}");
            }
        }
        let log = self.bench.plane.log();
        assert!(log.contains("/api/secrets/{name}"), "the log speaks of it: {log}");
        assert!(CANARIES.iter().all(|canary| !log.contains(canary)), "{log}");
    }
}

#[test]
fn canaries_are_found_in_the_assignment_that_needs_them_and_nowhere_else() {
    let mut aviary = Aviary::open();
    aviary.mistakes();
    aviary.report(1, [SECRET, SECRET]);
    aviary.set("K8S_DRAIN_TOKEN", &json!({"value": NEWER}), 200);
    aviary.report(2, [SECRET, NEWER]);
    aviary.look_everywhere();
    let (_, names) = aviary.ask(Method::GET, "/api/secrets/", &Value::Null);
    assert!(names.contains(r#""name":"K8S_DRAIN_TOKEN""#) && names.contains("set_by"), "{names}");
    aviary.nothing_got_out();

    aviary.bench.plane.kill();
    aviary.bench.plane.start_again();
    let served = aviary.bench.served(&aviary.worker).expect("the content it was given first");
    assert!(served.iter().any(|(path, content)| path == "k8s/agent.sls" && content.contains(SECRET)));
    aviary.report(3, [NEWER, SECRET]);
    aviary.look_everywhere();
    aviary.ask(Method::PUT, "/api/secrets/OTHER", &json!({"value": NEWER}));
    aviary.nothing_got_out();

    aviary.bench.plane.kill();
    let files = aviary.bench.plane.files();
    assert!(files.iter().any(|(path, _)| path.ends_with("kura.db")));
    let outside = files.iter().filter(|(path, _)| !path.components().any(|part| part.as_os_str() == "kura.db.vault"));
    for (path, bytes) in outside {
        for canary in CANARIES {
            assert!(!contains(bytes, canary.as_bytes()), "{} holds {canary}", path.display());
        }
    }
    for (path, bytes) in &files {
        let is_open = std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions()) & 0o077 != 0;
        let holds = |canary: &&str| contains(bytes, canary.as_bytes());
        assert!(!(is_open && CANARIES.iter().any(holds)), "{} is readable for others", path.display());
    }
}

#[test]
fn a_retry_of_an_old_request_does_not_bring_an_old_secret_back() {
    let bench = Bench::on(Repo::example(), &[]);
    let (_, worker) = bench.fleet();
    let set = |key: &str, value: &str| {
        let plane = &bench.plane;
        let request = plane.request(Method::PUT, "/api/secrets/K8S_DRAIN_TOKEN").bearer_auth(plane.token("owner"));
        plane.send(request.header("idempotency-key", key).json(&json!({"value": value})))
    };
    set("k1", SECRET);
    let (status, _, said) = set("k1", NEWER);
    assert!(status == 422 && said.contains("key_reused"), "another value is another request: {said}");
    set("k2", NEWER);
    let (status, headers, _) = set("k1", SECRET);
    assert_eq!((status, headers.contains("idempotent-replayed")), (200, true), "{headers}");
    bench.start(&bench.build("v1"));
    assert!(format!("{:?}", bench.served(&worker)).contains(NEWER));
    let refused =
        bench.plane.request(Method::PUT, "/api/secrets/K8S_DRAIN_TOKEN").bearer_auth(bench.plane.token("owner"));
    let (status, ..) = bench.plane.send(refused.header("if-match", "\"999999\"").json(&json!({"value": SECRET})));
    assert_eq!(status, 412, "nobody can have planned on a revision that is still to come");
    let kept = bench.plane.files().iter().filter(|(path, _)| path.to_string_lossy().contains("secrets")).count();
    assert_eq!(kept, 2, "the value that counts and the one before it, none that was refused");
}
