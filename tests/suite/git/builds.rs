//! Building: what a reference becomes, and what never becomes a release.

use reqwest::Method;
use serde_json::json;

use super::super::e2e::plane::{Plane, refusal_to_serve};
use super::bench::{Bench, text};
use super::repository::Repo;

#[test]
fn a_tag_a_branch_and_a_commit_are_built_as_they_are_now() {
    // R4
    let bench = Bench::on(Repo::example(), &[]);
    let first = bench.repo.git(&["rev-parse", "HEAD"]);
    let release = bench.build("v1");
    assert_eq!(text(&release, "commit"), first);
    assert_eq!(release["warnings"], json!([]), "the example keeps the state contract");
    let needs = ["vars.DRAIN_TOKEN", "vars.K8S_TARGET", "vars.K8S_VIP", "vars.MOTD"];
    assert_eq!(release["needs"], json!(needs));

    bench.repo.write("common/extra.sls", "extra: {}\n");
    let second = bench.repo.commit("more");
    assert_eq!(text(&bench.build("main"), "commit"), second, "it is fetched for every build");
    assert_eq!(text(&bench.build(&first[..10]), "commit"), first);
    assert_eq!(text(&bench.build("v1"), "content_digest"), text(&release, "content_digest"));
    let account = bench.plane.get("/api/config/account");
    assert_eq!(text(&account, "config_repository"), bench.repo.path().canonicalize().unwrap().display().to_string());
}

#[test]
fn a_build_that_was_done_is_answered_as_it_was_though_its_reference_is_gone() {
    let bench = Bench::on(Repo::example(), &[]);
    let build = || {
        let request = bench.plane.request(Method::POST, "/api/config/releases/build-from-git");
        let request = request.bearer_auth(bench.plane.token("operator")).header("idempotency-key", "b1");
        bench.plane.send(request.json(&json!({"git_ref": "v1", "notes": "first"})))
    };
    let (status, _, release) = build();
    assert_eq!(status, 201, "{release}");
    bench.repo.git(&["tag", "-d", "v1"]);
    let (status, headers, again) = build();
    assert_eq!((status, headers.contains("idempotent-replayed")), (201, true), "{again}");
    assert_eq!(again, release);
}

#[test]
fn a_reference_that_is_none_runs_nothing_and_says_what_there_is() {
    let bench = Bench::on(Repo::example(), &[]);
    let (status, problem) = bench.unbuildable("v9");
    assert_eq!((status, text(&problem, "field")), (404, "git_ref".to_owned()), "{problem}");
    assert_eq!(problem["hints"], json!(["there are: v1, main"]));
    let proof = bench.repo.path().join("proof");
    let odd = [format!("--upload-pack=touch {}", proof.display()), "--output=x".into(), "main..v1".into(), "".into()];
    for git_ref in odd {
        let (status, problem) = bench.unbuildable(&git_ref);
        assert_eq!((status, text(&problem, "field")), (422, "git_ref".to_owned()), "{git_ref}: {problem}");
    }
    assert!(!proof.exists());
}

#[test]
fn links_submodules_large_files_and_bad_templates_are_refused_by_name() {
    let bench = Bench::on(Repo::example(), &[]);
    let commit = bench.repo.git(&["rev-parse", "HEAD"]);
    let branch = |name: &str| drop(bench.repo.git(&["checkout", "--quiet", "-b", name, "v1"]));
    branch("link");
    std::os::unix::fs::symlink("/etc/passwd", bench.repo.path().join("link")).unwrap();
    bench.repo.commit("a link");
    branch("submodule");
    bench.repo.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{commit},sub")]);
    bench.repo.git(&["commit", "--quiet", "--message", "a submodule"]);
    branch("large");
    bench.repo.write("large.bin", &"x".repeat(9 * 1_024 * 1_024)).commit("too much");
    branch("template");
    bench.repo.write("common/bad.sls", "a: b\nc: {{ vars.X + 1 }}\n").commit("an expression");
    branch("binary");
    std::fs::write(bench.repo.path().join("logo.png"), [0xff, 0xd8, 0]).unwrap();
    bench.repo.commit("a picture");
    let expected = [
        ("link", 400, "`link` in the release `link` is a symbolic link"),
        ("submodule", 400, "`sub` in the release `submodule` is a submodule"),
        ("large", 413, "the release `large` is too large: more than 8 MiB"),
        ("binary", 400, "`logo.png` in the release `binary` is not text in UTF-8"),
        (
            "template",
            400,
            "the release cannot be rendered: common/bad.sls, line 2: `{{ vars.X + 1 }}` is no plain lookup",
        ),
    ];
    for (git_ref, status, sentence) in expected {
        let (answered, problem) = bench.unbuildable(git_ref);
        assert_eq!(answered, status, "{problem}");
        assert!(text(&problem, "detail").contains(sentence), "{problem}");
    }
    assert_eq!(bench.plane.get("/api/config/releases/"), json!([]));
}

#[test]
fn without_a_repository_it_says_how_to_set_one() {
    let plane = Plane::with(&[]);
    let (status, problem) =
        plane.call(reqwest::Method::POST, "/api/config/releases/build-from-git", &json!({"git_ref": "v1"}));
    assert_eq!((status, text(&problem, "code")), (409, "no_repository".to_owned()));
    assert!(problem["hints"][0].as_str().unwrap().contains("--repository"), "{problem}");
}

#[test]
fn a_repository_that_is_none_is_said_before_anything_is_made() {
    let folder = tempfile::tempdir().unwrap();
    for (repository, words) in [
        (".", "does not appear to be a git repository"),
        ("/nowhere/at/all", "is no path or URL of a repository"),
        ("ext::touch proof", "is no path or URL of a repository"),
    ] {
        let said = refusal_to_serve(folder.path(), &["--repository", repository]);
        assert!(said.contains(words), "{repository}: {said}");
    }
    assert!(!folder.path().join("proof").exists() && !folder.path().join("kura.db").exists());
    let both = refusal_to_serve(folder.path(), &["--repository", ".", "--releases", "."]);
    assert!(both.contains("cannot be used with"), "{both}");
}

#[test]
fn the_password_of_a_repository_is_shown_nowhere() {
    let mut plane = Plane::with(&["--repository", "https://bot:canary-password@127.0.0.1:1/fleet.git"]);
    assert_eq!(text(&plane.get("/api/config/account"), "config_repository"), "https://127.0.0.1:1/fleet.git");
    let (status, problem) =
        plane.call(reqwest::Method::POST, "/api/config/releases/build-from-git", &json!({"git_ref": "v1"}));
    assert_eq!(status, 503, "{problem}");
    assert!(!problem.to_string().contains("canary"), "{problem}");
    plane.kill();
    assert!(!plane.files().iter().any(|(_, bytes)| contains(bytes, b"canary-password")));
}

pub fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}
