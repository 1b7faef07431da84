//! The theme: one style per role, for the colours a terminal has.

use ratatui::style::{Color, Style};

use super::super::finding::Finding;
use super::parse::{Draft, Drafts, drafts};
use super::role::Role;

/// How many colours the terminal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// None, or none are wanted (`NO_COLOR`): modifiers only.
    Mono,
    /// The sixteen of ANSI.
    Sixteen,
    /// The 256 of xterm.
    Indexed,
    /// 24 bits.
    True,
}

/// A style per role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    styles: Vec<Style>,
    ground: Style,
}

/// Themes that are built in, with their texts.
const BUILT_IN: [(&str, &str); 6] = [
    ("dark", include_str!("../../../themes/dark.yaml")),
    ("light", include_str!("../../../themes/light.yaml")),
    ("sixteen", include_str!("../../../themes/sixteen.yaml")),
    ("high-contrast", include_str!("../../../themes/high-contrast.yaml")),
    ("colour-blind", include_str!("../../../themes/colour-blind.yaml")),
    ("mono", include_str!("../../../themes/mono.yaml")),
];

impl Theme {
    /// The theme that is taken unless another is asked for.
    pub const DEFAULT: &'static str = "dark";

    /// Names of the themes that are built in.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// The text of a theme that is built in: what a file of one's own can start from.
    pub fn text(name: &str) -> Option<&'static str> {
        BUILT_IN.iter().find(|(built_in, _)| *built_in == name).map(|(_, text)| *text)
    }

    /// A theme that is built in.
    pub fn shipped(name: &str, depth: Depth) -> Option<Self> {
        Self::parse(Self::text(name)?, depth).ok()
    }

    /// Reads a theme; what it inherits from must be built in. All its faults come back, sorted by place.
    pub fn parse(text: &str, depth: Depth) -> Result<Self, Vec<Finding>> {
        Ok(Self::of(&drafts(text, &Self::text)?, depth))
    }

    fn of(drafts: &Drafts, depth: Depth) -> Self {
        let style = |role| drafts.roles.get(role).map_or_else(Style::new, |draft| style(draft, depth));
        let ground = drafts.ground.filter(|_| drafts.paint_ground).and_then(|paint| paint.at(depth));
        let text = drafts.roles.get(&Role::Text).and_then(|draft| draft.fg?.at(depth));
        let painted = Style { fg: text.filter(|_| ground.is_some()), bg: ground, ..Style::new() };
        Self { styles: Role::ALL.iter().map(style).collect(), ground: painted }
    }

    /// The style of a role.
    pub fn style(&self, role: Role) -> Style {
        self.styles.get(role as usize).copied().unwrap_or_default()
    }

    /// What the whole screen is painted with before anything is drawn on it.
    pub fn ground(&self) -> Style {
        self.ground
    }
}

fn style(draft: &Draft, depth: Depth) -> Style {
    let replaced = match depth {
        Depth::Mono => draft.mono,
        Depth::Sixteen => draft.sixteen,
        _ => None,
    };
    if let Some(modifiers) = replaced {
        return Style::new().add_modifier(modifiers);
    }
    let colour = |paint: Option<super::colour::Paint>| -> Option<Color> { paint?.at(depth) };
    Style { fg: colour(draft.fg), bg: colour(draft.bg), ..Style::new().add_modifier(draft.add) }
}

#[cfg(test)]
mod tests {
    use ratatui::style::Modifier;

    use super::*;

    const DEPTHS: [Depth; 4] = [Depth::Mono, Depth::Sixteen, Depth::Indexed, Depth::True];

    #[test]
    fn every_theme_that_is_built_in_has_no_fault() {
        for name in Theme::names() {
            let faults = drafts(Theme::text(name).unwrap(), &Theme::text).err();
            assert_eq!(faults, None, "{name}");
        }
    }

    /// Without colours a selection and a dangerous button must still be seen.
    #[test]
    fn the_selection_is_seen_without_colours() {
        for name in Theme::names() {
            let theme = Theme::shipped(name, Depth::Mono).unwrap();
            for role in [Role::Selection, Role::Danger, Role::TabCurrent] {
                let shown = theme.style(role).add_modifier;
                let visible = Modifier::REVERSED | Modifier::BOLD | Modifier::UNDERLINED;
                assert!(shown.intersects(visible), "{name} {role:?}");
            }
            for role in Role::ALL {
                let style = theme.style(*role);
                assert_eq!((style.fg, style.bg), (None, None), "{name} {role:?}");
            }
        }
    }

    #[test]
    fn every_depth_tells_the_selection_from_text() {
        for (name, depth) in Theme::names().flat_map(|name| DEPTHS.map(|depth| (name, depth))) {
            let theme = Theme::shipped(name, depth).unwrap();
            assert_ne!(theme.style(Role::Selection), theme.style(Role::Text), "{name} {depth:?}");
        }
    }

    #[test]
    fn faults_are_named_with_their_places() {
        let text = "inherits: dark\npalette:\n  faint: \"#202428\"\nroles:\n  text: {fg: faint}\n  colour: {fg: faint}\n  \
                    dim: {fg: fog, add: [blink]}\n";
        let faults: Vec<String> =
            Theme::parse(text, Depth::True).unwrap_err().iter().map(ToString::to_string).collect();
        assert_eq!(
            faults,
            [
                "5:3: text has a contrast of 1.2, it takes 4.5",
                "6:3: there is no role colour",
                "7:13: fog is not in the palette",
                "7:24: blink is none of bold, dim, italic, underlined, reversed",
            ]
        );
        let faint = "inherits: dark\npalette: {steel: \"#5a6a80\"}\nroles:\n  selection: {bg: steel}\n";
        let faint = Theme::parse(faint, Depth::True).unwrap_err();
        assert!(faint.iter().any(|f| f.message.starts_with("dim has a contrast of")), "{faint:?}");
        let missing = Theme::parse("roles: {text: {}}", Depth::True).unwrap_err();
        assert!(missing[0].to_string().starts_with("roles without a style: dim, strong"), "{missing:?}");
        let twice = Theme::parse("inherits: dark\nroles:\n  text: {}\n  text: {}\n", Depth::True).unwrap_err();
        assert_eq!((twice[0].line, twice[0].column), (4, 3), "{twice:?}");
    }
}
