//! Everything the screen of Kura servers shows of a picture, looked up once per picture and not once per frame.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::super::snapshot::Snapshot;
use super::cause::{Cause, causes};
use super::kept::{Anew, Basis};
use super::part::{Part, Token};
use super::rendered::{Rendering, Renderings};
use super::row::ServerRow;
use super::sources::{Veiled, stale_at, veiled};
use crate::domain::ids::ServerId;
use crate::domain::kura::incidents::{PROGRESS_STALE_AFTER, dead_node, users, workload_of};
use crate::domain::kura::orphans::{Orphan, orphans};
use crate::domain::kura::seen::read;
use crate::domain::kura::server::{Server, ServerStatus};
use crate::domain::kura::sight::Sight;
use crate::domain::kura::skew::{Mesh, meshes};
use crate::domain::kura::traffic::Gateway;
use crate::domain::kura::workload::Pod;

/// Why rows belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GroupKind {
    /// All their pods are on one node that is not Ready: one incident (I8).
    DeadNode,
    /// They serve in one region.
    Region,
    /// Gateways that nobody uses, or that are stuck in their deletion (K44).
    Gateways,
    /// Instances without a row and rows without an instance (K45).
    Orphans,
}

/// Rows that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Identity.
    pub id: Token,
    /// Why they belong together.
    pub kind: GroupKind,
    /// The node or the region.
    pub name: String,
    /// Its rows, in their usual order.
    pub members: Vec<Part>,
}

/// A gateway that needs a look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayRow {
    /// Its name.
    pub name: String,
    /// Which object of that name.
    pub uid: String,
    /// Since when it is there.
    pub created_at: Timestamp,
    /// Since when it is on its way out.
    pub leaving_since: Option<Timestamp>,
    /// What its deletion waits for.
    pub finalizers: Vec<String>,
    /// When its controller was heard of last.
    pub beat: Option<Timestamp>,
    /// Who uses it.
    pub used_by: Option<String>,
}

impl GatewayRow {
    /// It waits for a finalizer that somebody has to take off (K44).
    pub fn is_stuck(&self) -> bool {
        self.leaving_since.is_some() && !self.finalizers.is_empty()
    }
}

/// Everything about the servers of an account.
#[derive(Debug, Clone, Default)]
pub struct KuraFacts {
    /// Servers that are not gone.
    pub servers: BTreeMap<ServerId, ServerRow>,
    /// How they are listed: dead nodes, regions, gateways, orphans.
    pub groups: Vec<Group>,
    /// Gateways that need a look.
    pub gateways: BTreeMap<Token, GatewayRow>,
    /// Halves without the other.
    pub orphans: BTreeMap<Token, Orphan>,
    /// The images of each tenant's mesh, by tenant (K8).
    pub meshes: BTreeMap<String, Mesh>,
    /// Meshes with more skew than one version (K8).
    pub skewed: BTreeMap<Token, Mesh>,
    /// Servers that are stuck for one and the same reason.
    pub causes: BTreeMap<Token, Cause>,
    /// What cannot be relied on; empty where everything can, and where there is nothing to look at.
    pub veiled: Vec<Veiled>,
    /// The newest tag.
    pub target: Option<String>,
    /// When they would read differently by time alone.
    pub due: Option<Timestamp>,
    counts: [usize; 3],
    rendered: Renderings,
    basis: Option<Basis>,
    /// Servers whose rows may read differently by more than the rows of their own objects.
    pub(super) unsteady: BTreeSet<ServerId>,
}

impl KuraFacts {
    /// Looks everything up; what older facts have that is still so is taken over.
    pub(in super::super) fn of(picture: &Snapshot, moment: Timestamp, older: Self) -> Self {
        let estate = &picture.world.kura;
        if estate.is_empty() {
            return Self::default();
        }
        let sight = picture.observed.cluster.as_ref();
        let anew = older.basis.as_ref().and_then(|basis| basis.anew(&older, picture, moment));
        let look = Look { picture, moment };
        let mut facts = Self {
            target: estate.target().map(str::to_owned),
            basis: Some(Basis::of(picture, moment)),
            servers: older.servers,
            rendered: older.rendered,
            unsteady: older.unsteady,
            ..Self::default()
        };
        match &anew {
            Some(anew) => anew.servers.iter().for_each(|id| facts.make_row(&look, *id)),
            None => facts.make_rows(&look),
        }
        if !facts.servers.is_empty() || sight.is_some() {
            facts.veiled = veiled(sight, moment);
        }
        if let Some(sight) = sight {
            facts.gateways = look.gateways(sight);
            facts.orphans = match &anew {
                Some(Anew { orphans: false, .. }) => older.orphans,
                _ => look.orphans(sight),
            };
            facts.meshes = match &anew {
                Some(Anew { meshes: false, .. }) => older.meshes,
                _ => look.meshes(sight),
            };
            let skewed = facts.meshes.values().filter(|mesh| mesh.warning.is_some());
            facts.skewed = skewed.map(|mesh| (Token::of("mesh", &mesh.tenant), mesh.clone())).collect();
            facts.due = look.due(sight);
        }
        facts.causes = causes(&facts.servers, moment, &mut facts.due);
        facts.groups = facts.grouped();
        facts.counts = facts.counted();
        #[cfg(test)]
        if anew.is_some() {
            facts.agree_with(&Self::of(picture, moment, Self::default()));
        }
        facts
    }

    /// What was taken over is what would be made anew.
    #[cfg(test)]
    fn agree_with(&self, anew: &Self) {
        assert_eq!(self.servers, anew.servers);
        assert_eq!((&self.groups, &self.gateways, &self.orphans), (&anew.groups, &anew.gateways, &anew.orphans));
        assert_eq!((&self.meshes, &self.skewed, &self.causes), (&anew.meshes, &anew.skewed, &anew.causes));
        assert_eq!((self.counts, self.due), (anew.counts, anew.due));
        assert!(self.rendered.keys().eq(anew.rendered.keys()));
    }

    /// Every row anew; what was rendered stays while it is the same.
    fn make_rows(&mut self, look: &Look<'_>) {
        let servers = &look.picture.world.kura.servers;
        let known: BTreeSet<ServerId> = self.servers.keys().chain(servers.keys()).copied().collect();
        known.into_iter().for_each(|id| self.make_row(look, id));
    }

    /// The row of one server anew, if it is still there.
    fn make_row(&mut self, look: &Look<'_>, id: ServerId) {
        let server = look.picture.world.kura.servers.get(&id).filter(|one| one.status != ServerStatus::Destroyed);
        let Some(server) = server else {
            self.servers.remove(&id);
            self.rendered.remove(&id);
            self.unsteady.remove(&id);
            return;
        };
        let (row, steady) = look.row(server, &mut self.rendered);
        self.servers.insert(id, row);
        match steady {
            true => self.unsteady.remove(&id),
            false => self.unsteady.insert(id),
        };
    }

    /// What was rendered, in the order of servers.
    #[cfg(test)]
    pub(in super::super) fn renderings(&self) -> Vec<std::sync::Arc<crate::domain::kura::render::Imprint>> {
        self.rendered.values().map(|rendering| std::sync::Arc::clone(&rendering.imprint)).collect()
    }

    /// Nothing was ever said about a Kura server.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty() && self.groups.is_empty() && self.veiled.is_empty() && self.target.is_none()
    }

    /// One of the groups.
    pub fn group(&self, id: Token) -> Option<&Group> {
        self.groups.iter().find(|group| group.id == id)
    }

    /// What people call it.
    pub fn name(&self, part: Part) -> Option<&str> {
        match part {
            Part::Server(id) => self.servers.get(&id).map(|row| row.name.as_str()),
            Part::Gateway(id) => self.gateways.get(&id).map(|row| row.name.as_str()),
            Part::Orphan(id) => self.orphans.get(&id).map(|row| row.name.as_str()),
            Part::Group(id) => self.group(id).map(|group| group.name.as_str()),
            Part::Cause(id) => self.causes.get(&id).map(|cause| cause.tag.as_str()),
            Part::Mesh(id) => self.skewed.get(&id).map(|mesh| mesh.tenant.as_str()),
            Part::Estate => Some("servers"),
        }
    }

    /// Servers, those that serve, and those with an open deployment.
    pub fn counts(&self) -> [usize; 3] {
        self.counts
    }

    fn counted(&self) -> [usize; 3] {
        let count = |of: fn(&ServerRow) -> bool| self.servers.values().filter(|row| of(row)).count();
        [self.servers.len(), count(|row| row.status == ServerStatus::Active), count(|row| row.open().is_some())]
    }

    fn grouped(&self) -> Vec<Group> {
        let mut groups: BTreeMap<(GroupKind, &str), Vec<&ServerRow>> = BTreeMap::new();
        for row in self.servers.values() {
            let of = match &row.dead_node {
                Some(node) => (GroupKind::DeadNode, node.as_str()),
                None => (GroupKind::Region, row.region.as_str()),
            };
            groups.entry(of).or_default().push(row);
        }
        let servers = groups.into_iter().map(|((kind, name), mut rows)| {
            rows.sort_by_cached_key(|row| (rank(row), &row.name, row.id));
            group(kind, name, rows.into_iter().map(|row| Part::Server(row.id)).collect())
        });
        let gateways = by_name(self.gateways.iter().map(|(id, row)| (row.name.as_str(), Part::Gateway(*id))));
        let orphans = by_name(self.orphans.iter().map(|(id, row)| (row.name.as_str(), Part::Orphan(*id))));
        let rest = [group(GroupKind::Gateways, "gateways", gateways), group(GroupKind::Orphans, "orphans", orphans)];
        servers.chain(rest).filter(|group| !group.members.is_empty()).collect()
    }
}

fn group(kind: GroupKind, name: &str, members: Vec<Part>) -> Group {
    let of = match kind {
        GroupKind::DeadNode => "node",
        GroupKind::Region => "region",
        GroupKind::Gateways | GroupKind::Orphans => "rest",
    };
    Group { id: Token::of(of, name), kind, name: name.to_owned(), members }
}

/// What does not serve comes first, then whatever is not as it should be.
fn rank(row: &ServerRow) -> u8 {
    match row.status {
        ServerStatus::Replicating | ServerStatus::Failed => 0,
        _ if !row.is_well() => 1,
        _ => 2,
    }
}

fn by_name<'a>(rows: impl Iterator<Item = (&'a str, Part)>) -> Vec<Part> {
    let mut rows: Vec<(&str, Part)> = rows.collect();
    rows.sort();
    rows.into_iter().map(|(_, part)| part).collect()
}

/// One look at a picture.
struct Look<'a> {
    picture: &'a Snapshot,
    moment: Timestamp,
}

impl Look<'_> {
    /// The row of a server, and whether it stays as it is while the server, its instance, set and pods do.
    fn row(&self, server: &Server, rendered: &mut Renderings) -> (ServerRow, bool) {
        let row = ServerRow::of(server, self.picture.world.kura.target());
        let older = rendered.remove(&server.id);
        let Some(sight) = self.picture.observed.cluster.as_ref() else { return (row, false) };
        let live = sight.instances.get(&server.instance_name);
        let pods: Vec<&Pod> = sight.pods_of(&server.instance_name).collect();
        let pods = pods.as_slice();
        let seen = sight.instances.is_fresh(self.moment);
        let drift = server.wanted_tag().map(|tag| {
            let mut rendering = Rendering::of(server, tag, older);
            let drift = rendering.drift(server, tag, live);
            rendered.insert(server.id, rendering);
            drift
        });
        // A progress ends by time alone, and where a pending pod can go is told by its volumes.
        let steady = pods.iter().all(|pod| pod.ready && pod.phase != "Pending");
        let work = read("pods", &sight.pods, self.moment).ok().map(|()| workload_of(server, sight, pods, self.moment));
        let row = ServerRow {
            drift: drift.filter(|_| seen && !server.status.is_leaving()),
            replicas: work.as_ref().map_or(row.replicas, |work| work.replicas),
            work,
            finalizers: live
                .filter(|live| live.stamp.is_leaving())
                .map_or(Vec::new(), |live| live.stamp.finalizers.clone()),
            beat: live.and_then(|live| live.last_reconciled_at),
            dead_node: dead_node(pods, &self.picture.observed.nodes).map(str::to_owned),
            ..row
        };
        (row, steady)
    }

    fn orphans(&self, sight: &Sight) -> BTreeMap<Token, Orphan> {
        let all = orphans(&self.picture.world.kura, sight, self.moment);
        all.into_iter().map(|one| (Token::of("orphan", &one.name), one)).collect()
    }

    fn meshes(&self, sight: &Sight) -> BTreeMap<String, Mesh> {
        let all = meshes(&self.picture.world.kura, &sight.pods_by_instance());
        all.into_iter().map(|mesh| (mesh.tenant.clone(), mesh)).collect()
    }

    /// Those that nobody uses or that wait for a finalizer.
    fn gateways(&self, sight: &Sight) -> BTreeMap<Token, GatewayRow> {
        if sight.gateways.rows.is_empty() {
            return BTreeMap::new();
        }
        let users = users(&self.picture.world.kura, sight);
        let row = |gateway: &Gateway| {
            let (stamp, class) = (&gateway.stamp, gateway.class.as_ref().unwrap_or(&gateway.stamp.name));
            let row = GatewayRow {
                name: stamp.name.clone(),
                uid: stamp.uid.clone(),
                created_at: stamp.created_at,
                leaving_since: stamp.deleting_since,
                finalizers: stamp.finalizers.clone(),
                beat: gateway.last_reconciled_at,
                used_by: users.get(class).cloned(),
            };
            let needs_a_look = row.is_stuck() || (row.used_by.is_none() && row.leaving_since.is_none());
            needs_a_look.then(|| (Token::of("gateway", &format!("{}/{}", row.name, row.uid)), row))
        };
        sight.gateways.rows.values().filter_map(row).collect()
    }

    /// Sources go stale, and a progress that stands still is none any more.
    fn due(&self, sight: &Sight) -> Option<Timestamp> {
        let progress = sight.instances.rows.values().filter_map(|live| live.progress.as_ref());
        let ends = progress.map(|progress| PROGRESS_STALE_AFTER.after(progress.at)).filter(|at| *at > self.moment);
        stale_at(sight, self.moment).into_iter().chain(ends).min()
    }
}
