//! Labels of an object: a handful each, on tens of thousands of objects, so that they take the room of their text and little
//! more.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};

/// Labels in order of their names, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "BTreeMap<String, String>")]
pub struct Labels(Box<[(Box<str>, Box<str>)]>);

impl Labels {
    /// The value of one.
    pub fn get(&self, name: &str) -> Option<&str> {
        let at = self.0.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        self.0.get(at).map(|(_, value)| &**value)
    }

    /// All of them, in order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Sets one.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.extend([(name.into(), value.into())]);
    }

    /// Takes one away, if it is there.
    pub fn remove(&mut self, name: &str) {
        self.0 = std::mem::take(&mut self.0).into_iter().filter(|(known, _)| **known != *name).collect();
    }
}

impl Extend<(String, String)> for Labels {
    fn extend<T: IntoIterator<Item = (String, String)>>(&mut self, more: T) {
        let known = std::mem::take(&mut self.0).into_iter().map(|(name, value)| (name.into(), value.into()));
        *self = known.chain(more).collect();
    }
}

/// The last value of a name counts.
impl FromIterator<(String, String)> for Labels {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(all: T) -> Self {
        all.into_iter().collect::<BTreeMap<_, _>>().into()
    }
}

impl From<BTreeMap<String, String>> for Labels {
    fn from(all: BTreeMap<String, String>) -> Self {
        Self(all.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

impl Serialize for Labels {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn they_are_set_found_and_taken_away_by_name_and_are_written_as_they_are_read() {
        let whole = json!({ "tier": "infra", "app": "zot" });
        let mut labels: Labels = serde_json::from_value(whole.clone()).unwrap();
        assert_eq!((labels.get("app"), labels.get("tier"), labels.get("other")), (Some("zot"), Some("infra"), None));
        assert_eq!(serde_json::to_value(&labels).unwrap(), whole);
        labels.insert("app", "other");
        labels.insert("a", "first");
        labels.remove("tier");
        labels.remove("never there");
        assert_eq!(labels.iter().collect::<Vec<_>>(), [("a", "first"), ("app", "other")]);
    }
}
