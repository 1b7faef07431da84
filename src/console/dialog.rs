//! Dialogs: a question about one thing, named when it was asked and never changed.

use super::deed::Deed;
use super::friction::Friction;
use super::line_edit::LineEdit;
use super::target::Target;
use crate::domain::ids::MachineId;
use crate::domain::plan::Plan;

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
    /// Who waits in the line that would be held, the last one first; empty for every other deed.
    pub line: Vec<MachineId>,
    /// Why what is typed as its value is none; such a deed cannot be confirmed.
    pub unread: Option<String>,
    /// What moved since it was confirmed the last time, so that nothing was done.
    pub moved: Option<String>,
}

impl Ask {
    /// What has to be typed to confirm it.
    pub fn proof(&self) -> Option<&str> {
        self.friction.proof(&self.target.name)
    }
}

/// Which part of a dialog gets the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    /// The field for the value.
    Value,
    /// The field for the name.
    Name,
    /// The field for the reason.
    Reason,
    /// The button that leaves everything as it is.
    Cancel,
    /// The button that does it.
    Confirm,
    /// The button that holds the line instead.
    Line,
}

/// A question with its fields and buttons.
#[derive(Debug, Clone)]
pub struct Dialog {
    /// What is asked.
    pub question: Question,
    /// Who gets the keys.
    pub focus: Focus,
    /// What is to be set.
    pub value: LineEdit,
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
            Question::Verb(ask) if ask.deed.has_field() => Focus::Value,
            Question::Verb(ask) => first_focus(ask.friction),
        };
        Self {
            question,
            focus,
            value: LineEdit::default(),
            name: LineEdit::default(),
            reason: LineEdit::default(),
            drawn: false,
            complaint: None,
            top: 0,
        }
    }

    /// True while characters go into a field.
    pub fn is_typing(&self) -> bool {
        matches!(self.focus, Focus::Value | Focus::Name | Focus::Reason)
    }

    /// Its parts in the order tab goes through them.
    pub fn parts(&self) -> Vec<Focus> {
        match &self.question {
            Question::Arm => vec![Focus::Reason, Focus::Cancel, Focus::Confirm],
            Question::Quit => vec![Focus::Cancel, Focus::Confirm],
            Question::Verb(ask) => {
                let value = ask.deed.has_field().then_some(Focus::Value);
                value.into_iter().chain(parts(ask.friction).iter().copied()).collect()
            }
        }
    }

    /// To the next part, or the one before.
    pub fn turn(&mut self, forward: bool) {
        let parts = self.parts();
        let at = parts.iter().position(|part| *part == self.focus).unwrap_or(0);
        let next = if forward { at + 1 } else { at + parts.len() - 1 };
        self.focus = parts[next % parts.len()];
    }

    /// From a field that is filled in to what comes after it; a harmless deed goes straight to its button.
    pub fn go_on(&mut self) {
        self.turn(true);
        let harmless = matches!(&self.question, Question::Verb(ask) if ask.friction == Friction::Enter);
        if harmless && self.focus == Focus::Cancel {
            self.focus = Focus::Confirm;
        }
    }

    /// The field that has the keys.
    pub fn field(&mut self) -> Option<&mut LineEdit> {
        match self.focus {
            Focus::Value => Some(&mut self.value),
            Focus::Name => Some(&mut self.name),
            Focus::Reason => Some(&mut self.reason),
            Focus::Cancel | Focus::Confirm | Focus::Line => None,
        }
    }
}

/// Where a question of that friction begins.
pub(super) fn first_focus(friction: Friction) -> Focus {
    match friction {
        Friction::Enter => Focus::Confirm,
        Friction::StopKey => Focus::Cancel,
        Friction::TypeName | Friction::Uncap | Friction::NameAndReason => Focus::Name,
    }
}

fn parts(friction: Friction) -> &'static [Focus] {
    match friction {
        Friction::Enter => &[Focus::Cancel, Focus::Confirm],
        Friction::StopKey => &[Focus::Cancel, Focus::Confirm, Focus::Reason],
        Friction::TypeName => &[Focus::Name, Focus::Cancel, Focus::Confirm],
        Friction::Uncap => &[Focus::Name, Focus::Cancel, Focus::Line, Focus::Confirm],
        Friction::NameAndReason => &[Focus::Name, Focus::Reason, Focus::Cancel, Focus::Confirm],
    }
}
