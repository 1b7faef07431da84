//! The instance controller, played by tests: the workload of an instance, its ingress, and what its status says (K46, K47).

use serde_json::{Value, json};

use super::kubelet::{Kubelet, image_of};
use super::objects::{Strategy, bare_workload, instances, path, stateful_sets, workload};
use super::rest::Rest;

/// Who the controller says it is.
const MANAGER: &str = "kura-controller";

/// Hands on one instance and all that it owns.
pub struct Controller<'a> {
    api: &'a Rest,
    namespace: &'a str,
    name: &'a str,
    strategy: Strategy,
}

impl<'a> Controller<'a> {
    pub fn new(api: &'a Rest, namespace: &'a str, name: &'a str) -> Self {
        Self { api, namespace, name, strategy: Strategy::Partitioned }
    }

    /// The same, whose sets roll in that way.
    pub fn rolling(self, strategy: Strategy) -> Self {
        Self { strategy, ..self }
    }

    pub fn instance_path(&self) -> String {
        format!("{}/{}", instances(self.namespace), self.name)
    }

    pub fn set_path(&self) -> String {
        format!("{}/{}", stateful_sets(self.namespace), self.name)
    }

    pub async fn instance(&self) -> Value {
        self.api.get(&self.instance_path()).await.done()
    }

    /// One look at the instance: the workload carries its image, the ingress its class, the status says so.
    pub async fn reconcile(&self) {
        let live = self.instance().await;
        let spec = &live["spec"];
        let image = spec["image"].as_str().expect("an image");
        let tag = image.rsplit(':').next().expect("a tag");
        let replicas = u32::try_from(spec["replicas"].as_u64().expect("replicas")).expect("a few");
        let set = match self.strategy {
            Strategy::Partitioned => workload(self.name, tag, replicas),
            Strategy::Bare => bare_workload(self.name, tag, replicas),
        };
        match self.api.get(&self.set_path()).await.status {
            404 => drop(self.api.create(&stateful_sets(self.namespace), &set).await.done()),
            _ => drop(
                self.api.merge(&self.set_path(), &json!({"spec": {"template": set["spec"]["template"]}})).await.done(),
            ),
        }
        self.put_ingress(spec).await;
        self.say(&json!({"observedImage": image, "phase": "Ready"})).await;
    }

    async fn put_ingress(&self, spec: &Value) {
        let Some(class) = spec["ingressClassName"].as_str() else { return };
        let ingress = json!({
            "apiVersion": "networking.k8s.io/v1",
            "kind": "Ingress",
            "metadata": {"name": self.name, "labels": {"app.kubernetes.io/instance": self.name}},
            "spec": {"ingressClassName": class, "rules": [{"host": spec["publicHost"]}], "defaultBackend": {
                "service": {"name": self.name, "port": {"number": 4000}},
            }},
        });
        self.api.apply(&self.ingress_path(), MANAGER, &ingress).await.done();
    }

    fn ingress_path(&self) -> String {
        format!("{}/{}", path("/apis/networking.k8s.io/v1", self.namespace, "ingresses"), self.name)
    }

    /// The ingress is given an address, as by the controller of its class.
    pub async fn give_address(&self, address: &str) {
        let status = json!({"status": {"loadBalancer": {"ingress": [{"ip": address}]}}});
        self.api.merge(&format!("{}/status", self.ingress_path()), &status).await.done();
    }

    /// Something of its status.
    pub async fn say(&self, status: &Value) {
        self.api.merge(&format!("{}/status", self.instance_path()), &json!({ "status": status })).await.done();
    }

    /// Pods that are there and not on their way out, in order of name.
    pub async fn pods(&self) -> Vec<Value> {
        let mut all = Kubelet::new(self.api, self.namespace).pods().await;
        all.retain(|pod| pod["metadata"]["deletionTimestamp"].is_null());
        all.sort_by_key(|pod| pod["metadata"]["name"].to_string());
        all
    }

    /// All pods run, and are Ready or not, as the entries say.
    pub async fn run(&self, ready: &[bool]) {
        let kubelet = Kubelet::new(self.api, self.namespace);
        for (ordinal, ready) in ready.iter().enumerate() {
            kubelet.run(&format!("{}-{ordinal}", self.name), *ready).await;
        }
    }

    /// How many pods there are on each image that is asked for.
    pub async fn count_on(&self, image: &str) -> usize {
        self.pods().await.iter().filter(|pod| image_of(pod) == image).count()
    }
}
