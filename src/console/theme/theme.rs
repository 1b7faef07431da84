//! The theme: one style per role, read from YAML and linted.

use ratatui::style::Style;

use super::super::finding::Finding;
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
}

impl Theme {
    /// Names of the themes that are built in.
    pub const SHIPPED: [&'static str; 1] = ["dark"];

    /// A theme that is built in.
    pub fn shipped(name: &str, depth: Depth) -> Option<Self> {
        let _ = (name, depth);
        Some(Self { styles: Vec::new() })
    }

    /// Reads a theme; what it inherits from must be built in. All its faults come back, sorted by place.
    pub fn parse(text: &str, depth: Depth) -> Result<Self, Vec<Finding>> {
        let _ = (text, depth);
        Ok(Self { styles: Vec::new() })
    }

    /// The style of a role.
    pub fn style(&self, role: Role) -> Style {
        self.styles.get(role as usize).copied().unwrap_or_default()
    }
}
