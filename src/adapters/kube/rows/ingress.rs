//! Ingresses and their classes.

use std::net::IpAddr;

use serde::Deserialize;

use super::super::object::{Meta, Watched, named_by_metadata};
use crate::domain::kura::traffic::{Ingress, IngressClass};

/// An ingress as it comes.
#[derive(Debug, Clone, Deserialize)]
pub struct IngressObject {
    metadata: Meta,
    #[serde(default)]
    spec: IngressSpec,
    #[serde(default)]
    status: LoadBalancerStatus,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct IngressSpec {
    ingress_class_name: Option<String>,
    rules: Vec<Rule>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Rule {
    host: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct LoadBalancerStatus {
    load_balancer: LoadBalancer,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct LoadBalancer {
    ingress: Vec<Address>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Address {
    ip: Option<String>,
    hostname: Option<String>,
}

/// A class as it comes.
#[derive(Debug, Clone, Deserialize)]
pub struct ClassObject {
    metadata: Meta,
    #[serde(default)]
    spec: ClassSpec,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct ClassSpec {
    controller: String,
}

impl LoadBalancerStatus {
    /// Addresses and host names, sorted. Addresses are written as a resolver writes them: they are compared as texts.
    pub(super) fn addresses(self) -> Vec<String> {
        let usual = |ip: String| ip.parse::<IpAddr>().map_or(ip, |address| address.to_string());
        let balanced = self.load_balancer.ingress.into_iter();
        let mut addresses: Vec<String> =
            balanced.filter_map(|address| address.ip.map(usual).or(address.hostname)).collect();
        addresses.sort();
        addresses
    }
}

impl Watched for IngressObject {
    type Row = Ingress;

    named_by_metadata!();

    fn row(self, _: &str) -> Option<Ingress> {
        Some(Ingress {
            instance: self.metadata.instance(),
            stamp: self.metadata.slim_stamp(),
            class: self.spec.ingress_class_name,
            hosts: self.spec.rules.into_iter().filter_map(|rule| rule.host).collect(),
            addresses: self.status.addresses(),
        })
    }
}

impl Watched for ClassObject {
    type Row = IngressClass;

    named_by_metadata!();

    /// Whether a controller serves it is nothing the class knows; see the mirror.
    fn row(self, _: &str) -> Option<IngressClass> {
        Some(IngressClass { stamp: self.metadata.stamp(), controller: self.spec.controller, has_controller: None })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_ingress_belongs_to_the_instance_that_owns_it() {
        let object = json!({
            "metadata": {"name": "a", "ownerReferences": [{"kind": "KuraInstance", "name": "kura-acme-eu1", "uid": "u"}]},
            "spec": {"ingressClassName": "kgw", "rules": [{"host": "a.example"}, {}]},
            "status": {"loadBalancer": {"ingress": [{"hostname": "lb.example"}, {"ip": "192.0.2.1"}]}},
        });
        let row = serde_json::from_value::<IngressObject>(object).unwrap().row("kura").unwrap();
        assert_eq!(row.instance.as_deref(), Some("kura-acme-eu1"));
        assert_eq!(
            (row.hosts, row.addresses),
            (vec!["a.example".to_owned()], vec!["192.0.2.1".to_owned(), "lb.example".to_owned()])
        );
    }

    #[test]
    fn an_address_reads_as_a_resolver_writes_it() {
        // K30
        let status = json!({"loadBalancer": {"ingress": [{"ip": "2001:DB8:0:0::7"}, {"ip": "no address"}]}});
        let status: LoadBalancerStatus = serde_json::from_value(status).unwrap();
        assert_eq!(status.addresses(), ["2001:db8::7", "no address"]);
    }
}
