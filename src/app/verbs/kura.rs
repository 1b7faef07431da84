//! Verbs on Kura servers: add, configure, move, deploy, force, destroy; and on runtime tags.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::aim::{Aim, Aimed, Deed, nothing_to_change};
use super::names::Names;
use crate::domain::ids::ServerId;
use crate::domain::input::Verb;
use crate::domain::kura::refusal::KuraRefusal;
use crate::domain::kura::server::{GatewayMode, MovePhase, ServerSpec};
use crate::domain::kura::verb::KuraVerb;
use crate::domain::refusal::Refusal;
use crate::domain::world::World;
use crate::wire::problem::Problem;

/// How requests reach a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Gateway {
    /// The gateway of its region, which many share.
    Shared,
    /// A gateway of its own.
    Dedicated,
    /// A port of its node; no ingress.
    NodePort,
}

/// Whether a server is being moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Phase {
    /// It is not, or no longer: the next tick schedules the newest tag.
    None,
    /// It warms up on the image of the server it takes over from.
    MovingIn,
    /// Another one takes over from it.
    MovingOut,
}

/// What is configured of a server; what is left out stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
struct Settings {
    /// Pods.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    replicas: Option<u32>,
    /// Host name of its public endpoint.
    #[arg(long, value_name = "HOST")]
    public_host: Option<String>,
    /// Size of its claims, such as 20Gi.
    #[arg(long, value_name = "SIZE")]
    storage_size: Option<String>,
    /// Storage class of its claims.
    #[arg(long, value_name = "NAME")]
    storage_class: Option<String>,
    /// How requests reach it.
    #[arg(long, value_enum)]
    gateway: Option<Gateway>,
    /// Repository its image is pulled from.
    #[arg(long, value_name = "NAME")]
    image_repository: Option<String>,
    /// Whether it has a public endpoint.
    #[arg(long, value_name = "YES", value_parser = clap::value_parser!(bool))]
    private: Option<bool>,
    /// Whether it listens on the network of its node.
    #[arg(long, value_name = "YES", value_parser = clap::value_parser!(bool))]
    host_network: Option<bool>,
    /// Whether it belongs to the mesh of its tenant's servers.
    #[arg(long, value_name = "YES", value_parser = clap::value_parser!(bool))]
    mesh: Option<bool>,
    /// Set an environment variable; never a secret. An empty value takes it out.
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    env: Vec<(String, String)>,
    /// Nodes it may run on, by a label. An empty value takes it out.
    #[arg(long, value_name = "LABEL=VALUE", value_parser = pair)]
    node_selector: Vec<(String, String)>,
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write it as NAME=VALUE".to_owned()),
    }
}

impl Settings {
    /// What is configured with these over it.
    fn over(&self, mut spec: ServerSpec) -> ServerSpec {
        set(&mut spec.replicas, self.replicas);
        set(&mut spec.public_host, self.public_host.clone().map(Some));
        set(&mut spec.storage_size, self.storage_size.clone());
        set(&mut spec.storage_class, self.storage_class.clone().map(Some));
        set(&mut spec.image_repository, self.image_repository.clone().map(Some));
        set(&mut spec.private, self.private);
        set(&mut spec.public_host_network, self.host_network);
        set(&mut spec.mesh, self.mesh);
        let mode = self.gateway.map(|gateway| match gateway {
            Gateway::Shared => GatewayMode::Shared,
            Gateway::Dedicated => GatewayMode::Dedicated,
            Gateway::NodePort => GatewayMode::NodePort,
        });
        set(&mut spec.gateway, mode);
        put(&mut spec.extra_env, &self.env);
        put(&mut spec.node_selector, &self.node_selector);
        spec
    }
}

fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

fn put(map: &mut BTreeMap<String, String>, pairs: &[(String, String)]) {
    for (name, value) in pairs {
        match value.is_empty() {
            true => drop(map.remove(name)),
            false => drop(map.insert(name.clone(), value.clone())),
        }
    }
}

/// A runtime tag that is released.
#[derive(Debug, Clone, clap::Args)]
pub struct ReleaseTag {
    /// Its image tag, such as 0.20.0.
    tag: String,
}

/// A server that is added.
#[derive(Debug, Clone, clap::Args)]
pub struct AddServer {
    /// Handle of its tenant.
    tenant: String,
    /// Where it is to serve.
    region: String,
    /// Id of its tenant; the handle where it is left out.
    #[arg(long, value_name = "ID")]
    tenant_id: Option<String>,
    /// The cluster it is to run in; the region where it is left out.
    #[arg(long, value_name = "NAME")]
    cluster: Option<String>,
    #[command(flatten)]
    settings: Settings,
}

/// New settings of a server.
#[derive(Debug, Clone, clap::Args)]
pub struct Server {
    /// The server, by name (TENANT-REGION) or id.
    server: String,
    #[command(flatten)]
    settings: Settings,
}

/// A server that begins or ends a move.
#[derive(Debug, Clone, clap::Args)]
pub struct MoveServer {
    /// The server, by name (TENANT-REGION) or id.
    server: String,
    /// From now on.
    #[arg(value_enum)]
    phase: Phase,
}

/// A deployment.
#[derive(Debug, Clone, clap::Args)]
pub struct Deploy {
    /// The server, by name (TENANT-REGION) or id.
    server: String,
    /// The runtime tag. An older one than the newest stays until something newer is released.
    tag: String,
    /// Apply even if everything agrees, in the place of whatever is open.
    #[arg(long)]
    force: bool,
}

/// What is applied once more.
#[derive(Debug, Clone, clap::Args)]
pub struct ForceReapply {
    /// The server, by name (TENANT-REGION) or id.
    server: String,
}

/// A server that is taken down.
#[derive(Debug, Clone, clap::Args)]
pub struct DestroyServer {
    /// The server, by name (TENANT-REGION) or id.
    server: String,
}

fn server(world: &World, name: &str) -> Result<(ServerId, Aimed), Problem> {
    let known = Names::servers(world).find(name)?;
    Ok((ServerId(known.uuid), Aimed { kind: "server", name: known.name, uuid: Some(known.uuid) }))
}

/// A verb on Kura servers.
pub(super) fn deed(verb: KuraVerb) -> Deed {
    Deed::Verb(Box::new(Verb::Kura(verb)))
}

impl Aim for ReleaseTag {
    fn verb(&self) -> &'static str {
        "release-tag"
    }

    fn aim(&self, _: &World) -> Result<(Deed, Aimed), Problem> {
        let aimed = Aimed { kind: "runtime tag", name: self.tag.clone(), uuid: None };
        Ok((deed(KuraVerb::ReleaseTag { tag: self.tag.clone() }), aimed))
    }
}

impl Aim for AddServer {
    fn verb(&self) -> &'static str {
        "add-server"
    }

    fn aim(&self, _: &World) -> Result<(Deed, Aimed), Problem> {
        let aimed = Aimed { kind: "server", name: format!("{}-{}", self.tenant, self.region), uuid: None };
        let verb = KuraVerb::AddServer {
            id: ServerId(Uuid::nil()),
            tenant: self.tenant.clone(),
            tenant_id: self.tenant_id.clone(),
            region: self.region.clone(),
            cluster_id: self.cluster.clone(),
            spec: Box::new(self.settings.over(ServerSpec::default())),
        };
        Ok((deed(verb), aimed))
    }
}

impl Aim for Server {
    fn verb(&self) -> &'static str {
        "server"
    }

    fn check(&self) -> Result<(), Problem> {
        match self.settings == Settings::default() {
            true => Err(nothing_to_change("--replicas, --public-host, --storage-size, --gateway, --env and the like")),
            false => Ok(()),
        }
    }

    fn aim(&self, world: &World) -> Result<(Deed, Aimed), Problem> {
        let (id, aimed) = server(world, &self.server)?;
        let known =
            world.kura.servers.get(&id).ok_or_else(|| Problem::from(&Refusal::from(KuraRefusal::NoServer(id))))?;
        let spec = Box::new(self.settings.over((*known.spec).clone()));
        Ok((deed(KuraVerb::ConfigureServer { server: id, spec }), aimed))
    }
}

impl Aim for MoveServer {
    fn verb(&self) -> &'static str {
        "move-server"
    }

    fn aim(&self, world: &World) -> Result<(Deed, Aimed), Problem> {
        let (server, aimed) = server(world, &self.server)?;
        let phase = match self.phase {
            Phase::None => MovePhase::None,
            Phase::MovingIn => MovePhase::MovingIn,
            Phase::MovingOut => MovePhase::MovingOut,
        };
        Ok((deed(KuraVerb::MoveServer { server, phase }), aimed))
    }
}

impl Aim for Deploy {
    fn verb(&self) -> &'static str {
        "deploy"
    }

    fn aim(&self, world: &World) -> Result<(Deed, Aimed), Problem> {
        let (server, aimed) = server(world, &self.server)?;
        Ok((deed(KuraVerb::Deploy { server, tag: self.tag.clone(), force: self.force }), aimed))
    }
}

impl Aim for ForceReapply {
    fn verb(&self) -> &'static str {
        "force-reapply"
    }

    fn aim(&self, world: &World) -> Result<(Deed, Aimed), Problem> {
        let (server, aimed) = server(world, &self.server)?;
        Ok((deed(KuraVerb::ForceReapply { server }), aimed))
    }
}

impl Aim for DestroyServer {
    fn verb(&self) -> &'static str {
        "destroy-server"
    }

    fn aim(&self, world: &World) -> Result<(Deed, Aimed), Problem> {
        let (server, aimed) = server(world, &self.server)?;
        Ok((deed(KuraVerb::DestroyServer { server }), aimed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_change_what_they_name_and_nothing_else() {
        let named = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let before =
            ServerSpec { extra_env: [named("A", "1"), named("B", "2")].into(), mesh: false, ..ServerSpec::default() };
        let settings = Settings {
            replicas: Some(3),
            gateway: Some(Gateway::Dedicated),
            env: vec![named("A", ""), named("C", "a=b")],
            ..Settings::default()
        };
        let after = settings.over(before.clone());
        let expected = ServerSpec {
            replicas: 3,
            gateway: GatewayMode::Dedicated,
            extra_env: [named("B", "2"), named("C", "a=b")].into(),
            ..before.clone()
        };
        assert_eq!(after, expected);
        assert_eq!(Settings::default().over(before.clone()), before);
        assert_eq!(pair("C=a=b"), Ok(named("C", "a=b")));
        assert!(pair("C").is_err() && pair("=x").is_err());
    }
}
