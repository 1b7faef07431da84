//! Theme files: `inherits`, `ground`, `palette` and `roles`, read strictly and with the place of every fault.

use std::collections::BTreeMap;

use ratatui::style::Modifier;
use serde::Deserialize;
use serde_yaml::Spanned;

use super::super::finding::Finding;
use super::super::yaml::Pairs;
use super::colour::{Paint, contrast};
use super::role::Role;

/// The contrast that text must have with what it stands on, where both are given in 24 bits.
pub(super) const CONTRAST_MIN: f64 = 4.5;

/// Themes may inherit this often.
const DEPTH_MAX: usize = 8;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    inherits: Option<Spanned<String>>,
    ground: Option<Spanned<String>>,
    paint_ground: Option<bool>,
    #[serde(default)]
    palette: Pairs<Spanned<String>>,
    #[serde(default)]
    roles: Pairs<RoleText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RoleText {
    fg: Option<Spanned<String>>,
    bg: Option<Spanned<String>>,
    #[serde(default)]
    add: Vec<Spanned<String>>,
    sixteen: Option<Vec<Spanned<String>>>,
    mono: Option<Vec<Spanned<String>>>,
}

/// What a file says about one role.
#[derive(Debug, Clone, Default)]
pub(super) struct Draft {
    pub(super) fg: Option<Paint>,
    pub(super) bg: Option<Paint>,
    pub(super) add: Modifier,
    /// Replaces all of the above on sixteen colours.
    pub(super) sixteen: Option<Modifier>,
    /// Replaces all of the above without colours.
    pub(super) mono: Option<Modifier>,
}

/// A theme as written, what it inherits included.
#[derive(Debug, Clone, Default)]
pub(super) struct Drafts {
    pub(super) ground: Option<Paint>,
    pub(super) paint_ground: bool,
    pub(super) roles: BTreeMap<Role, Draft>,
    palette: BTreeMap<String, Paint>,
}

/// Reads a theme and what it inherits; `text_of` gives the text of a built-in theme.
pub(super) fn drafts(text: &str, text_of: &dyn Fn(&str) -> Option<&'static str>) -> Result<Drafts, Vec<Finding>> {
    let mut findings = Vec::new();
    let drafts = read(text, text_of, 0, &mut findings);
    if findings.is_empty() {
        missing_roles(&drafts, &mut findings);
        on_selection(&drafts, &mut findings);
    }
    findings.sort();
    if findings.is_empty() { Ok(drafts) } else { Err(findings) }
}

fn read(
    text: &str,
    text_of: &dyn Fn(&str) -> Option<&'static str>,
    depth: usize,
    findings: &mut Vec<Finding>,
) -> Drafts {
    let file: File = match serde_yaml::from_str(text) {
        Ok(file) => file,
        Err(error) => {
            findings.push(Finding::of_yaml(&error));
            return Drafts::default();
        }
    };
    let mut drafts = match &file.inherits {
        None => Drafts::default(),
        Some(name) if depth >= DEPTH_MAX => {
            findings.push(Finding::at(name.referenced, "themes inherit from each other in a circle"));
            Drafts::default()
        }
        Some(name) => match text_of(&name.value) {
            Some(parent) => read(parent, text_of, depth + 1, findings),
            None => {
                findings.push(Finding::at(name.referenced, format!("there is no built-in theme {}", name.value)));
                Drafts::default()
            }
        },
    };
    palette(&file, &mut drafts, findings);
    ground(&file, &mut drafts, findings);
    roles(&file, &mut drafts, findings);
    drafts
}

fn palette(file: &File, drafts: &mut Drafts, findings: &mut Vec<Finding>) {
    for (name, paint) in &file.palette.0 {
        match Paint::parse(&paint.value) {
            Ok(parsed) => drop(drafts.palette.insert(name.value.clone(), parsed)),
            Err(message) => findings.push(Finding::at(paint.referenced, message)),
        }
    }
}

fn ground(file: &File, drafts: &mut Drafts, findings: &mut Vec<Finding>) {
    if let Some(name) = &file.ground {
        drafts.ground = look_up(&drafts.palette, name, findings);
    }
    drafts.paint_ground = file.paint_ground.unwrap_or(drafts.paint_ground);
}

fn roles(file: &File, drafts: &mut Drafts, findings: &mut Vec<Finding>) {
    for (name, text) in &file.roles.0 {
        let Some(role) = Role::named(&name.value) else {
            findings.push(Finding::at(name.referenced, format!("there is no role {}", name.value)));
            continue;
        };
        let draft = Draft {
            fg: text.fg.as_ref().and_then(|fg| look_up(&drafts.palette, fg, findings)),
            bg: text.bg.as_ref().and_then(|bg| look_up(&drafts.palette, bg, findings)),
            add: modifiers(&text.add, findings),
            sixteen: text.sixteen.as_ref().map(|list| modifiers(list, findings)),
            mono: text.mono.as_ref().map(|list| modifiers(list, findings)),
        };
        readable(drafts, role, &draft, name, findings);
        drafts.roles.insert(role, draft);
    }
}

fn look_up(palette: &BTreeMap<String, Paint>, name: &Spanned<String>, findings: &mut Vec<Finding>) -> Option<Paint> {
    let found = palette.get(&name.value).copied();
    if found.is_none() {
        findings.push(Finding::at(name.referenced, format!("{} is not in the palette", name.value)));
    }
    found
}

fn modifiers(list: &[Spanned<String>], findings: &mut Vec<Finding>) -> Modifier {
    let mut all = Modifier::empty();
    for word in list {
        match word.value.as_str() {
            "bold" => all |= Modifier::BOLD,
            "dim" => all |= Modifier::DIM,
            "italic" => all |= Modifier::ITALIC,
            "underlined" => all |= Modifier::UNDERLINED,
            "reversed" => all |= Modifier::REVERSED,
            other => {
                let known = "bold, dim, italic, underlined, reversed";
                findings.push(Finding::at(word.referenced, format!("{other} is none of {known}")));
            }
        }
    }
    all
}

/// Text must stand out from what it stands on, by WCAG's 4.5 : 1.
fn readable(drafts: &Drafts, role: Role, draft: &Draft, name: &Spanned<String>, findings: &mut Vec<Finding>) {
    let fg = draft.fg.and_then(Paint::rgb);
    let bg = draft.bg.or(drafts.ground).and_then(Paint::rgb);
    let (Some(fg), Some(bg)) = (fg, bg) else { return };
    let contrast = contrast(fg, bg);
    if role.is_text() && contrast < CONTRAST_MIN {
        let message = format!("{} has a contrast of {contrast:.1}, it takes {CONTRAST_MIN}", role.name());
        findings.push(Finding::at(name.referenced, message));
    }
}

/// A selection that leaves the colours of its text as they are must leave them readable as well.
fn on_selection(drafts: &Drafts, findings: &mut Vec<Finding>) {
    for selection in [Role::Selection, Role::SelectionIdle] {
        let bare = drafts.roles.get(&selection).filter(|draft| draft.fg.is_none());
        let Some(bg) = bare.and_then(|draft| draft.bg?.rgb()) else { continue };
        for (role, draft) in drafts.roles.iter().filter(|(role, draft)| role.is_text() && draft.bg.is_none()) {
            let contrast = draft.fg.and_then(Paint::rgb).map(|fg| contrast(fg, bg));
            if let Some(contrast) = contrast.filter(|contrast| *contrast < CONTRAST_MIN) {
                let (role, on) = (role.name(), selection.name());
                let message = format!("{role} has a contrast of {contrast:.1} on {on}, it takes {CONTRAST_MIN}");
                findings.push(Finding::of_file(message));
            }
        }
    }
}

fn missing_roles(drafts: &Drafts, findings: &mut Vec<Finding>) {
    let missing: Vec<_> = Role::ALL.iter().filter(|r| !drafts.roles.contains_key(r)).map(|r| r.name()).collect();
    if !missing.is_empty() {
        findings.push(Finding::of_file(format!("roles without a style: {}", missing.join(", "))));
    }
}
