//! The audit from the command line, on a control plane that runs and on the file it leaves behind.

use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions};

use super::command::{Said, kura};
use super::plane::Plane;

/// Somebody who owns the file and knows about the guard in it.
fn tamper(plane: &Plane, statement: &str) {
    let file = plane.folder().join("kura.db");
    plane.runtime().block_on(async {
        let mut shell = SqliteConnectOptions::new().filename(file).connect().await.unwrap();
        assert!(sqlx::query(AssertSqlSafe(statement)).execute(&mut shell).await.is_err(), "guarded: {statement}");
        let guard = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%UPDATE%ON entries%'";
        let (name, guard): (String, String) = sqlx::query_as(guard).fetch_one(&mut shell).await.unwrap();
        sqlx::query(AssertSqlSafe(format!("DROP TRIGGER {name}"))).execute(&mut shell).await.unwrap();
        let changed = sqlx::query(AssertSqlSafe(statement)).execute(&mut shell).await.unwrap();
        assert_eq!(changed.rows_affected(), 1, "{statement}");
        sqlx::query(AssertSqlSafe(guard)).execute(&mut shell).await.unwrap();
    });
}

#[test]
fn it_is_shown_and_whoever_touches_the_journal_is_found_out() {
    let mut plane = Plane::start();
    let made = plane.post("/api/config/environments/", &json!({"slug": "oak", "reason": "new site"}));
    let pause = format!("/api/config/environments/{}/pause", made["uuid"].as_str().unwrap());
    plane.post(&pause, &json!({"reason": "fibre work"}));
    plane.call(reqwest::Method::POST, "/api/config/rollouts/", &json!({"config_release_uuid": uuid::Uuid::nil()}));

    let (url, token) = (plane.url(), plane.token("viewer").to_owned());
    let folder = plane.folder().to_owned();
    let far = |arguments: &[&str]| -> Said {
        let variables = [("KURA_CONSOLE_API", url.as_str()), ("KURA_CONSOLE_TOKEN", token.as_str())];
        kura(&folder, &variables, &[&["audit"], arguments].concat())
    };
    let shown = far(&["show"]);
    for words in ["owner create-environment environment oak: done", "because: new site", "refused: "] {
        assert!(shown.stdout.contains(words), "{words} in {shown:?}");
    }
    let lines = far(&["show", "-o", "json", "--verb", "pause-environment"]).stdout;
    let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 1);
    assert_eq!((&rows[0]["cause"]["reason"], &rows[0]["number"]), (&json!("fibre work"), &json!(2)));
    assert_eq!(far(&["show", "--by", "nobody"]).stdout, "no verb was given\n");
    let verified = far(&["verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    assert!(verified.stdout.contains("3 links, none broken"), "{verified:?}");

    plane.kill();
    let near = || kura(&folder, &[], &["audit", "verify", "--journal", "sqlite:kura.db", "--account", "default"]);
    assert!(near().stdout.contains("3 links in "), "{:?}", near());
    tamper(
        &plane,
        "UPDATE entries SET change = replace(change, 'fibre work', 'nothing') WHERE change LIKE '%\"paused\"%fibre work%' AND change NOT LIKE '%audited%'",
    );
    let found = near();
    assert_eq!(found.code, Some(1), "{found:?}");
    assert!(found.stderr.contains("the changes in front of link 2"), "{found:?}");
    tamper(
        &plane,
        "UPDATE entries SET cause = replace(cause, 'new site', 'old site') WHERE change LIKE '%audited%' AND cause LIKE '%new site%'",
    );
    assert!(near().stderr.contains("link 1 at revision"), "{:?}", near());

    let nothing = kura(&folder, &[], &["audit", "verify", "--journal", "sqlite:none.db", "--account", "default"]);
    assert!(nothing.code != Some(0) && nothing.stderr.contains("there is no file none.db"), "{nothing:?}");
    let nobody = kura(&folder, &[], &["audit", "verify", "--journal", "sqlite:kura.db", "--account", "nobody"]);
    assert!(nobody.stderr.contains("holds no account nobody") && nobody.stderr.contains("hint: "), "{nobody:?}");
    assert!(!folder.join("none.db").exists());
}
