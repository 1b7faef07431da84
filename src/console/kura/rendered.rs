//! Manifests that were rendered for the screen, kept from one picture to the next: rendering is a digest each.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::row::Drift;
use crate::domain::ids::ServerId;
use crate::domain::kura::drift::{carries, drift};
use crate::domain::kura::render::{Manifest, render};
use crate::domain::kura::server::{Server, ServerSpec};
use crate::domain::kura::workload::Instance;

/// By server.
pub(super) type Renderings = BTreeMap<ServerId, Rendering>;

/// What was rendered, of what, and what the live object was found to say of it.
#[derive(Debug, Clone)]
pub(super) struct Rendering {
    spec: ServerSpec,
    tag: String,
    pub(super) manifest: Arc<Manifest>,
    /// The version that was compared, and the outcome.
    compared: Option<(String, Drift)>,
}

impl Rendering {
    /// What a server is to be on that tag; an older rendering is taken where nothing it was made of has changed.
    pub(super) fn of(server: &Server, tag: &str, older: Option<Self>) -> Self {
        match older.filter(|older| older.tag == tag && older.spec == server.spec) {
            Some(older) => older,
            None => {
                let manifest = Arc::new(render(server, tag));
                Self { spec: server.spec.clone(), tag: tag.to_owned(), manifest, compared: None }
            }
        }
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
