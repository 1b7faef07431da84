//! The state contract of a release that upgrades nodes, read from its files (R155-R166). Nothing is enforced: states are
//! in the engine's language, so this finds what it can recognise, and says what it found.

use std::collections::BTreeMap;

use serde_json::Value;

use super::content::{ReleaseContent, ReleaseFile};
use super::prepared::{Prepared, state_of};
use super::top::{TOP_FILE, Top};
use crate::domain::release::{Contract, ContractWarning};

/// Warnings that are kept with a release.
pub const WARNINGS_MAX: usize = 50;

/// Names of values and secrets that are kept with a release.
pub const NEEDS_MAX: usize = 200;

/// The shortest text after `token:` that is taken for one that was written out.
const TOKEN_MIN: usize = 16;

/// Ends of modules whose states do something to a node, other than putting files on it.
const ACTING: [&str; 4] = ["cmd.", "module.", "pkg.", "service."];

/// What a state is for, as far as its name and its command tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Drain,
    Upgrade,
    Gate,
    Uncordon,
}

/// One state of a file.
struct Found<'a> {
    file: &'a str,
    id: String,
    role: Role,
    arguments: BTreeMap<String, Value>,
}

/// Reads a release; one whose content is no folder of files has nothing to be said about.
pub fn contract(content: &[u8]) -> Contract {
    let Some(content) = ReleaseContent::read(content) else { return Contract::default() };
    let states: Vec<Found<'_>> = content.files.iter().flat_map(found).collect();
    let mut warnings: Vec<ContractWarning> = states.iter().flat_map(of_state).collect();
    warnings.extend(of_arc(&states));
    warnings.extend(content.files.iter().flat_map(of_file));
    warnings.extend(of_top(&content, &states));
    warnings.sort();
    warnings.dedup();
    warnings.truncate(WARNINGS_MAX);
    let needs = Prepared::of(&content).map(|prepared| prepared.needs()).unwrap_or_default();
    Contract { warnings, needs: needs.into_iter().take(NEEDS_MAX).collect() }
}

fn warning(rule: u16, file: &str, message: impl Into<String>) -> ContractWarning {
    ContractWarning { rule: format!("R{rule}"), file: file.to_owned(), message: message.into() }
}

/// States of a file that drain, upgrade, check or uncordon.
fn found(file: &ReleaseFile) -> Vec<Found<'_>> {
    let is_state = state_of(&file.path).is_some() && file.path != TOP_FILE;
    let plain = plain(&file.content);
    let read = is_state.then(|| serde_yaml::from_str::<Value>(&plain).ok()).flatten();
    let Some(Value::Object(states)) = read else { return Vec::new() };
    let of = |(id, body): (String, Value)| {
        let (function, arguments) = arguments(&body)?;
        let role = role(&id, &function, &arguments)?;
        Some(Found { file: &file.path, id, role, arguments })
    };
    states.into_iter().filter_map(of).collect()
}

/// The text as YAML: what is filled in later stands as `_`, statements and comments of the engine are gone.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        let (end, instead) = match from.as_bytes().get(1) {
            Some(b'{') => ("}}", "_"),
            Some(b'%') => ("%}", ""),
            Some(b'#') => ("#}", ""),
            _ => ("{", "{"),
        };
        plain.push_str(instead);
        rest = from.find(end).map_or("", |found| &from[found + end.len()..]);
    }
    plain.push_str(rest);
    plain
}

/// The function of a state and its arguments, which Salt lists as mappings of one entry each.
fn arguments(body: &Value) -> Option<(String, BTreeMap<String, Value>)> {
    let (function, listed) = body.as_object()?.iter().find(|(_, arguments)| arguments.is_array())?;
    let mut arguments = BTreeMap::new();
    for entry in listed.as_array()? {
        match entry {
            Value::Object(fields) => arguments.extend(fields.clone()),
            Value::String(word) => drop(arguments.insert("function".to_owned(), Value::from(word.as_str()))),
            _ => {}
        }
    }
    Some((function.clone(), arguments))
}

fn role(id: &str, function: &str, arguments: &BTreeMap<String, Value>) -> Option<Role> {
    if !ACTING.iter().any(|module| function.starts_with(module)) {
        return None;
    }
    let (id, command) = (id.to_lowercase(), arguments.get("name").map(|name| name.to_string().to_lowercase()));
    let command = command.unwrap_or_default();
    let says = |word: &str| id.contains(word) || command.contains(&format!("kubectl {word}"));
    match () {
        () if says("uncordon") => Some(Role::Uncordon),
        () if says("cordon") || says("drain") => Some(Role::Drain),
        () if id.contains("health") || id.contains("gate") => Some(Role::Gate),
        () if id.contains("upgrade") => Some(Role::Upgrade),
        () => None,
    }
}

/// What a state lacks.
fn of_state(state: &Found<'_>) -> Vec<ContractWarning> {
    let has = |names: &[&str]| names.iter().any(|name| state.arguments.contains_key(*name));
    let text = |name: &str| state.arguments.get(name).map(Value::to_string).unwrap_or_default();
    let mut found = Vec::new();
    let mut warn = |rule: u16, lack: &str| found.push(warning(rule, state.file, format!("{} {lack}", state.id)));
    if matches!(state.role, Role::Drain | Role::Upgrade) {
        let guard = text("onlyif");
        if guard.is_empty() {
            warn(155, "has no onlyif: every drift run would do it again");
        } else if guard.contains("!=") || guard.contains(" -ne ") {
            warn(155, "compares versions for inequality: an older release would act on an upgraded node");
        }
    }
    if state.role == Role::Uncordon && !has(&["onchanges", "onchanges_any"]) {
        warn(156, "has no onchanges: it would uncordon a node that was not upgraded in the same run");
    }
    if !matches!(text("failhard").to_lowercase().as_str(), "true" | "\"true\"") {
        warn(158, "has no failhard: what comes after it would run although it failed");
    }
    let ordered = ["require", "require_in", "onchanges", "onchanges_any", "watch", "order"];
    if matches!(state.role, Role::Upgrade | Role::Gate) && !has(&ordered) {
        warn(158, "has no requisite: nothing says that it comes after the state before it");
    }
    let command = text("name") + &text("args");
    if command.contains("--disable-eviction") || (state.role == Role::Drain && command.contains("--force")) {
        warn(166, "forces pods off the node past their disruption budgets");
    }
    found
}

/// What the arc as a whole lacks: an upgrade that nothing drains for, checks or ends.
fn of_arc(states: &[Found<'_>]) -> Vec<ContractWarning> {
    let Some(upgrade) = states.iter().find(|state| state.role == Role::Upgrade) else { return Vec::new() };
    let lacks = |role: Role| !states.iter().any(|state| state.role == role);
    let lack = |role: Role, rule: u16, what: &str| lacks(role).then(|| warning(rule, upgrade.file, what));
    let lacking = [
        lack(Role::Drain, 158, "no state cordons and drains a node before it is upgraded"),
        lack(Role::Gate, 160, "no state checks the health of a node after it was upgraded"),
        lack(Role::Uncordon, 156, "no state uncordons a node after it was upgraded"),
    ];
    lacking.into_iter().flatten().collect()
}

/// What a file shows, whatever its states are.
fn of_file(file: &ReleaseFile) -> Vec<ContractWarning> {
    let text = &file.content;
    let mut found = Vec::new();
    let mut warn = |rule: u16, message: &str| found.push(warning(rule, &file.path, message));
    if ["127.0.0.1:6443", "localhost:6443"].iter().any(|server| text.contains(server)) {
        warn(162, "talks to the node's own API server, which is about to restart: use https://{{ vars.K8S_VIP }}:6443");
    }
    if text.contains("PRIVATE KEY-----") {
        warn(164, "holds a private key that is written out: refer to it as {{ secrets.NAME }}");
    }
    if text.lines().any(writes_token_out) {
        warn(164, "holds a token that is written out: refer to it as {{ secrets.NAME }}");
    }
    if statements(text).any(|statement| ["vars.", "secrets.", "machine."].iter().any(|root| mentions(statement, root)))
    {
        warn(15, "uses vars, secrets or machine in a statement of the engine, where they are not filled in");
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

/// Upgrade states that the top file gives to everybody (R15).
fn of_top(content: &ReleaseContent, states: &[Found<'_>]) -> Vec<ContractWarning> {
    let Some(file) = content.files.iter().find(|file| file.path == TOP_FILE) else {
        return vec![warning(15, TOP_FILE, "there is no top file: every machine is given every file")];
    };
    let Some(top) = Top::read(&file.content) else {
        return vec![warning(15, TOP_FILE, "holds more than plain YAML: every machine is given every file")];
    };
    let mut found = Vec::new();
    for (target, named) in top.targets() {
        for name in named {
            let of_it = |path: &str| state_of(path).is_some_and(|state| state == name);
            if !content.files.iter().any(|file| of_it(&file.path)) {
                found.push(warning(15, TOP_FILE, format!("names {name}, of which there is no file")));
            }
            let disrupts = |state: &&Found<'_>| of_it(state.file) && matches!(state.role, Role::Drain | Role::Upgrade);
            if target == "*" && states.iter().any(|state| disrupts(&state)) {
                found.push(warning(15, TOP_FILE, format!("gives {name}, which drains or upgrades, to every machine")));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARC: &str = r#"
{% set target = '1.31.4' %}
cordon_drain:
  cmd.run:
    - name: kubectl drain {{ grains.id }} --ignore-daemonsets
    - onlyif: version_lt "$(running)" {{ vars.TARGET }}
    - failhard: True
upgrade_k3s:
  cmd.run:
    - name: install-k3s {{ vars.TARGET }}
    - onlyif: version_lt "$(running)" {{ vars.TARGET }}
    - require: [{cmd: cordon_drain}]
    - failhard: True
health_gate:
  cmd.run:
    - name: wait-ready
    - require: [{cmd: upgrade_k3s}]
    - failhard: True
uncordon:
  cmd.run:
    - name: kubectl uncordon {{ grains.id }}
    - onchanges: [{cmd: upgrade_k3s}]
    - failhard: True
"#;

    const TOP: &str = "base:\n  'role:k8s': [{match: grain}, k8s]\n";

    fn said(files: &[(&str, &str)]) -> Vec<String> {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        let found = contract(&ReleaseContent::of(files).canonical().unwrap());
        found.warnings.into_iter().map(|w| format!("{} {}: {}", w.rule, w.file, w.message)).collect()
    }

    /// Warnings about the arc with one text in place of another; the first one is shown.
    fn without(text: &str, instead: &str) -> String {
        let arc = ARC.replacen(text, instead, 1);
        assert_ne!(arc, ARC, "{text}");
        said(&[("top.sls", TOP), ("k8s.sls", &arc)]).first().cloned().unwrap_or_default()
    }

    #[test]
    fn a_release_that_keeps_the_contract_has_nothing_said_about_it() {
        // R155, R156, R158
        assert_eq!(said(&[("top.sls", TOP), ("k8s.sls", ARC)]), Vec::<String>::new());
    }

    #[test]
    fn each_breach_is_named_with_its_rule_and_its_file() {
        let guard = "    - onlyif: version_lt \"$(running)\" {{ vars.TARGET }}\n";
        assert!(without(guard, "").starts_with("R155 k8s.sls: cordon_drain has no onlyif"));
        assert!(without("version_lt \"$(running)\"", "test x !=").starts_with("R155 k8s.sls: cordon_drain compares"));
        assert!(without("    - onchanges: [{cmd: upgrade_k3s}]\n", "").starts_with("R156 k8s.sls: uncordon has no"));
        assert!(without("    - failhard: True\n", "").starts_with("R158 k8s.sls: cordon_drain has no failhard"));
        assert!(without("    - require: [{cmd: upgrade_k3s}]\n", "").starts_with("R158 k8s.sls: health_gate has no"));
        assert!(without("health_gate:", "wait:").starts_with("R160 k8s.sls: no state checks"));
        assert!(without("--ignore-daemonsets", "--force").starts_with("R166 k8s.sls: cordon_drain forces"));
    }

    #[test]
    fn what_a_file_shows_is_said_without_showing_it() {
        // R162, R164
        let kubeconfig = "server: https://127.0.0.1:6443\ntoken: eyJhbGciOiJSUzI1NiIsImtpZCI6\n";
        let found = said(&[("top.sls", "base: {}"), ("kubeconfig", kubeconfig)]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("R162 kubeconfig") && found[1].starts_with("R164 kubeconfig"), "{found:?}");
        assert!(!found.join("").contains("eyJ"));
        let fine = "server: https://{{ vars.K8S_VIP }}:6443\ntoken: {{ secrets.K8S_DRAIN_TOKEN }}\n";
        assert_eq!(said(&[("top.sls", "base: {}"), ("kubeconfig", fine)]), Vec::<String>::new());
        let found =
            said(&[("top.sls", "base: {}"), ("a.sls", "{% if vars.X %}{% endif %}{% if my.vars.X %}{% endif %}")]);
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn an_upgrade_for_everybody_is_found() {
        // R15
        let found = said(&[("top.sls", "base: {'*': [k8s, gone]}"), ("k8s.sls", ARC)]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("gives k8s") && found[1].contains("names gone"), "{found:?}");
        assert!(said(&[("a.sls", "a: {}")])[0].contains("no top file"));
        assert_eq!(contract(b"no folder"), Contract::default());
    }
}
