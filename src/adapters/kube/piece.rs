//! Pieces: what is compressed, cut so that an object takes it, and found again by a name that tells what is in it.

use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use sha2::{Digest, Sha256};

/// Bytes of one object. Kubernetes takes a mebibyte, with names and labels, after they are written as base64 where a
/// request is logged or proxied: well below it.
pub const PIECE_MAX: usize = 700 * 1_024;

/// Bytes that one compressed whole may come to when it is read: what claims more is not ours.
pub const WHOLE_MAX: usize = 256 * 1_024 * 1_024;

/// Fast enough for every append, and most of what there is to gain.
const EFFORT: u8 = 4;

/// Compresses.
pub fn packed(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec_zlib(bytes, EFFORT)
}

/// The way back.
pub fn unpacked(bytes: &[u8]) -> Result<Vec<u8>, String> {
    decompress_to_vec_zlib_with_limit(bytes, WHOLE_MAX).map_err(|error| format!("it is damaged: {error}"))
}

/// Sixteen hex digits that tell one content from another.
pub fn seal(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back_and_what_is_damaged_says_so() {
        let text = "{\"kind\":\"tick\"}\n".repeat(1_000);
        let small = packed(text.as_bytes());
        assert!(small.len() * 10 < text.len());
        assert_eq!(unpacked(&small).unwrap(), text.as_bytes());
        let mut damaged = small.clone();
        let middle = damaged.len() / 2;
        damaged[middle] ^= 0x55;
        assert!(unpacked(&damaged).is_err());
        assert_ne!(seal(&small), seal(&damaged));
    }
}
