//! The name of an endpoint, asked of the resolvers of this machine. What a resolver could not say is never taken for a
//! name that is not there (K30).

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts};
use hickory_resolver::lookup::Lookup;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::rr::{Name, RData};

use crate::domain::kura::traffic::Dns;

/// Where the resolvers of a machine are written down.
pub const RESOLVERS_FILE: &str = "/etc/resolv.conf";

/// How long one resolver may take to answer.
const ANSWER_MAX: Duration = Duration::from_secs(2);

/// How often a resolver that does not answer is asked.
const ATTEMPTS: usize = 2;

/// Addresses of one name that are kept.
pub const ADDRESSES_MAX: usize = 16;

/// Resolvers to ask. Nothing is remembered between two questions: how old an answer is, is said with it.
#[derive(Clone)]
pub struct Names {
    resolver: TokioResolver,
}

impl Names {
    /// Those of this machine, as they are written down right now.
    ///
    /// # Errors
    /// With a sentence, where the file cannot be read or names nobody.
    pub fn of_this_machine() -> Result<Self, String> {
        Self::written_in(Path::new(RESOLVERS_FILE))
    }

    /// Those in a file of that form.
    fn written_in(path: &Path) -> Result<Self, String> {
        let unusable = |why: String| format!("{}: {why}", path.display());
        let text = std::fs::read(path).map_err(|error| unusable(error.to_string()))?;
        let written = resolv_conf::Config::parse(&text).map_err(|error| unusable(error.to_string()))?;
        let addresses: Vec<SocketAddr> =
            written.nameservers.iter().map(|ip| SocketAddr::new(IpAddr::from(ip), 53)).collect();
        match addresses.is_empty() {
            true => Err(unusable("it names no resolver".to_owned())),
            false => Self::at(&addresses),
        }
    }

    /// Resolvers at these addresses, asked in order.
    ///
    /// # Errors
    /// With a sentence, where no resolver can be made of them.
    pub fn at(addresses: &[SocketAddr]) -> Result<Self, String> {
        let servers = addresses.iter().map(|address| {
            let at = |mut connection: ConnectionConfig| {
                connection.port = address.port();
                connection
            };
            let connections = vec![at(ConnectionConfig::udp()), at(ConnectionConfig::tcp())];
            NameServerConfig::new(address.ip(), true, connections)
        });
        let config = ResolverConfig::from_parts(None, Vec::new(), servers.collect());
        let mut builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
        let mut options = ResolverOpts::default();
        options.timeout = ANSWER_MAX;
        options.attempts = ATTEMPTS;
        options.cache_size = 0;
        options.use_hosts_file = ResolveHosts::Never;
        *builder.options_mut() = options;
        let resolver = builder.build().map_err(|error| error.to_string())?;
        Ok(Self { resolver })
    }

    /// What the name leads to.
    pub async fn look_up(&self, host: &str) -> Dns {
        if let Ok(address) = host.parse::<IpAddr>() {
            return Dns::Addresses { addresses: vec![address.to_string()] };
        }
        let mut name = match Name::from_utf8(host) {
            Ok(name) => name,
            Err(_) => return Dns::Failed { why: "that is no name that can be asked for".to_owned() },
        };
        name.set_fqdn(true);
        let (four, six) = tokio::join!(self.resolver.ipv4_lookup(name.clone()), self.resolver.ipv6_lookup(name));
        judge([four.map(|found| addresses(&found)), six.map(|found| addresses(&found))])
    }
}

fn addresses(found: &Lookup) -> Vec<IpAddr> {
    let address = |data: &RData| match data {
        RData::A(address) => Some(IpAddr::V4(address.0)),
        RData::AAAA(address) => Some(IpAddr::V6(address.0)),
        _ => None,
    };
    found.answers().iter().filter_map(|record| address(&record.data)).collect()
}

/// An address of either family is an answer; without one, a family that could not be asked leaves it open.
fn judge(families: [Result<Vec<IpAddr>, NetError>; 2]) -> Dns {
    let mut found: Vec<IpAddr> = families.iter().flatten().flatten().copied().collect();
    let errors = || families.iter().filter_map(|family| family.as_ref().err());
    let failed = errors().find(|error| !error.is_no_records_found());
    match (found.is_empty(), errors().any(NetError::is_nx_domain), failed) {
        (true, true, _) => Dns::NxDomain,
        (true, false, Some(error)) => Dns::Failed { why: sentence(error) },
        _ => {
            found.sort();
            found.truncate(ADDRESSES_MAX);
            Dns::Addresses { addresses: found.iter().map(IpAddr::to_string).collect() }
        }
    }
}

/// Without anything that differs from one try to the next.
fn sentence(error: &NetError) -> String {
    match error {
        NetError::Timeout => "no answer in time".to_owned(),
        NetError::Dns(DnsError::ResponseCode(code)) => format!("it answered {code}"),
        NetError::Io(error) => error.kind().to_string(),
        NetError::NoConnections => "it cannot be reached".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use hickory_resolver::net::NoRecords;
    use hickory_resolver::proto::op::{Query, ResponseCode};

    use super::*;

    #[test]
    fn a_file_without_resolvers_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("resolv.conf");
        assert!(Names::written_in(&path).err().unwrap().contains("resolv.conf"));
        std::fs::write(&path, "search example.com\n").unwrap();
        assert!(Names::written_in(&path).err().unwrap().ends_with("it names no resolver"));
    }

    #[tokio::test]
    async fn an_address_is_its_own_answer() {
        let names = Names::at(&[SocketAddr::from(([127, 0, 0, 1], 1))]).unwrap();
        assert_eq!(names.look_up("192.0.2.1").await, Dns::Addresses { addresses: vec!["192.0.2.1".to_owned()] });
        let odd = names.look_up("a..b").await;
        assert!(matches!(odd, Dns::Failed { .. }), "{odd:?}");
    }

    #[test]
    fn a_family_that_could_not_be_asked_hides_no_address_and_makes_no_name_vanish() {
        // K30
        let address: IpAddr = "192.0.2.1".parse().unwrap();
        let timeout = || Err(NetError::Timeout);
        assert_eq!(judge([Ok(vec![address]), timeout()]), Dns::Addresses { addresses: vec!["192.0.2.1".to_owned()] });
        assert_eq!(judge([Ok(Vec::new()), timeout()]), Dns::Failed { why: "no answer in time".to_owned() });
        assert_eq!(judge([Ok(Vec::new()), Ok(Vec::new())]), Dns::Addresses { addresses: Vec::new() });
    }

    #[test]
    fn a_name_that_does_not_exist_is_none_without_an_address() {
        // K30
        let none = |code| Err(NetError::Dns(DnsError::NoRecordsFound(NoRecords::new(Query::default(), code))));
        let gone = || none(ResponseCode::NXDomain);
        assert_eq!(judge([gone(), gone()]), Dns::NxDomain);
        assert_eq!(judge([gone(), Err(NetError::Timeout)]), Dns::NxDomain, "there is no name in any family");
        let bare = || none(ResponseCode::NoError);
        assert_eq!(judge([bare(), bare()]), Dns::Addresses { addresses: Vec::new() });
    }
}
