//! What somebody meets who runs it for the first time and gets something wrong: an exit code, what is wrong, what to do.

use std::path::Path;

use super::super::pty::driver::{Launch, PATIENCE};
use super::command::{kura, shell};
use super::plane::{Plane, free_port};

const TOKEN: (&str, &str) = ("KURA_CONSOLE_TOKEN", "kura_wrong");

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// A control plane that must not come up; `journal` and `tokens` are below the folder.
fn serve(folder: &Path, journal: &str, tokens: &[&str]) -> super::command::Said {
    let journal = format!("sqlite:{journal}");
    let usual = ["serve", "--listen", "127.0.0.1:0", "--journal", &journal];
    kura(folder, &[], &[&usual, tokens].concat())
}

#[test]
fn without_anything_it_says_how_to_begin() {
    let folder = folder();
    for arguments in [&[][..], &["status"]] {
        let said = kura(folder.path(), &[], arguments);
        said.fails(2, &["no control plane was named", "--api", "KURA_CONSOLE_API", "kura-console demo"]);
    }
    let left = std::fs::read_dir(folder.path()).expect("the home").count();
    assert_eq!(left, 0, "nothing is left behind in the home");
}

#[test]
fn without_a_token_it_says_where_one_is_looked_for() {
    let folder = folder();
    for arguments in [&["--api", "http://127.0.0.1:9"][..], &["status", "--api", "http://127.0.0.1:9"]] {
        let said = kura(folder.path(), &[], arguments);
        said.fails(2, &["no token", "KURA_CONSOLE_TOKEN", "--token-file", "--token-command", "--create-tokens"]);
    }
}

#[test]
fn flags_in_front_of_a_subcommand_are_told_their_place() {
    let folder = folder();
    let said = kura(folder.path(), &[TOKEN], &["--api", "http://127.0.0.1:9", "status"]);
    assert_eq!(said.code, Some(2), "the flag is not forgotten: {said:?}");
    assert!(said.stderr.contains("kura-console status --api <URL>"), "{said:?}");
}

#[test]
fn where_nobody_answers_it_says_whom_it_asked_and_why_not() {
    let folder = folder();
    let nobody = format!("http://127.0.0.1:{}", free_port());
    for arguments in [&["--api", &nobody][..], &["status", "--api", &nobody]] {
        kura(folder.path(), &[TOKEN], arguments).fails(3, &[&nobody, "cannot be reached", "Connection refused"]);
    }
    let unknown = "http://kura.invalid:7777";
    for arguments in [&["--api", unknown][..], &["status", "--api", unknown]] {
        kura(folder.path(), &[TOKEN], arguments).fails(3, &[unknown, "cannot be reached"]);
    }
}

#[test]
fn what_is_no_address_is_repeated_with_an_example() {
    let folder = folder();
    for wrong in ["not a url", "ftp://kura.example.com", "http://", "http://127.0.0.1:99999"] {
        for arguments in [&["--api", wrong][..], &["status", "--api", wrong]] {
            kura(folder.path(), &[TOKEN], arguments).fails(2, &[wrong, "no address", "http://127.0.0.1:7777"]);
        }
    }
    let said = kura(folder.path(), &[TOKEN, ("KURA_CONSOLE_API", "not a url")], &["status"]);
    said.fails(2, &["not a url", "came from KURA_CONSOLE_API"]);
}

#[test]
fn the_wrong_scheme_is_recognized() {
    let (folder, plane) = (folder(), Plane::start());
    let url = plane.url().replace("http:", "https:");
    for arguments in [&["--api", &url][..], &["status", "--api", &url]] {
        kura(folder.path(), &[TOKEN], arguments).fails(3, &["does not speak TLS", "http://"]);
    }
}

#[test]
fn an_agent_that_knows_nobody_says_so() {
    let (folder, plane) = (folder(), Plane::start());
    let (url, secure, machine) = (plane.url(), plane.url().replace("http:", "https:"), uuid::Uuid::nil().to_string());
    let agent = |token: &str, api: &str, machine: &str| {
        let arguments =
            ["agent", "--once", "--exec", "true", "--state", "state.json", "--api", api, "--machine", machine];
        kura(folder.path(), &[("KURA_CONSOLE_AGENT_TOKEN", token), ("RUST_LOG", "off")], &arguments)
    };
    agent(plane.token("agent"), &url, &machine).fails(1, &["no machine", "--machine"]);
    agent(plane.token("viewer"), &url, &machine).fails(1, &["token", "role agent"]);
    agent(TOKEN.1, &url, &machine).fails(1, &["token"]);
    agent(TOKEN.1, &secure, &machine).fails(3, &["does not speak TLS"]);
    agent(TOKEN.1, "kura", &machine).fails(2, &["kura is not an address", "https://kura.example.com"]);
    let named = agent(TOKEN.1, &url, "node-1");
    assert_eq!(named.code, Some(2), "{named:?}");
    assert!(named.stderr.contains("no UUID") && named.stderr.contains("/api/provisioning/machines/"), "{named:?}");
}

#[test]
fn a_look_that_is_not_there_is_answered_with_those_that_are() {
    let folder = folder();
    kura(folder.path(), &[("KURA_CONSOLE_THEME", "pink")], &["demo"]).fails(2, &["pink", "dark, ", "./pink.yaml"]);
    kura(folder.path(), &[], &["demo", "--keymap", "emacs"]).fails(2, &["emacs", "default, ", "./emacs.yaml"]);
    kura(folder.path(), &[], &["demo", "--preset", "chaos"]).fails(2, &["chaos", "window, "]);
}

#[test]
fn a_wrong_token_is_refused_in_words() {
    let (folder, plane) = (folder(), Plane::start());
    let url = plane.url();
    for arguments in [&["status"][..], &["status", "--watch"], &[]] {
        let said = kura(folder.path(), &[("KURA_CONSOLE_API", &url), TOKEN], arguments);
        said.fails(1, &["token"]);
        assert!(!said.stderr.contains(TOKEN.1), "a token is never shown: {said:?}");
    }
    let mut console = Launch::console(&["--api", &url]).env("KURA_CONSOLE_TOKEN", TOKEN.1).start();
    let text = console.wait_for("refuses");
    assert!(text.contains("token") && !text.contains(TOKEN.1), "{text}");
    console.send("q");
    assert_eq!(console.wait_exit().code, Some(0));
}

#[test]
fn a_journal_that_cannot_be_is_named_with_the_reason() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("data")).expect("a directory");
    std::fs::write(folder.path().join("notes.txt"), "no database\n".repeat(500)).expect("a file");
    let tokens = ["--tokens", "tokens.yaml", "--create-tokens"];
    for (journal, words) in [
        ("data", &["it is a directory", "kura.db"][..]),
        ("notes.txt/kura.db", &["notes.txt is not a directory", "in a directory"]),
        ("notes.txt/deep/down/kura.db", &["notes.txt is not a directory"]),
        ("nowhere/kura.db", &["does not exist", "mkdir -p"]),
        ("notes.txt", &["not an SQLite database", "another file"]),
    ] {
        serve(folder.path(), journal, &tokens).fails(2, words);
    }
    let said = kura(folder.path(), &[], &["serve", "--journal", "kura.db", "--tokens", "tokens.yaml"]);
    said.fails(2, &["kura.db", "sqlite:kura.db"]);
    assert!(!folder.path().join("tokens.yaml").exists(), "no tokens are made and shown in vain");
}

#[test]
fn a_port_that_is_taken_says_so() {
    let (folder, plane) = (folder(), Plane::start());
    let address = plane.address();
    let taken = ["serve", "--journal", "sqlite:kura.db", "--tokens", "tokens.yaml", "--create-tokens", "--listen"];
    let said = kura(folder.path(), &[], &[&taken[..], &[&address]].concat());
    said.fails(2, &[&address, "taken", "--listen"]);
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("the home").collect();
    assert!(left.is_empty(), "nothing is made before it can run: {left:?}");
}

#[test]
fn missing_files_are_named_with_the_way_to_make_them() {
    let folder = folder();
    serve(folder.path(), "kura.db", &["--tokens", "none.yaml"])
        .fails(2, &["none.yaml", "does not exist", "--create-tokens"]);
    let releases = ["--tokens", "tokens.yaml", "--create-tokens", "--releases", "none"];
    serve(folder.path(), "kura.db", &releases).fails(2, &["none", "--releases"]);
    for unfit in ["nowhere/tokens.yaml", "."] {
        let said = serve(folder.path(), "kura.db", &["--tokens", unfit, "--create-tokens"]);
        said.fails(2, &[unfit, "--tokens FILE"]);
    }
    std::fs::write(folder.path().join("odd.yaml"), "- name: ann\n  role: boss\n").expect("a file");
    serve(folder.path(), "kura.db", &["--tokens", "odd.yaml"]).fails(2, &["odd.yaml:2"]);
    assert!(!folder.path().join("kura.db").exists(), "nothing is made before it can run");
}

#[test]
fn a_terminal_that_is_too_small_says_so() {
    let nobody = format!("http://127.0.0.1:{}", free_port());
    for (arguments, also) in [(&["--api", &nobody][..], "reached"), (&["demo"], "slot")] {
        let mut console = Launch::console(arguments).size(20, 5).env(TOKEN.0, TOKEN.1).start();
        console.wait_until(also, PATIENCE, |screen| {
            let text = screen.contents();
            text.contains(also) && text.contains("too small: 40x10")
        });
        console.send("q");
        assert_eq!(console.wait_exit().code, Some(0), "{arguments:?}");
        assert!(console.modes_as_before());
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let (folder, plane) = (folder(), Plane::start());
    let (url, token) = (plane.url(), plane.token("viewer").to_owned());
    let variables = [("KURA_CONSOLE_API", &url[..]), ("KURA_CONSOLE_TOKEN", &token)];
    for script in ["\"$KURA\" status -o json | head -1", "\"$KURA\" status | true", "\"$KURA\" man | head -1"] {
        let said = shell(folder.path(), &variables, script);
        assert_eq!((said.code, &said.stderr[..]), (Some(0), ""), "{script}: {said:?}");
    }
    let status = kura(folder.path(), &variables, &["status", "-o", "json"]);
    let body: serde_json::Value = serde_json::from_str(&status.stdout).expect("JSON");
    let yaml = kura(folder.path(), &variables, &["status", "-o", "yaml"]);
    let document: serde_json::Value = serde_yaml::from_str(&yaml.stdout).expect("YAML");
    assert_eq!(
        (document["account"].clone(), document["explain"].clone()),
        (body["account"].clone(), body["explain"].clone())
    );
    let text = kura(folder.path(), &variables, &["status"]);
    assert_eq!(text.stdout.matches("no rollout was ever started").count(), 1, "{text:?}");
    assert_eq!(
        (status.code, &body["account"], &body["status"]),
        (Some(0), &"default".into(), &serde_json::Value::Null)
    );
}
