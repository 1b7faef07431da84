//! Technology behind the ports. Siblings do not see each other.
