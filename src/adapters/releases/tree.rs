//! The files of a commit: listed first, judged by the list alone, and only then read.

use std::collections::BTreeMap;

use super::fault::ReleaseFault;
use super::folder::{RELEASE_BYTES_MAX, RELEASE_DEPTH_MAX, RELEASE_FILES_MAX};
use super::git::{Git, GitFault, Reading};
use super::repository_fault::RepositoryFault;

/// Bytes of the list of files of a commit.
const LIST_BYTES_MAX: u64 = 8 * 1_024 * 1_024;

/// Bytes around each file when many are read at once: its name, its kind and its size.
const FRAME_BYTES_MAX: u64 = 128;

/// How a file begins that git-lfs keeps elsewhere.
const LFS_POINTER: &str = "version https://git-lfs.github.com/spec/";

/// A file that was listed.
struct Listed {
    path: String,
    blob: String,
    size: u64,
}

/// Reads the files of a commit by path; refuses what cannot be part of a release.
pub(super) async fn files(git: &Git, commit: &str, git_ref: &str) -> Result<BTreeMap<String, String>, RepositoryFault> {
    let arguments = ["ls-tree", "-r", "-z", "-l", "--full-tree", commit];
    let reading = Reading { arguments: &arguments, input: Vec::new(), output_max: LIST_BYTES_MAX };
    let list = git.read(reading).await.map_err(|fault| match fault {
        GitFault::TooMuch(_) => too_large(git_ref, format!("more than {RELEASE_FILES_MAX} files")).into(),
        other => RepositoryFault::reading(other),
    })?;
    let listed = judged(&list, git_ref)?;
    if listed.is_empty() {
        return Err(ReleaseFault::Empty(git_ref.to_owned()).into());
    }
    texts(git, listed, git_ref).await
}

/// The files on a list of `MODE TYPE BLOB SIZE\tPATH`, each ended by a zero byte.
fn judged(list: &[u8], git_ref: &str) -> Result<Vec<Listed>, ReleaseFault> {
    let mut listed = Vec::new();
    let mut bytes = 0;
    for line in list.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
        let file = judge(line, git_ref)?;
        bytes += file.size;
        if bytes > RELEASE_BYTES_MAX {
            return Err(too_large(git_ref, format!("more than {} MiB", RELEASE_BYTES_MAX / 1_024 / 1_024)));
        }
        if listed.len() == RELEASE_FILES_MAX {
            return Err(too_large(git_ref, format!("more than {RELEASE_FILES_MAX} files")));
        }
        listed.push(file);
    }
    Ok(listed)
}

fn judge(line: &[u8], git_ref: &str) -> Result<Listed, ReleaseFault> {
    let bad = |file: &str, reason: &str| {
        Err(ReleaseFault::File { git_ref: git_ref.to_owned(), file: file.to_owned(), reason: reason.to_owned() })
    };
    let Ok(text) = std::str::from_utf8(line) else {
        return bad(&String::from_utf8_lossy(line), "has a name that is not UTF-8");
    };
    let Some((about, path)) = text.split_once('\t') else { return bad(text, "is listed in a way nobody understands") };
    let mut about = about.split_ascii_whitespace();
    let (mode, _, blob, size) = (about.next(), about.next(), about.next(), about.next());
    match mode {
        Some("100644" | "100755" | "100664") => {}
        Some("120000") => return bad(path, "is a symbolic link"),
        Some("160000") => return bad(path, "is a submodule"),
        _ => return bad(path, "is neither a file nor a folder"),
    }
    if path.split('/').count() > RELEASE_DEPTH_MAX {
        return Err(too_large(git_ref, format!("folders are nested deeper than {RELEASE_DEPTH_MAX}")));
    }
    if !is_safe(path) {
        return bad(path, "has a path that could lead out of the release");
    }
    let (Some(blob), Some(Ok(size))) = (blob, size.map(str::parse)) else { return bad(path, "has no size") };
    Ok(Listed { path: path.to_owned(), blob: blob.to_owned(), size })
}

/// A path that stays inside wherever an agent unpacks it.
fn is_safe(path: &str) -> bool {
    let safe = |part: &str| !matches!(part, "" | "." | "..") && !part.eq_ignore_ascii_case(".git");
    path.split('/').all(safe) && !path.contains('\\') && !path.chars().any(char::is_control)
}

/// The texts of the files, all from one process.
async fn texts(git: &Git, listed: Vec<Listed>, git_ref: &str) -> Result<BTreeMap<String, String>, RepositoryFault> {
    let input: String = listed.iter().map(|file| format!("{}\n", file.blob)).collect();
    let output_max = listed.iter().map(|file| file.size + FRAME_BYTES_MAX).sum();
    let reading = Reading { arguments: &["cat-file", "--batch"], input: input.into_bytes(), output_max };
    let read = git.read(reading).await.map_err(RepositoryFault::reading)?;
    let mut rest = read.as_slice();
    let mut texts = BTreeMap::new();
    for file in listed {
        let Some((content, after)) = framed(rest, &file) else {
            return Err(RepositoryFault::Mirror(format!("{} is not what it was listed as", file.path)));
        };
        rest = after;
        texts.insert(file.path.clone(), text(content, file.path, git_ref)?);
    }
    Ok(texts)
}

/// One answer of `cat-file --batch`: `BLOB blob SIZE\nCONTENT\n`.
fn framed<'a>(read: &'a [u8], file: &Listed) -> Option<(&'a [u8], &'a [u8])> {
    let head = format!("{} blob {}\n", file.blob, file.size);
    let body = read.strip_prefix(head.as_bytes())?;
    let (content, after) = body.split_at_checked(usize::try_from(file.size).ok()?)?;
    Some((content, after.strip_prefix(b"\n")?))
}

fn text(content: &[u8], path: String, git_ref: &str) -> Result<String, ReleaseFault> {
    let bad = |file: String, reason: &str| {
        Err(ReleaseFault::File { git_ref: git_ref.to_owned(), file, reason: reason.to_owned() })
    };
    match std::str::from_utf8(content) {
        Ok(text) if text.starts_with(LFS_POINTER) => bad(path, "is kept by git-lfs, which is not read here"),
        Ok(text) => Ok(text.to_owned()),
        Err(_) => bad(path, "is not text in UTF-8"),
    }
}

fn too_large(git_ref: &str, what: String) -> ReleaseFault {
    ReleaseFault::TooLarge { git_ref: git_ref.to_owned(), what }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> String {
        judge(line.as_bytes(), "v1").map_or_else(|fault| fault.to_string(), |file| file.path)
    }

    #[test]
    fn links_submodules_and_paths_that_lead_out_are_refused_by_the_list_alone() {
        assert_eq!(said("100644 blob abc      12\tk8s/upgrade.sls"), "k8s/upgrade.sls");
        assert_eq!(said("120000 blob abc 12\tlink"), "`link` in the release `v1` is a symbolic link");
        assert_eq!(said("160000 commit abc -\tsub"), "`sub` in the release `v1` is a submodule");
        for path in ["../x", "a/../b", "/etc/passwd", "a//b", ".git/config", "a/.GIT/x", "a\\b", "a\u{1}b"] {
            assert!(said(&format!("100644 blob abc 1\t{path}")).contains("could lead out"), "{path}");
        }
    }

    #[test]
    fn what_is_too_large_is_never_read() {
        let huge = format!("100644 blob abc {}\tbig\0", RELEASE_BYTES_MAX + 1);
        assert!(matches!(judged(huge.as_bytes(), "v1"), Err(ReleaseFault::TooLarge { .. })));
        let many: String = (0..=RELEASE_FILES_MAX).map(|n| format!("100644 blob abc 0\tf{n}\0")).collect();
        assert!(matches!(judged(many.as_bytes(), "v1"), Err(ReleaseFault::TooLarge { .. })));
        let deep = vec!["d"; RELEASE_DEPTH_MAX + 1].join("/");
        assert!(said(&format!("100644 blob abc 1\t{deep}")).contains("nested deeper"));
    }
}
