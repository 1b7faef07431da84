//! The name of a content, and how much one may hold.

use sha2::{Digest as _, Sha256};

use crate::domain::release::Digest;

/// Bytes of one content; a larger one is refused.
pub const CONTENT_MAX: usize = 16 * 1_024 * 1_024;

/// Larger than `CONTENT_MAX`.
#[derive(Debug, thiserror::Error)]
#[error("a content of {0} bytes is larger than the {CONTENT_MAX} that are allowed")]
pub struct TooLarge(pub usize);

/// SHA-256 in lower-case hex.
pub fn digest_of(content: &[u8]) -> Digest {
    let hash = Sha256::digest(content);
    Digest(hash.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// False for anything `digest_of` never returns: such a name must not become a path.
pub fn is_digest(digest: &Digest) -> bool {
    digest.0.len() == 64 && digest.0.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_the_documented_hash_and_nothing_else_is_one() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(digest_of(b"").0, empty);
        assert!(is_digest(&digest_of(b"x")));
        for name in ["", "../../etc/passwd", &empty.to_uppercase(), &empty[1..]] {
            assert!(!is_digest(&Digest(name.to_owned())), "{name}");
        }
    }
}
