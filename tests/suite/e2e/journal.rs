//! The journal from the command line, beside a control plane that goes on.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};

use super::command::{Said, kura};
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
    let made = plane.post("/api/config/environments/", &json!({"slug": "oak"}));
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
    plane.kill();

    let back = ["restore", "--from", "saved"];
    journal(&folder, &[&back[..], &HERE[..]].concat()).fails(4, &["kura.db exists already"]);
    let lost = tempfile::tempdir().unwrap();
    for file in ["kura.db", "kura.db-wal", "kura.db-shm", "kura.db.vault", "kura.db.telemetry"] {
        let _ = fs::rename(folder.join(file), lost.path().join(file));
    }
    for left in ["kura.db.telemetry-wal", "kura.db.telemetry-shm"] {
        let _ = fs::remove_file(folder.join(left));
    }
    let said = works(&folder, &[&back[..], &HERE[..]].concat());
    assert!(said.contains("1 contents, 1 secrets") && said.contains("nothing is wrong"), "{said}");
    assert_eq!(modes(&folder.join("kura.db.vault")), modes(&lost.path().join("kura.db.vault")));
    assert!(!modes(&folder).iter().any(|(path, _)| path.contains(".part")), "nothing is left of the work");
    plane.start_again();
    let restored = plane.get("/api/world")["world"]["revision"].as_u64().unwrap();
    assert!(restored > 0 && restored < now + 10, "{restored}, then {now}");
    toggle(&plane, &environment, 1);
    works(&folder, &[&["verify"], &HERE[..]].concat());
}

#[test]
fn a_server_goes_on_while_its_journal_is_compacted() {
    let mut plane = Plane::start();
    let environment = filled(&plane);
    let folder = plane.folder().to_owned();
    for keep in ["40", "20", "0"] {
        toggle(&plane, &environment, 10);
        let said = works(&folder, &[&["compact"], &HERE[..], &["--keep-entries", keep]].concat());
        assert!(said.contains("links of the audit kept"), "{said}");
        toggle(&plane, &environment, 2);
        let verified = works(&folder, &[&["verify"], &HERE[..]].concat());
        assert!(verified.contains("nothing is wrong"), "{verified}");
    }
    let exported = works(&folder, &[&["export"], &HERE[..], &["--account", "default"]].concat());
    let lines: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let verbs = lines.iter().filter(|line| line["change"]["kind"] == "audited").count();
    assert_eq!(verbs, 3 + 3 * 24, "every link is still there");
    assert!(lines.is_sorted_by_key(|line| line["revision"].as_u64()));
    assert!(!exported.contains("canary"));
    plane.kill();
    plane.start_again();
    let (gone, body) = plane.call(Method::GET, "/api/changes?after=1", &Value::Null);
    assert_eq!(gone, 410, "a reader that far behind loads the world: {body}");

    journal(&folder, &[&["compact"], &HERE[..]].concat()).fails_usage();
    let nobody = journal(&folder, &[&["export"], &HERE[..], &["--account", "nobody"]].concat());
    nobody.fails(1, &["holds no account nobody"]);
    journal(&folder, &["verify", "--journal", "sqlite:none.db"]).fails(1, &["there is no file none.db"]);
}

impl Said {
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
}
