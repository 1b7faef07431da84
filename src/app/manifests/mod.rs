//! The way to run: manifests. What a Kubernetes cluster needs to run the control plane, as YAML.

pub mod args;
pub mod rights;
mod workload;
mod entrance;
pub mod run;
