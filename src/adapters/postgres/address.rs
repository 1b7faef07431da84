//! The address of a database: what may stand in it, and what of it may be shown.

use std::fmt;
use std::str::FromStr;

use sqlx::postgres::PgConnectOptions;

use super::fault::Flaw;

/// What may stand behind the `?`. Anything else would be passed over in silence, a misspelt `sslmode` as well.
const PARAMETERS: [&str; 14] = [
    "application_name",
    "dbname",
    "host",
    "hostaddr",
    "options",
    "password",
    "port",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "ssl-root-cert",
    "statement-cache-capacity",
    "user",
];

/// An address as a person wrote it, perhaps with a password in it. Shown without.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    /// `postgres://USER@HOST:PORT/NAME?sslmode=...`; whether it can be used comes to light when it is.
    pub fn new(url: String) -> Self {
        Self(url)
    }

    /// All of it: for whoever connects, and nobody else.
    pub fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_password(&self.0))
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// How to connect; what the address leaves out comes from the variables `PG...` and from `~/.pgpass`.
pub(super) fn options_of(url: &str) -> Result<PgConnectOptions, Flaw> {
    if let Some(stranger) = stranger(url) {
        return Err(Flaw::Address(format!("`{stranger}` means nothing in it")));
    }
    PgConnectOptions::from_str(url).map_err(|error| match error {
        sqlx::Error::Configuration(why) => Flaw::Address(why.to_string()),
        other => Flaw::of(&other),
    })
}

/// The first parameter nobody would look at.
fn stranger(url: &str) -> Option<&str> {
    let (_, parameters) = url.split_once('?')?;
    let names = parameters.split('&').map(|one| one.split('=').next().unwrap_or(one));
    names.filter(|name| !name.is_empty()).find(|name| !PARAMETERS.contains(name))
}

/// An address that may be shown: what stands between `USER:` and `@` is left out, and so is a password among the
/// parameters.
pub fn without_password(url: &str) -> String {
    let (address, parameters) = url.split_once('?').map_or((url, None), |(address, rest)| (address, Some(rest)));
    let address = match address.split_once("://").zip(address.rsplit_once('@')) {
        Some(((scheme, who), (_, place))) => {
            let user = who.split([':', '@']).next().unwrap_or_default();
            format!("{scheme}://{user}@{place}")
        }
        None => address.to_owned(),
    };
    let shown = parameters.into_iter().flat_map(|all| all.split('&')).filter(|one| !one.starts_with("password="));
    let shown: Vec<&str> = shown.collect();
    if shown.is_empty() { address } else { format!("{address}?{}", shown.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_shown() {
        for (url, shown) in [
            ("postgres://kura:secret@db:5432/kura", "postgres://kura@db:5432/kura"),
            ("postgres://kura:se@cret@db/kura?sslmode=require", "postgres://kura@db/kura?sslmode=require"),
            ("postgres://kura@db/kura?password=secret&sslmode=require", "postgres://kura@db/kura?sslmode=require"),
            ("postgres:///kura?host=/run/postgresql", "postgres:///kura?host=/run/postgresql"),
            ("postgres://db/kura", "postgres://db/kura"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }

    #[test]
    fn a_parameter_that_would_be_passed_over_is_refused() {
        let said = |url| options_of(url).unwrap_err().to_string();
        assert_eq!(
            said("postgres://db/kura?ssl_mode=require"),
            "its address is not understood: `ssl_mode` means nothing in it"
        );
        assert!(said("postgres://db:port/kura").contains("port"), "{}", said("postgres://db:port/kura"));
        assert!(options_of("postgres://kura@db/kura?sslmode=verify-full&sslrootcert=/etc/ca.pem").is_ok());
    }
}
