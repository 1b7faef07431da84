//! How the console looks and which keys it knows: flags and environment, made into a theme and a keymap.

use std::path::{Path, PathBuf};

use crate::console::finding::Finding;
use crate::console::keys::Keymap;
use crate::console::theme::{Depth, Theme};
use crate::terminal::reload;
use crate::wire::problem::{Problem, ProblemKind};

/// Flags of everything that has a screen.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ScreenArgs {
    /// Theme: a built-in name or a file, which is read again when it changes
    #[arg(long, value_name = "NAME|FILE", env = "KURA_CONSOLE_THEME")]
    pub theme: Option<String>,
    /// Keymap: a built-in name or a file, which is read again when it changes
    #[arg(long, value_name = "NAME|FILE", env = "KURA_CONSOLE_KEYMAP")]
    pub keymap: Option<String>,
    /// Draw with ASCII only
    #[arg(long)]
    pub ascii: bool,
    /// Look only: verbs cannot be armed
    #[arg(long)]
    pub read_only: bool,
    /// Append the console's own log to this file, instead of one per day below the state directory
    #[arg(long, value_name = "FILE")]
    pub log_file: Option<PathBuf>,
}

/// A theme and a keymap, and the files they came from.
#[derive(Debug, Clone)]
pub struct Look {
    /// Colours.
    pub theme: Theme,
    /// How many colours the terminal has.
    pub depth: Depth,
    /// The theme's file, if it is one.
    pub theme_file: Option<PathBuf>,
    /// Keys.
    pub keymap: Keymap,
    /// The keymap's file, if it is one.
    pub keymap_file: Option<PathBuf>,
    /// Glyphs of ASCII only.
    pub ascii: bool,
}

/// The name of what is built in and taken unless another is asked for.
const USUAL_THEME: &str = "dark";
const USUAL_KEYMAP: &str = "default";

impl Look {
    /// What these flags and variables ask for.
    ///
    /// # Errors
    /// When a name is not known or a file has faults; every fault is a hint, with its place.
    pub fn of(flags: &ScreenArgs, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, Problem> {
        let depth = depth(variable);
        let theme = flags.theme.as_deref().unwrap_or(USUAL_THEME);
        let keymap = flags.keymap.as_deref().unwrap_or(USUAL_KEYMAP);
        let theme_in = |name: &str| Theme::shipped(name, depth).ok_or_else(|| joined(Theme::names()));
        let keymap_in = |name: &str| Keymap::shipped(name).ok_or_else(|| joined(Keymap::names()));
        let (theme, theme_file) = load("--theme", theme, theme_in, |text| Theme::parse(text, depth))?;
        let (keymap, keymap_file) = load("--keymap", keymap, keymap_in, Keymap::parse)?;
        Ok(Self { theme, depth, theme_file, keymap, keymap_file, ascii: flags.ascii || !speaks_unicode(variable) })
    }
}

/// Faults as one sentence.
pub fn sentence(findings: &[Finding]) -> String {
    findings.iter().map(Finding::to_string).collect::<Vec<_>>().join("; ")
}

fn joined<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// What is built in under `name`, or what the file of that name holds. `shipped` names all there is where it fails.
fn load<T>(
    flag: &str,
    name: &str,
    shipped: impl Fn(&str) -> Result<T, String>,
    parse: impl Fn(&str) -> Result<T, Vec<Finding>>,
) -> Result<(T, Option<PathBuf>), Problem> {
    let path = Path::new(name);
    let names_a_file = name.contains(['/', '.']) || path.exists();
    if !names_a_file {
        return match shipped(name) {
            Ok(found) => Ok((found, None)),
            Err(names) => {
                Err(Problem::new(ProblemKind::Usage, "unknown_name", format!("{flag}: nothing is built in as {name}"))
                    .field(flag)
                    .hint(format!("built in: {names}"))
                    .hint(format!("a file is named by its path: {flag} ./{name}.yaml")))
            }
        };
    }
    let text = reload::read(path).map_err(|why| {
        Problem::new(ProblemKind::Usage, "unreadable", format!("{flag}: {name} cannot be read: {why}")).field(flag)
    })?;
    match parse(&text) {
        Ok(found) => Ok((found, Some(path.to_owned()))),
        Err(findings) => Err(faulty(flag, name, &findings)),
    }
}

fn faulty(flag: &str, name: &str, findings: &[Finding]) -> Problem {
    let count = findings.len();
    let problem =
        Problem::new(ProblemKind::Usage, "faulty", format!("{flag}: {name} has {count} fault(s)")).field(flag);
    findings.iter().fold(problem, |problem, finding| problem.hint(format!("{name}:{finding}")))
}

/// How many colours the terminal says it has.
pub(super) fn depth(variable: &dyn Fn(&str) -> Option<String>) -> Depth {
    let set = |name| variable(name).filter(|value| !value.is_empty());
    let term = set("TERM").unwrap_or_default();
    match (set("NO_COLOR"), set("COLORTERM").as_deref()) {
        (Some(_), _) => Depth::Mono,
        (None, Some("truecolor" | "24bit")) => Depth::True,
        _ if term.contains("direct") => Depth::True,
        _ if term.contains("256") => Depth::Indexed,
        _ if ["vt1", "vt2"].iter().any(|old| term.starts_with(old)) => Depth::Mono,
        _ => Depth::Sixteen,
    }
}

/// Whether the locale knows more than ASCII. Where none is set, which is common in containers, the terminal does.
pub(super) fn speaks_unicode(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    let locale =
        ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| variable(name).filter(|value| !value.is_empty()));
    locale.is_none_or(|locale| locale.to_ascii_lowercase().replace('-', "").contains("utf8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set<'a>(pairs: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |name| pairs.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn colours_are_those_the_terminal_says_it_has() {
        for (pairs, expected) in [
            (&[("TERM", "xterm")][..], Depth::Sixteen),
            (&[("TERM", "xterm-256color")], Depth::Indexed),
            (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")], Depth::True),
            (&[("TERM", "xterm-direct")], Depth::True),
            (&[("TERM", "vt220")], Depth::Mono),
            (&[("COLORTERM", "truecolor"), ("NO_COLOR", "1")], Depth::Mono),
            (&[("COLORTERM", "truecolor"), ("NO_COLOR", "")], Depth::True),
        ] {
            assert_eq!(depth(&set(pairs)), expected, "{pairs:?}");
        }
    }

    #[test]
    fn the_locale_decides_about_glyphs_where_there_is_one() {
        assert!(speaks_unicode(&set(&[])));
        assert!(speaks_unicode(&set(&[("LANG", "de_DE.UTF-8")])));
        assert!(!speaks_unicode(&set(&[("LANG", "C")])));
        assert!(speaks_unicode(&set(&[("LANG", "C"), ("LC_ALL", "C.utf8")])));
    }

    #[test]
    fn a_wrong_name_and_a_missing_file_say_what_to_do() {
        let flags = |theme: &str| ScreenArgs { theme: Some(theme.to_owned()), ..ScreenArgs::default() };
        let missing = Look::of(&flags("./nowhere.yaml"), &set(&[])).unwrap_err();
        assert_eq!((missing.code.as_str(), missing.field.as_deref()), ("unreadable", Some("--theme")));
        let faults = faulty("--theme", "mine.yaml", &[Finding { line: 3, column: 9, message: "no colour".to_owned() }]);
        assert_eq!(faults.hints, ["mine.yaml:3:9: no colour"]);
    }
}
