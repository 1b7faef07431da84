//! The source files of the project, as the other tests of the house read them.

use std::fs;
use std::path::{Path, PathBuf};

/// One file of `src/` or `tests/`, with its path from the root of the project.
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) text: String,
}

impl Source {
    /// Lines that are code: no comments, no blank lines. A comment at the end of a line is cut off.
    pub(super) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text.lines().enumerate().map(|(n, line)| (n + 1, line));
        lines
            .map(|(n, line)| (n, line.split(" //").next().unwrap_or(line).trim()))
            .filter(|(_, line)| !line.is_empty() && !line.starts_with("//"))
    }

    /// True for the tests beside the code, which may use what the code may not.
    pub(super) fn is_test(&self) -> bool {
        self.path.starts_with("tests")
            || self.path.components().any(|part| part.as_os_str() == "tests")
            || self.path.file_name().is_some_and(|name| name == "tests.rs")
    }
}

pub(super) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file below `folder`, in order of path.
pub(super) fn below(folder: &str) -> Vec<Source> {
    let mut found = Vec::new();
    collect(&root().join(folder), &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// True where a test of that name stands in the file its path names: `lib` is below `src`, `suite` below `tests/suite`.
pub(super) fn is_test(kind: &str, path: &str) -> bool {
    let mut steps: Vec<&str> = path.split("::").collect();
    let Some(test) = steps.pop() else { return false };
    let folder = root().join(if kind == "lib" { "src" } else { "tests/suite" });
    let beside = steps.len().saturating_sub(1);
    let files = [&steps[..], &steps[..beside]].map(|steps| folder.join(steps.join("/")));
    let files = files.into_iter().flat_map(|stem| [stem.with_extension("rs"), stem.join("mod.rs")]);
    let declared = format!("fn {test}()");
    files.into_iter().any(|file| fs::read_to_string(file).is_ok_and(|text| text.contains(&declared)))
}

fn collect(folder: &Path, found: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let path = path.strip_prefix(root()).unwrap_or(&path).to_path_buf();
            found.push(Source { path, text });
        }
    }
}
