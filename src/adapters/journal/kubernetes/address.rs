//! The address of a journal in a cluster: `kubernetes://NAMESPACE/NAME`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::adapters::kube::target::Choice;

/// The longest name of a namespace.
const NAMESPACE_MAX: usize = 63;

/// The longest name of a journal: it begins the names of all its objects.
const NAME_MAX: usize = 40;

/// A namespace, a name in it, and how to find the cluster where that is not the usual one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterUrl {
    /// The namespace of its objects.
    pub namespace: String,
    /// What their names begin with.
    pub name: String,
    /// Which cluster; nothing = the current context, or the cluster this pod runs in.
    pub cluster: Choice,
}

impl FromStr for ClusterUrl {
    /// What is wrong with it.
    type Err = String;

    /// Of what stands behind `kubernetes://`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (place, parameters) = text.split_once('?').unwrap_or((text, ""));
        let (namespace, name) = place.split_once('/').ok_or("it is NAMESPACE/NAME")?;
        label("namespace", namespace, NAMESPACE_MAX)?;
        label("name", name, NAME_MAX)?;
        let mut cluster = Choice::default();
        for one in parameters.split('&').filter(|one| !one.is_empty()) {
            match one.split_once('=') {
                Some(("context", context)) => cluster.context = Some(context.to_owned()),
                Some(("kubeconfig", path)) => cluster.kubeconfig = Some(PathBuf::from(path)),
                _ => return Err(format!("`{one}` means nothing in it; there are context=NAME and kubeconfig=FILE")),
            }
        }
        Ok(Self { namespace: namespace.to_owned(), name: name.to_owned(), cluster })
    }
}

impl fmt::Display for ClusterUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kubernetes://{}/{}", self.namespace, self.name)?;
        let context = self.cluster.context.as_ref().map(|context| format!("context={context}"));
        let file = self.cluster.kubeconfig.as_ref().map(|path| format!("kubeconfig={}", path.display()));
        let parameters: Vec<String> = context.into_iter().chain(file).collect();
        if parameters.is_empty() { Ok(()) } else { write!(f, "?{}", parameters.join("&")) }
    }
}

fn label(what: &str, text: &str, most: usize) -> Result<(), String> {
    let inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_label =
        (1..=most).contains(&text.len()) && text.chars().all(inside) && !text.starts_with('-') && !text.ends_with('-');
    let said = || format!("its {what} is 1 to {most} lower-case letters, digits and '-', not at its ends");
    if is_label { Ok(()) } else { Err(said()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_a_name_and_perhaps_a_cluster() {
        let url: ClusterUrl = "ops/kura?context=prod-a&kubeconfig=/etc/kura/config".parse().unwrap();
        assert_eq!((url.namespace.as_str(), url.name.as_str()), ("ops", "kura"));
        assert_eq!(url.cluster.context.as_deref(), Some("prod-a"));
        assert_eq!(url.to_string(), "kubernetes://ops/kura?context=prod-a&kubeconfig=/etc/kura/config");
        for bad in [
            "",
            "ops",
            "ops/",
            "/kura",
            "ops/Kura",
            "ops/a/b",
            "ops/kura?namespace=x",
            &format!("ops/{}", "a".repeat(41)),
        ] {
            assert!(bad.parse::<ClusterUrl>().is_err(), "{bad}");
        }
    }
}
