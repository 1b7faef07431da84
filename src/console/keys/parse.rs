//! Keymap files: `inherits`, `modes`, `prefixes` and `unbound`, read strictly and with the place of every fault.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_yaml::{Location, Spanned};

use super::super::chord::{Chord, Key};
use super::super::command::{COMMANDS, Command};
use super::super::finding::Finding;
use super::super::yaml::Pairs;
use super::keymap::{Keymap, Mode, written};

/// Chords one command may take.
const SEQUENCE_MAX: usize = 3;

/// Keymaps may inherit this often.
const DEPTH_MAX: usize = 8;

/// What a chord is bound to when it is bound to nothing any more.
const NOTHING: &str = "none";

pub(super) type Bindings = BTreeMap<Mode, BTreeMap<Vec<Chord>, Command>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    inherits: Option<Spanned<String>>,
    #[serde(default)]
    modes: Pairs<Pairs<Spanned<String>>>,
    #[serde(default)]
    prefixes: Pairs<String>,
    #[serde(default)]
    unbound: Vec<Spanned<String>>,
}

type Texts<'a> = &'a dyn Fn(&str) -> Option<&'static str>;

/// What has been read so far.
#[derive(Default)]
struct Draft {
    bindings: Bindings,
    places: BTreeMap<(Mode, Vec<Chord>), Location>,
    prefixes: Vec<(Vec<Chord>, String)>,
    unbound: BTreeSet<Command>,
}

pub(super) fn keymap(text: &str, text_of: Texts<'_>) -> Result<Keymap, Vec<Finding>> {
    let mut findings = Vec::new();
    let draft = read(text, text_of, 0, &mut findings);
    if findings.is_empty() {
        shadows(&draft, &mut findings);
        reachable(&draft, &mut findings);
    }
    findings.sort();
    if findings.is_empty() { Ok(Keymap { bindings: draft.bindings, prefixes: draft.prefixes }) } else { Err(findings) }
}

fn read(text: &str, text_of: Texts<'_>, depth: usize, findings: &mut Vec<Finding>) -> Draft {
    let file: File = match serde_yaml::from_str(text) {
        Ok(file) => file,
        Err(error) => {
            findings.push(Finding::of_yaml(&error));
            return Draft::default();
        }
    };
    let mut draft = inherited(&file, text_of, depth, findings);
    for (mode, bindings) in &file.modes.0 {
        match Mode::ALL.iter().find(|(_, name, _)| *name == mode.value) {
            Some((mode, ..)) => bind(*mode, &bindings.0, &mut draft, findings),
            None => {
                let known = Mode::ALL.map(|(_, name, _)| name).join(", ");
                findings.push(Finding::at(mode.referenced, format!("{} is none of the modes {known}", mode.value)));
            }
        }
    }
    for (keys, title) in &file.prefixes.0 {
        if let Some(keys) = sequence(keys, findings) {
            draft.prefixes.retain(|(prefix, _)| *prefix != keys);
            draft.prefixes.push((keys, title.clone()));
        }
    }
    for name in &file.unbound {
        match Command::named(&name.value) {
            Some(command) => drop(draft.unbound.insert(command)),
            None => findings.push(Finding::at(name.referenced, format!("there is no command {}", name.value))),
        }
    }
    draft
}

fn inherited(file: &File, text_of: Texts<'_>, depth: usize, findings: &mut Vec<Finding>) -> Draft {
    let Some(name) = &file.inherits else { return Draft::default() };
    if depth >= DEPTH_MAX {
        findings.push(Finding::at(name.referenced, "keymaps inherit from each other in a circle"));
        return Draft::default();
    }
    let Some(parent) = text_of(&name.value) else {
        findings.push(Finding::at(name.referenced, format!("there is no built-in keymap {}", name.value)));
        return Draft::default();
    };
    let mut draft = read(parent, text_of, depth + 1, findings);
    let here = |place: &mut Location| *place = name.referenced;
    draft.places.values_mut().for_each(here);
    draft
}

fn bind(mode: Mode, bindings: &[(Spanned<String>, Spanned<String>)], draft: &mut Draft, findings: &mut Vec<Finding>) {
    let mut seen = BTreeSet::new();
    for (keys, name) in bindings {
        let Some(chords) = sequence(keys, findings) else { continue };
        if let Some(fault) = unusable(mode, &chords) {
            findings.push(Finding::at(keys.referenced, fault));
            continue;
        }
        if !seen.insert(chords.clone()) {
            findings.push(Finding::at(keys.referenced, format!("{} is bound twice", written(&chords))));
            continue;
        }
        let bound = draft.bindings.entry(mode).or_default();
        match Command::named(&name.value) {
            Some(command) => {
                draft.places.insert((mode, chords.clone()), keys.referenced);
                draft.unbound.remove(&command);
                bound.insert(chords, command);
            }
            None if name.value == NOTHING => drop(bound.remove(&chords)),
            None => findings.push(Finding::at(name.referenced, format!("there is no command {}", name.value))),
        }
    }
}

fn sequence(keys: &Spanned<String>, findings: &mut Vec<Finding>) -> Option<Vec<Chord>> {
    let chords: Result<Vec<Chord>, _> = keys.value.split_whitespace().map(str::parse).collect();
    let fault = match chords {
        Ok(chords) if chords.is_empty() => "there is no key in it".to_owned(),
        Ok(chords) if chords.len() > SEQUENCE_MAX => format!("a sequence has at most {SEQUENCE_MAX} chords"),
        Ok(chords) => return Some(chords),
        Err(error) => error.to_string(),
    };
    findings.push(Finding::at(keys.referenced, fault));
    None
}

/// Chords that never reach a program, or never should.
fn unusable(mode: Mode, chords: &[Chord]) -> Option<String> {
    let taken = |c: &Chord| match c.key {
        Key::Char('c') if c.ctrl => Some("it always quits"),
        Key::Char('z') if c.ctrl => Some("it always suspends"),
        Key::Char('a') if c.ctrl => Some("screen and tmux take it"),
        Key::Char('b') if c.ctrl => Some("tmux takes it"),
        Key::Char('s' | 'q') if c.ctrl => Some("flow control takes it"),
        _ => None,
    };
    if let Some((chord, why)) = chords.iter().find_map(|c| Some((c, taken(c)?))) {
        return Some(format!("{chord} cannot be bound: {why}"));
    }
    let typed = chords.iter().find(|c| mode == Mode::Text && c.typed().is_some())?;
    Some(format!("{typed} is typed in a text field"))
}

/// A sequence that begins with another one's whole can never be finished, within a mode and from `any` on.
fn shadows(draft: &Draft, findings: &mut Vec<Finding>) {
    for (mode, bound) in &draft.bindings {
        let rivals = [Some(*mode), matches!(mode, Mode::List | Mode::Page).then_some(Mode::Any)];
        for rival in rivals.into_iter().flatten() {
            let Some(others) = draft.bindings.get(&rival) else { continue };
            for short in bound.keys() {
                for long in others.keys().filter(|long| long.len() > short.len() && long.starts_with(short)) {
                    shadow(draft, (*mode, short), (rival, long), findings);
                }
            }
            if rival != *mode {
                for short in others.keys() {
                    for long in bound.keys().filter(|long| long.len() > short.len() && long.starts_with(short)) {
                        shadow(draft, (rival, short), (*mode, long), findings);
                    }
                }
            }
        }
    }
}

fn shadow(draft: &Draft, short: (Mode, &Vec<Chord>), long: (Mode, &Vec<Chord>), findings: &mut Vec<Finding>) {
    let message = format!("{} ({}) shadows {} ({})", written(short.1), short.0.name(), written(long.1), long.0.name());
    match draft.places.get(&(short.0, short.1.clone())) {
        Some(place) => findings.push(Finding::at(*place, message)),
        None => findings.push(Finding::of_file(message)),
    }
}

/// Every command has a key or is listed as having none.
fn reachable(draft: &Draft, findings: &mut Vec<Finding>) {
    let bound: BTreeSet<Command> = draft.bindings.values().flat_map(BTreeMap::values).copied().collect();
    let lost = COMMANDS.iter().filter(|s| !bound.contains(&s.command) && !draft.unbound.contains(&s.command));
    for spec in lost {
        findings.push(Finding::of_file(format!("{} has no key; bind it or list it under unbound", spec.name)));
    }
    for command in bound.intersection(&draft.unbound) {
        findings.push(Finding::of_file(format!("{} is listed under unbound but has a key", command.spec().name)));
    }
}
