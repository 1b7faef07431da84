//! The address of a control plane, as people write it.

use std::fmt;

use reqwest::Url;

use crate::wire::problem::{Problem, ProblemKind};

/// Where a control plane listens: scheme, host, port and, behind a proxy, a path before `/api/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    base: Url,
}

impl Endpoint {
    /// Reads `http://host:port`, `https://host/prefix` or a bare `host:port`, which means http on this host only.
    /// A trailing `/` or `/api` is dropped. Credentials in an address are refused: addresses end up in logs.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let text = text.trim();
        let written = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
        let mut base = Url::parse(&written).map_err(|error| unusable(text, &error.to_string()))?;
        if !text.contains("://") && is_this_host(&base) {
            // A bare `localhost:7777` is what `serve` prints; there is no certificate for it.
            base = Url::parse(&format!("http://{text}")).map_err(|error| unusable(text, &error.to_string()))?;
        }
        if !matches!(base.scheme(), "http" | "https") {
            return Err(unusable(text, "only http and https are spoken"));
        }
        if !base.username().is_empty() || base.password().is_some() {
            return Err(Problem::new(ProblemKind::Usage, "api", "the address of the API holds credentials")
                .hint("give the token with --token-file, --token-command or KURA_CONSOLE_TOKEN"));
        }
        base.set_query(None);
        base.set_fragment(None);
        let path = base.path().trim_end_matches('/');
        let path = path.strip_suffix("/api").unwrap_or(path).to_owned();
        base.set_path(&path);
        Ok(Self { base })
    }

    /// The full address of a path that begins with `/api/`, with its query.
    pub fn url(&self, path_and_query: &str) -> String {
        format!("{}{path_and_query}", self.base.as_str().trim_end_matches('/'))
    }

    /// Name or address of the host, without brackets.
    pub fn host(&self) -> &str {
        self.base.host_str().unwrap_or("").trim_matches(['[', ']'])
    }

    /// The port, the usual one of the scheme where none is written.
    pub fn port(&self) -> u16 {
        self.base.port_or_known_default().unwrap_or(0)
    }

    /// True where it is spoken to over TLS.
    pub fn is_encrypted(&self) -> bool {
        self.base.scheme() == "https"
    }

    /// True where no wire leaves this host, so that no proxy is asked.
    pub fn is_local(&self) -> bool {
        is_this_host(&self.base)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.base.as_str().trim_end_matches('/'))
    }
}

fn is_this_host(url: &Url) -> bool {
    let host = url.host_str().unwrap_or("").trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn unusable(text: &str, why: &str) -> Problem {
    // What stands before an `@` may be a password.
    let shown = text.rsplit('@').next().unwrap_or("");
    Problem::new(ProblemKind::Usage, "api", format!("{shown} is no address of a control plane: {why}"))
        .hint("write it like http://127.0.0.1:7777 or https://kura.example.com")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_people_write_them() {
        let read = |text: &str| Endpoint::parse(text).unwrap().url("/api/seat");
        assert_eq!(read("http://127.0.0.1:7777"), "http://127.0.0.1:7777/api/seat");
        assert_eq!(read("http://127.0.0.1:7777/"), "http://127.0.0.1:7777/api/seat");
        assert_eq!(read("localhost:7777"), "http://localhost:7777/api/seat");
        assert_eq!(read("[::1]:7777"), "http://[::1]:7777/api/seat");
        assert_eq!(read("kura.example.com"), "https://kura.example.com/api/seat");
        assert_eq!(read("https://example.com/kura/api/"), "https://example.com/kura/api/seat");
        assert_eq!(Endpoint::parse("https://example.com/kura/").unwrap().to_string(), "https://example.com/kura");
    }

    #[test]
    fn nonsense_is_refused_and_a_password_is_not_repeated() {
        for bad in ["", "ftp://example.com", "http://", "http://user:hunter2@example.com", "x://u:hunter2@[bad"] {
            let problem = Endpoint::parse(bad).unwrap_err();
            assert!(!problem.message.contains("hunter2"), "{problem}");
            assert!(!problem.hints.is_empty());
        }
    }
}
