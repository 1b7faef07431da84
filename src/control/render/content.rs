//! The content of a release: a folder in canonical form, the same bytes wherever it is built.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One file of a release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleaseFile {
    /// Relative to the folder, with forward slashes.
    pub path: String,
    /// Text.
    pub content: String,
}

/// All files, sorted by the bytes of their paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleaseContent {
    /// Never empty.
    pub files: Vec<ReleaseFile>,
}

impl ReleaseContent {
    /// From files by path.
    pub fn of(files: BTreeMap<String, String>) -> Self {
        Self { files: files.into_iter().map(|(path, content)| ReleaseFile { path, content }).collect() }
    }

    /// Reads what `canonical` wrote; none where the bytes are something else, which then is served as it is.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    /// The bytes that are kept in the Vault: `{"files":[{"path":...,"content":...}]}` without white space.
    pub fn canonical(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_canonical_form_is_fixed() {
        let file = |path: &str, content: &str| (path.to_owned(), content.to_owned());
        let content = ReleaseContent::of([file("top.sls", "base: {}\n"), file("a/b.sls", "é\"")].into());
        let expected = r#"{"files":[{"path":"a/b.sls","content":"é\""},{"path":"top.sls","content":"base: {}\n"}]}"#;
        assert_eq!(String::from_utf8(content.canonical().unwrap()).unwrap(), expected);
    }
}
