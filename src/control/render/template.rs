//! Templates: three lookups, `{{ machine.* }}`, `{{ vars.* }}` and `{{ secrets.* }}`, and nothing else. Everything that
//! is in the language of the engine on the node stays as it is, byte by byte.

use std::fmt;

/// Where a name is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Root {
    /// What is known of the machine.
    Machine,
    /// Values of its ring and environment.
    Vars,
    /// Secrets of the account.
    Secrets,
}

/// What can be said about a machine.
pub const MACHINE_FIELDS: [&str; 5] = ["hostname", "uuid", "node", "environment", "ring"];

/// The one filter: the value as JSON, which is YAML on one line whatever is in it.
const AS_JSON: &str = "json";

/// One name that is looked up.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lookup {
    /// Where.
    pub root: Root,
    /// What; dots lead into objects.
    pub name: String,
    /// Written as JSON instead of as it is.
    pub json: bool,
}

impl fmt::Display for Lookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.root.word(), self.name)
    }
}

impl Root {
    const ALL: [Self; 3] = [Self::Machine, Self::Vars, Self::Secrets];

    fn word(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Vars => "vars",
            Self::Secrets => "secrets",
        }
    }
}

/// A text with holes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Hole(Lookup),
}

/// A lookup that nobody could fill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct TemplateFault {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong.
    pub problem: String,
}

impl Template {
    /// Reads a text.
    pub fn parse(text: &str) -> Result<Self, TemplateFault> {
        let mut reading = Reading { text, at: 0, kept: 0, parts: Vec::new() };
        reading.all()?;
        Ok(Self { parts: reading.parts })
    }

    /// Every name that is looked up.
    pub fn lookups(&self) -> impl Iterator<Item = &Lookup> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Hole(lookup) => Some(lookup),
        })
    }

    /// The text with its holes filled; what `fill` has nothing for becomes nothing.
    pub fn filled(&self, mut fill: impl FnMut(&Lookup) -> Option<String>) -> String {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(kept) => text.push_str(kept),
                Part::Hole(lookup) => text.push_str(&fill(lookup).unwrap_or_default()),
            }
        }
        text
    }
}

/// A text while it is taken apart.
struct Reading<'a> {
    text: &'a str,
    /// Where it is read on.
    at: usize,
    /// Up to where it is in `parts` already.
    kept: usize,
    parts: Vec<Part>,
}

impl Reading<'_> {
    fn all(&mut self) -> Result<(), TemplateFault> {
        while let Some(found) = self.text[self.at..].find('{') {
            let open = self.at + found;
            let rest = &self.text[open..];
            self.at = match rest.as_bytes().get(1) {
                Some(b'#') => after(rest, "#}").map_or(self.text.len(), |length| open + length),
                Some(b'%') => open + statement(rest),
                Some(b'{') => self.braces(open)?,
                _ => open + 1,
            };
        }
        self.keep(self.text.len());
        Ok(())
    }

    /// A pair of braces: a hole where it begins with a name of ours, else the engine's own.
    fn braces(&mut self, open: usize) -> Result<usize, TemplateFault> {
        let Some(length) = after(&self.text[open..], "}}") else { return Ok(open + 2) };
        let close = open + length;
        match lookup(&self.text[open + 2..close - 2]) {
            None => Ok(open + 2),
            Some(Ok(lookup)) => {
                self.keep(open);
                self.parts.push(Part::Hole(lookup));
                self.kept = close;
                Ok(close)
            }
            Some(Err(problem)) => Err(TemplateFault { line: 1 + self.text[..open].matches('\n').count(), problem }),
        }
    }

    fn keep(&mut self, end: usize) {
        if self.kept < end {
            self.parts.push(Part::Text(self.text[self.kept..end].to_owned()));
            self.kept = end;
        }
    }
}

/// Bytes up to and with `end`.
fn after(text: &str, end: &str) -> Option<usize> {
    text.find(end).map(|at| at + end.len())
}

/// Bytes of a statement of the engine. What stands between `raw` and `endraw` is not looked into.
fn statement(text: &str) -> usize {
    let Some(length) = after(text, "%}") else { return 2 };
    let word = text[2..length - 2].trim_matches(|c: char| c.is_whitespace() || c == '-' || c == '+');
    if word != "raw" {
        return length;
    }
    text[length..].find("endraw").map_or(text.len(), |at| length + at)
}

/// What stands between two braces, where it begins with a name of ours.
fn lookup(inside: &str) -> Option<Result<Lookup, String>> {
    let inside = inside.trim();
    let begins = |root: &Root| {
        let rest = inside.strip_prefix(root.word())?;
        (!rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')).then_some(rest)
    };
    let (root, rest) = Root::ALL.iter().find_map(|root| Some((*root, begins(root)?)))?;
    let (path, filter) = rest.split_once('|').map_or((rest, None), |(path, filter)| (path, Some(filter.trim())));
    let name = path.trim_end().strip_prefix('.').unwrap_or_default();
    let refused = |what: &str| Some(Err(format!("`{{{{ {inside} }}}}` {what}")));
    if !is_path(name) {
        return refused("is no plain lookup: write {{ vars.NAME }}, dots lead into objects");
    }
    if root == Root::Machine && !MACHINE_FIELDS.contains(&name) {
        return refused(&format!("is not known: a machine has {}", MACHINE_FIELDS.join(", ")));
    }
    match filter {
        None | Some(AS_JSON) => Some(Ok(Lookup { root, name: name.to_owned(), json: filter.is_some() })),
        Some(_) => refused("has a filter that is not known: there is `| json`"),
    }
}

fn is_path(name: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    name.split('.').all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text with each hole as `<name>`.
    fn shown(text: &str) -> String {
        Template::parse(text)
            .unwrap()
            .filled(|lookup| Some(format!("<{lookup}{}>", if lookup.json { "!" } else { "" })))
    }

    #[test]
    fn only_the_three_lookups_are_ours() {
        let text = "server: https://{{ vars.K8S_VIP }}:6443 # {{machine.hostname}}\ntoken: {{ secrets.T | json }}\n";
        assert_eq!(shown(text), "server: https://<vars.K8S_VIP>:6443 # <machine.hostname>\ntoken: <secrets.T!>\n");
        let engine = [
            "{% if grains['role'] == 'cp' %}{{ grains.id }}{% endif %}",
            "{{ salt['cmd.run']('x') }} {{ pillar.get('a', {}) }} {{ variables.x }} {{ machinery }}",
            "{# {{ vars.X }} #}{% raw %}{{ secrets.X }}{% endraw %} {{ unfinished",
            "{",
            "{{",
            "{%",
            "",
        ];
        for text in engine {
            assert_eq!(shown(text), text);
        }
        assert_eq!(shown("{{ {'a': vars.X} }}{{ vars.db.host }}"), "{{ {'a': vars.X} }}<vars.db.host>");
    }

    #[test]
    fn what_looks_like_a_lookup_and_is_none_names_its_line() {
        let odd = [
            "vars.X + 1",
            "vars['X']",
            "vars",
            "vars.",
            "secrets.a b",
            "machine.owner",
            "vars.X | upper",
            "vars.X ~ 'y'",
        ];
        for inside in odd {
            let fault = Template::parse(&format!("a\nb {{{{ {inside} }}}}")).unwrap_err();
            assert_eq!(fault.line, 2, "{inside}");
            assert!(fault.problem.contains(inside), "{fault}");
        }
    }
}
