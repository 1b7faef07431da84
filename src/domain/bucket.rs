//! The hash that orders a queue and elects a wave: new for every release, the same across a reset (R32, R33).

use sha2::{Digest, Sha256};

use super::ids::{MachineId, ReleaseId};

/// First eight bytes of SHA-256(`release:machine`), big-endian, modulo 100: 0..=99.
pub fn bucket(release: ReleaseId, machine: MachineId) -> u8 {
    let hash = Sha256::digest(format!("{release}:{machine}").as_bytes());
    let head = hash.iter().take(8).fold(0_u64, |sum, byte| (sum << 8) | u64::from(*byte));
    u8::try_from(head % 100).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_fixed_for_a_pair_and_new_for_another_release() {
        // R32, R33
        let (v1, v2) = (ReleaseId::named("v1"), ReleaseId::named("v2"));
        let machines: Vec<_> = (0..200).map(|n| MachineId::named(&format!("m{n}"))).collect();
        let first: Vec<u8> = machines.iter().map(|m| bucket(v1, *m)).collect();
        let again: Vec<u8> = machines.iter().map(|m| bucket(v1, *m)).collect();
        let other: Vec<u8> = machines.iter().map(|m| bucket(v2, *m)).collect();
        assert_eq!(first, again);
        assert_ne!(first, other);
        assert!(first.iter().all(|b| *b < 100));
        let hash = Sha256::digest(format!("{v1}:{}", machines[0]).as_bytes());
        let head = u64::from_be_bytes(hash[..8].try_into().unwrap());
        assert_eq!(u64::from(first[0]), head % 100);
    }
}
