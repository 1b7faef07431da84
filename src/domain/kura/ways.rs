//! What leads to instances from outside, found by whom it leads to rather than by its own name.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use super::incidents::class_of;
use super::sight::Sight;
use super::traffic::{Certificate, Gateway, Ingress, Service};

/// Rows by what they lead to.
type Index<'a, T> = BTreeMap<&'a str, Vec<&'a T>>;

/// A sight with its ingresses, services, gateways and certificates looked through at most once, and only where a
/// chain asks for them: a pass asks for each of thousands of servers.
#[derive(Debug)]
pub struct Ways<'a> {
    /// What is seen.
    pub sight: &'a Sight,
    ingresses: OnceCell<Index<'a, Ingress>>,
    services: OnceCell<Index<'a, Service>>,
    gateways: OnceCell<Index<'a, Gateway>>,
    certificates: OnceCell<Index<'a, Certificate>>,
}

impl<'a> Ways<'a> {
    /// Nothing is looked through yet.
    pub fn of(sight: &'a Sight) -> Self {
        let (ingresses, services) = (OnceCell::new(), OnceCell::new());
        let (gateways, certificates) = (OnceCell::new(), OnceCell::new());
        Self { sight, ingresses, services, gateways, certificates }
    }

    /// Ingresses of an instance, in order of name.
    pub fn ingresses(&self, instance: &str) -> &[&'a Ingress] {
        let rows = self.sight.ingresses.rows.values();
        found(self.ingresses.get_or_init(|| index(rows, |row| row.instance.as_deref())), instance)
    }

    /// Services of an instance or of a gateway, in order of name.
    pub fn services(&self, owner: &str) -> &[&'a Service] {
        let rows = self.sight.services.rows.values();
        found(self.services.get_or_init(|| index(rows, |row| row.instance.as_deref())), owner)
    }

    /// Gateways behind an ingress class, in order of name.
    pub fn gateways(&self, class: &str) -> &[&'a Gateway] {
        let rows = self.sight.gateways.rows.values();
        found(self.gateways.get_or_init(|| index(rows, |row| Some(class_of(row)))), class)
    }

    /// Certificates for a host, in order of name.
    pub fn certificates(&self, host: &str) -> &[&'a Certificate] {
        let rows = self.sight.certificates.rows.values();
        found(self.certificates.get_or_init(|| index(rows, |row| row.hosts.iter().map(String::as_str))), host)
    }
}

fn index<'a, T: 'a, K: IntoIterator<Item = &'a str>>(
    rows: impl Iterator<Item = &'a T>,
    keys: impl Fn(&'a T) -> K,
) -> Index<'a, T> {
    let mut index = Index::new();
    for row in rows {
        keys(row).into_iter().for_each(|key| index.entry(key).or_default().push(row));
    }
    index
}

fn found<'i, 'a, T>(index: &'i Index<'a, T>, key: &str) -> &'i [&'a T] {
    index.get(key).map_or(&[], Vec::as_slice)
}
