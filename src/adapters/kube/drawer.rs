//! Objects that hold what this program keeps in a cluster: config maps and secrets of one namespace, read as they are
//! now, made where nothing is, replaced under the version they were read at, deleted.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, Engine};
use futures_util::TryStreamExt;
use jiff::Timestamp;
use kube::Client;
use kube::core::params::{DeleteParams, GetParams, ListParams, PostParams, WatchParams};
use kube::core::{Request, WatchEvent};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::connection::Connection;
use super::fault::ClusterFault;
use crate::control::ports::Clock;
use crate::domain::kura::object::FIELD_MANAGER;

/// Names one page of a list has.
const PAGE: u32 = 500;

/// What an object is, as a label.
pub const PART: &str = "kura-console/part";

/// Whose, as a label.
pub const ACCOUNT: &str = "kura-console/account";

/// Beside which journal, as a label: several may lie in one namespace.
pub const JOURNAL: &str = "kura-console/journal";

/// What kind of object holds something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shelf {
    /// For whoever may read the namespace.
    ConfigMap,
    /// For those who may read secrets.
    Secret,
}

/// What an object holds, and what stands on it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// Its name.
    pub name: String,
    /// The version it was read at; none where it is to be made.
    pub version: Option<String>,
    /// When it was made, by the clock of the cluster.
    pub made_at: Option<Timestamp>,
    /// What it is found by.
    pub labels: BTreeMap<String, String>,
    /// What it holds.
    pub bytes: BTreeMap<String, Vec<u8>>,
    /// Nobody may change it any more.
    pub is_final: bool,
}

/// The objects of one namespace. Cheap to clone.
#[derive(Clone)]
pub struct Drawer<C> {
    connection: Connection<C>,
    namespace: Arc<str>,
}

impl<C> std::fmt::Debug for Drawer<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Drawer").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}

impl Shelf {
    fn plural(self) -> &'static str {
        match self {
            Self::ConfigMap => "configmaps",
            Self::Secret => "secrets",
        }
    }

    fn kind(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::Secret => "Secret",
        }
    }

    /// Where bytes are in it.
    fn field(self) -> &'static str {
        match self {
            Self::ConfigMap => "binaryData",
            Self::Secret => "data",
        }
    }
}

impl<C: Clock> Drawer<C> {
    /// Nothing is sent yet.
    pub fn of(connection: Connection<C>, namespace: &str) -> Self {
        Self { connection, namespace: namespace.into() }
    }

    /// The way to its cluster.
    pub fn connection(&self) -> &Connection<C> {
        &self.connection
    }

    /// Where they are.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Its clock.
    pub fn clock(&self) -> &C {
        self.connection.clock()
    }

    /// One, as it is now; none where there is none.
    pub async fn get(&self, shelf: Shelf, name: &str) -> Result<Option<Kept>, ClusterFault> {
        let read: Result<Value, ClusterFault> = self.send(self.at(shelf).get(name, &GetParams::default())).await;
        match read {
            Ok(object) => kept(shelf, &object).map(Some),
            Err(ClusterFault::Missing { .. }) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Makes one, as it is afterwards. `Exists` where something of that name is there.
    pub async fn create(&self, shelf: Shelf, what: &Kept) -> Result<Kept, ClusterFault> {
        let body = self.body(shelf, what)?;
        let made: Value = self.send(self.at(shelf).create(&written(), body)).await?;
        kept(shelf, &made)
    }

    /// Replaces one, as it is afterwards. `Outrun` where it is not any more what it was read as.
    pub async fn replace(&self, shelf: Shelf, what: &Kept) -> Result<Kept, ClusterFault> {
        let body = self.body(shelf, what)?;
        let done: Value = self.send(self.at(shelf).replace(&what.name, &written(), body)).await?;
        kept(shelf, &done)
    }

    /// Deletes one; what is gone already is gone.
    pub async fn delete(&self, shelf: Shelf, name: &str) -> Result<(), ClusterFault> {
        match self.send::<Value>(self.at(shelf).delete(name, &DeleteParams::default())).await {
            Err(ClusterFault::Missing { .. }) | Ok(_) => Ok(()),
            Err(fault) => Err(fault),
        }
    }

    /// Everything with these labels, by name, without what it holds.
    pub async fn list(&self, shelf: Shelf, labels: &str) -> Result<Vec<Kept>, ClusterFault> {
        let (mut found, mut params) = (Vec::new(), ListParams::default().labels(labels).limit(PAGE));
        loop {
            let page: Value = self.send(self.at(shelf).list_metadata(&params)).await?;
            for object in page["items"].as_array().into_iter().flatten() {
                found.push(kept(shelf, object)?);
            }
            match page["metadata"]["continue"].as_str() {
                Some(next) if !next.is_empty() => params = params.continue_token(next),
                _ => return Ok(found),
            }
        }
    }

    /// Returns once an object is another one than at this version, or after `wait`. The watch begins with the object as it
    /// is, because a version may be older than what the server remembers.
    pub async fn changed(
        &self,
        shelf: Shelf,
        name: &str,
        version: Option<&str>,
        wait: Duration,
    ) -> Result<(), ClusterFault> {
        let seconds = u32::try_from(wait.as_secs().max(1)).unwrap_or(u32::MAX);
        let params = WatchParams::default().fields(&format!("metadata.name={name}")).timeout(seconds);
        let request = self.at(shelf).watch_metadata(&params, "0");
        let request = request.map_err(|error| ClusterFault::Refused { said: error.to_string() })?;
        let pass = self.connection.pass().await?;
        let watch = async {
            let mut events = std::pin::pin!(pass.client().request_events::<Value>(request).await?);
            loop {
                match events.try_next().await? {
                    Some(WatchEvent::Bookmark(_)) => {}
                    Some(WatchEvent::Added(object)) if !is_newer(&object, version) => {}
                    Some(WatchEvent::Error(status)) => return Err(kube::Error::Api(status)),
                    _ => return Ok(()),
                }
            }
        };
        let told = tokio::select! {
            told = watch => told,
            () = self.clock().sleep(wait) => Ok(()),
        };
        match told {
            Ok(()) => Ok(()),
            Err(error) => Err(self.connection.understand(&pass, &error).await),
        }
    }

    fn at(&self, shelf: Shelf) -> Request {
        Request::new(format!("/api/v1/namespaces/{}/{}", self.namespace, shelf.plural()))
    }

    fn body(&self, shelf: Shelf, what: &Kept) -> Result<Vec<u8>, ClusterFault> {
        let bytes: BTreeMap<&String, String> =
            what.bytes.iter().map(|(key, bytes)| (key, BASE64_STANDARD.encode(bytes))).collect();
        let mut body = json!({
            "apiVersion": "v1", "kind": shelf.kind(), "immutable": what.is_final,
            "metadata": { "name": what.name, "namespace": &*self.namespace, "labels": what.labels },
        });
        body[shelf.field()] = json!(bytes);
        if let Some(version) = &what.version {
            body["metadata"]["resourceVersion"] = json!(version);
        }
        serde_json::to_vec(&body).map_err(|error| ClusterFault::Refused { said: error.to_string() })
    }

    async fn send<T: DeserializeOwned>(
        &self,
        request: Result<http::Request<Vec<u8>>, kube::core::request::Error>,
    ) -> Result<T, ClusterFault> {
        let request = request.map_err(kube::Error::BuildRequest);
        self.connection.ask(|client: Client| async move { client.request::<T>(request?).await }).await
    }
}

/// Whether an object is of a later version than this one, as far as versions can be told apart.
fn is_newer(object: &Value, version: Option<&str>) -> bool {
    let number = |text: &str| text.parse::<u64>().ok();
    let found = object["metadata"]["resourceVersion"].as_str().and_then(number);
    match (found, version.and_then(number)) {
        (Some(found), Some(known)) => found > known,
        _ => true,
    }
}

fn written() -> PostParams {
    PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() }
}

fn kept(shelf: Shelf, object: &Value) -> Result<Kept, ClusterFault> {
    let unreadable = |said: String| ClusterFault::Unreadable { said };
    let meta = &object["metadata"];
    let text = |field: &str| meta[field].as_str().map(str::to_owned);
    let name = text("name").ok_or_else(|| unreadable("an object without a name".to_owned()))?;
    let mut bytes = BTreeMap::new();
    for (key, value) in object[shelf.field()].as_object().into_iter().flatten() {
        let held = BASE64_STANDARD.decode(value.as_str().unwrap_or_default());
        bytes.insert(key.clone(), held.map_err(|error| unreadable(format!("{name}/{key}: {error}")))?);
    }
    let labels = meta["labels"].as_object().into_iter().flatten();
    let labels = labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect();
    let made_at = meta["creationTimestamp"].as_str().and_then(|at| at.parse().ok());
    Ok(Kept { version: text("resourceVersion"), made_at, labels, bytes, is_final: object["immutable"] == true, name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_watch_begins_with_is_news_only_where_it_is_later() {
        let object = |version: &str| json!({"metadata": {"resourceVersion": version}});
        assert!(!is_newer(&object("99"), Some("100")) && !is_newer(&object("100"), Some("100")));
        assert!(is_newer(&object("101"), Some("100")) && is_newer(&object("1"), None));
        assert!(is_newer(&object("unlike-a-number"), Some("100")));
    }

    #[test]
    fn an_object_is_read_as_it_was_written() {
        let bytes = BTreeMap::from([("head".to_owned(), vec![0, 159, 146])]);
        let labels = BTreeMap::from([(PART.to_owned(), "head".to_owned())]);
        for shelf in [Shelf::ConfigMap, Shelf::Secret] {
            let held = BASE64_STANDARD.encode(&bytes["head"]);
            let mut object = json!({"metadata": {
                "name": "kura.head", "resourceVersion": "7", "creationTimestamp": "2026-11-30T02:00:00Z", "labels": labels,
            }});
            object[shelf.field()] = json!({"head": held});
            let read = kept(shelf, &object).unwrap();
            assert_eq!((read.name.as_str(), read.version.as_deref()), ("kura.head", Some("7")));
            assert_eq!((&read.bytes, &read.labels, read.made_at.is_some()), (&bytes, &labels, true));
        }
        assert!(kept(Shelf::ConfigMap, &json!({"metadata": {}})).is_err());
    }
}
