//! A bearer token that cannot be printed by accident, and the three places it may come from.

use std::fmt;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::wire::problem::{Problem, ProblemKind};

/// The longest token that is read, in bytes; what is longer is no token.
pub const TOKEN_MAX: usize = 4 * 1024;

/// A bearer token. Neither `Debug` nor any error shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

impl Token {
    /// Takes a token as a person typed or stored it; blanks around it are dropped. `source` names where it came from.
    pub fn parse(text: &str, source: &str) -> Result<Self, Problem> {
        let text = text.trim();
        if text.is_empty() {
            return Err(unusable(format!("the token from {source} is empty")));
        }
        if text.len() > TOKEN_MAX || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(unusable(format!("what {source} holds is no token: one word of plain letters was expected"))
                .hint("a token is one line, as `serve --create-tokens` printed it"));
        }
        Ok(Self(text.to_owned()))
    }

    /// The first line of a file.
    pub fn from_file(path: &Path) -> Result<Self, Problem> {
        let unreadable = |error: std::io::Error| {
            unusable(format!("the token file {} cannot be read: {error}", path.display()))
                .hint("name another with --token-file, or set KURA_CONSOLE_TOKEN")
        };
        let file = std::fs::File::open(path).map_err(unreadable)?;
        let mut text = String::new();
        file.take(TOKEN_MAX as u64 + 2).read_to_string(&mut text).map_err(unreadable)?;
        Self::parse(first_line(&text), &path.display().to_string())
    }

    /// The first line a shell command prints; what it says on stderr is passed through to the terminal.
    pub fn from_command(command: &str) -> Result<Self, Problem> {
        let failed = |why: String| {
            unusable(format!("the token command failed: {why}")).hint("run it by hand: it must print the token alone")
        };
        let run = Command::new("sh").args(["-c", command]).stdin(Stdio::inherit()).stderr(Stdio::inherit()).output();
        let output = run.map_err(|error| failed(error.to_string()))?;
        if !output.status.success() {
            return Err(failed(output.status.to_string()));
        }
        Self::parse(first_line(&String::from_utf8_lossy(&output.stdout)), "the token command")
    }

    /// The value of the `Authorization` header. Mark it as sensitive wherever it goes.
    pub fn bearer(&self) -> String {
        format!("Bearer {}", self.0)
    }
}

fn first_line(text: &str) -> &str {
    text.trim_start().lines().next().unwrap_or("")
}

fn unusable(message: String) -> Problem {
    Problem::new(ProblemKind::Usage, "token", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_trimmed_and_never_shown() {
        let token = Token::parse("  k_abc123\n", "a test").unwrap();
        assert_eq!(token.bearer(), "Bearer k_abc123");
        assert!(!format!("{token:?}").contains("abc123"));
    }

    #[test]
    fn what_is_no_token_is_named_by_its_source_and_not_shown() {
        for bad in ["", "  \n ", "two words", "caf\u{e9}"] {
            let problem = Token::parse(bad, "KURA_CONSOLE_TOKEN").unwrap_err();
            assert!(problem.message.contains("KURA_CONSOLE_TOKEN"), "{problem}");
            assert!(!problem.message.contains("words"), "{problem}");
        }
    }

    #[test]
    fn a_command_gives_its_first_line_or_says_why_not() {
        assert_eq!(Token::from_command("echo k_1; echo noise").unwrap().bearer(), "Bearer k_1");
        let problem = Token::from_command("exit 3").unwrap_err();
        assert!(problem.message.contains('3'), "{problem}");
    }

    #[test]
    fn a_file_gives_its_first_line_or_says_why_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let problem = Token::from_file(&path).unwrap_err();
        assert!(problem.message.contains("token"), "{problem}");
        std::fs::write(&path, "k_2\n").unwrap();
        assert_eq!(Token::from_file(&path).unwrap().bearer(), "Bearer k_2");
    }
}
