//! The closed list of roles: screens name roles, themes give them colours and modifiers.

/// What a piece of text is on screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Ordinary text.
    Text,
    /// Text that matters less.
    Dim,
    /// Text that matters more.
    Strong,
    /// Headings of columns and sections.
    Heading,
    /// Lines and frames.
    Rule,
    /// The two lines on top.
    Header,
    /// Names of screens.
    Tab,
    /// The name of the screen that is shown.
    TabCurrent,
    /// The selected row.
    Selection,
    /// The selected row of a pane that has no focus.
    SelectionIdle,
    /// Done.
    Done,
    /// Inside its arc.
    Moving,
    /// Waiting for its turn.
    Queued,
    /// Soaking.
    Settling,
    /// Held by a person.
    Paused,
    /// Stopped by a brake.
    Halted,
    /// A run or a render failed.
    Failed,
    /// Needs a look.
    Warning,
    /// Old: the picture of a source that is gone.
    Stale,
    /// Verbs are armed.
    Armed,
    /// A key to press.
    Key,
    /// A text field.
    Input,
    /// The ground of layers.
    Layer,
    /// The button that does harm.
    Danger,
}
