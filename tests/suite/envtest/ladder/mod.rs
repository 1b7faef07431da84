//! A console with nothing but a kubeconfig carries on where its control plane died: the journal, the Kura servers and the
//! nodes are in one real cluster.

mod night;
mod kura;
mod fleet;
mod long;
mod who;
