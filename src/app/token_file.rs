//! The file of tokens that `serve` lets in: reading it, and making the first one.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::server::tokens::{self, NewToken, TokenEntry, TokenRole, Tokens, TokensError, default_account, file_of};
use crate::wire::problem::{Problem, ProblemKind};

/// The largest file that is read, in bytes.
pub const FILE_MAX: u64 = 256 * 1024 * 1024;

/// Reads the file. Every problem says what to do about it.
pub fn read(path: &Path) -> Result<Tokens, Problem> {
    Tokens::parse(&text(path)?).map_err(|error| unusable(path, &error))
}

fn text(path: &Path) -> Result<String, Problem> {
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
    fs::read_to_string(path).map_err(unreadable)
}

fn unusable(path: &Path, error: &TokensError) -> Problem {
    let place = match error.line {
        0 => path.display().to_string(),
        line => format!("{}:{line}", path.display()),
    };
    Problem::new(ProblemKind::Usage, "tokens", format!("the tokens in {place} cannot be used: {}", error.problem))
        .hint("an entry looks like this: {name: ann, role: operator, account: default, sha256: \"...\"}")
        .hint("the digest of a token: printf %s TOKEN | sha256sum")
}

/// What the file lists, in its own order.
pub fn entries(path: &Path) -> Result<Vec<TokenEntry>, Problem> {
    let text = text(path)?;
    parsed(path, &text).map(|entries| entries.into_iter().map(|(_, entry)| entry).collect())
}

fn parsed(path: &Path, text: &str) -> Result<Vec<(u64, TokenEntry)>, Problem> {
    Tokens::parse(text).and_then(|_| tokens::entries(text)).map_err(|error| unusable(path, &error))
}

/// Adds an entry at the end of the file, which is made where it does not exist. Nothing else of it changes.
pub fn add(path: &Path, entry: &TokenEntry) -> Result<(), Problem> {
    if is_to_be_made(path)? {
        return save(path, &entry.yaml(), std::slice::from_ref(entry));
    }
    let mut text = text(path)?;
    let known = parsed(path, &text)?;
    if known.iter().any(|(_, other)| (&other.name, &other.account) == (&entry.name, &entry.account)) {
        let message = format!("{} of account {} has a token already", entry.name, entry.account);
        return Err(Problem::new(ProblemKind::Conflict, "token_exists", message)
            .hint("choose another name, or revoke that one first"));
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text += &match tokens::is_json_lines(&text) {
        true => serde_json::to_string(entry).unwrap_or_default() + "\n",
        false => entry.yaml(),
    };
    let wanted: Vec<TokenEntry> = known.into_iter().map(|(_, entry)| entry).chain([entry.clone()]).collect();
    save(path, &text, &wanted)
}

/// Takes an entry out. Nothing else of the file changes.
pub fn remove(path: &Path, name: &str, account: &str) -> Result<(), Problem> {
    let text = text(path)?;
    let known = parsed(path, &text)?;
    let place = known.iter().position(|(_, entry)| entry.name == name && entry.account == account);
    let Some(place) = place else {
        return Err(Problem::new(
            ProblemKind::NotFound,
            "no_token",
            format!("{name} of account {account} has no token"),
        )
        .hint("list them: kura-console token list"));
    };
    if known.len() == 1 {
        return Err(Problem::new(ProblemKind::Conflict, "last_token", "it is the only token: nobody could come in")
            .hint("make another one first: kura-console token create"));
    }
    let begins = |n: usize| known.get(n).map_or(u64::MAX, |(line, _)| *line);
    let (first, next) = (begins(place), begins(place + 1));
    let kept: String =
        (1..).zip(text.split_inclusive('\n')).filter(|(n, _)| *n < first || *n >= next).map(|(_, l)| l).collect();
    let wanted: Vec<TokenEntry> =
        known.iter().enumerate().filter(|(n, _)| *n != place).map(|(_, (_, entry))| entry.clone()).collect();
    if tokens::entries(&kept).is_ok_and(|entries| entries.iter().map(|(_, entry)| entry).eq(&wanted)) {
        return save(path, &kept, &wanted);
    }
    // Entries that share a line with others cannot be cut out by lines.
    save(path, &wanted.iter().map(TokenEntry::yaml).collect::<String>(), &wanted)
}

/// Replaces the file in one piece, after a look whether it would say what it is meant to say.
fn save(path: &Path, text: &str, wanted: &[TokenEntry]) -> Result<(), Problem> {
    let entries = parsed(path, text)?;
    if !entries.iter().map(|(_, entry)| entry).eq(wanted) {
        return Err(unfit(path, "cannot be changed without losing something: change it by hand"));
    }
    let aside = path.with_extension(format!("{}.new", std::process::id()));
    let write = || -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&aside)?;
        if let Ok(before) = fs::metadata(path) {
            file.set_permissions(before.permissions())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&aside, path)
    };
    write().map_err(|error| {
        let _ = fs::remove_file(&aside);
        unfit(path, &format!("cannot be written: {error}"))
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
    fn entries_come_and_go_and_everything_else_stays_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.yaml");
        let of = |name: &str, role| NewToken::make(name, role, "default").entry;
        add(&path, &of("ann", TokenRole::Owner)).unwrap();
        fs::write(&path, format!("# ours\n{}# the others\n", fs::read_to_string(&path).unwrap())).unwrap();
        add(&path, &of("on: call", TokenRole::Viewer)).unwrap();
        add(&path, &of("yes", TokenRole::Operator)).unwrap();
        let names = || entries(&path).unwrap().into_iter().map(|entry| entry.name).collect::<Vec<_>>();
        assert_eq!(names(), ["ann", "on: call", "yes"]);
        assert_eq!(add(&path, &of("ann", TokenRole::Viewer)).unwrap_err().code, "token_exists");
        remove(&path, "on: call", "default").unwrap();
        assert_eq!(remove(&path, "on: call", "default").unwrap_err().code, "no_token");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# ours\n") && text.contains("# the others"), "{text}");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        remove(&path, "yes", "default").unwrap();
        assert_eq!(remove(&path, "ann", "default").unwrap_err().code, "last_token");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn json_lines_and_entries_on_one_line_are_kept_up_as_well() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let made = ["ann", "bob", "eve"].map(|name| NewToken::make(name, TokenRole::Viewer, "default").entry);
        let lines: String = made[..2].iter().map(|entry| serde_json::to_string(entry).unwrap() + "\n").collect();
        for text in [lines, serde_json::to_string(&made[..2]).unwrap()] {
            fs::write(&path, text).unwrap();
            if add(&path, &made[2]).is_ok() {
                remove(&path, "eve", "default").unwrap();
            }
            remove(&path, "ann", "default").unwrap();
            assert_eq!(entries(&path).unwrap(), made[1..2]);
        }
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
