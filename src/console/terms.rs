//! The terms of a filter, whatever they are about: how many there may be, which are turned round, and that all must hold.

/// Terms one filter may have.
const TERMS_MAX: usize = 16;

/// Terms of one kind; each holds, or is turned round by a `!` and must not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Terms<T>(Vec<(bool, T)>);

impl<T> Default for Terms<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Terms<T> {
    /// Reads terms, each word by `test` in lower case; the error is one sentence for the person who types.
    pub(super) fn read(text: &str, test: impl Fn(&str) -> Result<T, String>) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.len() > TERMS_MAX {
            return Err(format!("a filter has at most {TERMS_MAX} terms"));
        }
        let term = |word: &str| {
            let (negated, word) = word.strip_prefix('!').map_or((false, word), |rest| (true, rest));
            Ok((negated, test(&word.to_lowercase())?))
        };
        words.into_iter().map(term).collect::<Result<_, String>>().map(Self)
    }

    /// True where everything passes.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True where some term is like that.
    pub(super) fn any(&self, is: impl Fn(&T) -> bool) -> bool {
        self.0.iter().any(|(_, test)| is(test))
    }

    /// True where all terms are met.
    pub(super) fn all(&self, holds: impl Fn(&T) -> bool) -> bool {
        self.0.iter().all(|(negated, test)| holds(test) != *negated)
    }
}

/// A name, in whatever case, has this text in it.
pub(super) fn contains(name: &str, text: &str) -> bool {
    name.to_lowercase().contains(text)
}
