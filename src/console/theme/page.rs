//! docs/themes.md: the built-in themes and the roles, made from the files and the table so that it is never typed twice.

use std::fmt::Write as _;

use super::role::Role;
use super::style::Theme;

/// The page, in Markdown.
pub fn page() -> String {
    let mut page = String::from(INTRODUCTION);
    for name in Theme::names() {
        let _ = writeln!(page, "- `{name}`: {}", caption(Theme::text(name).unwrap_or_default()));
    }
    page.push_str(ROLES);
    for role in Role::ALL {
        let _ = writeln!(page, "| `{}` | {} |", role.name(), role.about());
    }
    page
}

const INTRODUCTION: &str = "# Themes

Made from the theme files and the table of roles by a test; do not edit.

A theme of your own is written like those in `themes/`: it may say `inherits: dark` and name only what differs. A palette
entry is `#rrggbb`, one of the sixteen ANSI names, or both with a space between: the name stands in where the terminal has
sixteen colours. Text of 24-bit colours needs a contrast of 4.5 : 1 with what it stands on. `sixteen` and `mono` replace
the style of a role on terminals of sixteen colours and of none; there a selection has to be told by weight, underline or
reverse. Every role needs a style, inherited or not.

## Built in

";

const ROLES: &str = "
## Roles

| role | what it is |
|---|---|
";

/// The comment a file begins with.
fn caption(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix('#'));
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}
