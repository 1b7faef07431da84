//! Where `serve` listens, and why it cannot.

use std::io;
use std::net::SocketAddr;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::{TcpListener, lookup_host};

use crate::server::connections::CONNECTIONS_MAX;
use crate::wire::problem::{Problem, ProblemKind};

/// Files that are open besides connections: those of the stores, logs, the runtime's own.
const FILES_BESIDE: u64 = 256;

/// What keeps tokens from being read on their way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// TLS.
    Tls,
    /// A person who says that nothing has to.
    Word,
    /// Nothing.
    None,
}

/// Resolves `HOST:PORT`. Refuses addresses that others can reach while nothing guards the tokens.
pub async fn address(text: &str, guard: Guard) -> Result<SocketAddr, Problem> {
    let unknown = |why: String| {
        Problem::new(ProblemKind::Usage, "listen", format!("{text} is no address to listen on: {why}"))
            .hint("write it as HOST:PORT, such as 127.0.0.1:7777")
    };
    let found = lookup_host(text).await.map_err(|error| unknown(error.to_string()))?.next();
    let address = found.ok_or_else(|| unknown("the host has no address".to_owned()))?;
    if !address.ip().is_loopback() && guard == Guard::None {
        let message =
            format!("{address} can be reached from other hosts, and there is no TLS: tokens would be readable");
        return Err(Problem::new(ProblemKind::Usage, "insecure_listen", message)
            .hint("show a certificate: --tls-cert FILE --tls-key FILE")
            .hint("or listen on 127.0.0.1 and put a proxy with TLS in front")
            .hint("or say that this is meant: --insecure-listen"));
    }
    Ok(address)
}

/// Lets the process have as many files open as its connections need: shells give 1,024, and the connection after that
/// would wait for one that ends.
pub fn make_room() {
    let wanted = u64::try_from(CONNECTIONS_MAX).unwrap_or(u64::MAX).saturating_add(FILES_BESIDE);
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let most = maximum.unwrap_or(u64::MAX).min(wanted);
    if current.is_some_and(|current| current < most) {
        let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum });
        if let Err(error) = raised {
            tracing::warn!(%error, "the limit of open files could not be raised");
        }
    }
    if most < wanted {
        tracing::warn!(files = most, wanted, "fewer connections fit than are served: raise the limit, ulimit -Hn");
    }
}

/// Takes the port.
pub async fn bind(address: SocketAddr) -> Result<TcpListener, Problem> {
    TcpListener::bind(address).await.map_err(|error| problem(&address.to_string(), &error))
}

/// Why an address cannot be listened on.
pub fn problem(address: &str, error: &io::Error) -> Problem {
    let port = address.rsplit(':').next().unwrap_or("");
    let told = |what: &str| Problem::new(ProblemKind::Usage, "listen", format!("{address} {what}"));
    match error.kind() {
        io::ErrorKind::AddrInUse => told("is taken by another process")
            .hint(format!("see which: ss -ltnp 'sport = :{port}'"))
            .hint("or listen elsewhere: --listen 127.0.0.1:7778"),
        io::ErrorKind::PermissionDenied => {
            told("must not be taken by this user").hint("ports below 1024 are reserved: choose a higher one")
        }
        io::ErrorKind::AddrNotAvailable => {
            told("is no address of this host").hint("list the addresses of this host: ip address")
        }
        _ => told(&format!("cannot be listened on: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_others_can_reach_has_to_be_meant() {
        let problem = address("0.0.0.0:0", Guard::None).await.unwrap_err();
        assert!(problem.hints.iter().any(|hint| hint.contains("--insecure-listen")));
        assert!(address("0.0.0.0:0", Guard::Word).await.is_ok());
        assert!(address("127.0.0.1:0", Guard::None).await.is_ok());
        assert!(address("[::1]:0", Guard::None).await.is_ok());
        assert!(address("7777", Guard::Tls).await.is_err());
    }

    #[tokio::test]
    async fn a_taken_port_says_who_may_have_it() {
        let first = bind(address("127.0.0.1:0", Guard::None).await.unwrap()).await.unwrap();
        let taken = first.local_addr().unwrap();
        let problem = bind(taken).await.unwrap_err();
        assert!(problem.message.contains("taken"), "{problem}");
        assert!(problem.hints[0].contains(&taken.port().to_string()));
    }
}
