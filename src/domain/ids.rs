//! Names of things: one uuid type per noun, so that a ring can never be passed for a machine.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! identity {
    ($(#[$doc:meta])* $name:ident, $kind:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// The identity that a scenario, a preset or a test gives to the thing it calls `name`:
            /// UUIDv5 of `kura:KIND:NAME` in the URL namespace, the same in every process.
            pub fn named(name: &str) -> Self {
                Self(Uuid::new_v5(&Uuid::NAMESPACE_URL, format!(concat!("kura:", $kind, ":{}"), name).as_bytes()))
            }

            /// The first eight hex digits, for people who compare two of them by eye.
            pub fn short(&self) -> String {
                self.0.simple().to_string().chars().take(8).collect()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }
    };
}

identity!(
    /// A tenancy of the control plane: one World, one journal.
    AccountId,
    "account"
);
identity!(
    /// A tier of machines with a place in the promotion order.
    EnvironmentId,
    "environment"
);
identity!(
    /// A partition of machines with its own slots, ladder and failure threshold.
    RingId,
    "ring"
);
identity!(
    /// A machine that runs an agent.
    MachineId,
    "machine"
);
identity!(
    /// An immutable set of configuration content.
    ReleaseId,
    "release"
);
identity!(
    /// One run of a release through the environments.
    RolloutId,
    "rollout"
);

identity!(
    /// One value of a secret, under which the Vault keeps it.
    SecretVersion,
    "secret-version"
);

identity!(
    /// A Kura server: a tenant in a region.
    ServerId,
    "server"
);
identity!(
    /// One attempt to bring a Kura server to a runtime tag.
    DeploymentId,
    "deployment"
);

identity!(
    /// One way of an image through a fleet of nodes.
    RollId,
    "roll"
);

/// Position in the journal of an account: the number of changes before and including this one.
pub type Revision = u64;

/// Counts the starts and resets of an account; a run belongs to the generation it was served in (R63).
pub type Generation = u64;

/// Counts the times the reconciler's seat changed hands; append refuses a tick's changes from an older one.
pub type Epoch = u64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_identities_are_the_documented_uuids() {
        let expected = Uuid::new_v5(&Uuid::NAMESPACE_URL, b"kura:machine:ash");
        assert_eq!(MachineId::named("ash").0, expected);
        assert_ne!(RingId::named("ash").0, expected);
        assert_eq!(MachineId::named("ash").short().len(), 8);
    }
}
