//! What a failing port said, as one sentence for people.

use std::error::Error;

/// The error and everything it was caused by, from the outside in.
pub fn sentence(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let words = inner.to_string();
        // An error that is transparent repeats its source.
        if !text.ends_with(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::ports::{AppendError, JournalError};

    #[test]
    fn a_sentence_names_the_cause_once() {
        let full = std::io::Error::other("disk full");
        let error = AppendError::Failed(JournalError::Store { attempt: "append", source: Box::new(full) });
        assert_eq!(sentence(&error), "the journal could not append: disk full");
    }
}
