//! The doctor over the real binary: all well, and every way in which the first thing is wrong.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use super::command::{Said, kura};
use super::plane::{Plane, free_port};

/// What was found, by check: the verdict, and the sentence with its hint.
fn findings(said: &Said) -> BTreeMap<String, (String, String)> {
    let body: Value = serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {said:?}"));
    let text = |finding: &Value, field: &str| finding[field].as_str().unwrap_or_default().to_owned();
    let all = body["findings"].as_array().expect("findings").iter();
    let told = all.map(|finding| {
        let sentence = format!("{} {}", text(finding, "said"), text(finding, "hint"));
        (text(finding, "check"), (text(finding, "verdict"), sentence))
    });
    let found: BTreeMap<_, _> = told.collect();
    let bad = found.values().any(|(verdict, _)| verdict == "bad");
    assert_eq!((body["well"] == true, said.code), (!bad, Some(i32::from(bad))), "{said:?}");
    found
}

/// The finding of a check has this verdict, and says all of this.
fn found(said: &Said, check: &str, verdict: &str, words: &[&str]) {
    let all = findings(said);
    let (is, sentence) = all.get(check).unwrap_or_else(|| panic!("no {check} in {all:#?}"));
    assert_eq!(is, verdict, "{check}: {sentence}");
    words.iter().for_each(|word| assert!(sentence.contains(word), "{check} says nothing of {word}: {sentence}"));
    assert!(!said.stderr.contains("panicked"), "{said:?}");
}

fn json(folder: &std::path::Path, variables: &[(&str, &str)], more: &[&str]) -> Said {
    kura(folder, variables, &[&["doctor", "-o", "json"], more].concat())
}

#[test]
fn a_control_plane_that_is_well_is_told_in_every_part() {
    let plane = Plane::start();
    plane.get_until("/api/seat", "a tick", |seat| !seat["last_tick"].is_null());
    let (url, operator) = (plane.url(), plane.token("operator").to_owned());
    let variables = [("KURA_CONSOLE_API", url.as_str()), ("DURANTIC_API_TOKEN", &operator), ("TERM", "xterm-256color")];
    let said = json(plane.folder(), &variables, &[]);
    for (check, verdict, words) in [
        ("api", "ok", &[url.as_str(), "KURA_CONSOLE_API"][..]),
        ("token", "ok", &["DURANTIC_API_TOKEN"]),
        ("name", "ok", &["127.0.0.1"]),
        ("connect", "ok", &[&plane.address()]),
        ("tls", "ok", &["nothing leaves this host"]),
        ("version", "ok", &[env!("CARGO_PKG_VERSION")]),
        ("identity", "ok", &["operator in account default"]),
        ("rights", "ok", &["may look and act"]),
        ("clock", "ok", &[]),
        ("journal", "ok", &["sqlite"]),
        ("seat", "ok", &["epoch 1"]),
        ("tick", "ok", &["ago"]),
        ("terminal", "ok", &["only the screen needs one"]),
        ("colours", "ok", &["256"]),
        ("config", "ok", &[".config/kura-console"]),
        ("log", "ok", &[".local/state/kura-console"]),
        ("fallback", "warn", &["not possible from here"]),
    ] {
        found(&said, check, verdict, words);
    }
    assert!(!said.stdout.contains(&operator), "no token in a report");
    assert!(!plane.folder().join(".local").exists(), "to look is not to write");

    let text = kura(plane.folder(), &variables, &["doctor"]);
    assert_eq!((text.code, text.stderr.as_str()), (Some(0), ""), "{text:?}");
    assert!(text.stdout.lines().all(|line| line.width() <= 80), "{}", text.stdout);
    assert!(text.stdout.starts_with("✓ ok   api"), "{}", text.stdout);
    let yaml = kura(plane.folder(), &variables, &["doctor", "-o", "yaml"]).stdout;
    assert_eq!(serde_yaml::from_str::<Value>(&yaml).expect("yaml")["well"], true);
}

#[test]
fn whatever_is_wrong_is_named_with_what_to_do() {
    let plane = Plane::start();
    let (folder, url) = (plane.folder(), plane.url());
    let here = [("KURA_CONSOLE_API", url.as_str())];
    let with = |token| [here[0], ("KURA_CONSOLE_TOKEN", token)];

    found(&json(folder, &[], &[]), "api", "bad", &["no control plane was named", "--api"]);
    found(&json(folder, &here, &[]), "token", "bad", &["no token", "KURA_CONSOLE_TOKEN"]);
    found(&json(folder, &with("kura_unknown"), &[]), "identity", "bad", &["token"]);
    found(&json(folder, &with(plane.token("agent")), &[]), "identity", "bad", &["no token of a person"]);
    found(&json(folder, &with(plane.token("viewer")), &[]), "rights", "ok", &["every verb is refused"]);
    let tls = url.replace("http://", "https://");
    found(&json(folder, &with("t"), &["--api", &tls]), "tls", "bad", &["does not speak TLS"]);
    let nobody = format!("http://127.0.0.1:{}", free_port());
    found(&json(folder, &with("t"), &["--api", &nobody]), "connect", "bad", &["refused"]);
    found(&json(folder, &with("t"), &["--api", "http://no-such-host.invalid"]), "name", "bad", &["does not resolve"]);

    let file = folder.join("token");
    std::fs::write(&file, plane.token("viewer")).expect("a file");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("permissions");
    found(&json(folder, &here, &["--token-file", "token"]), "token", "warn", &["others may read", "chmod 600 token"]);
    let plain = [here[0], ("KURA_CONSOLE_TOKEN", plane.token("viewer")), ("LC_ALL", "C")];
    found(&json(folder, &plain, &[]), "locale", "warn", &["UTF-8"]);
    let text = kura(folder, &plain, &["doctor"]);
    assert!(text.stdout.is_ascii() && text.stdout.starts_with("+ ok"), "{}", text.stdout);
}

#[test]
fn a_far_end_that_says_nothing_is_not_waited_for_for_ever() {
    let folder = tempfile::tempdir().expect("a folder");
    let silent = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let url = format!("http://{}", silent.local_addr().expect("its address"));
    let said = json(folder.path(), &[("KURA_CONSOLE_API", &url), ("KURA_CONSOLE_TOKEN", "t")], &[]);
    found(&said, "connect", "ok", &[]);
    found(&said, "answer", "bad", &["did not answer in 10 s"]);
}
