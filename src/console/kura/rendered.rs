//! How live objects stand to what is rendered, kept from one picture to the next: comparing is a walk over fields each.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::row::Drift;
use crate::domain::ids::ServerId;
use crate::domain::kura::drift::{carries, drift};
use crate::domain::kura::render::Manifest;
use crate::domain::kura::server::Server;
use crate::domain::kura::workload::Instance;

/// By server.
pub(super) type Renderings = BTreeMap<ServerId, Rendering>;

/// What is rendered, and what the live object was found to say of it.
#[derive(Debug, Clone)]
pub(super) struct Rendering {
    pub(super) manifest: Arc<Manifest>,
    /// The version that was compared, and the outcome.
    compared: Option<(String, Drift)>,
}

impl Rendering {
    /// What a server is to be on that tag; what was found before is taken where that is the same.
    pub(super) fn of(server: &Server, tag: &str, older: Option<Self>) -> Self {
        let manifest = server.manifest(tag);
        let same = older.filter(|older| Arc::ptr_eq(&older.manifest, &manifest) || older.manifest == manifest);
        same.unwrap_or(Self { manifest, compared: None })
    }

    /// How the live object stands to it.
    pub(super) fn drift(&mut self, live: Option<&Instance>) -> Drift {
        let Some(live) = live else { return Drift::Missing };
        let version = (live.stamp.uid.clone(), live.stamp.resource_version.clone());
        let version = format!("{}/{}", version.0, version.1);
        if let Some((_, known)) = self.compared.as_ref().filter(|(at, _)| *at == version) {
            return *known;
        }
        let found = compare(&self.manifest, live);
        self.compared = Some((version, found));
        found
    }
}

fn compare(manifest: &Manifest, live: &Instance) -> Drift {
    match carries(manifest, live) {
        false => Drift::Drifted,
        true if drift(manifest, &live.spec).is_empty() => Drift::None,
        true => Drift::Edited,
    }
}
