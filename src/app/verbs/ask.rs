//! Questions on a terminal. What was typed before a question stands there is no answer to it.

use std::io::{self, BufRead, IsTerminal, Write};

use rustix::termios::{QueueSelector, tcflush};

use super::aim::Aimed;
use super::friction::{Friction, UNCAP};
use crate::wire::problem::{Problem, ProblemKind};

/// Longest answer that is read, in bytes: a reason in any script fits.
const ANSWER_MAX: u64 = 4_096;

/// Whether somebody can be asked: questions are put to standard error, answers come from standard input.
pub fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks whether it is meant; an error is a no.
///
/// # Errors
/// Where it is not confirmed, or the terminal is gone.
pub fn confirm(friction: Friction, verb: &str, aimed: &Aimed) -> Result<(), Problem> {
    let (told, typed) = (aimed.told(), aimed.typed());
    let (question, word) = match friction {
        Friction::Stop => (format!("{verb} {told}? y = do it: "), "y"),
        Friction::Enter => (format!("{verb} {told}? Enter = do it, anything else = leave it: "), ""),
        Friction::Name => (format!("{verb} {told}? type {typed} to do it: "), typed.as_str()),
        Friction::Uncap => (format!("{verb} {told}? type {UNCAP} to do it: "), UNCAP),
    };
    let answer = answer(&question)?;
    if answer.as_deref().map(str::trim) == Some(word) { Ok(()) } else { Err(left()) }
}

/// Asks why.
///
/// # Errors
/// Where there is no reason, or the terminal is gone.
pub fn reason() -> Result<String, Problem> {
    let answer = answer("why? it is kept with the change: ")?;
    answer.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).ok_or_else(left)
}

/// Nobody said yes.
pub fn left() -> Problem {
    Problem::new(ProblemKind::Invalid, "not_confirmed", "not confirmed, so nothing was done")
}

/// One line; none where the terminal came to its end.
fn answer(question: &str) -> Result<Option<String>, Problem> {
    // Dropped before the question is shown, so that whoever sees it may answer at once.
    let asked = tcflush(io::stdin(), QueueSelector::IFlush).map_err(io::Error::from).and_then(|()| {
        let mut stderr = io::stderr().lock();
        stderr.write_all(question.as_bytes())?;
        stderr.flush()
    });
    let mut line = String::new();
    let read = asked.and_then(|()| io::Read::take(io::stdin().lock(), ANSWER_MAX).read_line(&mut line));
    match read {
        Ok(0) => Ok(None),
        Ok(_) => Ok(line.ends_with('\n').then_some(line)),
        Err(error) => Err(Problem::new(ProblemKind::Usage, "no_terminal", format!("nobody can be asked: {error}"))
            .hint("with --yes it does not ask")),
    }
}
