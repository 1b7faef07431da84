//! Generated estates: Kura servers, releases, people, controllers, kubelets and other hands, and what goes wrong with them.

// What happens.
pub mod acts;
pub mod generate;

// What must be true.
pub(super) mod steps;
pub(super) mod heal;
