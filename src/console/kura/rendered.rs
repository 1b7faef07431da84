//! How live objects stand to what is rendered, kept from one picture to the next: comparing is a walk over fields each.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::row::Drift;
use crate::domain::ids::ServerId;
use crate::domain::kura::drift::{carries, is_edited};
use crate::domain::kura::render::Imprint;
use crate::domain::kura::server::Server;
use crate::domain::kura::workload::Instance;

/// By server.
pub(super) type Renderings = BTreeMap<ServerId, Rendering>;

/// What is rendered, and what the live object was found to say of it.
#[derive(Debug, Clone)]
pub(super) struct Rendering {
    pub(super) imprint: Arc<Imprint>,
    /// The version that was compared, and the outcome.
    compared: Option<(String, Drift)>,
}

impl Rendering {
    /// What a server is to be on that tag; what was found before is taken where that is the same.
    pub(super) fn of(server: &Server, tag: &str, older: Option<Self>) -> Self {
        let imprint = server.imprint(tag);
        let same = older.filter(|older| Arc::ptr_eq(&older.imprint, &imprint) || older.imprint == imprint);
        same.unwrap_or(Self { imprint, compared: None })
    }

    /// How the live object stands to it.
    pub(super) fn drift(&mut self, server: &Server, tag: &str, live: Option<&Instance>) -> Drift {
        let Some(live) = live else { return Drift::Missing };
        let version = (live.stamp.uid.clone(), live.stamp.resource_version.clone());
        let version = format!("{}/{}", version.0, version.1);
        if let Some((_, known)) = self.compared.as_ref().filter(|(at, _)| *at == version) {
            return *known;
        }
        let found = match carries(&self.imprint, live) {
            false => Drift::Drifted,
            true if is_edited(server, tag, live) => Drift::Edited,
            true => Drift::None,
        };
        self.compared = Some((version, found));
        found
    }
}
