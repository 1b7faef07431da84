//! From a seed to an estate and two virtual hours of releases, people, kubelets, other hands and faults.

use serde_json::{Value, json};

use super::super::super::post::Faults;
use super::super::generate::Scale;
use super::super::pen::{Pen, Scribe};
use super::super::plot::{Act, Cast, Happening, Plot};
use super::super::profile::Profile;
use super::acts::{ClusterAct, REGION, instance};
use crate::domain::ids::ServerId;
use crate::domain::input::Verb;
use crate::domain::kura::object::{ObjectKind, REVISION_ANNOTATION};
use crate::domain::kura::server::{GatewayMode, MovePhase, ServerSpec};
use crate::domain::kura::traffic::{Dns, Up};
use crate::domain::kura::verb::KuraVerb;
use crate::domain::span::Seconds;
use crate::sim::cluster::faults::Wrong;
use crate::sim::cluster::outside::LinkChange;

/// Tags that are released and deployed; ordered in no way, as they come.
const TAGS: [&str; 10] =
    ["0.1.0", "0.2.0", "0.1.1", "0.3.0", "sha-aaa", "0.2.1", "0.4.0-rc.1", "0.4.0", "sha-bbb", "0.5.0"];

/// Makes the plot of a seed; the same one every time.
pub(in super::super) fn generate(seed: u64, scale: &Scale) -> Plot {
    let mut dice = fastrand::Rng::with_seed(seed ^ 0x6b75_7261);
    let tenants: Vec<String> = (0..dice.usize(1..=scale.tenants)).map(|n| format!("t{n}")).collect();
    let cast = vec![Cast::SERVER; if dice.u8(..100) < 60 { 2 } else { 1 }];
    let mut writer = Writer { pen: Pen::new(dice, scale.until), tenants };
    let fleet = writer.fleet();
    let script = writer.write(scale);
    let (post, agents, nodes) = (Faults::default(), Vec::new(), None);
    let (profile, healed_at) = (Profile::Kura, scale.until);
    Plot { profile, seed, fleet, agents, nodes, families: profile.families(), cast, post, script, healed_at }
}

/// Writes the script of a world.
struct Writer {
    pen: Pen,
    tenants: Vec<String>,
}

impl Scribe for Writer {
    fn pen(&mut self) -> &mut Pen {
        &mut self.pen
    }

    fn act(&mut self) {
        match self.pen.dice.u8(..100) {
            0..14 => self.release(),
            14..22 => self.deploy(),
            22..26 => self.force(),
            26..32 => self.move_server(),
            32..36 => self.configure(),
            36..38 => self.destroy(),
            38..40 => self.remove(),
            40..49 => self.sicken(),
            49..53 => self.kill(),
            53..60 => self.edit(),
            60..63 => self.delete_instance(),
            63..67 => self.hold(),
            67..73 => self.link(),
            73..76 => self.gateway(),
            76..86 => self.fault(),
            86..89 => self.pen.part(),
            89..93 => self.pen.spoil_journal(),
            93..97 => self.pen.crash(),
            97..99 => self.pen.freeze(),
            _ => self.pen.cut(),
        }
    }
}

impl Writer {
    /// A first release, and every tenant's server; sometimes the release comes later.
    fn fleet(&mut self) -> Vec<Verb> {
        let release = Verb::Kura(KuraVerb::ReleaseTag { tag: TAGS[0].to_owned() });
        let mut verbs: Vec<Verb> = self.pen.chance(80).then_some(release).into_iter().collect();
        for tenant in self.tenants.clone() {
            let spec = Box::new(self.spec());
            let (tenant_id, cluster_id) = (None, None);
            let (id, region) = (ServerId::named(&tenant), REGION.to_owned());
            verbs.push(Verb::Kura(KuraVerb::AddServer { id, tenant, tenant_id, region, cluster_id, spec }));
        }
        verbs
    }

    fn spec(&mut self) -> ServerSpec {
        let gateway = self.pen.one(&[GatewayMode::Shared, GatewayMode::Shared, GatewayMode::Dedicated]);
        ServerSpec {
            replicas: self.pen.dice.u32(1..=4),
            gateway,
            private: self.pen.chance(10),
            ..ServerSpec::default()
        }
    }

    fn write(mut self, scale: &Scale) -> Vec<Happening> {
        self.pen.now = self.pen.dice.u64(20..=400);
        let acts = self.pen.dice.usize(scale.acts_on_servers.clone());
        self.acts(acts);
        self.pen.finish()
    }

    fn release(&mut self) {
        let tag = self.tag();
        self.order(KuraVerb::ReleaseTag { tag: tag.clone() }, format!("release {tag}"));
    }

    fn deploy(&mut self) {
        let (tenant, tag, force) = (self.tenant(), self.tag(), self.pen.chance(30));
        let words = format!("deploy {tag} to {tenant}, force {force}");
        self.order(KuraVerb::Deploy { server: ServerId::named(&tenant), tag, force }, words);
    }

    fn force(&mut self) {
        let tenant = self.tenant();
        self.order(KuraVerb::ForceReapply { server: ServerId::named(&tenant) }, format!("force {tenant}"));
    }

    /// A move begins, and mostly ends some time later.
    fn move_server(&mut self) {
        let (tenant, phase) = (self.tenant(), self.pen.one(&[MovePhase::MovingIn, MovePhase::MovingOut]));
        let server = ServerId::named(&tenant);
        self.order(KuraVerb::MoveServer { server, phase }, format!("{tenant} is {}", phase.word()));
        if self.pen.chance(80) {
            let order = self.pen.signed(Verb::Kura(KuraVerb::MoveServer { server, phase: MovePhase::None }));
            self.pen.later(1_800, Act::Order(order), format!("the move of {tenant} is over"));
        }
    }

    fn configure(&mut self) {
        let (tenant, spec) = (self.tenant(), Box::new(self.spec()));
        let words = format!("{tenant} has {} replicas, gateway {:?}", spec.replicas, spec.gateway);
        self.order(KuraVerb::ConfigureServer { server: ServerId::named(&tenant), spec }, words);
    }

    fn destroy(&mut self) {
        let tenant = self.tenant();
        self.order(KuraVerb::DestroyServer { server: ServerId::named(&tenant) }, format!("destroy {tenant}"));
    }

    /// A person has something taken away.
    fn remove(&mut self) {
        let tenant = self.tenant();
        let (gateway, finalizer) = (format!("kgw-{tenant}-{REGION}"), "gw.example/cleanup".to_owned());
        let verb = match self.pen.dice.u8(..3) {
            0 => KuraVerb::DeleteGateway { name: gateway },
            1 => KuraVerb::StripFinalizer { name: gateway, finalizer: Some(finalizer) },
            _ => KuraVerb::DeleteOrphan { name: instance(&tenant) },
        };
        let words = format!("{} of {tenant}", verb.name());
        self.order(verb, words);
    }

    /// A pod never gets Ready, until somebody lets it go.
    fn sicken(&mut self) {
        let (tenant, name) = self.pod();
        let ready = self.pen.chance(15);
        self.happen(ClusterAct::Pod { name: name.clone(), ready }, format!("{name} is Ready: {ready}"));
        if self.pen.chance(60) {
            self.happen_later(2_400, ClusterAct::LetGo(tenant.clone()), format!("pods of {tenant} mend"));
        }
    }

    fn kill(&mut self) {
        let (_, name) = self.pod();
        self.happen(ClusterAct::Kill(name.clone()), format!("{name} dies"));
    }

    /// Somebody else writes to an instance: a field of ours, a field of theirs, the image, or our own mark.
    fn edit(&mut self) {
        let (tenant, manager) = (self.tenant(), self.pen.one(&["flux", "kubectl-edit"]));
        let patches: [Value; 5] = [
            json!({ "spec": { "ingressClassName": "theirs" } }),
            json!({ "spec": { "replicas": self.pen.dice.u32(1..=4) } }),
            json!({ "spec": { "somethingNew": self.pen.dice.u32(..9) } }),
            json!({ "spec": { "image": "0.0.9" } }),
            json!({ "metadata": { "annotations": { REVISION_ANNOTATION: "theirs" } } }),
        ];
        let patch = self.pen.dice.choice(&patches).cloned().unwrap_or(Value::Null);
        let words = format!("{manager} patches the instance of {tenant}: {patch}");
        for _ in 0..self.pen.dice.usize(1..=2) {
            let act = ClusterAct::Edit { tenant: tenant.clone(), patch: patch.clone(), manager };
            self.happen_later(900, act, words.clone());
        }
    }

    fn delete_instance(&mut self) {
        let tenant = self.tenant();
        self.happen(ClusterAct::DeleteInstance(tenant.clone()), format!("somebody deletes the instance of {tenant}"));
    }

    fn hold(&mut self) {
        let (tenant, by) = (self.tenant(), self.pen.one(&["operator", "controller"]));
        self.happen(ClusterAct::Hold { tenant: tenant.clone(), by: Some(by) }, format!("{by} holds {tenant} back"));
        if self.pen.chance(70) {
            self.happen_later(
                1_800,
                ClusterAct::Hold { tenant: tenant.clone(), by: None },
                format!("{tenant} goes on"),
            );
        }
    }

    /// A link breaks, and mostly holds again some time later.
    fn link(&mut self) {
        let tenant = self.tenant();
        let broken = match self.pen.dice.u8(..5) {
            0 => LinkChange { class: Some(false), ..LinkChange::default() },
            1 => LinkChange { address: Some(None), ..LinkChange::default() },
            2 => LinkChange { dns: Some(self.pen.one(&[Dns::NxDomain, failing()])), ..LinkChange::default() },
            3 => LinkChange { certificate: Some(Some("unknown authority".to_owned())), ..LinkChange::default() },
            _ => LinkChange {
                up: Some(self.pen.one(&[Up::Timeout, Up::Status { status: 503 }])),
                ..LinkChange::default()
            },
        };
        self.happen(ClusterAct::Link(tenant.clone(), Box::new(broken)), format!("a link to {tenant} breaks"));
        if self.pen.chance(70) {
            let whole = ClusterAct::Link(tenant.clone(), Box::new(whole()));
            self.happen_later(1_500, whole, format!("every link to {tenant} holds"));
        }
    }

    fn gateway(&mut self) {
        let (tenant, stuck) = (self.tenant(), self.pen.chance(30));
        let name = self.pen.one(&[format!("kgw-{tenant}-{REGION}"), format!("kgw-old-{tenant}")]);
        let words = format!("gateway {name} of {tenant} appears, stuck {stuck}");
        self.happen(ClusterAct::Gateway { tenant, name, stuck }, words);
    }

    fn fault(&mut self) {
        use ObjectKind as Kind;
        let kinds = [Kind::KuraInstance, Kind::KuraGateway, Kind::Pod, Kind::StatefulSet, Kind::IngressClass];
        let kind = self.pen.chance(80).then(|| self.pen.one(&kinds));
        let verb = self.pen.one(&[None, Some("apply"), Some("delete"), Some("list"), Some("watch")]);
        let all = [Wrong::Error, Wrong::Timeout, Wrong::Forbidden, Wrong::Conflict, Wrong::Silent, Wrong::Gone];
        let (wrong, span) = (self.pen.one(&all), Seconds(self.pen.dice.u64(1..=900)));
        let words = format!("{} of {kind:?}: {wrong:?} for {span}", verb.unwrap_or("everything"));
        self.happen(ClusterAct::Fault { kind, verb, wrong, span }, words);
    }

    fn tenant(&mut self) -> String {
        let tenants = self.tenants.clone();
        self.pen.one(&tenants)
    }

    fn tag(&mut self) -> String {
        self.pen.one(&TAGS).to_owned()
    }

    fn pod(&mut self) -> (String, String) {
        let tenant = self.tenant();
        let name = format!("{}-{}", instance(&tenant), self.pen.dice.u32(..4));
        (tenant, name)
    }

    fn order(&mut self, verb: KuraVerb, words: String) {
        self.pen.order(Verb::Kura(verb), words);
    }

    fn happen(&mut self, act: ClusterAct, words: String) {
        self.pen.push(self.pen.now, Act::Cluster(Box::new(act)), words);
    }

    fn happen_later(&mut self, at_most: u64, act: ClusterAct, words: String) {
        self.pen.later(at_most, Act::Cluster(Box::new(act)), words);
    }
}

fn failing() -> Dns {
    Dns::Failed { why: "SERVFAIL".to_owned() }
}

/// Every link holds.
pub(super) fn whole() -> LinkChange {
    use crate::sim::cluster::api::ADDRESS;
    LinkChange {
        class: Some(true),
        address: Some(Some(ADDRESS.to_owned())),
        dns: Some(Dns::Addresses { addresses: vec![ADDRESS.to_owned()] }),
        certificate: Some(None),
        up: Some(Up::Status { status: 200 }),
    }
}
