//! Dialogs: a question about one thing, named when it was asked and never changed.

use super::line_edit::LineEdit;
use super::target::{Deed, Target};
use crate::domain::plan::Plan;

/// What has to be done to confirm; it grows with the harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Friction {
    /// Enter, and confirm is what is selected.
    Enter,
    /// A key of its own: stopping is easy, but never a reflex.
    StopKey,
    /// The name of the target, and cancel is what is selected.
    TypeName,
}

/// What is asked.
#[derive(Debug, Clone)]
pub enum Question {
    /// May verbs through for a while?
    Arm,
    /// Leave although an order is on its way?
    Quit,
    /// Do this?
    Verb(Box<Ask>),
}

/// A verb that waits for its confirmation.
#[derive(Debug, Clone)]
pub struct Ask {
    /// What would be done.
    pub deed: Deed,
    /// To what: fixed at the key press.
    pub target: Target,
    /// What it takes.
    pub friction: Friction,
    /// What would follow, by the newest picture.
    pub plan: Plan,
    /// The target still exists.
    pub listed: bool,
}

/// Which part of a dialog gets the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    /// The field for the name.
    Name,
    /// The field for the reason.
    Reason,
    /// The button that leaves everything as it is.
    Cancel,
    /// The button that does it.
    Confirm,
}

/// A question with its fields and buttons.
#[derive(Debug, Clone)]
pub struct Dialog {
    /// What is asked.
    pub question: Question,
    /// Who gets the keys.
    pub focus: Focus,
    /// Typed to prove that the right thing is meant.
    pub name: LineEdit,
    /// In the person's words.
    pub reason: LineEdit,
    /// It has been on the screen as it is now; keys pressed before are dropped.
    pub drawn: bool,
    /// Why it was not confirmed.
    pub complaint: Option<String>,
    /// First line of the plan that is shown; the view stops at the last page.
    pub top: usize,
}

impl Dialog {
    /// A question that nobody has seen yet.
    pub fn new(question: Question) -> Self {
        let focus = match &question {
            Question::Arm => Focus::Reason,
            Question::Quit => Focus::Cancel,
            Question::Verb(ask) => first_focus(ask.friction),
        };
        Self {
            question,
            focus,
            name: LineEdit::default(),
            reason: LineEdit::default(),
            drawn: false,
            complaint: None,
            top: 0,
        }
    }

    /// True while characters go into a field.
    pub fn is_typing(&self) -> bool {
        matches!(self.focus, Focus::Name | Focus::Reason)
    }

    /// Its parts in the order tab goes through them.
    pub fn parts(&self) -> &'static [Focus] {
        match &self.question {
            Question::Arm => &[Focus::Reason, Focus::Cancel, Focus::Confirm],
            Question::Quit => &[Focus::Cancel, Focus::Confirm],
            Question::Verb(ask) => match ask.friction {
                Friction::Enter => &[Focus::Cancel, Focus::Confirm],
                Friction::StopKey => &[Focus::Cancel, Focus::Confirm, Focus::Reason],
                Friction::TypeName => &[Focus::Name, Focus::Cancel, Focus::Confirm],
            },
        }
    }

    /// To the next part, or the one before.
    pub fn turn(&mut self, forward: bool) {
        let parts = self.parts();
        let at = parts.iter().position(|part| *part == self.focus).unwrap_or(0);
        let next = if forward { at + 1 } else { at + parts.len() - 1 };
        self.focus = parts[next % parts.len()];
    }

    /// The field that has the keys.
    pub fn field(&mut self) -> Option<&mut LineEdit> {
        match self.focus {
            Focus::Name => Some(&mut self.name),
            Focus::Reason => Some(&mut self.reason),
            Focus::Cancel | Focus::Confirm => None,
        }
    }
}

/// Where a question of that friction begins.
pub(super) fn first_focus(friction: Friction) -> Focus {
    match friction {
        Friction::Enter => Focus::Confirm,
        Friction::StopKey => Focus::Cancel,
        Friction::TypeName => Focus::Name,
    }
}
