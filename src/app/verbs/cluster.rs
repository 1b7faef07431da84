//! Verbs on what stands in the cluster: gateways nobody uses, finalizers nobody answers for, instances nobody claims.

use super::aim::{Aim, Aimed, Deed};
use super::kura::deed;
use crate::domain::kura::verb::KuraVerb;
use crate::domain::world::World;
use crate::wire::problem::Problem;

/// A gateway that is deleted.
#[derive(Debug, Clone, clap::Args)]
pub struct DeleteGateway {
    /// Its name, as kura-console gateways lists it.
    gateway: String,
}

/// A finalizer that is taken off.
#[derive(Debug, Clone, clap::Args)]
pub struct StripFinalizer {
    /// The gateway or instance that is stuck in its deletion, by name.
    name: String,
    /// Which finalizer; has to be said where there are several.
    #[arg(long, value_name = "NAME")]
    finalizer: Option<String>,
}

/// An instance that is deleted.
#[derive(Debug, Clone, clap::Args)]
pub struct DeleteOrphan {
    /// Its name, as kura-console orphans lists it.
    instance: String,
}

/// Another cluster that everything is in from now on.
#[derive(Debug, Clone, clap::Args)]
pub struct AcceptCluster {
    /// Its uid, as the control plane says where it is not the cluster it knows.
    uid: String,
}

/// What has no identity but its name.
fn named(kind: &'static str, name: &str) -> Aimed {
    Aimed { kind, name: name.to_owned(), uuid: None }
}

impl Aim for DeleteGateway {
    fn verb(&self) -> &'static str {
        "delete-gateway"
    }

    fn aim(&self, _: &World) -> Result<(Deed, Aimed), Problem> {
        Ok((deed(KuraVerb::DeleteGateway { name: self.gateway.clone() }), named("gateway", &self.gateway)))
    }
}

impl Aim for StripFinalizer {
    fn verb(&self) -> &'static str {
        "strip-finalizer"
    }

    fn aim(&self, _: &World) -> Result<(Deed, Aimed), Problem> {
        let (name, finalizer) = (self.name.clone(), self.finalizer.clone());
        Ok((deed(KuraVerb::StripFinalizer { name, finalizer }), named("object", &self.name)))
    }
}

impl Aim for DeleteOrphan {
    fn verb(&self) -> &'static str {
        "delete-orphan"
    }

    fn aim(&self, _: &World) -> Result<(Deed, Aimed), Problem> {
        Ok((deed(KuraVerb::DeleteOrphan { name: self.instance.clone() }), named("instance", &self.instance)))
    }
}

impl Aim for AcceptCluster {
    fn verb(&self) -> &'static str {
        "accept-cluster"
    }

    fn aim(&self, _: &World) -> Result<(Deed, Aimed), Problem> {
        Ok((deed(KuraVerb::AcceptCluster { uid: self.uid.clone() }), named("cluster", &self.uid)))
    }
}
