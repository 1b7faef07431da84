//! Where an agent's token comes from. It is never logged and never part of an error.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::sync::Mutex;

/// The environment variable that may hold the token.
pub const TOKEN_VARIABLE: &str = "KURA_CONSOLE_AGENT_TOKEN";

/// The longest token file or output of a token command that is read, in bytes.
pub const TOKEN_MAX: u64 = 16 * 1024;

/// The longest a token command may take.
pub const COMMAND_LIMIT: Duration = Duration::from_secs(30);

/// Where to look.
#[derive(Debug)]
pub enum TokenSource {
    /// It was in the environment.
    Given(Token),
    /// Read again for every request, so that it can be replaced at any time.
    File(PathBuf),
    /// Run with `sh -c`; its answer is good until the control plane refuses it.
    Command {
        /// What to run.
        command: String,
        /// Its last answer.
        last: Mutex<Option<Token>>,
    },
}

/// A secret word that does not show itself.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(...)")
    }
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be read.
    #[error("the token file {} cannot be read: {reason}", .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The command does not deliver.
    #[error("the token command {0}")]
    Command(String),
    /// What was found cannot be sent.
    #[error("{0} holds no token: one word of visible ASCII characters is expected")]
    NotAToken(String),
}

impl Token {
    /// The first line, which is one word. `place` is named in the error, never the text.
    pub fn new(text: &str, place: &str) -> Result<Self, TokenError> {
        let word = text.trim_start().lines().next().unwrap_or_default().trim_end();
        if word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::NotAToken(place.to_owned()));
        }
        Ok(Self(word.to_owned()))
    }

    /// The word itself, for the one header it belongs in.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl TokenSource {
    /// A command that has not run yet.
    pub fn command(command: String) -> Self {
        Self::Command { command, last: Mutex::new(None) }
    }

    /// The token to use now.
    pub async fn token(&self) -> Result<Token, TokenError> {
        match self {
            Self::Given(token) => Ok(token.clone()),
            Self::File(path) => {
                let failed = |e: std::io::Error| TokenError::File { path: path.clone(), reason: e.to_string() };
                let file = tokio::fs::File::open(path).await.map_err(failed)?;
                let mut text = String::new();
                file.take(TOKEN_MAX).read_to_string(&mut text).await.map_err(failed)?;
                Token::new(&text, &format!("the token file {}", path.display()))
            }
            Self::Command { command, last } => {
                let mut last = last.lock().await;
                if let Some(token) = &*last {
                    return Ok(token.clone());
                }
                let token = ask_command(command).await?;
                Ok(last.insert(token).clone())
            }
        }
    }

    /// The control plane refused it: a command is asked again next time.
    pub async fn refused(&self) {
        if let Self::Command { last, .. } = self {
            *last.lock().await = None;
        }
    }
}

async fn ask_command(command: &str) -> Result<Token, TokenError> {
    let mut asked = Command::new("sh");
    asked.arg("-c").arg(command).stdin(Stdio::null()).stderr(Stdio::inherit()).kill_on_drop(true);
    let answer = tokio::time::timeout(COMMAND_LIMIT, asked.output())
        .await
        .map_err(|_| TokenError::Command(format!("took more than {} s", COMMAND_LIMIT.as_secs())))?
        .map_err(|error| TokenError::Command(format!("could not be run: {error}")))?;
    if !answer.status.success() {
        return Err(TokenError::Command(format!("failed: {}", answer.status)));
    }
    Token::new(&String::from_utf8_lossy(&answer.stdout), "the output of the token command")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_one_word_and_shows_itself_nowhere() {
        let token = Token::new("  s3cret-word \nof ash\n", "here").expect("a token");
        assert_eq!(token.expose(), "s3cret-word");
        assert!(!format!("{token:?}").contains("s3cret"));
        for text in ["", " \n", "two words", "ein-schlüssel"] {
            let error = Token::new(text, "the token file /etc/kura/token").expect_err("no token").to_string();
            assert!(error.starts_with("the token file /etc/kura/token holds no token"), "{error}");
            assert!(text.trim().is_empty() || !error.contains(text.trim()), "{error}");
        }
    }

    #[tokio::test]
    async fn a_file_is_read_anew_and_a_command_is_asked_again_once_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("token");
        std::fs::write(&path, "one\n").expect("written");
        let file = TokenSource::File(path.clone());
        let command = TokenSource::command(format!("cat {}", path.display()));
        for source in [&file, &command] {
            assert_eq!(source.token().await.expect("a token").expose(), "one");
        }
        std::fs::write(&path, "two\n").expect("written");
        assert_eq!(file.token().await.expect("a token").expose(), "two");
        assert_eq!(command.token().await.expect("a token").expose(), "one");
        command.refused().await;
        assert_eq!(command.token().await.expect("a token").expose(), "two");
    }

    #[tokio::test]
    async fn what_is_missing_is_named() {
        let file = TokenSource::File(PathBuf::from("/nowhere/token"));
        assert!(file.token().await.expect_err("nothing there").to_string().contains("/nowhere/token"));
        let command = TokenSource::command("exit 3".to_owned());
        assert!(command.token().await.expect_err("it fails").to_string().contains("exit status: 3"));
    }
}
