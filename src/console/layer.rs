//! Layers: what lies on top of a screen. The last one gets the keys.

use super::dialog::Dialog;
use super::line_edit::LineEdit;
use super::model::Subject;

/// One layer.
#[derive(Debug, Clone)]
pub enum Layer {
    /// A text that scrolls.
    Page(Page),
    /// A text field at the bottom.
    Field(Box<Field>),
    /// A question.
    Dialog(Box<Dialog>),
}

/// What a page shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageKind {
    /// A row in full, by its identity.
    Detail(Subject),
    /// The keys.
    Help,
    /// How this console would carry on by itself.
    Fallback,
}

/// A text that scrolls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// What it shows.
    pub kind: PageKind,
    /// First line that is shown; the view stops at the last page.
    pub top: usize,
}

impl Page {
    /// The row it is about.
    pub fn subject(&self) -> Option<Subject> {
        match self.kind {
            PageKind::Detail(subject) => Some(subject),
            PageKind::Help | PageKind::Fallback => None,
        }
    }
}

/// What a text field is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// Narrows the list while it is typed.
    Filter,
    /// Names a command.
    Palette,
}

/// A text field at the bottom.
#[derive(Debug, Clone)]
pub struct Field {
    /// What it is for.
    pub kind: FieldKind,
    /// What is typed.
    pub input: LineEdit,
    /// Which of the matching commands is selected.
    pub choice: usize,
    /// Why what is typed makes no sense.
    pub complaint: Option<String>,
}

impl Field {
    /// A field that begins with `text`.
    pub fn new(kind: FieldKind, text: &str) -> Self {
        Self { kind, input: LineEdit::with(text), choice: 0, complaint: None }
    }
}
