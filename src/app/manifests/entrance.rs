//! The way in: a Service, and from outside the cluster an Ingress.

use serde_json::{Value, json};

use super::args::Args;
use super::run::{NAME, PORT, labels, meta};

/// Where agents and people inside the cluster ask.
pub(super) fn service(args: &Args) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": meta(Some(&args.namespace)),
        "spec": {
            "selector": labels(),
            "ports": [{"name": "api", "port": PORT, "targetPort": "api"}],
        },
    })
}

/// From outside, under a name. TLS is passed through, so the certificate of the control plane has to bear that name;
/// change streams are held open for as long as they live.
pub(super) fn ingress(args: &Args, host: &str) -> Value {
    let mut metadata = meta(Some(&args.namespace));
    metadata["annotations"] = json!({
        "nginx.ingress.kubernetes.io/backend-protocol": "HTTPS",
        "nginx.ingress.kubernetes.io/ssl-passthrough": "true",
        "nginx.ingress.kubernetes.io/proxy-buffering": "off",
        "nginx.ingress.kubernetes.io/proxy-read-timeout": "3600",
    });
    let backend = json!({"service": {"name": NAME, "port": {"name": "api"}}});
    let path = json!({"path": "/", "pathType": "Prefix", "backend": backend});
    let mut spec = json!({"rules": [{"host": host, "http": {"paths": [path]}}], "tls": [{"hosts": [host]}]});
    if let Some(class) = &args.ingress_class {
        spec["ingressClassName"] = json!(class);
    }
    json!({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": metadata, "spec": spec})
}
