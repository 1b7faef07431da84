//! The flags: names and places, each with a default that works.

/// What is to be written.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Namespace of the control plane.
    #[arg(long, value_name = "NAME", default_value = "kura-console", value_parser = label)]
    pub namespace: String,
    /// Namespace of the Kura servers it looks after.
    #[arg(long, value_name = "NAME", default_value = "kura", value_parser = label)]
    pub kura_namespace: String,
    /// Image to run.
    #[arg(long, value_name = "IMAGE", default_value = concat!("kura-console:", env!("CARGO_PKG_VERSION")))]
    pub image: String,
    /// Where the journal is: sqlite is a file on a volume; kubernetes are objects in the namespace of the control plane, for
    /// accounts of up to about 1,000 machines, and a console can carry on with them when the control plane is gone.
    #[arg(long, value_enum, value_name = "WHERE", default_value_t)]
    pub journal: JournalPlace,
    /// Size of the volume of the journal; it has to be a disk of one node, never a network file system.
    #[arg(long, value_name = "SIZE", default_value = "10Gi", value_parser = quantity)]
    pub storage: String,
    /// Storage class of that volume; the cluster's default where it is left out.
    #[arg(long, value_name = "NAME", value_parser = label)]
    pub storage_class: Option<String>,
    /// Repository that releases are built from; the image has to bring the git command along.
    #[arg(long, value_name = "URL")]
    pub repository: Option<String>,
    /// Secret with the tokens file, under the key tokens.yaml.
    #[arg(long, value_name = "NAME", default_value = "kura-console-tokens", value_parser = label)]
    pub tokens_secret: String,
    /// Secret with the certificate and its key, of the type kubernetes.io/tls.
    #[arg(long, value_name = "NAME", default_value = "kura-console-tls", value_parser = label)]
    pub tls_secret: String,
    /// Name under which it is reached from outside the cluster: makes an Ingress that passes TLS through to it.
    #[arg(long, value_name = "NAME", value_parser = host)]
    pub host: Option<String>,
    /// Class of that Ingress; the cluster's default where it is left out.
    #[arg(long, value_name = "NAME", requires = "host", value_parser = label)]
    pub ingress_class: Option<String>,
    /// Leave out the rights on nodes and Kura servers: rollouts of rings need none.
    #[arg(long)]
    pub no_cluster: bool,
    /// Add the rights that fleet rolls take: to cordon nodes, to take pods off them wherever those live, to make pods and
    /// Jobs in the namespace of the Kura servers.
    #[arg(long, conflicts_with = "no_cluster")]
    pub fleet_rolls: bool,
}

/// Where the journal is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum JournalPlace {
    /// In a file on a volume
    #[default]
    Sqlite,
    /// In objects of the cluster
    Kubernetes,
}

/// The longest name of most objects.
const LABEL_MAX: usize = 63;

/// The longest name of a host.
const HOST_MAX: usize = 253;

/// A name as Kubernetes takes it: RFC 1123.
fn label(text: &str) -> Result<String, String> {
    let inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_label = (1..=LABEL_MAX).contains(&text.len())
        && text.chars().all(inside)
        && !text.starts_with('-')
        && !text.ends_with('-');
    match is_label {
        true => Ok(text.to_owned()),
        false => Err(format!("a name is 1 to {LABEL_MAX} lower-case letters, digits and '-', not at its ends")),
    }
}

fn host(text: &str) -> Result<String, String> {
    match text.len() <= HOST_MAX && text.split('.').all(|part| label(part).is_ok()) {
        true => Ok(text.to_owned()),
        false => Err("a host is written like kura.example.com".to_owned()),
    }
}

/// A size as Kubernetes writes it.
fn quantity(text: &str) -> Result<String, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &text[digits.len()..];
    let is_size = digits.parse::<u64>().is_ok_and(|size| size > 0) && matches!(unit, "" | "Mi" | "Gi" | "Ti");
    if is_size { Ok(text.to_owned()) } else { Err("a size is written like 10Gi, 500Mi or 1Ti".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hosts_and_sizes_are_those_of_kubernetes() {
        assert!(label("kura-console").is_ok() && host("kura.example.com").is_ok() && quantity("10Gi").is_ok());
        for bad in ["", "-a", "a-", "A", "a b", "a\n", &"a".repeat(64)] {
            assert!(label(bad).is_err() && host(bad).is_err(), "{bad:?}");
        }
        for bad in ["", "Gi", "0Gi", "10 Gi", "10GB", "-1Gi", "1.5Gi"] {
            assert!(quantity(bad).is_err(), "{bad:?}");
        }
    }
}
