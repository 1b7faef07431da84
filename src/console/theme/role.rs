//! The closed list of roles: screens name roles, themes give them colours and modifiers.

macro_rules! roles {
    ($(#[doc = $about:literal] $role:ident = $name:literal,)*) => {
        /// What a piece of text is on screen.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Role {
            $(#[doc = $about] $role,)*
        }

        impl Role {
            /// Every role.
            pub const ALL: &'static [Self] = &[$(Self::$role,)*];

            /// What theme files call it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$role => $name,)*
                }
            }

            /// What it is, in one sentence.
            pub fn about(self) -> &'static str {
                match self {
                    $(Self::$role => $about.trim_ascii(),)*
                }
            }
        }
    };
}

roles! {
    /// Ordinary text.
    Text = "text",
    /// Text that matters less.
    Dim = "dim",
    /// Text that matters more.
    Strong = "strong",
    /// Headings of columns and sections.
    Heading = "heading",
    /// Lines and frames.
    Rule = "rule",
    /// The lines on top.
    Header = "header",
    /// Names of screens.
    Tab = "tab",
    /// The name of the screen that is shown.
    TabCurrent = "tab-current",
    /// The selected row.
    Selection = "selection",
    /// The selected row of a pane that has no focus.
    SelectionIdle = "selection-idle",
    /// Done.
    Done = "done",
    /// Inside its arc.
    Moving = "moving",
    /// Waiting for its turn.
    Queued = "queued",
    /// Soaking.
    Settling = "settling",
    /// Held by a person.
    Paused = "paused",
    /// Stopped by a brake.
    Halted = "halted",
    /// A run or a render failed.
    Failed = "failed",
    /// Needs a look.
    Warning = "warning",
    /// Old: the picture of a source that is gone.
    Stale = "stale",
    /// Verbs are armed.
    Armed = "armed",
    /// A key to press.
    Key = "key",
    /// A text field.
    Input = "input",
    /// The ground of layers.
    Layer = "layer",
    /// The button that does harm.
    Danger = "danger",
}

impl Role {
    /// The role of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|role| role.name() == name)
    }

    /// True for the roles that carry text a person has to read; lines and frames may be faint.
    pub fn is_text(self) -> bool {
        self != Self::Rule
    }
}
