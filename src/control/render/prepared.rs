//! A release that is ready to be rendered: its files taken apart once, filled for each machine.

use std::collections::{BTreeMap, BTreeSet};

use super::content::{ReleaseContent, ReleaseFile};
use super::secret::Secrets;
use super::template::{Root, Template, TemplateFault};
use super::top::{TOP_FILE, Top, includes};
use super::values::{Facts, Filler};
use crate::domain::fleet::ConfigValues;

/// Bytes a rendered release may have.
pub const RENDERED_MAX: usize = 16 * 1_024 * 1_024;

/// Missing names that are kept for one machine.
pub const MISSING_MAX: usize = 20;

/// What stands in for the names where a release grew too large.
const TOO_LARGE: &str = "(its rendered content is larger than 16 MiB)";

/// A file with a lookup that nobody could fill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}, {fault}")]
pub struct BadFile {
    /// Which.
    pub path: String,
    /// What is wrong with it.
    pub fault: TemplateFault,
}

/// The files of a release, taken apart.
#[derive(Debug)]
pub struct Prepared {
    files: Vec<(String, Template)>,
    /// What each state file includes, by the name of the state.
    includes: BTreeMap<String, Vec<String>>,
    /// Fields of the machine that some file looks up.
    fields: BTreeSet<String>,
}

/// Which files a machine gets, and its own top file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Selection {
    /// The text of the top file; none where the release has none.
    top: Option<String>,
    /// Places of the files that are left out.
    left_out: Vec<usize>,
    /// What its top file looked up in vain.
    missing: Vec<String>,
}

impl Prepared {
    /// Takes the files apart; refuses the first that has a lookup which cannot be filled.
    pub fn of(content: &ReleaseContent) -> Result<Self, BadFile> {
        let parse = |file: &ReleaseFile| match Template::parse(&file.content) {
            Ok(template) => Ok((file.path.clone(), template)),
            Err(fault) => Err(BadFile { path: file.path.clone(), fault }),
        };
        let files: Vec<_> = content.files.iter().map(parse).collect::<Result<_, _>>()?;
        let included = |file: &ReleaseFile| {
            let state = state_of(&file.path)?;
            let names = includes(&state, &file.content);
            (!names.is_empty()).then_some((state, names))
        };
        let includes = content.files.iter().filter_map(included).collect();
        let lookups = files.iter().flat_map(|(_, template)| template.lookups());
        let fields = lookups.filter(|lookup| lookup.root == Root::Machine).map(|lookup| lookup.name.clone()).collect();
        Ok(Self { files, includes, fields })
    }

    /// Fields of the machine that some file looks up.
    pub fn fields(&self) -> &BTreeSet<String> {
        &self.fields
    }

    /// Names of values and secrets that some file looks up, such as `vars.K8S_VIP`, sorted.
    pub fn needs(&self) -> BTreeSet<String> {
        let lookups = self.files.iter().flat_map(|(_, template)| template.lookups());
        lookups.filter(|lookup| lookup.root != Root::Machine).map(ToString::to_string).collect()
    }

    /// What the top file gives to a machine.
    pub fn select(&self, facts: &Facts, vars: &ConfigValues, secrets: &Secrets) -> Selection {
        let mut filler = Filler::new(facts, vars, secrets);
        let top = self.files.iter().find(|(path, _)| path == TOP_FILE).map(|(_, template)| filler.fill(template));
        let missing = filler.missing().into_iter().collect();
        let chosen = top.as_deref().and_then(Top::read).map(|top| top.choose(facts));
        let Some(chosen) = chosen else { return Selection { top, left_out: Vec::new(), missing } };
        let left_out = self.left_out(&chosen.states, &chosen.others);
        Selection { top: chosen.text.or(top), left_out, missing }
    }

    /// Files of states that are named for other machines only, and that nothing of this machine's includes.
    fn left_out(&self, states: &BTreeSet<String>, others: &BTreeSet<String>) -> Vec<usize> {
        if others.is_empty() {
            return Vec::new();
        }
        let needed = self.with_included(states);
        let is_for_others = |path: &str| {
            let owners = needed.iter().map(|state| (state, true)).chain(others.iter().map(|state| (state, false)));
            let closest =
                owners.filter(|(state, _)| owns(state, path)).max_by_key(|(state, mine)| (state.len(), *mine));
            closest.is_some_and(|(_, mine)| !mine)
        };
        let paths = self.files.iter().map(|(path, _)| path.as_str()).enumerate();
        paths.filter(|(_, path)| *path != TOP_FILE && is_for_others(path)).map(|(place, _)| place).collect()
    }

    fn with_included(&self, states: &BTreeSet<String>) -> BTreeSet<String> {
        let mut needed = BTreeSet::new();
        let mut waiting: Vec<String> = states.iter().cloned().collect();
        while let Some(state) = waiting.pop() {
            if needed.insert(state.clone()) {
                waiting.extend(self.includes.get(&state).into_iter().flatten().cloned());
            }
        }
        needed
    }

    /// The content for one machine, or the names of what is missing for it, sorted (R148).
    pub fn fill(
        &self,
        selection: &Selection,
        facts: &Facts,
        vars: &ConfigValues,
        secrets: &Secrets,
    ) -> Result<ReleaseContent, Vec<String>> {
        let mut filler = Filler::new(facts, vars, secrets);
        let (mut files, mut bytes) = (Vec::new(), 0);
        for (place, (path, template)) in self.files.iter().enumerate() {
            if selection.left_out.contains(&place) {
                continue;
            }
            let content = match &selection.top {
                Some(top) if path == TOP_FILE => top.clone(),
                _ => filler.fill(template),
            };
            bytes += content.len() + path.len();
            if bytes > RENDERED_MAX {
                return Err(vec![TOO_LARGE.to_owned()]);
            }
            files.push(ReleaseFile { path: path.clone(), content });
        }
        let mut missing = filler.missing();
        missing.extend(selection.missing.iter().cloned());
        if missing.is_empty() {
            Ok(ReleaseContent { files })
        } else {
            Err(missing.into_iter().take(MISSING_MAX).collect())
        }
    }
}

/// The name of the state a file holds: `k8s/upgrade.sls` and `k8s/upgrade/init.sls` are `k8s.upgrade`.
pub fn state_of(path: &str) -> Option<String> {
    let name = path.strip_suffix(".sls")?;
    Some(name.strip_suffix("/init").unwrap_or(name).replace('/', "."))
}

/// True where a file is a state, or lies in its folder.
fn owns(state: &str, path: &str) -> bool {
    let place = state.replace('.', "/");
    path.strip_prefix(&place).is_some_and(|rest| rest == ".sls" || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::super::secret::Secret;
    use super::*;

    fn prepared(files: &[(&str, &str)]) -> Prepared {
        let files = files.iter().map(|(path, content)| ((*path).to_owned(), (*content).to_owned())).collect();
        Prepared::of(&ReleaseContent::of(files)).unwrap()
    }

    fn fleet() -> Prepared {
        prepared(&[
            ("top.sls", "base:\n  '*': [common]\n  'cp-*': [k8s.server]\n  'wk-*': [k8s.agent]\n"),
            ("common.sls", "hostname: {{ machine.hostname }}\n"),
            ("k8s/server.sls", "vip: {{ vars.K8S_VIP }}\n"),
            ("k8s/agent.sls", "include:\n  - .drain\ntoken: {{ secrets.DRAIN }}\n"),
            ("k8s/drain.sls", "drain: {}\n"),
            ("k8s/agent/kubeconfig", "{{ secrets.DRAIN }}\n"),
            ("files/motd", "hello\n"),
        ])
    }

    fn rendered(prepared: &Prepared, hostname: &str, secrets: &Secrets) -> Result<Vec<String>, Vec<String>> {
        let facts = Facts { hostname: hostname.to_owned(), ..Facts::default() };
        let vars = ConfigValues::from([("K8S_VIP".to_owned(), "10.0.0.1".into())]);
        let selection = prepared.select(&facts, &vars, secrets);
        let content = prepared.fill(&selection, &facts, &vars, secrets)?;
        Ok(content.files.into_iter().map(|file| format!("{}={}", file.path, file.content.trim())).collect())
    }

    #[test]
    fn a_secret_is_only_in_the_content_of_the_machines_that_need_it() {
        let token = Secret { value: "t0ken".to_owned(), previous: None };
        let secrets = Secrets([("DRAIN".to_owned(), token)].into());
        let server = rendered(&fleet(), "cp-1", &secrets).unwrap();
        assert_eq!(server[..2], ["common.sls=hostname: cp-1", "files/motd=hello"]);
        assert!(server.iter().any(|file| file == "k8s/server.sls=vip: 10.0.0.1"), "{server:?}");
        assert!(!server.iter().any(|file| file.contains("t0ken") || file.starts_with("k8s/agent")), "{server:?}");
        let agent = rendered(&fleet(), "wk-1", &secrets).unwrap();
        let with_token = agent.iter().filter(|file| file.contains("t0ken")).count();
        assert_eq!((with_token, agent.iter().any(|file| file.starts_with("k8s/drain.sls"))), (2, true), "{agent:?}");
    }

    #[test]
    fn what_is_missing_stops_the_machines_that_need_it_and_no_other() {
        // R148
        let none = Secrets::default();
        assert!(rendered(&fleet(), "cp-1", &none).is_ok());
        assert_eq!(rendered(&fleet(), "wk-1", &none), Err(vec!["secrets.DRAIN".to_owned()]));
        assert_eq!(fleet().needs().into_iter().collect::<Vec<_>>(), ["secrets.DRAIN", "vars.K8S_VIP"]);
        assert_eq!(fleet().fields().iter().collect::<Vec<_>>(), ["hostname"]);
    }

    #[test]
    fn a_lookup_that_cannot_be_filled_names_its_file() {
        let bad = ReleaseContent::of([("a.sls".to_owned(), "x\n{{ vars.X | upper }}".to_owned())].into());
        let said = Prepared::of(&bad).unwrap_err().to_string();
        assert!(said.starts_with("a.sls, line 2: "), "{said}");
    }

    #[test]
    fn the_file_of_a_state_goes_by_its_closest_name() {
        assert_eq!(state_of("k8s/upgrade/init.sls").as_deref(), Some("k8s.upgrade"));
        assert_eq!(state_of("k8s/kubeconfig.j2"), None);
        let nested = prepared(&[
            ("top.sls", "base: {'a*': [k8s], 'b*': [k8s.extra]}"),
            ("k8s/init.sls", "1"),
            ("k8s/extra.sls", "2"),
            ("k8sx.sls", "3"),
        ]);
        let files = |hostname: &str| rendered(&nested, hostname, &Secrets::default()).unwrap().join(" ");
        let (a, b) = (files("a1"), files("b1"));
        assert!(a.contains("k8s/init.sls") && !a.contains("k8s/extra.sls") && a.contains("k8sx.sls"), "{a}");
        assert!(!b.contains("k8s/init.sls") && b.contains("k8s/extra.sls") && b.contains("k8sx.sls"), "{b}");
    }
}
