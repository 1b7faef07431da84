//! An estate under test with a cluster that does what it is told: no controller of its own, no time but what is passed.

use std::collections::BTreeSet;

use imbl::OrdMap;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::domain::change::Change;
use crate::domain::decide::decide;
use crate::domain::ids::{RolloutId, ServerId};
use crate::domain::input::{Input, Order, Verb};
use crate::domain::kura::change::KuraChange;
use crate::domain::kura::deployment::{Deployment, DeploymentStatus};
use crate::domain::kura::labels::Labels;
use crate::domain::kura::object::{ACCOUNT_LABEL, ObjectKind, ObjectRef, REGION_LABEL, REVISION_ANNOTATION, Stamp};
use crate::domain::kura::render::{class, render};
use crate::domain::kura::rested::Rested;
use crate::domain::kura::server::Server;
use crate::domain::kura::sight::Sight;
use crate::domain::kura::source::{Contact, Source};
use crate::domain::kura::step::{Deed, Outcome, Ran, Step};
use crate::domain::kura::traffic::{Dns, Endpoint, Gateway, Ingress, IngressClass, Tls, Up};
use crate::domain::kura::verb::KuraVerb;
use crate::domain::kura::workload::{Instance, Pod, Retention, StatefulSet, UpdateStrategy};
use crate::domain::observed::Observed;
use crate::domain::refusal::Refusal;
use crate::domain::span::Seconds;
use crate::domain::verdict::{Reply, Verdict};
use crate::domain::world::World;

pub(super) const ADDRESS: &str = "10.0.0.7";

pub(super) struct Rig {
    pub(super) world: World,
    pub(super) sight: Sight,
    pub(super) now: Timestamp,
    /// Every step that was ever decided.
    pub(super) steps: Vec<Step>,
    versions: u64,
}

impl Rig {
    /// These tags were released, in this order.
    pub(super) fn new(tags: &[&str]) -> Self {
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        let (world, sight) = (World::default(), Sight::default());
        let mut rig = Self { world, sight, now, steps: Vec::new(), versions: 0 };
        tags.iter().for_each(|tag| drop(rig.verb(KuraVerb::ReleaseTag { tag: (*tag).to_owned() })));
        rig.look();
        rig
    }

    /// One tenant that serves `tag` in `eu`, in every way as it should be.
    pub(super) fn serving(tags: &[&str], tag: &str) -> Self {
        let mut rig = Self::new(&[]);
        rig.add("acme");
        rig.release(tag);
        rig.settle();
        assert_eq!(rig.server("acme").current_image_tag.as_deref(), Some(tag));
        tags.iter().filter(|other| **other != tag).for_each(|tag| rig.release(tag));
        rig.steps.clear();
        rig
    }

    pub(super) fn add(&mut self, tenant: &str) {
        let id = ServerId::named(tenant);
        let (tenant, region) = (tenant.to_owned(), "eu".to_owned());
        let add = KuraVerb::AddServer { id, tenant, tenant_id: None, region, cluster_id: None, spec: Box::default() };
        assert_eq!(self.verb(add), Reply::Server(id));
    }

    pub(super) fn release(&mut self, tag: &str) {
        assert_eq!(self.verb(KuraVerb::ReleaseTag { tag: tag.to_owned() }), Reply::Done);
    }

    pub(super) fn server(&self, tenant: &str) -> &Server {
        &self.world.kura.servers[&ServerId::named(tenant)]
    }

    pub(super) fn edit(&mut self, tenant: &str, edit: impl FnOnce(&mut Server)) {
        edit(self.world.kura.servers.get_mut(&ServerId::named(tenant)).unwrap());
    }

    /// Rows of a tenant as (tag, status).
    pub(super) fn rows(&self, tenant: &str) -> Vec<(String, DeploymentStatus)> {
        self.server(tenant).deployments.iter().map(|row| (row.image_tag.clone(), row.status)).collect()
    }

    pub(super) fn open(&self, tenant: &str) -> &Deployment {
        self.server(tenant).open().expect("a deployment is open")
    }

    /// The wait of the open deployment, as (kind, detail).
    pub(super) fn wait(&self, tenant: &str) -> (String, String) {
        let wait = self.open(tenant).wait.as_ref().expect("it waits");
        (wait.kind.word().to_owned(), wait.detail.clone())
    }

    pub(super) fn verb(&mut self, verb: KuraVerb) -> Reply {
        self.verb_because(verb, Some("tested"))
    }

    pub(super) fn verb_because(&mut self, verb: KuraVerb, reason: Option<&str>) -> Reply {
        let reason = reason.map(str::to_owned);
        self.decide(&Input::Verb(Order { verb: Verb::Kura(verb), by: "jane".to_owned(), reason, key: None })).reply
    }

    pub(super) fn refused(&mut self, verb: KuraVerb) -> &'static str {
        match self.verb(verb) {
            Reply::Refused(refusal @ Refusal::Kura(_)) => refusal.code(),
            other => panic!("not refused: {other:?}"),
        }
    }

    pub(super) fn deploy(&mut self, tenant: &str, tag: &str, force: bool) -> Reply {
        self.verb(KuraVerb::Deploy { server: ServerId::named(tenant), tag: tag.to_owned(), force })
    }

    pub(super) fn pass_time(&mut self, seconds: u64) {
        self.now = Seconds(seconds).after(self.now);
    }

    /// Everything is read at this moment.
    pub(super) fn look(&mut self) {
        let live = || Contact::Live { as_of: self.now };
        let contacts = [
            &mut self.sight.instances.contact,
            &mut self.sight.gateways.contact,
            &mut self.sight.sets.contact,
            &mut self.sight.pods.contact,
            &mut self.sight.ingresses.contact,
            &mut self.sight.classes.contact,
            &mut self.sight.certificates.contact,
            &mut self.sight.services.contact,
            &mut self.sight.notices.contact,
        ];
        contacts.into_iter().for_each(|contact| *contact = live());
        let fresh = |(host, probe): (&String, &Endpoint)| (host.clone(), Endpoint { as_of: self.now, ..probe.clone() });
        self.sight.endpoints = self.sight.endpoints.iter().map(fresh).collect();
    }

    pub(super) fn decide(&mut self, input: &Input) -> Verdict {
        let mut observed = Observed::starting_at(self.now);
        observed.cluster = Some(self.sight.clone());
        let verdict = decide(&self.world, &observed, input, self.now);
        assert_eq!(verdict, decide(&self.world, &observed, input, self.now), "deciding it again gives the same");
        let mut forgetful = self.world.clone();
        forgetful.kura.rested = Rested::default();
        assert_eq!(verdict, decide(&forgetful, &observed, input, self.now), "and so does a look at everybody");
        for entry in input.author(&self.world, "serve").entries(&self.world, &verdict.changes, self.now) {
            self.world.apply(&entry);
        }
        self.steps.extend(verdict.steps.iter().cloned());
        verdict
    }

    /// A tick a minute later, on a fresh reading; what it decides is not carried out.
    pub(super) fn tick(&mut self) -> Verdict {
        self.pass_time(60);
        self.look();
        self.tick_as_it_is()
    }

    pub(super) fn tick_as_it_is(&mut self) -> Verdict {
        self.decide(&Input::Tick { fresh: RolloutId::named("unused") })
    }

    pub(super) fn tell(&mut self, ran: Vec<Ran>) -> Verdict {
        self.decide(&Input::Seen { ran, tried: BTreeSet::new() })
    }

    /// A tick whose steps are carried out, and what follows from that.
    pub(super) fn reconcile(&mut self) {
        let mut steps = self.tick().steps;
        for _ in 0..8 {
            if steps.is_empty() {
                return;
            }
            let ran = steps.iter().map(|step| Ran { step: step.clone(), outcome: self.obey(step) }).collect();
            self.look();
            steps = self.tell(ran).steps;
        }
        panic!("it never comes to rest: {steps:?}");
    }

    /// Reconciles while pods follow their template, until nothing is open.
    pub(super) fn settle(&mut self) {
        for _ in 0..4 {
            self.reconcile();
            self.pods_follow();
        }
        assert!(self.world.kura.servers.values().all(|server| server.open().is_none()), "nothing is open any more");
    }

    fn stamp(&mut self, name: &str) -> Stamp {
        self.versions += 1;
        Stamp {
            name: name.to_owned(),
            uid: format!("uid-{}", self.versions),
            resource_version: self.versions.to_string(),
            created_at: self.now,
            deleting_since: None,
            finalizers: Vec::new(),
            labels: Labels::default(),
        }
    }

    /// Carries a step out as a cluster without any controller would.
    pub(super) fn obey(&mut self, step: &Step) -> Outcome {
        let name = step.object.name.as_str();
        match (&step.deed, step.object.kind) {
            (Deed::Apply { manifest, .. }, ObjectKind::KuraInstance) => self.put_instance(name, manifest),
            (Deed::Apply { manifest, .. }, _) => {
                let revision = manifest["metadata"]["annotations"][REVISION_ANNOTATION].as_str().map(str::to_owned);
                self.put_gateway(name, "acme");
                self.sight.gateways.rows.get_mut(name).unwrap().revision = revision;
            }
            (Deed::Delete { .. }, kind) => self.remove(kind, name),
            (Deed::StripFinalizer { .. }, kind) => self.remove(kind, name),
            (Deed::Cordon { .. } | Deed::Evict { .. }, kind) => panic!("nobody rolls a {kind} here"),
        }
        Outcome::Done
    }

    fn remove(&mut self, kind: ObjectKind, name: &str) {
        match kind {
            ObjectKind::KuraInstance => drop(self.sight.instances.rows.remove(name)),
            ObjectKind::KuraGateway => drop(self.sight.gateways.rows.remove(name)),
            ObjectKind::IngressClass => drop(self.sight.classes.rows.remove(name)),
            ObjectKind::Pod => drop(self.sight.pods.rows.remove(name)),
            other => panic!("nobody deletes a {other}"),
        }
    }

    fn put_instance(&mut self, name: &str, manifest: &Value) {
        let known = self.sight.instances.get(name).map(|live| live.stamp.uid.clone());
        let mut stamp = self.stamp(name);
        stamp.uid = known.unwrap_or(stamp.uid);
        let image = manifest["spec"]["image"].as_str().unwrap().to_owned();
        let revision = manifest["metadata"]["annotations"][REVISION_ANNOTATION].as_str().map(str::to_owned);
        let replicas = manifest["spec"]["replicas"].as_u64().unwrap();
        let live = Instance {
            stamp,
            spec: manifest["spec"].clone().into(),
            revision,
            foreign: OrdMap::new(),
            phase: Some("Ready".to_owned()),
            observed_image: Some(image.clone()),
            ready_replicas: 0,
            message: None,
            public_url: None,
            last_reconciled_at: Some(self.now),
            node_port: None,
            progress: None,
        };
        self.sight.instances.rows.insert(name.to_owned(), live);
        self.put_set(name, &image, u32::try_from(replicas).unwrap());
        self.put_chain(name);
    }

    fn put_set(&mut self, name: &str, image: &str, replicas: u32) {
        let known = self.sight.sets.get(name).cloned();
        let stamp = self.stamp(name);
        let set = known.unwrap_or(StatefulSet {
            stamp,
            image: None,
            replicas,
            ready_replicas: 0,
            strategy: UpdateStrategy::RollingUpdate { partition: 0 },
            is_bare: false,
            strategy_since: None,
            resize_hold: false,
            claims_when_deleted: Retention::Delete,
            claims_when_scaled: Retention::Retain,
        });
        self.sight.sets.rows.insert(name.to_owned(), StatefulSet { image: Some(image.to_owned()), replicas, ..set });
    }

    /// A healthy chain for the server of an instance, unless it has one.
    fn put_chain(&mut self, instance: &str) {
        let Some(server) = self.world.kura.server_of(instance).cloned() else { return };
        let (stamp, class) = (self.stamp(instance), class(&server));
        let host = server.public_host().unwrap_or_default();
        if let Some(class) = &class {
            let row = IngressClass { stamp: self.stamp(class), controller: "c".to_owned(), has_controller: Some(true) };
            self.sight.classes.rows.entry(class.clone()).or_insert(row);
        }
        let ingress = Ingress {
            stamp,
            instance: Some(instance.to_owned()),
            class,
            hosts: vec![host.clone()],
            addresses: vec![ADDRESS.to_owned()],
        };
        self.sight.ingresses.rows.entry(instance.to_owned()).or_insert(ingress);
        let (dns, up) = (Dns::Addresses { addresses: vec![ADDRESS.to_owned()] }, Up::Status { status: 200 });
        self.sight.endpoints.entry(host).or_insert(Endpoint { as_of: self.now, dns, tls: Tls::Valid, up });
    }

    /// Every pod is there, on its template's image, and Ready.
    pub(super) fn pods_follow(&mut self) {
        let sets: Vec<StatefulSet> = self.sight.sets.rows.values().cloned().collect();
        for set in sets {
            for ordinal in 0..set.replicas {
                self.pod(&set.stamp.name, ordinal, set.image.as_deref().unwrap(), true);
            }
        }
    }

    /// A new pod of that ordinal.
    pub(super) fn pod(&mut self, instance: &str, ordinal: u32, image: &str, ready: bool) {
        let name = format!("{instance}-{ordinal}");
        let stamp = self.stamp(&name);
        let pod = Pod {
            stamp,
            instance: Some(instance.to_owned()),
            node: Some(format!("node-{ordinal}")),
            image: Some(image.to_owned()),
            ready,
            ready_since: None,
            phase: "Running".to_owned(),
            reason: (!ready).then(|| "CrashLoopBackOff".to_owned()),
            started_at: Some(self.now),
            claims: Vec::new(),
        };
        self.sight.pods.rows.insert(name, pod);
    }

    /// A gateway with the labels of a tenant in `eu`, created now.
    pub(super) fn put_gateway(&mut self, name: &str, tenant: &str) {
        let mut stamp = self.stamp(name);
        let labels = [(ACCOUNT_LABEL, tenant), (REGION_LABEL, "eu")];
        stamp.labels = labels.map(|(label, value)| (label.to_owned(), value.to_owned())).into_iter().collect();
        let (region, class) = (Some("eu".to_owned()), Some(name.to_owned()));
        let (phase, message) = (None, None);
        let (revision, last_reconciled_at) = (None, None);
        let gateway = Gateway { stamp, region, class, revision, phase, ready_replicas: 0, message, last_reconciled_at };
        self.sight.gateways.rows.insert(name.to_owned(), gateway);
    }

    pub(super) fn live(&mut self, tenant: &str) -> &mut Instance {
        self.sight.instances.rows.get_mut(&format!("kura-{tenant}-eu")).unwrap()
    }

    pub(super) fn endpoint(&mut self, tenant: &str) -> &mut Endpoint {
        self.sight.endpoints.get_mut(&format!("{tenant}-eu.kura.tuist.dev")).unwrap()
    }

    /// The endpoint stops answering, so that what is deployed stays open.
    pub(super) fn stop_answering(&mut self, tenant: &str) {
        self.endpoint(tenant).up = Up::Status { status: 503 };
    }

    /// The renderer gives a field another value from now on.
    pub(super) fn render_otherwise(&mut self, tenant: &str, field: &str, value: &str) {
        self.edit(tenant, |server| drop(server.spec_mut().overrides.insert(field.to_owned(), json!(value))));
    }

    /// Steps so far, as `verb kind name`.
    pub(super) fn written(&self) -> Vec<String> {
        self.steps.iter().map(|step| format!("{} {}", step.deed.verb(), step.object)).collect()
    }

    pub(super) fn revision(&self, tenant: &str) -> String {
        let server = self.server(tenant);
        render(server, server.wanted_tag().unwrap()).imprint.revision
    }
}

/// The facts about servers of a verdict.
pub(super) fn facts(verdict: &Verdict) -> Vec<&KuraChange> {
    verdict.changes.iter().filter_map(fact).collect()
}

fn fact(change: &Change) -> Option<&KuraChange> {
    match change {
        Change::Kura(change) => Some(change),
        _ => None,
    }
}

pub(super) fn instance(tenant: &str) -> ObjectRef {
    ObjectRef::new(ObjectKind::KuraInstance, &format!("kura-{tenant}-eu"))
}

/// A reading that broke off just now.
pub(super) fn lose<T: Clone>(source: &mut Source<T>, now: Timestamp) {
    source.contact = Contact::Lost { as_of: Some(now), why: "401 Unauthorized".to_owned() };
}
