//! Verbs on Kura servers as requests, and the requests as verbs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::super::body::parse;
use super::super::call::{Call, Method};
use super::super::problem::{Problem, ProblemKind};
use super::{gateway, server, tag};
use crate::domain::ids::ServerId;
use crate::domain::kura::limits;
use crate::domain::kura::server::{MovePhase, Server, ServerSpec};
use crate::domain::kura::verb::KuraVerb;

/// Where orphans are listed.
pub const ORPHANS_PATH: &str = "/api/kura/orphans/";

/// Where another cluster is accepted.
pub const ACCEPT_CLUSTER_PATH: &str = "/api/kura/cluster/accept";

/// Release a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TagNew {
    /// Its image tag.
    pub tag: String,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
}

/// Deploy a tag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeploymentNew {
    /// Where to.
    pub image_tag: String,
    /// Apply even if everything agrees.
    #[serde(default)]
    pub force: bool,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
}

impl TagNew {
    /// Reads a body.
    ///
    /// # Errors
    /// 422 where it has another shape, or no tag that can be one.
    pub fn parse(bytes: &[u8]) -> Result<Self, Problem> {
        let read: Self = parse(bytes)?;
        in_range(limits::tag("tag", &read.tag)).map(|()| read)
    }
}

impl DeploymentNew {
    /// Reads a body.
    ///
    /// # Errors
    /// 422 where it has another shape, or no tag that can be one.
    pub fn parse(bytes: &[u8]) -> Result<Self, Problem> {
        let read: Self = parse(bytes)?;
        in_range(limits::tag("image_tag", &read.image_tag)).map(|()| read)
    }

    /// The verb it is.
    pub fn verb(&self, server: ServerId) -> KuraVerb {
        KuraVerb::Deploy { server, tag: self.image_tag.clone(), force: self.force }
    }
}

/// Add a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerNew {
    /// Handle of its tenant.
    pub tenant: String,
    /// Id of its tenant; the handle where it is left out.
    #[serde(default)]
    pub tenant_id: Option<String>,
    /// Where it is to serve.
    pub region: String,
    /// The cluster it is to run in; the region where it is left out.
    #[serde(default)]
    pub cluster_id: Option<String>,
    /// What differs from the defaults.
    #[serde(default)]
    pub spec: ServerSpec,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
}

impl ServerNew {
    /// The verb it is.
    ///
    /// # Errors
    /// 422 where a secret is written out.
    pub fn verb(self, id: ServerId) -> Result<KuraVerb, Problem> {
        let Self { tenant, tenant_id, region, cluster_id, spec, .. } = self;
        in_range(limits::check(&spec))?;
        super::env::check(&spec)?;
        Ok(KuraVerb::AddServer { id, tenant, tenant_id, region, cluster_id, spec: Box::new(spec) })
    }
}

/// Change a server: what is configured, or whether it moves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerPatch {
    /// What is configured otherwise; what is left out stays, null stands for the default.
    #[serde(default)]
    #[schemars(with = "Option<ServerSpec>")]
    pub spec: Option<Map<String, Value>>,
    /// Whether it moves.
    #[serde(default)]
    pub move_phase: Option<MovePhase>,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
}

/// What a patch leaves behind, as it is read.
#[derive(Deserialize)]
struct Patched {
    spec: ServerSpec,
}

impl ServerPatch {
    /// The one verb it is.
    ///
    /// # Errors
    /// 400 where it is none or two; 422 where a field cannot be read, or a secret is written out.
    pub fn verb(self, server: &Server) -> Result<KuraVerb, Problem> {
        match (self.spec, self.move_phase) {
            (Some(changes), None) => {
                let spec = patched(&server.spec, changes)?;
                in_range(limits::check(&spec))?;
                super::env::check(&spec)?;
                Ok(KuraVerb::ConfigureServer { server: server.id, spec: Box::new(spec) })
            }
            (None, Some(phase)) => Ok(KuraVerb::MoveServer { server: server.id, phase }),
            (None, None) => Err(nothing("it does not say what to change", "send spec or move_phase")),
            (Some(_), Some(_)) => {
                Err(nothing("spec and move_phase are changed one after the other", "send two requests").field("spec"))
            }
        }
    }
}

/// 422 with the path of the field that is out of its range.
fn in_range(checked: Result<(), limits::Fault>) -> Result<(), Problem> {
    checked.map_err(|(field, problem)| {
        Problem::new(ProblemKind::Malformed, "out_of_range", format!("{field}: {problem}")).field(field)
    })
}

fn nothing(message: &str, hint: &str) -> Problem {
    Problem::new(ProblemKind::Invalid, "not_one_change", message).hint(hint)
}

/// What is configured already, with these changes over it.
fn patched(spec: &ServerSpec, changes: Map<String, Value>) -> Result<ServerSpec, Problem> {
    let Value::Object(mut fields) = json!(spec) else { return Ok(spec.clone()) };
    for (name, value) in changes {
        match value {
            Value::Null => drop(fields.remove(&name)),
            value => drop(fields.insert(name, value)),
        }
    }
    parse::<Patched>(json!({ "spec": fields }).to_string().as_bytes()).map(|patched| patched.spec)
}

/// Take something of the cluster away: its name is typed once more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemovalBody {
    /// The name in the path, typed by whoever means it.
    pub name: String,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
}

/// Have everything in another cluster from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AcceptClusterBody {
    /// The uid of its namespace `kube-system`: only the cluster that is seen now can be accepted.
    pub uid: String,
    /// Why; it takes one.
    #[serde(default)]
    pub reason: Option<String>,
}

/// Take a finalizer off something that is stuck in its deletion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StripBody {
    /// The name in the path, typed by whoever means it.
    pub name: String,
    /// Which finalizer; the only one there is where it is left out.
    #[serde(default)]
    pub finalizer: Option<String>,
    /// Why: recorded, since its controller will never clean up.
    #[serde(default)]
    pub reason: Option<String>,
}

/// Refuses a removal whose typed name is another one.
///
/// # Errors
/// 400 naming the field.
pub fn typed(path: &str, typed: &str) -> Result<(), Problem> {
    if path == typed {
        return Ok(());
    }
    let message = format!("name is {typed:?}, and the path says {path:?}: nothing is done unless they agree");
    Err(Problem::new(ProblemKind::Invalid, "name_mismatch", message)
        .field("name")
        .hint("type the name of what you mean into both"))
}

/// The request that carries a verb.
pub fn call_of(verb: &KuraVerb) -> Call {
    let at = |server: &ServerId, rest: &str| format!("{}{server}{rest}", server::PATH);
    let post = |path: String, body: Value| Call { method: Method::Post, path, body };
    let patch = |path: String, body: Value| Call { method: Method::Patch, path, body };
    match verb {
        KuraVerb::ReleaseTag { tag } => post(tag::PATH.to_owned(), json!({ "tag": tag })),
        KuraVerb::AddServer { tenant, tenant_id, region, cluster_id, spec, .. } => {
            let (tenant, tenant_id) = (tenant.clone(), tenant_id.clone());
            let (region, cluster_id, spec) = (region.clone(), cluster_id.clone(), (**spec).clone());
            let body = ServerNew { tenant, tenant_id, region, cluster_id, spec, reason: None };
            post(server::PATH.to_owned(), json!(body))
        }
        KuraVerb::ConfigureServer { server, spec } => patch(at(server, ""), json!({ "spec": spec })),
        KuraVerb::MoveServer { server, phase } => patch(at(server, ""), json!({ "move_phase": phase })),
        KuraVerb::Deploy { server, tag, force } => {
            post(at(server, "/deployments"), json!({ "image_tag": tag, "force": force }))
        }
        KuraVerb::ForceReapply { server } => post(at(server, "/force-reapply"), json!({})),
        KuraVerb::DestroyServer { server } => Call { method: Method::Delete, path: at(server, ""), body: Value::Null },
        KuraVerb::DeleteGateway { name } => post(format!("{}{name}/delete", gateway::PATH), json!({ "name": name })),
        KuraVerb::StripFinalizer { name, finalizer } => {
            let path = format!("{}{name}/strip-finalizer", gateway::PATH);
            post(path, json!({ "name": name, "finalizer": finalizer }))
        }
        KuraVerb::DeleteOrphan { name } => post(format!("{ORPHANS_PATH}{name}/delete"), json!({ "name": name })),
        KuraVerb::AcceptCluster { uid } => post(ACCEPT_CLUSTER_PATH.to_owned(), json!({ "uid": uid })),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn server() -> Server {
        let at = Timestamp::from_second(1_800_000_000).unwrap();
        let spec = ServerSpec { replicas: 3, storage_size: "80Gi".to_owned(), ..ServerSpec::default() };
        Server { spec: spec.into(), ..Server::new(ServerId::named("acme"), "acme", "eu", at) }
    }

    fn patch(body: Value) -> Result<KuraVerb, Problem> {
        parse::<ServerPatch>(body.to_string().as_bytes()).unwrap().verb(&server())
    }

    #[test]
    fn a_patch_changes_what_it_names_and_nothing_else() {
        let verb = patch(json!({"spec": {"replicas": 1, "public_host": "a.example.com"}})).unwrap();
        let KuraVerb::ConfigureServer { spec, .. } = verb else { panic!("{verb:?}") };
        assert_eq!((spec.replicas, spec.storage_size.as_str()), (1, "80Gi"));
        assert_eq!(spec.public_host.as_deref(), Some("a.example.com"));
        let KuraVerb::ConfigureServer { spec, .. } = patch(json!({"spec": {"replicas": null}})).unwrap() else {
            panic!("null is the default")
        };
        assert_eq!(*spec, ServerSpec { replicas: 2, ..(*server().spec).clone() });
    }

    #[test]
    fn a_patch_is_one_change_and_names_what_is_wrong_with_it() {
        let named = |body: Value| patch(body).map_err(|problem| (problem.kind.status(), problem.field));
        let field = |name: &str| Some(name.to_owned());
        assert_eq!(named(json!({})), Err((400, None)));
        assert_eq!(named(json!({"spec": {}, "move_phase": "none"})), Err((400, field("spec"))));
        assert_eq!(named(json!({"spec": {"replicas": -1}})), Err((422, field("spec.replicas"))));
        assert_eq!(named(json!({"spec": {"replica": 1}})), Err((422, field("spec.replica"))));
        assert_eq!(named(json!({"spec": {"replicas": 0}})), Err((422, field("spec.replicas"))));
        assert_eq!(named(json!({"spec": {"storage_size": "lots"}})), Err((422, field("spec.storage_size"))));
        assert_eq!(
            named(json!({"spec": {"extra_env": {"API_TOKEN": "x"}}})),
            Err((422, field("spec.extra_env.API_TOKEN")))
        );
        let moved = KuraVerb::MoveServer { server: server().id, phase: MovePhase::MovingIn };
        assert_eq!(named(json!({"move_phase": "moving_in"})), Ok(moved));
    }

    #[test]
    fn what_is_taken_away_is_named_twice() {
        let verb = KuraVerb::DeleteGateway { name: "kgw-acme-eu".to_owned() };
        let call = call_of(&verb);
        assert_eq!(
            (call.path.as_str(), &call.body),
            ("/api/kura/gateways/kgw-acme-eu/delete", &json!({"name": "kgw-acme-eu"}))
        );
        assert_eq!(typed("kgw-acme-eu", "kgw-acme-eu"), Ok(()));
        let problem = typed("kgw-acme-eu", "kgw-acme").unwrap_err();
        assert_eq!((problem.kind.status(), problem.field.as_deref()), (400, Some("name")));
    }
}
