//! The `spec` of an instance as it stands, with what is asked of each of thousands taken out of it once.

use std::ops::Deref;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

/// A spec with fields nobody here knows (K49). Read like the value it is; written through `edit`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "Value")]
pub struct LiveSpec {
    all: Value,
    image: Option<String>,
    class: Option<String>,
}

impl From<Value> for LiveSpec {
    fn from(all: Value) -> Self {
        let text = |field: &str| all.get(field).and_then(Value::as_str).map(str::to_owned);
        let (image, class) = (text("image"), text("ingressClassName"));
        Self { all, image, class }
    }
}

impl From<LiveSpec> for Value {
    fn from(spec: LiveSpec) -> Self {
        spec.all
    }
}

impl Serialize for LiveSpec {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.all.serialize(to)
    }
}

impl Deref for LiveSpec {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.all
    }
}

impl LiveSpec {
    /// Its image, as written.
    pub fn image(&self) -> Option<&str> {
        self.image.as_deref()
    }

    /// The ingress class it names.
    pub fn class(&self) -> Option<&str> {
        self.class.as_deref()
    }

    /// Writes it otherwise.
    pub fn edit(&mut self, edit: impl FnOnce(&mut Value)) {
        edit(&mut self.all);
        *self = Self::from(std::mem::take(&mut self.all));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_taken_out_follows_what_is_written_and_nothing_is_lost() {
        // K49
        let whole = json!({ "image": "kura:0.19.0", "ingressClassName": "kura-eu", "aFieldOfTomorrow": [1] });
        let mut spec: LiveSpec = serde_json::from_value(whole.clone()).unwrap();
        assert_eq!((spec.image(), spec.class()), (Some("kura:0.19.0"), Some("kura-eu")));
        assert_eq!((&*spec, serde_json::to_value(&spec).unwrap()), (&whole, whole.clone()));
        spec.edit(|all| (all["image"], all["ingressClassName"]) = (json!("kura:0.20.0"), Value::Null));
        assert_eq!((spec.image(), spec.class()), (Some("kura:0.20.0"), None));
        assert_eq!(spec["aFieldOfTomorrow"], json!([1]));
    }
}
