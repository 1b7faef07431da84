//! What people do about Kura servers, and what happens to the cluster they run in.

use serde_json::{Map, Value, json};

use super::super::super::cluster::faults::{ClusterFault, Wrong};
use super::super::super::cluster::outside::{LinkChange, PodChange};
use super::super::super::cluster::port::kind_of;
use super::super::call::{Request, by};
use super::super::estate::{put_gateway, text};
use super::super::file::act::Act;
use super::super::file::kura::{Fields, KuraAct, LinkAct, PodAct, WrongAnswer};
use super::super::file::moment::Moment;
use super::super::file::name::Name;
use super::super::records::{Answer, Ended};
use super::super::run::{Run, Stuck};
use super::super::screens::Consoles;
use crate::domain::ids::ServerId;
use crate::domain::input::Verb;
use crate::domain::kura::object::ObjectRef;
use crate::domain::kura::refusal::KuraRefusal;
use crate::domain::kura::traffic::{Dns, Up};
use crate::domain::kura::verb::KuraVerb;
use crate::domain::refusal::Refusal;
use crate::wire::body::parse;
use crate::wire::kura::request::{DeploymentNew, ServerPatch, TagNew};
use crate::wire::problem::Problem;

impl<C: Consoles> Run<C> {
    pub(super) fn act_on_kura(&mut self, act: &Act, doing: &KuraAct) -> Result<Answer, Stuck> {
        let request = match doing {
            KuraAct::ReleaseTag { tag } => release(tag),
            KuraAct::Deploy { server, tag, force } => deploy(server, tag, force.as_ref()),
            KuraAct::ForceReapply { server } => Ok(verb(KuraVerb::ForceReapply { server: server_id(server) })),
            KuraAct::Move { server, phase } => move_server(server, phase.as_ref()),
            KuraAct::Destroy { server } => Ok(verb(KuraVerb::DestroyServer { server: server_id(server) })),
            KuraAct::Rerender(fields) => self.rerender(fields),
            KuraAct::DeleteGateway { name } => Ok(verb(KuraVerb::DeleteGateway { name: text(name) })),
            KuraAct::StripFinalizer { name, finalizer } => {
                Ok(verb(KuraVerb::StripFinalizer { name: text(name), finalizer: Some(text(finalizer)) }))
            }
            KuraAct::DeleteOrphan { name } => Ok(verb(KuraVerb::DeleteOrphan { name: text(name) })),
            outside => {
                let happened = self.act_on_cluster(act, outside);
                return Ok(Answer::none(if happened { Ended::Done } else { Ended::Refused }));
            }
        };
        self.call(act, request)
    }

    /// The renderer changed: from now on these fields are rendered like this.
    fn rerender(&self, fields: &Fields) -> Request {
        let server = server_id(&fields.server);
        let known = self.witness.world.kura.servers.get(&server);
        let known = known.ok_or_else(|| Problem::from(&Refusal::from(KuraRefusal::NoServer(server))))?;
        let mut spec = (*known.spec).clone();
        spec.overrides.extend(fields.fields.clone());
        Ok(verb(KuraVerb::ConfigureServer { server, spec: Box::new(spec) }))
    }

    /// What no control plane is asked about. False where there is nothing that it could happen to.
    fn act_on_cluster(&mut self, act: &Act, doing: &KuraAct) -> bool {
        let (now, start, manager) = (self.ground.now(), self.ground.start, by(act).to_owned());
        let instance = |server: &str| self.witness.world.kura.servers.get(&ServerId::named(server));
        let instance = |server: &str| instance(server).map(|server| server.instance_name.clone());
        let linked = match doing {
            KuraAct::Link(link) => instance(&link.server),
            KuraAct::Pod(pod) => pod.instance.as_ref().map(|named| instance(named).unwrap_or_else(|| named.clone())),
            _ => None,
        };
        self.ground.outside.cluster.with(|objects| {
            objects.is_connected = true;
            objects.advance(now);
            match doing {
                KuraAct::Pod(pod) => change_pod(objects, pod, linked.as_deref(), now),
                KuraAct::Instance(named) => {
                    let changes = named.fields.iter();
                    changes.fold(true, |all, (field, value)| {
                        objects.change_instance(&named.name, field, value, now) && all
                    })
                }
                KuraAct::Gateway(gateway) => {
                    put_gateway(objects, gateway, now);
                    true
                }
                KuraAct::Link(link) => linked.as_deref().is_some_and(|instance| {
                    objects.change_link(instance, link_change(link));
                    true
                }),
                KuraAct::External { kind, name, set, delete } => kind_of(kind).is_some_and(|kind| {
                    let object = ObjectRef::new(kind, name);
                    match (delete, set) {
                        (true, _) => objects.delete_by(&object, now),
                        (false, Some(patch)) => objects.patch_by(&object, patch, &manager, now),
                        (false, None) => false,
                    }
                }),
                KuraAct::ClusterFault { kind, answer, verb, span } => {
                    let kept = Box::new(objects.sight(now));
                    let until = Moment(Moment::of(now, start).0 + span.0).after(start);
                    let kind = kind.as_deref().and_then(kind_of);
                    let fault =
                        ClusterFault { kind, verb: verb.clone(), wrong: wrong(*answer), since: now, until, kept };
                    objects.faults.push(fault);
                    true
                }
                _ => false,
            }
        })
    }
}

fn verb(verb: KuraVerb) -> (Verb, Option<String>) {
    (Verb::Kura(verb), None)
}

fn server_id(name: &Name) -> ServerId {
    ServerId::named(&text(name))
}

/// As it is written: a name that is no text is for the control plane to refuse.
fn written(name: &Name) -> Value {
    match name {
        Name::Id(id) => json!(id),
        Name::Odd(value) => value.clone(),
    }
}

fn release(tag: &Name) -> Request {
    let wanted = TagNew::parse(json!({ "tag": written(tag) }).to_string().as_bytes())?;
    Ok((Verb::Kura(KuraVerb::ReleaseTag { tag: wanted.tag }), wanted.reason))
}

fn deploy(server: &Name, tag: &Name, force: Option<&Value>) -> Request {
    let mut body = Map::from_iter([("image_tag".to_owned(), written(tag))]);
    body.extend(force.map(|force| ("force".to_owned(), force.clone())));
    let wanted = DeploymentNew::parse(Value::Object(body).to_string().as_bytes())?;
    Ok((Verb::Kura(wanted.verb(server_id(server))), wanted.reason))
}

fn move_server(server: &Name, phase: Option<&Value>) -> Request {
    let body = json!({ "move_phase": phase.cloned().unwrap_or_else(|| json!("none")) });
    let wanted: ServerPatch = parse(body.to_string().as_bytes())?;
    let phase = wanted.move_phase.unwrap_or_default();
    Ok((Verb::Kura(KuraVerb::MoveServer { server: server_id(server), phase }), wanted.reason))
}

fn change_pod(
    objects: &mut super::super::super::cluster::objects::Objects,
    pod: &PodAct,
    instance: Option<&str>,
    now: jiff::Timestamp,
) -> bool {
    let placed = instance.zip(pod.ord).map(|(instance, ord)| format!("{instance}-{ord}"));
    let Some(name) = pod.name.clone().or(placed) else { return false };
    if pod.gone {
        let there = objects.pods.contains_key(&name);
        objects.delete_pod(&name, now);
        return there;
    }
    let (ready, image) = (pod.ready, pod.image.as_ref().map(text));
    let (reason, node) = (pod.reason.clone(), pod.node.clone());
    objects.change_pod(&name, PodChange { ready, image, reason, node, started: None }, now);
    true
}

fn link_change(link: &LinkAct) -> LinkChange {
    let texts = |value: &Value| -> Vec<String> {
        let all = value.as_array().map(|all| all.iter().filter_map(Value::as_str).map(str::to_owned).collect());
        all.unwrap_or_default()
    };
    let dns = |value: &Value| match value.as_str() {
        Some("nxdomain") => Dns::NxDomain,
        Some("error") => Dns::Failed { why: "SERVFAIL".to_owned() },
        Some(address) => Dns::Addresses { addresses: vec![address.to_owned()] },
        None => {
            let mut addresses = texts(value);
            addresses.sort();
            Dns::Addresses { addresses }
        }
    };
    let up = |value: &Value| match value.as_u64().and_then(|status| u16::try_from(status).ok()) {
        Some(status) => Up::Status { status },
        None => Up::Timeout,
    };
    LinkChange {
        class: link.class,
        address: link.address.as_ref().map(|address| address.as_str().map(str::to_owned)),
        dns: link.dns.as_ref().map(dns),
        certificate: link.certificate.as_ref().map(|good| match good {
            Value::Bool(true) => None,
            Value::String(why) => Some(why.clone()),
            _ => Some("not trusted".to_owned()),
        }),
        up: link.up.as_ref().map(up),
    }
}

fn wrong(answer: WrongAnswer) -> Wrong {
    match answer {
        WrongAnswer::Error => Wrong::Error,
        WrongAnswer::Timeout => Wrong::Timeout,
        WrongAnswer::Forbidden => Wrong::Forbidden,
        WrongAnswer::Conflict => Wrong::Conflict,
        WrongAnswer::Silent => Wrong::Silent,
        WrongAnswer::Gone => Wrong::Gone,
    }
}
