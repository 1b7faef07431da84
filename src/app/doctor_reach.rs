//! From here to the control plane, step by step: which one, as whom, the name, the connection, its encryption.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use super::cluster::ClusterArgs;
use super::doctor::{Finding, Verdict};
use super::doctor_there::{cluster_of, known_of, there};
use super::target::TargetArgs;
use super::{doctor_cluster, doctor_journal};
use crate::adapters::remote::client::Client;
use crate::adapters::remote::endpoint::Endpoint;
use crate::adapters::remote::token::Token;
use crate::wire::problem::{Problem, ProblemKind};

/// Until a name is resolved.
const NAME_LIMIT: Duration = Duration::from_secs(5);

/// Until a connection to one address stands.
const CONNECT_LIMIT: Duration = Duration::from_secs(3);

/// Addresses of one name that are tried.
const ADDRESSES_MAX: usize = 4;

/// Until the token is there; a command may ask a person for a passphrase.
const TOKEN_LIMIT: Duration = Duration::from_secs(30);

/// Permissions of a file that others than its owner have.
const OTHERS: u32 = 0o077;

/// Where requests may go instead of where they are addressed to.
const PROXIES: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/// Every finding on the way there, at the far end as far as it is reached, and about what there is without it.
pub async fn reach(target: TargetArgs, own: ClusterArgs, journal: Option<&str>) -> Vec<Finding> {
    let (mut findings, client) = plane(target).await;
    let theirs = match client.as_ref().filter(|_| own.is_given()) {
        Some(client) => cluster_of(client).await,
        None => None,
    };
    findings.extend(doctor_cluster::look(&own, theirs.as_deref()).await);
    findings.push(match (journal, &client) {
        (Some(url), Some(client)) => doctor_journal::journal(url, known_of(client).await).await,
        (Some(url), None) => doctor_journal::journal(url, None).await,
        (None, _) => doctor_journal::no_journal(),
    });
    findings
}

/// The control plane, and whom to ask there where a connection stands.
async fn plane(target: TargetArgs) -> (Vec<Finding>, Option<Client>) {
    let source = target.api_source();
    let endpoint = match target.endpoint_named() {
        Ok(endpoint) => endpoint,
        Err(problem) => return (vec![Finding::of("api", &problem)], None),
    };
    let mut findings = vec![Finding::ok("api", format!("{endpoint}, from {source}"))];
    let token = token(&mut findings, target).await;
    let stands = connected(&mut findings, &endpoint).await;
    let client = token.filter(|_| stands).map(|token| Client::new(endpoint.clone(), &token));
    match client {
        Some(Ok(client)) => {
            findings.extend(there(&client, endpoint.is_encrypted()).await);
            (findings, Some(client))
        }
        Some(Err(problem)) => {
            findings.push(Finding::of("client", &problem));
            (findings, None)
        }
        None => (findings, None),
    }
}

async fn token(findings: &mut Vec<Finding>, target: TargetArgs) -> Option<Token> {
    let (source, file) = (target.token_source(), target.token_file.clone());
    let read = timeout(TOKEN_LIMIT, tokio::task::spawn_blocking(move || target.token_named())).await;
    let late = || Problem::new(ProblemKind::Usage, "token", format!("{source} gave no token in time"));
    let read = read.map_err(|_| late()).and_then(|done| done.map_err(|_| late()));
    match read.and_then(|read| read) {
        Ok(token) => {
            findings.push(kept(&source, file.as_deref()));
            Some(token)
        }
        Err(problem) => {
            findings.push(Finding::of("token", &problem));
            None
        }
    }
}

/// Whether a token that was read is read by others as well.
fn kept(source: &str, file: Option<&Path>) -> Finding {
    let mode = file.and_then(|file| std::fs::metadata(file).ok()).map_or(0, |found| found.permissions().mode());
    match mode & OTHERS {
        0 => Finding::ok("token", format!("from {source}")),
        _ => Finding::warn("token", format!("from {source}, which others may read"), format!("chmod 600 {source}")),
    }
}

/// Whether a connection stands. Behind a proxy neither name nor connection are this host's business.
async fn connected(findings: &mut Vec<Finding>, endpoint: &Endpoint) -> bool {
    let proxy = PROXIES.iter().find(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if let Some(name) = proxy.filter(|_| !endpoint.is_local()) {
        let said = format!("{name} is set: requests may go through that proxy, which resolves and connects");
        findings.push(Finding::warn(
            "network",
            said,
            format!("unset {name}, or name the host in NO_PROXY, to go straight"),
        ));
        return true;
    }
    let (name, addresses) = resolved(endpoint).await;
    findings.push(name);
    if addresses.is_empty() {
        return false;
    }
    let connection = connect(&addresses).await;
    let stands = connection.verdict == Verdict::Ok;
    findings.push(connection);
    stands
}

async fn resolved(endpoint: &Endpoint) -> (Finding, Vec<SocketAddr>) {
    let (host, port) = (endpoint.host(), endpoint.port());
    let failed = |why: String| {
        let hint = "check the spelling, the DNS of this host and a VPN that may be down";
        (Finding::bad("name", format!("{host} does not resolve: {why}"), hint), Vec::new())
    };
    match timeout(NAME_LIMIT, lookup_host((host, port))).await {
        Err(_) => failed(format!("no answer in {} s", NAME_LIMIT.as_secs())),
        Ok(Err(error)) => failed(error.to_string()),
        Ok(Ok(found)) => {
            let addresses: Vec<SocketAddr> = found.take(ADDRESSES_MAX).collect();
            let told: Vec<String> = addresses.iter().map(|address| address.ip().to_string()).collect();
            match told.is_empty() {
                true => failed("it has no address".to_owned()),
                false => (Finding::ok("name", format!("{host} is {}", told.join(", "))), addresses),
            }
        }
    }
}

async fn connect(addresses: &[SocketAddr]) -> Finding {
    let mut failures = Vec::new();
    for address in addresses {
        match timeout(CONNECT_LIMIT, TcpStream::connect(address)).await {
            Ok(Ok(_)) => return Finding::ok("connect", format!("{address} takes connections")),
            Ok(Err(error)) => failures.push(format!("{address}: {error}")),
            Err(_) => failures.push(format!("{address}: no answer in {} s", CONNECT_LIMIT.as_secs())),
        }
    }
    let hint = "check that the control plane runs, the port, and firewalls on the way";
    Finding::bad("connect", failures.join("; "), hint)
}
