//! Where a server answers, and which of those places are worth a probe.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::estate::Estate;
use super::server::{GatewayMode, Server};
use super::sight::Sight;

/// Where a server is to answer `/up` (K32).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Front {
    /// `https://<host>`, found by its name.
    Host(String),
    /// `http://<address>:<port>`: a port of a node. No name and no certificate are on the way.
    NodePort {
        /// The node's address.
        address: String,
        /// The port.
        port: u16,
    },
}

impl Front {
    /// What its probe is filed under in `Sight.endpoints`.
    pub fn key(&self) -> Cow<'_, str> {
        match self {
            Self::Host(host) => Cow::Borrowed(host),
            Self::NodePort { address, port } if address.contains(':') => Cow::Owned(format!("[{address}]:{port}")),
            Self::NodePort { address, port } => Cow::Owned(format!("{address}:{port}")),
        }
    }

    /// The URL it serves under.
    pub fn url(&self) -> String {
        match self {
            Self::Host(_) => format!("https://{}", self.key()),
            Self::NodePort { .. } => format!("http://{}", self.key()),
        }
    }
}

/// The front of a server; none where it has none, or where its instance does not say yet which port of which node it is.
pub fn front(server: &Server, sight: &Sight) -> Option<Front> {
    let host = server.public_host()?;
    match server.spec.gateway {
        GatewayMode::Shared | GatewayMode::Dedicated => Some(Front::Host(host)),
        GatewayMode::NodePort => {
            let node_port = sight.instances.get(&server.instance_name)?.node_port.clone()?;
            Some(Front::NodePort { address: node_port.address, port: node_port.port })
        }
    }
}

/// A front that is worth a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Where.
    pub front: Front,
    /// Somebody waits for it: a deployment is open.
    pub eager: bool,
}

/// What is to be probed, by key: the fronts of servers that something was rendered for and that stay (K29).
pub fn wanted(estate: &Estate, sight: &Sight) -> BTreeMap<String, Wanted> {
    let staying = estate.servers.values().filter(|server| !server.status.is_leaving() && server.wanted_tag().is_some());
    let mut wanted: BTreeMap<String, Wanted> = BTreeMap::new();
    for server in staying {
        let Some(front) = front(server, sight) else { continue };
        let eager = server.open().is_some();
        let known = wanted.entry(front.key().into_owned()).or_insert(Wanted { front, eager });
        known.eager |= eager;
    }
    wanted
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use uuid::Uuid;

    use super::*;
    use crate::domain::ids::ServerId;
    use crate::domain::kura::deployment::Deployment;
    use crate::domain::kura::server::ServerStatus;

    fn server(n: u128, region: &str) -> Server {
        let at = Timestamp::UNIX_EPOCH;
        let mut server = Server::new(ServerId(Uuid::from_u128(n)), "acme", region, at);
        server.current_image_tag = Some("0.20.0".to_owned());
        server
    }

    fn keys(servers: Vec<Server>) -> Vec<(String, bool)> {
        let estate = Estate { servers: servers.into_iter().map(|one| (one.id, one)).collect(), ..Estate::default() };
        wanted(&estate, &Sight::default()).into_iter().map(|(key, one)| (key, one.eager)).collect()
    }

    #[test]
    fn only_where_something_was_rendered_for_a_server_that_stays() {
        // K29
        let (serving, mut bare, mut gone, mut hidden, mut port) =
            (server(1, "a"), server(2, "b"), server(3, "c"), server(4, "d"), server(5, "e"));
        bare.current_image_tag = None;
        gone.status = ServerStatus::Destroying;
        hidden.spec_mut().private = true;
        port.spec_mut().gateway = GatewayMode::NodePort;
        let mut deployed = server(6, "f");
        let row = Deployment::pending(deployed.next_deployment(), "0.21.0", "scheduler", Timestamp::UNIX_EPOCH);
        deployed.deployments.push_back(row);
        let expected = [("acme-a.kura.tuist.dev".to_owned(), false), ("acme-f.kura.tuist.dev".to_owned(), true)];
        assert_eq!(keys(vec![serving, bare, gone, hidden, port, deployed]), expected);
    }

    #[test]
    fn a_port_of_a_node_is_written_as_urls_write_it() {
        // K30
        let port = |address: &str| Front::NodePort { address: address.to_owned(), port: 30_080 };
        assert_eq!(port("172.16.0.2").url(), "http://172.16.0.2:30080");
        assert_eq!(port("fd00::2").url(), "http://[fd00::2]:30080");
        assert_eq!(Front::Host("a.example".to_owned()).url(), "https://a.example");
    }
}
