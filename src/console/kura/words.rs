//! Waits in words: one that fits into a column, and one that fits into a sentence.

use crate::domain::kura::deployment::WaitKind;

/// The link a wait is about, in a word.
pub(in super::super) fn short(wait: WaitKind) -> &'static str {
    match wait {
        WaitKind::NotObserved => "controller",
        WaitKind::WorkloadNotReady => "pods",
        WaitKind::IngressClassWithoutController => "class",
        WaitKind::IngressWithoutAddress => "address",
        WaitKind::PublicHostNotResolvable => "name",
        WaitKind::ResolverError => "resolver",
        WaitKind::AddressMismatch => "elsewhere",
        WaitKind::CertificateNotReady => "cert",
        WaitKind::PublicEndpointNotReady => "/up",
        WaitKind::NodePortEndpointNotReady => "/up",
    }
}

/// What several wait for.
pub(super) fn theirs(wait: WaitKind) -> &'static str {
    match wait {
        WaitKind::NotObserved => "their controller",
        WaitKind::WorkloadNotReady => "their pods",
        WaitKind::IngressClassWithoutController => "ingress classes that are served",
        WaitKind::IngressWithoutAddress => "addresses of their ingresses",
        WaitKind::PublicHostNotResolvable => "their public names",
        WaitKind::ResolverError => "a resolver that answers",
        WaitKind::AddressMismatch => "names that lead to their ingresses",
        WaitKind::CertificateNotReady => "their certificates",
        WaitKind::PublicEndpointNotReady | WaitKind::NodePortEndpointNotReady => "/up to answer",
    }
}

/// `1 server`, `2 servers`.
pub(in super::super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// How many deployments are open.
pub(in super::super) fn open_ones(count: usize) -> String {
    match count {
        0 => "no deployment is open".to_owned(),
        1 => "1 deployment is open".to_owned(),
        _ => format!("{count} deployments are open"),
    }
}

/// What is waited for.
pub(super) fn waited_for(wait: WaitKind) -> &'static str {
    match wait {
        WaitKind::NotObserved => "its controller to take the object in",
        WaitKind::WorkloadNotReady => "its pods",
        WaitKind::IngressClassWithoutController => "a controller of its ingress class",
        WaitKind::IngressWithoutAddress => "an address of its ingress",
        WaitKind::PublicHostNotResolvable => "its public name to resolve",
        WaitKind::ResolverError => "a resolver that answers",
        WaitKind::AddressMismatch => "its public name to lead to its ingress",
        WaitKind::CertificateNotReady => "its certificate",
        WaitKind::PublicEndpointNotReady => "/up to answer",
        WaitKind::NodePortEndpointNotReady => "/up to answer on the port of its node",
    }
}
