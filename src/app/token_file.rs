//! The file of tokens that `serve` lets in: reading it, and making the first one.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::server::tokens::{NewToken, TokenRole, Tokens, default_account, file_of};
use crate::wire::problem::{Problem, ProblemKind};

/// The largest file that is read, in bytes.
pub const FILE_MAX: u64 = 256 * 1024 * 1024;

/// Reads the file. Every problem says what to do about it.
pub fn read(path: &Path) -> Result<Tokens, Problem> {
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => missing(path),
        _ => unfit(path, &format!("cannot be read: {error}")),
    };
    let found = fs::metadata(path).map_err(unreadable)?;
    if !found.is_file() {
        return Err(unfit(path, "is no file"));
    }
    if found.len() > FILE_MAX {
        return Err(unfit(path, "is too large to be a list of tokens"));
    }
    let text = fs::read_to_string(path).map_err(unreadable)?;
    Tokens::parse(&text).map_err(|error| {
        let place = match error.line {
            0 => path.display().to_string(),
            line => format!("{}:{line}", path.display()),
        };
        Problem::new(ProblemKind::Usage, "tokens", format!("the tokens in {place} cannot be used: {}", error.problem))
            .hint("an entry looks like this: {name: ann, role: operator, account: default, sha256: \"...\"}")
            .hint("the digest of a token: printf %s TOKEN | sha256sum")
    })
}

/// Whether the file is still to be made; a problem where it never can be.
pub fn is_to_be_made(path: &Path) -> Result<bool, Problem> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !directory.is_dir() {
        return Err(unfit(path, &format!("cannot be made: {} is no directory", directory.display())));
    }
    Ok(!path.exists())
}

/// Makes the file with one token per role, for its owner alone, unless it is there already. Returns the tokens; there
/// is no second chance to see them.
pub fn create(path: &Path) -> Result<Option<Vec<NewToken>>, Problem> {
    let account = default_account();
    let name = |role: TokenRole| if role == TokenRole::Agent { "agents" } else { role.word() };
    let tokens: Vec<NewToken> = TokenRole::ALL.map(|role| NewToken::make(name(role), role, &account)).into();
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let written = match file {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
        Err(error) => Err(error),
        Ok(mut file) => file.write_all(file_of(&tokens).as_bytes()).and_then(|()| file.sync_all()),
    };
    match written {
        Ok(()) => Ok(Some(tokens)),
        Err(error) => Err(unfit(path, &format!("cannot be written: {error}"))),
    }
}

fn missing(path: &Path) -> Problem {
    problem(path, "does not exist")
        .hint("make it, with one token per role that is printed once: add --create-tokens to this command")
}

fn unfit(path: &Path, what: &str) -> Problem {
    problem(path, what).hint("name a file in a directory that this user may read and write: --tokens FILE")
}

fn problem(path: &Path, what: &str) -> Problem {
    Problem::new(ProblemKind::Usage, "tokens", format!("the tokens file {} {what}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_new_file_is_private_and_lets_its_tokens_in() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.yaml");
        assert!(read(&path).unwrap_err().hints[0].contains("--create-tokens"));
        let made = create(&path).unwrap().unwrap();
        assert_eq!(made.len(), 4);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let tokens = read(&path).unwrap();
        assert!(made.iter().all(|token| tokens.find(&token.secret).is_some()));
        assert!(create(&path).unwrap().is_none(), "a file that is there stays as it is");
    }

    #[test]
    fn a_wrong_file_is_named_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.yaml");
        fs::write(&path, "- name: ann\n  role: boss\n  sha256: x\n").unwrap();
        let problem = read(&path).unwrap_err();
        assert!(problem.message.contains("tokens.yaml:2"), "{problem}");
        assert!(read(folder.path()).unwrap_err().message.contains("no file"));
    }
}
