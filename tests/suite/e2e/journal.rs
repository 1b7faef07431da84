//! The journal from the command line, beside a control plane that goes on.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions};

use super::command::{Said, kura, shell};
use super::plane::Plane;

fn journal(folder: &Path, arguments: &[&str]) -> Said {
    kura(folder, &[], &[&["journal"], arguments].concat())
}

fn works(folder: &Path, arguments: &[&str]) -> String {
    let said = journal(folder, arguments);
    assert_eq!(said.code, Some(0), "{arguments:?}: {said:?}");
    said.stdout
}

/// Something to keep: an environment that is paused again and again, a release with a content, a secret.
fn filled(plane: &Plane) -> String {
    let made = plane.post("/api/config/environments/", &json!({"slug": "oak", "promotion_order": 1}));
    plane.post("/api/config/releases/build-from-git", &json!({"git_ref": "v1"}));
    let secret = plane.request(Method::PUT, "/api/secrets/PLANTED").bearer_auth(plane.token("owner"));
    let (status, _, text) = plane.send(secret.json(&json!({"value": "canary"})));
    assert!((200..300).contains(&status), "{status} {text}");
    format!("/api/config/environments/{}", made["uuid"].as_str().unwrap())
}

fn toggle(plane: &Plane, environment: &str, times: usize) {
    for _ in 0..times {
        plane.post(&format!("{environment}/pause"), &json!({"reason": "fibre work"}));
        plane.post(&format!("{environment}/unpause"), &Value::Null);
    }
}

fn modes(folder: &Path) -> Vec<(String, u32)> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            all.push((path.strip_prefix(folder).unwrap().display().to_string(), mode));
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    all.sort();
    all
}

const HERE: [&str; 2] = ["--journal", "sqlite:kura.db"];

#[test]
fn a_backup_beside_a_server_comes_back_as_the_same_control_plane() {
    let mut plane = Plane::start();
    let environment = filled(&plane);
    toggle(&plane, &environment, 3);
    let folder = plane.folder().to_owned();
    works(&folder, &[&["backup"], &HERE[..], &["--to", "saved"]].concat());
    journal(&folder, &[&["backup"], &HERE[..], &["--to", "saved"]].concat()).fails(4, &["saved exists already"]);
    assert_eq!(fs::metadata(folder.join("saved")).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(modes(&folder.join("saved/journal.db.vault")), modes(&folder.join("kura.db.vault")));
    toggle(&plane, &environment, 1);
    let now = plane.get("/api/world")["world"]["revision"].as_u64().unwrap();
    let back = ["restore", "--from", "saved"];
    let again = [&back[..], &HERE[..]].concat();
    let replace = [&again[..], &["--replace"]].concat();
    journal(&folder, &again).fails(4, &["kura.db exists already", "--replace"]);
    journal(&folder, &replace).fails(4, &["kura.db is in use", "nothing was changed"]);
    plane.get("/api/world");
    plane.kill();
    journal(&folder, &again).fails(4, &["kura.db exists already"]);
    let said = works(&folder, &replace);
    let lost = said.lines().find_map(|line| line.strip_prefix("what was there is in ")).expect("it says where");
    let lost = folder.join(lost);
    let kept = format!("sqlite:{}", lost.join("kura.db").display());
    assert!(works(&folder, &["verify", "--journal", &kept]).contains("nothing is wrong"), "it is whole as well");
    assert!(said.contains("1 contents, 1 secrets") && said.contains("nothing is wrong"), "{said}");
    assert_eq!(modes(&folder.join("kura.db.vault")), modes(&lost.join("kura.db.vault")));
    assert!(!modes(&folder).iter().any(|(path, _)| path.contains(".part")), "nothing is left of the work");
    plane.start_again();
    let restored = plane.get("/api/world")["world"]["revision"].as_u64().unwrap();
    let secrets = plane.get("/api/secrets/");
    assert_eq!(secrets[0]["name"], "PLANTED", "{secrets}");
    assert!(restored > 0 && restored < now + 10, "{restored}, then {now}");
    toggle(&plane, &environment, 1);
    works(&folder, &[&["verify"], &HERE[..]].concat());
}

#[test]
fn a_server_goes_on_while_its_journal_is_compacted() {
    let mut plane = Plane::start();
    let environment = filled(&plane);
    let folder = plane.folder().to_owned();
    let mut given = 3;
    for keep in ["40", "20", "0"] {
        toggle(&plane, &environment, 10);
        let said = works(&folder, &[&["compact"], &HERE[..], &["--keep-entries", keep]].concat());
        assert!(said.contains("links of the audit kept"), "{said}");
        toggle(&plane, &environment, 2);
        let verified = works(&folder, &[&["verify"], &HERE[..]].concat());
        assert!(verified.contains("nothing is wrong"), "{verified}");
        given += 24;
        let links = format!(" {given} links");
        let (told, kept) = (far(&plane, &["verify"]), near(&folder));
        assert!(told.stdout.contains(&links), "over HTTP: {told:?}");
        assert!(kept.stdout.contains(&links), "from the file: {kept:?}");
        assert_eq!(told.stdout.split("last seal is").nth(1), kept.stdout.split("last seal is").nth(1));
        let shown = far(&plane, &["show", "-o", "json"]).stdout;
        let numbers: Vec<u64> = shown.lines().map(number).collect();
        assert!(numbers.into_iter().eq(1..=given), "every verb, in order: {shown}");
    }
    let exported = works(&folder, &[&["export"], &HERE[..], &["--account", "default"]].concat());
    let lines: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let verbs = lines.iter().filter(|line| line["change"]["kind"] == "audited").count();
    assert_eq!(verbs, 3 + 3 * 24, "every link is still there");
    tampered_with(&plane, &folder);
    assert!(lines.is_sorted_by_key(|line| line["revision"].as_u64()));
    assert!(!exported.contains("canary"));
    plane.kill();
    plane.start_again();
    let (gone, body) = plane.call(Method::GET, "/api/changes?after=1", &Value::Null);
    assert_eq!(gone, 410, "a reader that far behind loads the world: {body}");
    looks_back(&plane);

    journal(&folder, &[&["compact"], &HERE[..]].concat()).fails_usage();
    let nobody = journal(&folder, &[&["export"], &HERE[..], &["--account", "nobody"]].concat());
    nobody.fails(1, &["holds no account nobody"]);
    journal(&folder, &["verify", "--journal", "sqlite:none.db"]).fails(1, &["there is no file none.db"]);
}

/// What was done first is an archived link by now, and still in the history of a console that comes late.
fn looks_back(plane: &Plane) {
    let mut console = plane.console("viewer").size(120, 40).start();
    console.wait_for("history");
    console.send("7");
    console.wait_for("WHAT OR WHO");
    console.send("/what=create");
    console.send("\r");
    console.wait_for("create-environment oak");
    console.send("q");
    assert_eq!(console.wait_exit().code, Some(0));
}

fn number(line: &str) -> u64 {
    serde_json::from_str::<Value>(line).unwrap()["number"].as_u64().unwrap()
}

/// The audit as the control plane tells it.
fn far(plane: &Plane, arguments: &[&str]) -> Said {
    let (url, token) = (plane.url(), plane.token("viewer").to_owned());
    let variables = [("KURA_CONSOLE_API", url.as_str()), ("KURA_CONSOLE_TOKEN", token.as_str())];
    kura(plane.folder(), &variables, &[&["audit"], arguments].concat())
}

/// The audit as it stands in the file.
fn near(folder: &Path) -> Said {
    kura(folder, &[], &["audit", "verify", "--journal", "sqlite:kura.db", "--account", "default"])
}

/// Somebody takes the oldest archived link out, and puts it back.
fn tampered_with(plane: &Plane, folder: &Path) {
    const GUARD: &str = "SELECT sql FROM sqlite_schema WHERE name = 'archived_links_are_kept'";
    let shell = SqliteConnectOptions::new().filename(folder.join("kura.db"));
    let run = |sql: &str| {
        plane.runtime().block_on(async {
            sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut shell.connect().await.unwrap()).await.unwrap();
        });
    };
    let guard: String = plane
        .runtime()
        .block_on(async { sqlx::query_scalar(GUARD).fetch_one(&mut shell.connect().await.unwrap()).await.unwrap() });
    let first = "revision = (SELECT min(revision) FROM archived_links)";
    run(&format!(
        "CREATE TABLE aside AS SELECT * FROM archived_links WHERE {first}; DROP TRIGGER archived_links_are_kept;
         DELETE FROM archived_links WHERE {first}"
    ));
    far(plane, &["verify"]).fails_of("link 1 should stand");
    near(folder).fails_of("link 1 should stand");
    journal(folder, &[&["verify"], &HERE[..]].concat()).fails_of("link 1 should stand");
    run(&format!("INSERT INTO archived_links SELECT * FROM aside; DROP TABLE aside; {guard}"));
    works(folder, &[&["verify"], &HERE[..]].concat());
}

impl Said {
    fn fails_of(&self, words: &str) {
        assert_eq!(self.code, Some(1), "{self:?}");
        assert!(self.stderr.contains(words), "{self:?}");
    }

    fn fails_usage(&self) {
        assert_eq!(self.code, Some(2), "{self:?}");
        assert!(self.stderr.contains("--keep-"), "{self:?}");
    }
}

#[test]
fn whatever_is_wrong_is_found() {
    let mut plane = Plane::start();
    let environment = filled(&plane);
    toggle(&plane, &environment, 2);
    plane.kill();
    let folder = plane.folder().to_owned();
    let verify = || journal(&folder, &[&["verify"], &HERE[..]].concat());
    assert_eq!(verify().code, Some(0), "{:?}", verify());

    let vault = folder.join("kura.db.vault");
    let is_content = |path: &&(String, u32)| path.0.rsplit('/').next().is_some_and(|name| name.len() == 64);
    let content = vault.join(&modes(&vault).iter().find(is_content).unwrap().0);
    let whole = fs::read(&content).unwrap();
    fs::write(&content, "something else").unwrap();
    assert!(verify().stderr.contains("is damaged"), "{:?}", verify());
    fs::remove_file(&content).unwrap();
    assert!(
        verify().stderr.contains("is not in kura.db.vault") || verify().stderr.contains("is not in "),
        "{:?}",
        verify()
    );
    fs::write(&content, whole).unwrap();
    assert_eq!(verify().code, Some(0), "{:?}", verify());
    rendered(&mut plane, &folder);
}

/// What was rendered for a machine is kept until its run ends, and is not the content of its release.
fn rendered(plane: &mut Plane, folder: &Path) {
    plane.start_again();
    let states = folder.join("releases/v3");
    fs::create_dir_all(&states).unwrap();
    fs::write(states.join("top.sls"), "base: {'*': [motd]}\n").unwrap();
    fs::write(states.join("motd.sls"), "motd: {test.nop: [{name: \"{{ machine.hostname }}\"}]}\n").unwrap();
    let built = plane.post("/api/config/releases/build-from-git", &json!({"git_ref": "v3"}));
    let release = built["uuid"].clone();
    plane.post("/api/config/rings/", &json!({"name": "ring", "max_in_flight": 1, "failure_count_threshold": 1}));
    let machine = json!({"hostname": "ash", "environment": "oak", "ring": "ring"});
    let machine = plane.post("/api/provisioning/machines/", &machine)["uuid"].as_str().unwrap().to_owned();
    plane.post("/api/config/rollouts/", &json!({"config_release_uuid": release}));
    let poll = plane.request(Method::GET, "/api/agent/assignment?wait=9").bearer_auth(plane.token("agent"));
    let (_, _, answer) = plane.send(poll.header("x-machine", machine));
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let digest =
        answer["assignment"]["content_digest"].as_str().unwrap_or_else(|| panic!("a lease: {answer}")).to_owned();
    plane.kill();
    let verify = || journal(folder, &[&["verify"], &HERE[..]].concat());
    assert!(verify().stdout.contains("3 contents"), "{:?}", verify());
    let content = folder.join("kura.db.vault").join(&digest[..2]).join(&digest);
    fs::write(&content, "base: {}").unwrap();
    verify().fails_of("is damaged");
    fs::remove_file(&content).unwrap();
    verify().fails_of(&format!("the content {digest} is not in"));
}

#[test]
fn what_cannot_be_done_is_said_and_leaves_nothing_behind() {
    let plane = Plane::start();
    filled(&plane);
    let folder = plane.folder().to_owned();
    let before = modes(&folder).len();
    journal(&folder, &[&["backup"], &HERE[..], &["--to", "no/such/place"]].concat()).fails(1, &["no folder no/such"]);
    journal(&folder, &["verify", "--journal", "sqlite:tokens.yaml"]).fails(2, &["not an SQLite database"]);
    journal(&folder, &["verify", "--journal", "sqlite:releases"]).fails(2, &["is a directory"]);
    journal(&folder, &["restore", "--from", "releases", "--journal", "sqlite:x.db"]).fails(1, &["is no backup"]);
    works(&folder, &[&["backup"], &HERE[..], &["--to", "saved"]].concat());
    journal(&folder, &["restore", "--from", "saved", "--journal", "sqlite:no/x.db"]).fails(1, &["no folder no"]);
    plane.runtime().block_on(async {
        let shell = SqliteConnectOptions::new().filename(folder.join("saved/journal.db"));
        let newer = sqlx::raw_sql("PRAGMA user_version = 99");
        newer.execute(&mut shell.connect().await.unwrap()).await.unwrap();
    });
    journal(&folder, &["restore", "--from", "saved", "--journal", "sqlite:x.db"]).fails(2, &["format 99"]);
    fs::remove_dir_all(folder.join("saved")).unwrap();
    assert_eq!(modes(&folder).len(), before, "{:?}", modes(&folder));
}

/// Nobody who can follow it needs to know more than the page says.
#[test]
fn the_page_of_operations_says_what_works() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/operations.md")).unwrap();
    let drill = page.split("```sh\n# The drill").nth(1).expect("the drill").split("```").next().unwrap();
    let mut plane = Plane::start();
    let environment = filled(&plane);
    toggle(&plane, &environment, 2);
    let given = number_of_links(&plane);
    plane.kill();
    let said =
        shell(plane.folder(), &[("PATH", &path_with_kura(plane.folder()))], &format!("set -eu\n# The drill{drill}"));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(said.stdout.matches("nothing is wrong").count(), 2, "{said:?}");
    plane.start_again();
    assert_eq!(number_of_links(&plane), given);
}

fn number_of_links(plane: &Plane) -> u64 {
    plane.get("/api/world")["world"]["audit"]["count"].as_u64().unwrap()
}

/// A path on which the program is found by its name.
fn path_with_kura(folder: &Path) -> String {
    let bin = folder.join("bin");
    fs::create_dir_all(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_kura-console"), bin.join("kura-console")).unwrap();
    format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default())
}
