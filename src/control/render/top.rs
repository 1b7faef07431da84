//! The top file: which states go to which machine. What can be decided here is decided here, so that a machine is not
//! given what is meant for others; a target that only the node can judge, such as a grain, is left to the node.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use wildmatch::WildMatch;

use super::values::Facts;

/// Its name.
pub const TOP_FILE: &str = "top.sls";

/// How a top file begins an entry that says how its target is meant.
const MATCH: &str = "match";

/// Targets and what is listed below each, in order.
type Targets = Vec<(String, Vec<Value>)>;

/// A mapping in the order it was written.
#[derive(Debug, Clone, PartialEq)]
struct Pairs<V>(Vec<(String, V)>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Pairs<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder<V>(std::marker::PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for InOrder<V> {
            type Value = Pairs<V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping")
            }

            fn visit_unit<E>(self) -> Result<Pairs<V>, E> {
                Ok(Pairs(Vec::new()))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<V>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_any(InOrder(std::marker::PhantomData))
    }
}

/// A top file that could be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Top {
    bases: Pairs<Pairs<Vec<Value>>>,
}

/// What a top file comes to for one machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// The top file it is given; none = as it was written.
    pub text: Option<String>,
    /// States it gets, or may get.
    pub states: BTreeSet<String>,
    /// States that are named for other machines only.
    pub others: BTreeSet<String>,
}

/// Whether a target is a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    /// It is every machine, as written.
    Everybody,
    /// It is this one.
    Yes,
    /// It is not.
    No,
    /// Only the node knows.
    NodeKnows,
}

impl Top {
    /// Reads a top file whose lookups are filled; none where it is no plain YAML, such as one that holds statements of
    /// the engine.
    pub fn read(text: &str) -> Option<Self> {
        serde_yaml::from_str(text).ok().map(|bases| Self { bases })
    }

    /// Every target with its states.
    pub fn targets(&self) -> impl Iterator<Item = (&str, Vec<&str>)> {
        self.bases
            .0
            .iter()
            .flat_map(|(_, targets)| &targets.0)
            .map(|(target, entries)| (target.as_str(), states(entries).collect()))
    }

    /// What a machine gets of it.
    pub fn choose(&self, facts: &Facts) -> Chosen {
        let (mut states_of_it, mut named) = (BTreeSet::new(), BTreeSet::new());
        let mut is_decided = false;
        let mut bases = Vec::new();
        for (base, targets) in &self.bases.0 {
            let mut kept = Targets::new();
            for (target, entries) in &targets.0 {
                named.extend(states(entries).map(str::to_owned));
                let judged = judge(target, entries, facts);
                is_decided |= matches!(judged, Target::Yes | Target::No);
                if judged == Target::No {
                    continue;
                }
                states_of_it.extend(states(entries).map(str::to_owned));
                keep(&mut kept, judged, target, entries);
            }
            bases.push((base.clone(), kept));
        }
        let others = named.difference(&states_of_it).cloned().collect();
        Chosen { text: is_decided.then(|| written(&bases)), states: states_of_it, others }
    }
}

/// Names of the states of a target.
fn states(entries: &[Value]) -> impl Iterator<Item = &str> {
    entries.iter().filter_map(Value::as_str)
}

fn judge(target: &str, entries: &[Value], facts: &Facts) -> Target {
    let matcher = entries.iter().find_map(|entry| entry.get(MATCH)?.as_str());
    let decided = |is_it: bool| if is_it { Target::Yes } else { Target::No };
    match matcher {
        None | Some("glob") if target == "*" => Target::Everybody,
        None | Some("glob") if is_glob(target) => decided(WildMatch::new(target).matches(&facts.hostname)),
        Some("list") => decided(target.split(',').any(|name| name.trim() == facts.hostname)),
        Some("environment") => decided(WildMatch::new(target).matches(&facts.environment)),
        Some("ring") => decided(WildMatch::new(target).matches(&facts.ring)),
        _ => Target::NodeKnows,
    }
}

/// A plain glob: no compound expression, no character class.
fn is_glob(target: &str) -> bool {
    !target.contains(|c: char| c.is_whitespace() || "@[]()".contains(c))
}

/// What is decided stands under `*`, once.
fn keep(kept: &mut Targets, judged: Target, target: &str, entries: &[Value]) {
    if judged == Target::NodeKnows {
        return kept.push((target.to_owned(), entries.to_vec()));
    }
    let is_state = |entry: &&Value| entry.is_string();
    let added = entries.iter().filter(is_state).cloned();
    match kept.iter_mut().find(|(target, _)| target == "*") {
        Some((_, known)) => known.extend(added),
        None => kept.push(("*".to_owned(), added.collect())),
    }
}

/// As YAML whose texts are in quotes.
fn written(bases: &[(String, Targets)]) -> String {
    let mut text = String::new();
    for (base, targets) in bases {
        let base = Value::from(base.as_str());
        if targets.iter().all(|(_, entries)| entries.is_empty()) {
            text.push_str(&format!("{base}: {{}}\n"));
            continue;
        }
        text.push_str(&format!("{base}:\n"));
        for (target, entries) in targets.iter().filter(|(_, entries)| !entries.is_empty()) {
            text.push_str(&format!("  {}:\n", Value::from(target.as_str())));
            entries.iter().for_each(|entry| text.push_str(&format!("    - {entry}\n")));
        }
    }
    text
}

/// Names of the states a state file includes, in full; what only the engine can work out is left out.
pub fn includes(state: &str, text: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| line.trim_end() != "include:").skip(1);
    let items =
        lines.map(str::trim).take_while(|line| line.starts_with('-') || line.starts_with('#') || line.is_empty());
    let names = items.filter_map(|line| Some(line.strip_prefix('-')?.trim().trim_matches(['"', '\''])));
    let parent = state.rsplit_once('.').map_or("", |(parent, _)| parent);
    let full = |name: &str| match name.strip_prefix('.') {
        Some(relative) if parent.is_empty() => relative.to_owned(),
        Some(relative) => format!("{parent}.{relative}"),
        None => name.to_owned(),
    };
    names.filter(|name| !name.contains('{')).map(full).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOP: &str = r"
base:
  '*':
    - common
  'cp-*':
    - k8s.server
  workers:
    - match: ring
    - k8s.agent
  'role:storage':
    - match: grain
    - storage
  'wk-1, wk-2':
    - match: list
    - pinned
";

    fn facts(hostname: &str, ring: &str) -> Facts {
        Facts { hostname: hostname.to_owned(), ring: ring.to_owned(), ..Facts::default() }
    }

    #[test]
    fn a_machine_is_given_what_is_meant_for_it_and_what_only_the_node_can_judge() {
        let chosen = Top::read(TOP).unwrap().choose(&facts("wk-1", "workers"));
        let names = |states: &BTreeSet<String>| states.iter().cloned().collect::<Vec<_>>().join(" ");
        assert_eq!(names(&chosen.states), "common k8s.agent pinned storage");
        assert_eq!(names(&chosen.others), "k8s.server");
        let text = "\"base\":\n  \"*\":\n    - \"common\"\n    - \"k8s.agent\"\n    - \"pinned\"\n  \
                    \"role:storage\":\n    - {\"match\":\"grain\"}\n    - \"storage\"\n";
        assert_eq!(chosen.text.as_deref(), Some(text));
        assert!(Top::read(text).is_some(), "what is written can be read");
        let chosen = Top::read(TOP).unwrap().choose(&facts("cp-1", "servers"));
        assert_eq!(names(&chosen.others), "k8s.agent pinned");
    }

    #[test]
    fn a_top_file_with_nothing_to_decide_stays_as_it_was_written() {
        let plain = "base: {'*': [v1]} # everybody\n";
        assert_eq!(Top::read(plain).unwrap().choose(&facts("a", "b")).text, None);
        assert!(Top::read("{% if x %}\nbase: {}\n{% endif %}").is_none());
        assert_eq!(
            Top::read("base: {'G@role:cp and x*': [a], 'web[12]': [b]}").unwrap().choose(&facts("a", "")).text,
            None
        );
        let nobody = Top::read("base: {'x*': [a]}").unwrap().choose(&facts("a", ""));
        assert_eq!(nobody.text.as_deref(), Some("\"base\": {}\n"));
        assert!(Top::read("base: {}").is_some());
    }

    #[test]
    fn includes_are_followed_by_their_full_names() {
        let text = "# x\ninclude:\n  - common.kubectl\n  # and\n  - .drain\n  - {{ x }}\n\nupgrade:\n  cmd.run: []\n";
        assert_eq!(includes("k8s.upgrade", text), ["common.kubectl", "k8s.drain"]);
        assert_eq!(includes("top", "include:\n- .x\n"), ["x"]);
        assert!(includes("a", "a:\n  - b\n").is_empty());
    }
}
