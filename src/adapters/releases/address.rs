//! The address of a repository: a path or a URL, and what of it may be shown.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::repository_fault::RepositoryFault;

/// Transports that fetch and run nothing.
const SCHEMES: [&str; 5] = ["https", "http", "ssh", "git", "file"];

/// Where a repository is. A password in it is neither shown nor printed for debugging.
#[derive(Clone)]
pub struct Address {
    whole: OsString,
    shown: String,
    password: Option<String>,
    is_local: bool,
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Address").field(&self.shown).finish()
    }
}

impl Address {
    /// Reads `PATH`, `https://HOST/PATH`, `ssh://...` or `USER@HOST:PATH`. A path must exist.
    pub fn parse(text: &str) -> Result<Self, RepositoryFault> {
        let not_one = || RepositoryFault::NotAnAddress(without_password(text).0);
        if text.is_empty() || text.starts_with('-') || text.chars().any(char::is_control) {
            return Err(not_one());
        }
        if let Some((scheme, rest)) = text.split_once("://") {
            let known = SCHEMES.contains(&scheme) && !rest.is_empty() && !rest.starts_with('-');
            return if known { Ok(Self::remote(text)) } else { Err(not_one()) };
        }
        if is_host_and_path(text) {
            return Ok(Self::remote(text));
        }
        let path = std::fs::canonicalize(Path::new(text)).map_err(|_| not_one())?;
        let shown = path.display().to_string();
        Ok(Self { whole: path.into_os_string(), shown, password: None, is_local: true })
    }

    fn remote(text: &str) -> Self {
        let (shown, password) = without_password(text);
        Self { whole: text.into(), shown, password, is_local: false }
    }

    /// For git alone.
    pub(super) fn whole(&self) -> &OsStr {
        &self.whole
    }

    /// True for a path on this host.
    pub fn is_local(&self) -> bool {
        self.is_local
    }

    /// For people.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// What git said, fit to be shown.
    pub(super) fn redact(&self, said: &str) -> String {
        match &self.password {
            Some(password) => said.replace(password.as_str(), "***"),
            None => said.to_owned(),
        }
    }
}

/// `HOST:PATH` or `USER@HOST:PATH`, as ssh takes it; a double colon would name a helper program.
fn is_host_and_path(text: &str) -> bool {
    let Some((host, path)) = text.split_once(':') else { return false };
    !host.is_empty() && !host.contains('/') && !path.is_empty() && !path.starts_with(':')
}

/// The text with its user information taken down to the user's name, and the password that stood there. A user's name
/// alone over HTTP is a token more often than not.
fn without_password(text: &str) -> (String, Option<String>) {
    let whole = || (text.to_owned(), None);
    let Some((scheme, rest)) = text.split_once("://") else { return whole() };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let Some((user, host)) = authority.rsplit_once('@') else { return whole() };
    match user.split_once(':') {
        Some((name, password)) => (format!("{scheme}://{name}@{host}{path}"), Some(password.to_owned())),
        None if scheme.starts_with("http") => (format!("{scheme}://{host}{path}"), Some(user.to_owned())),
        None => whole(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_for_git_alone() {
        let address = Address::parse("https://bot:hunter2hunter2@git.example.com/fleet.git").unwrap();
        assert_eq!(address.shown(), "https://bot@git.example.com/fleet.git");
        assert_eq!(address.whole(), "https://bot:hunter2hunter2@git.example.com/fleet.git");
        assert_eq!(address.redact("no 'https://bot:hunter2hunter2@git'"), "no 'https://bot:***@git'");
        assert!(!format!("{address:?}").contains("hunter2"));
        let token = Address::parse("https://ghp_abcdef@git.example.com/fleet.git").unwrap();
        assert_eq!(token.shown(), "https://git.example.com/fleet.git");
    }

    #[test]
    fn what_could_be_an_option_or_a_helper_is_no_address() {
        let odd = [
            "",
            "-u",
            "--upload-pack=x",
            "ext::sh -c id",
            "ftp://x/y",
            "ssh://-oProxyCommand=x/y",
            "/nowhere/at/all",
            "a\nb",
        ];
        for text in odd {
            assert!(matches!(Address::parse(text), Err(RepositoryFault::NotAnAddress(_))), "{text}");
        }
        for text in ["git@git.example.com:fleet.git", "ssh://git@host/x", "file:///tmp", "."] {
            assert!(Address::parse(text).is_ok(), "{text}");
        }
    }
}
