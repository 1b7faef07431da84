//! What reading the files of a release finds: the checks of its states (R155-R164), and what else bites whoever starts it.
//! Nothing is enforced: states are in the engine's language, so this finds what it can recognise.

use super::content::{ReleaseContent, ReleaseFile};
use super::prepared::{Prepared, state_of};
use super::top::{TOP_FILE, Top};
use crate::domain::preflight::{File, Grade, content};
use crate::domain::release::{Contract, ContractWarning};

/// Warnings that are kept with a release.
pub const WARNINGS_MAX: usize = 20;

/// Names of values and secrets that are kept with a release.
pub const NEEDS_MAX: usize = 100;

/// The shortest text after `token:` that is taken for one that was written out.
const TOKEN_MIN: usize = 16;

/// Reads a release; one whose content is no folder of files has nothing to be said about.
pub fn contract(bytes: &[u8]) -> Contract {
    let Some(release) = ReleaseContent::read(bytes) else { return Contract::default() };
    let states: Vec<File<'_>> = release.files.iter().filter(|file| file.path != TOP_FILE).map(file).collect();
    let checks = content(&states).into_iter().filter(|check| check.grade != Grade::Pass);
    let mut warnings: Vec<ContractWarning> = checks
        .map(|check| ContractWarning { id: check.id.to_owned(), message: check.sentence, hint: check.hint })
        .collect();
    warnings.extend(of_arc(&states));
    warnings.extend(release.files.iter().flat_map(of_file));
    warnings.extend(of_top(&release));
    warnings.truncate(WARNINGS_MAX);
    let needs = Prepared::of(&release).map(|prepared| prepared.needs()).unwrap_or_default();
    Contract { warnings, needs: needs.into_iter().take(NEEDS_MAX).collect() }
}

fn file(file: &ReleaseFile) -> File<'_> {
    File { path: &file.path, text: &file.content }
}

fn warning(id: &str, message: impl Into<String>, hint: &str) -> ContractWarning {
    ContractWarning { id: id.to_owned(), message: message.into(), hint: Some(hint.to_owned()) }
}

/// True where a file holds a state that drains or upgrades.
fn disrupts(file: File<'_>) -> bool {
    !content(&[file]).is_empty()
}

/// What an arc lacks, or does to the pods of others (R160, R166).
fn of_arc(states: &[File<'_>]) -> Vec<ContractWarning> {
    if !states.iter().any(|file| disrupts(*file)) {
        return Vec::new();
    }
    let says = |word: &str| states.iter().any(|file| file.text.contains(word));
    let no_gate = (!says("health")).then(|| {
        let hint = "poll the node and the cluster after the upgrade, and fail the run where they did not come back";
        warning("health-gate", "no state checks the health of a node after it was upgraded", hint)
    });
    let forced = ["--disable-eviction", "--force"].into_iter().find(|flag| says(flag)).map(|flag| {
        let hint = "let the drain fail: the budget is the workload's to relax";
        warning("evictions", format!("{flag} takes pods off the node past their disruption budgets"), hint)
    });
    no_gate.into_iter().chain(forced).collect()
}

/// What a file shows, whatever its states are.
fn of_file(file: &ReleaseFile) -> Vec<ContractWarning> {
    let (path, text) = (&file.path, &file.content);
    let mut found = Vec::new();
    let refer = "set it as a secret and refer to it: {{ secrets.NAME }}";
    if text.contains("PRIVATE KEY-----") {
        found.push(warning("written-out", format!("{path} holds a private key that is written out"), refer));
    }
    if text.lines().any(writes_token_out) {
        found.push(warning("written-out", format!("{path} holds a token that is written out"), refer));
    }
    if statements(text).any(|statement| ["vars.", "secrets.", "machine."].iter().any(|root| mentions(statement, root)))
    {
        let hint = "give the state the value as {{ ... }} and decide there, or decide by a grain";
        found.push(warning(
            "statement",
            format!("{path} uses a lookup in a statement, where it is not filled in"),
            hint,
        ));
    }
    found
}

fn writes_token_out(line: &str) -> bool {
    let Some((name, value)) = line.trim().split_once(':') else { return false };
    let value = value.trim().trim_matches(['"', '\'']);
    name.trim_start_matches("- ").to_lowercase().ends_with("token")
        && value.len() >= TOKEN_MIN
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.+/=".contains(&byte))
}

/// What stands between `{%` and `%}`.
fn statements(text: &str) -> impl Iterator<Item = &str> {
    text.split("{%").skip(1).filter_map(|rest| Some(rest.split_once("%}")?.0))
}

fn mentions(statement: &str, root: &str) -> bool {
    let before = |at: usize| statement[..at].chars().next_back();
    statement.match_indices(root).any(|(at, _)| !before(at).is_some_and(|c| c.is_alphanumeric() || "_.'\"".contains(c)))
}

/// States that the top file gives to nobody they are meant for (R15).
fn of_top(release: &ReleaseContent) -> Vec<ContractWarning> {
    let hint = "name in it which states go to which host names, rings or environments";
    let Some(top) = release.files.iter().find(|file| file.path == TOP_FILE) else {
        return vec![warning("top", "there is no top.sls: every machine is given every file", hint)];
    };
    let Some(top) = Top::read(&top.content) else {
        return vec![warning("top", "top.sls is more than plain YAML: every machine is given every file", hint)];
    };
    top.targets()
        .flat_map(|(target, named)| named.into_iter().filter_map(move |state| of_target(release, target, state)))
        .collect()
}

fn of_target(release: &ReleaseContent, target: &str, state: &str) -> Option<ContractWarning> {
    let mut files =
        release.files.iter().filter(|file| state_of(&file.path).is_some_and(|name| name == state)).peekable();
    if files.peek().is_none() {
        let hint = "put it there, or take its name out";
        return Some(warning("top", format!("top.sls names {state}, of which there is no file"), hint));
    }
    (target == "*" && files.any(|found| disrupts(file(found)))).then(|| {
        let hint = "target it by ring, host name or grain: a release is served to the whole fleet";
        warning("top", format!("top.sls gives {state}, which drains or upgrades, to every machine"), hint)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARC: &str = r#"
cordon_drain:
  cmd.run:
    - name: kubectl drain --server https://{{ vars.K8S_VIP }}:6443
    - onlyif: test $(version) -lt {{ vars.TARGET }}
    - failhard: True
upgrade:
  cmd.run:
    - onlyif: test $(version) -lt {{ vars.TARGET }}
    - require: [{cmd: cordon_drain}]
    - failhard: True
health_gate:
  cmd.run:
    - require: [{cmd: upgrade}]
    - failhard: True
uncordon:
  cmd.run:
    - onchanges: [{cmd: upgrade}]
    - require: [{cmd: health_gate}]
"#;

    const TOP: &str = "base:\n  'role:k8s': [{match: grain}, k8s]\n";

    fn said(files: &[(&str, &str)]) -> Vec<String> {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        let found = contract(&ReleaseContent::of(files).canonical().unwrap());
        found.warnings.into_iter().map(|warning| format!("{}: {}", warning.id, warning.message)).collect()
    }

    /// What is said first about the arc with one text in place of another.
    fn without(text: &str, instead: &str) -> String {
        let arc = ARC.replace(text, instead);
        assert_ne!(arc, ARC, "{text}");
        said(&[("top.sls", TOP), ("k8s.sls", &arc)]).first().cloned().unwrap_or_default()
    }

    #[test]
    fn a_release_that_keeps_the_contract_has_nothing_said_about_it() {
        // R155, R156, R158
        assert_eq!(said(&[("top.sls", TOP), ("k8s.sls", ARC)]), Vec::<String>::new());
    }

    #[test]
    fn breaches_are_named() {
        // R155, R160, R166
        assert!(without("    - onlyif: test $(version) -lt {{ vars.TARGET }}\n", "").starts_with("guards: no onlyif"));
        assert!(without("kubectl drain", "kubectl drain --force").starts_with("evictions: --force"));
        let bare = said(&[("top.sls", TOP), ("k8s.sls", "upgrade:\n  cmd.run: []\n")]);
        assert!(bare.iter().any(|warning| warning.starts_with("health-gate: ")), "{bare:?}");
    }

    #[test]
    fn what_a_file_shows_is_said_without_showing_it() {
        // R164
        let shown = "token: eyJhbGciOiJSUzI1NiIsImtpZCI6\n-----BEGIN PRIVATE KEY-----\n";
        let found = said(&[("top.sls", "base: {}"), ("kubeconfig", shown)]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(!found.join("").contains("eyJ"));
        let fine = "token: {{ secrets.K8S_DRAIN_TOKEN }}\n";
        assert_eq!(said(&[("top.sls", "base: {}"), ("kubeconfig", fine)]), Vec::<String>::new());
        let engine = "{% if vars.X %}{% endif %}{% if my.vars.X %}{% endif %}";
        assert!(said(&[("top.sls", "base: {}"), ("a.sls", engine)])[0].starts_with("statement: a.sls"));
        let fine = "{% if my.vars.X %}{% endif %}";
        assert_eq!(said(&[("top.sls", "base: {}"), ("a.sls", fine)]), Vec::<String>::new());
    }

    #[test]
    fn an_upgrade_for_everybody_is_found() {
        // R15
        let found = said(&[("top.sls", "base: {'*': [k8s, gone]}"), ("k8s.sls", ARC)]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("gives k8s") && found[1].contains("names gone"), "{found:?}");
        assert!(said(&[("a.sls", "a: {}")])[0].contains("no top.sls"));
        assert_eq!(contract(b"no folder"), Contract::default());
    }
}
