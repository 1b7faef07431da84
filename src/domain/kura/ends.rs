//! The two ends of a console that looks at a cluster by itself: if the control plane's is another one, nothing is ordered
//! (A19). And commands that mean the cluster they are about, whatever the current context is by then.

use super::sight::{ClusterIdentity, Sight};

/// The cluster a console looks at by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnEnd {
    /// The name of its context.
    pub context: String,
    /// Its uid; none until it answered, or where these credentials may not read it.
    pub uid: Option<String>,
    /// Why its instances are not seen; none where they are.
    pub trouble: Option<String>,
    /// It is what the picture shows of the cluster, since the control plane tells nothing.
    pub is_shown: bool,
}

impl OwnEnd {
    /// As its own sight says.
    pub fn of(context: &str, sight: &Sight) -> Self {
        Self {
            context: context.to_owned(),
            uid: sight.identity.as_ref().and_then(|identity| identity.uid.clone()),
            trouble: sight.instances.contact.why(),
            is_shown: false,
        }
    }

    /// Why nothing is ordered: the control plane's cluster is another one. None where they are the same, or where one of
    /// the two does not say which one it is.
    pub fn divided_from(&self, theirs: Option<&ClusterIdentity>) -> Option<String> {
        let (ours, theirs) = (self.uid.as_ref()?, theirs?.uid.as_ref()?);
        (ours != theirs).then(|| {
            let (context, ours, theirs) = (&self.context, short(ours), short(theirs));
            format!(
                "different clusters: {context} is {ours}, the control plane's is {theirs}; verbs are off until both ends \
                 are one: leave, and come back without --context or with the right one"
            )
        })
    }
}

/// As much of a uid as tells it from any other for a person.
pub(super) fn short(uid: &str) -> String {
    uid.chars().take(8).collect()
}

/// A kubectl command that is about Kura, made to mean the cluster and the namespace it is about. Other commands stay as
/// they are.
pub fn aimed(command: &str, at: &ClusterIdentity) -> String {
    let Some(rest) = command.strip_prefix("kubectl ") else { return command.to_owned() };
    let rest = match rest.strip_prefix("-n kura ") {
        Some(rest) => format!("-n {} {rest}", at.namespace),
        None => rest.to_owned(),
    };
    match &at.context {
        Some(context) => format!("kubectl --context {context} {rest}"),
        None => format!("kubectl {rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(uid: Option<&str>, context: Option<&str>) -> ClusterIdentity {
        ClusterIdentity {
            uid: uid.map(str::to_owned),
            version: "v1.36.0".to_owned(),
            context: context.map(str::to_owned),
            namespace: "caches".to_owned(),
        }
    }

    #[test]
    fn two_ends_that_disagree_are_told_and_ends_that_do_not_say_are_not_accused() {
        let own = |uid: Option<&str>| OwnEnd {
            context: "prod-a".to_owned(),
            uid: uid.map(str::to_owned),
            trouble: None,
            is_shown: false,
        };
        let said = own(Some("1111111111")).divided_from(Some(&identity(Some("2222222222"), None))).unwrap();
        assert!(said.starts_with("different clusters: prod-a is 11111111, the control plane's is 22222222"), "{said}");
        assert_eq!(own(Some("1")).divided_from(Some(&identity(Some("1"), None))), None);
        assert_eq!(own(None).divided_from(Some(&identity(Some("1"), None))), None);
        assert_eq!(own(Some("1")).divided_from(Some(&identity(None, None))), None);
        assert_eq!(own(Some("1")).divided_from(None), None);
    }

    #[test]
    fn a_command_means_the_cluster_it_is_about() {
        let (named, inside) = (identity(None, Some("prod-a")), identity(None, None));
        let get = "kubectl -n kura get kurainstance a";
        assert_eq!(aimed(get, &named), "kubectl --context prod-a -n caches get kurainstance a");
        assert_eq!(aimed(get, &inside), "kubectl -n caches get kurainstance a");
        assert_eq!(aimed("kubectl describe node n", &named), "kubectl --context prod-a describe node n");
        assert_eq!(aimed("dig +short a.example", &named), "dig +short a.example");
    }
}
