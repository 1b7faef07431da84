//! What a manifest is told by, worked out once: rendering is pure, so it is remembered beside what it was made of. The
//! manifest itself is not, since there are thousands of them and each is some kilobytes.

use std::sync::{Arc, OnceLock};

use super::beside::Beside;
use super::render::{Imprint, render};
use super::server::{Server, ServerSpec};

/// What a server was last rendered as.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remembered(Beside<OnceLock<Arc<Rendered>>>);

/// An imprint and what it was made of; everything else that it takes of a server never changes.
struct Rendered {
    tag: String,
    spec: Arc<ServerSpec>,
    imprint: Arc<Imprint>,
}

impl Server {
    /// What its manifest for a tag is told by. Remembered for one tag and spec at a time; the fold forgets it when either
    /// changes, and for any other it is rendered anew.
    pub fn imprint(&self, tag: &str) -> Arc<Imprint> {
        let imprint = || Arc::new(render(self, tag).imprint);
        let fresh = || {
            let (tag, spec, imprint) = (tag.to_owned(), Arc::clone(&self.spec), imprint());
            Arc::new(Rendered { tag, spec, imprint })
        };
        let known = self.rendered.0.0.get_or_init(fresh);
        match known.tag == tag && known.spec == self.spec {
            true => Arc::clone(&known.imprint),
            false => imprint(),
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::domain::ids::ServerId;
    use crate::domain::kura::change::KuraChange;
    use crate::domain::kura::estate::Estate;

    #[test]
    fn what_is_remembered_is_what_would_be_rendered() {
        // K21
        let id = ServerId::named("acme");
        let (mut estate, now) = (Estate::default(), Timestamp::UNIX_EPOCH);
        let server = Box::new(Server::new(id, "acme", "eu", now));
        estate.apply(now, &KuraChange::ServerAdded { server });
        let agree = |estate: &Estate, tag: &str| {
            let server = &estate.servers[&id];
            assert_eq!(*server.imprint(tag), render(server, tag).imprint);
            server.imprint(tag)
        };
        let first = agree(&estate, "0.19.0");
        assert!(Arc::ptr_eq(&first, &agree(&estate, "0.19.0")), "rendered once");
        agree(&estate, "0.20.0");
        let spec = Box::new(ServerSpec { replicas: 5, ..ServerSpec::default() });
        estate.apply(now, &KuraChange::SpecChanged { server: id, spec });
        let other = agree(&estate, "0.19.0");
        assert_ne!(first.revision, other.revision);
        assert!(Arc::ptr_eq(&other, &agree(&estate.clone(), "0.19.0")), "a clone of the world remembers too");
        estate.servers.get_mut(&id).unwrap().spec_mut().replicas = 7;
        agree(&estate, "0.19.0");
    }
}
