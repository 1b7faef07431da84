//! What a release promises, read off its states (R155-R164). Nobody enforces any of it: a lint says what would bite.

use super::check::Check;

/// A file of a release.
#[derive(Debug, Clone, Copy)]
pub struct File<'a> {
    /// Where it stands in the release.
    pub path: &'a str,
    /// Its text, before rendering.
    pub text: &'a str,
}

/// Where a state stands in the arc of a node (R158).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Drain,
    Upgrade,
    HealthGate,
    Uncordon,
}

/// A state: its id and everything that is indented below it.
struct Block<'a> {
    file: &'a str,
    id: &'a str,
    part: Part,
    body: String,
}

/// Checks of the states of a release; none where it neither drains nor upgrades anything.
pub fn content(files: &[File<'_>]) -> Vec<Check> {
    let states: Vec<Block<'_>> = files.iter().flat_map(|file| states(*file)).collect();
    if !states.iter().any(|state| matches!(state.part, Part::Drain | Part::Upgrade)) {
        return Vec::new();
    }
    let text: String = files.iter().map(|file| file.text).collect::<Vec<_>>().join("\n");
    let mut checks = vec![guards(&states), uncordons(&states), order(&states), server(&text)];
    checks.extend(rights(&text));
    checks.extend(token(&text));
    checks
}

/// States of the arc, by their ids.
fn states<'a>(file: File<'a>) -> Vec<Block<'a>> {
    let mut states: Vec<Block<'a>> = Vec::new();
    let mut within = false;
    for line in file.text.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let is_id = !line.starts_with([' ', '\t', '{', '-']) && line.trim_end().ends_with(':');
        if is_id {
            let id = line.trim_end().trim_end_matches(':').trim_matches(['"', '\'']);
            let part = part(id);
            within = part.is_some();
            states.extend(part.map(|part| Block { file: file.path, id, part, body: String::new() }));
        } else if let Some(state) = states.last_mut().filter(|_| within) {
            state.body.push_str(line);
            state.body.push('\n');
        }
    }
    states
}

fn part(id: &str) -> Option<Part> {
    let id = id.to_lowercase();
    let has = |word: &str| id.contains(word);
    match () {
        () if has("uncordon") => Some(Part::Uncordon),
        () if has("cordon") || has("drain") => Some(Part::Drain),
        () if has("health") => Some(Part::HealthGate),
        () if has("upgrade") => Some(Part::Upgrade),
        () => None,
    }
}

/// Ids of the states a fault is found in, with their files.
fn named<'a>(faulty: impl Iterator<Item = &'a Block<'a>>) -> Option<String> {
    let names: Vec<String> = faulty.map(|state| format!("{} in {}", state.id, state.file)).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Ways to compare versions by their order.
const ORDERED: [&str; 6] = ["sort -V", "-lt ", "dpkg --compare-versions", "version_cmp", "vercmp", " < "];

/// Ways to ask whether versions differ, which also hold once a node is newer.
const DIFFERS: [&str; 3] = ["!=", "-ne ", "<>"];

/// R155, and what its violation does to done nodes (R157, R159).
fn guards(states: &[Block<'_>]) -> Check {
    let guarded = || states.iter().filter(|state| matches!(state.part, Part::Drain | Part::Upgrade));
    let hint = "guard it with onlyif: running version lower than the target, compared by order. Without that each drift \
                run drains done nodes again, and as last known good it may lower versions. A converge at the target \
                must change nothing: that is the acceptance test of a release";
    let bare = named(guarded().filter(|state| !state.body.contains("onlyif")));
    let unequal = named(guarded().filter(|state| DIFFERS.iter().any(|sign| state.body.contains(sign))));
    let unclear = named(guarded().filter(|state| !ORDERED.iter().any(|sign| state.body.contains(sign))));
    match (bare, unequal, unclear) {
        (Some(bare), _, _) => Check::fail("guards", format!("no onlyif guards {bare}"), hint),
        (_, Some(unequal), _) => Check::fail("guards", format!("{unequal} asks whether versions differ"), hint),
        (_, _, Some(unclear)) => Check::warn("guards", format!("{unclear} may not compare versions by order"), hint),
        _ => Check::pass("guards", "drain and upgrade run below the target version only"),
    }
}

/// R156, and what its violation does to a half-upgraded node (R159).
fn uncordons(states: &[Block<'_>]) -> Check {
    let uncordons = || states.iter().filter(|state| state.part == Part::Uncordon);
    let hint = "uncordon through onchanges of the upgrade only: anything else gives back a node that is half done, or \
                one that a person cordoned";
    match named(uncordons().filter(|state| !state.body.contains("onchanges"))) {
        Some(bare) => Check::fail("uncordon", format!("{bare} does not hang on onchanges"), hint),
        None if uncordons().next().is_none() => Check::warn("uncordon", "no state uncordons what was drained", hint),
        None => Check::pass("uncordon", "uncordon hangs on a change of the upgrade"),
    }
}

/// R158.
fn order(states: &[Block<'_>]) -> Check {
    let hint = "cordon_drain -> upgrade -> health_gate -> uncordon, each requiring the one before, failhard: True";
    let soft = named(states.iter().filter(|state| state.part < Part::Uncordon && !state.body.contains("failhard")));
    let loose = named(states.iter().filter(|state| {
        let before = states.iter().filter(|other| other.part < state.part).map(|other| other.part).max();
        let requires = |part: Part| states.iter().any(|other| other.part == part && state.body.contains(other.id));
        before.is_some_and(|before| !requires(before))
    }));
    match (soft, loose) {
        (Some(soft), _) => Check::fail("order", format!("{soft} goes on after a failure"), hint),
        (_, Some(loose)) => Check::fail("order", format!("{loose} does not require what comes before it"), hint),
        _ => Check::pass("order", "each part of the arc requires the one before"),
    }
}

/// R162.
fn server(text: &str) -> Check {
    let hint = "drain through https://{{ vars.K8S_VIP }}:6443: the node's own API server goes down with it";
    let of_its_own = ["127.0.0.1:6443", "localhost:6443"].into_iter().find(|address| text.contains(address));
    match of_its_own {
        Some(address) => Check::fail("drain-server", format!("a state talks to {address}"), hint),
        None if !text.contains("K8S_VIP") => Check::warn("drain-server", "no state names K8S_VIP", hint),
        None => Check::pass("drain-server", "drains go through K8S_VIP"),
    }
}

/// What the account that workers drain with has to be allowed (R163).
const RIGHTS: [&str; 3] = ["pods/eviction", "create", "patch"];

/// R163.
fn rights(text: &str) -> Option<Check> {
    let hint =
        "durantic-node-maintainer needs, cluster-wide: pods list and get, pods/eviction create, nodes get and patch";
    let makes_role = text.contains("durantic-node-maintainer") && text.contains("ClusterRole");
    let missing: Vec<&str> = RIGHTS.into_iter().filter(|right| !text.contains(right)).collect();
    makes_role.then(|| match missing.is_empty() {
        true => Check::pass("drain-rights", "durantic-node-maintainer may evict pods and cordon nodes"),
        false => Check::fail("drain-rights", format!("its role does not say {}", missing.join(", ")), hint),
    })
}

/// R164.
fn token(text: &str) -> Option<Check> {
    let hint = "write it into a transient kubeconfig with mode 0600 and remove that after the run";
    text.contains("K8S_DRAIN_TOKEN").then(|| match (text.contains("0600"), text.contains("file.absent")) {
        (true, true) => Check::pass("token-file", "the token's kubeconfig is private and goes after the run"),
        (false, _) => Check::fail("token-file", "the kubeconfig with the token is not written with mode 0600", hint),
        (true, false) => Check::warn("token-file", "no state removes the kubeconfig with the token", hint),
    })
}
