//! Puts the objects together and prints them, each as a YAML document.

use serde_json::{Value, json};

use super::args::Args;
use super::{entrance, rights, workload};
use crate::app::shell;
use crate::app::status::yaml;
use crate::domain::roll::spec::CONTROL_PLANE;
use crate::wire::problem::{Problem, ProblemKind};

/// What everything is called.
pub(super) const NAME: &str = "kura-console";

/// Where the container listens.
pub(super) const PORT: u16 = 7777;

/// Prints them.
///
/// # Errors
/// Where nothing can be printed.
pub fn run(args: &Args) -> Result<(), Problem> {
    let unwritable = |why| Problem::new(ProblemKind::Internal, "manifests", format!("they cannot be written: {why}"));
    let documents: Result<Vec<String>, String> = objects(args).iter().map(yaml).collect();
    shell::print(documents.map_err(unwritable)?.concat().as_bytes())
}

/// Everything, in the order in which it can be applied.
pub fn objects(args: &Args) -> Vec<Value> {
    let mut objects = vec![namespace(args), account(args)];
    if !args.no_cluster {
        objects.extend(rights::objects(args));
    }
    match workload::has_disk(args) {
        true => objects.push(workload::volume(args)),
        false => objects.extend(rights::of_journal(args)),
    }
    objects.extend([workload::deployment(args), entrance::service(args)]);
    objects.extend(args.host.as_ref().map(|host| entrance::ingress(args, host)));
    objects
}

/// A namespace in which no pod may do more than this one does.
fn namespace(args: &Args) -> Value {
    let labels = json!({"pod-security.kubernetes.io/enforce": "restricted"});
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": args.namespace, "labels": labels}})
}

fn account(args: &Args) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta(Some(&args.namespace)),
        "automountServiceAccountToken": false,
    })
}

/// Name and labels of an object; without a namespace it is one of the cluster.
pub(super) fn meta(namespace: Option<&str>) -> Value {
    let mut meta = json!({"name": NAME, "labels": labels()});
    if let Some(namespace) = namespace {
        meta["namespace"] = json!(namespace);
    }
    meta
}

pub(super) fn labels() -> Value {
    CONTROL_PLANE.iter().map(|(label, value)| ((*label).to_owned(), json!(value))).collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::args;
    use super::super::rights::{FLEET_RIGHTS, Place, RIGHTS, Right};
    use super::*;
    use crate::app::args::{Args as Program, Run};

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        args: args::Args,
    }

    fn made(flags: &[&str]) -> Vec<Value> {
        objects(&Typed::parse_from([&["manifests"], flags].concat()).args)
    }

    fn of<'a>(objects: &'a [Value], kind: &str) -> &'a Value {
        objects.iter().find(|object| object["kind"] == kind).unwrap_or_else(|| panic!("no {kind}"))
    }

    fn container(objects: &[Value]) -> &Value {
        &of(objects, "Deployment")["spec"]["template"]["spec"]["containers"][0]
    }

    const FULL: [&str; 10] = [
        "--namespace",
        "ops",
        "--image",
        "registry/kura:1",
        "--host",
        "kura.example.com",
        "--repository",
        "https://git.example.com/states",
        "--storage-class",
        "local",
    ];

    const IN_CLUSTER: [&str; 2] = ["--journal", "kubernetes"];

    #[test]
    fn a_journal_in_the_cluster_needs_no_disk_and_rights_on_objects_of_its_own_namespace() {
        let objects = made(&[&IN_CLUSTER[..], &["--namespace", "ops", "--no-cluster"]].concat());
        assert!(objects.iter().all(|object| object["kind"] != "PersistentVolumeClaim"));
        let said = container(&objects)["args"].to_string();
        assert!(said.contains("kubernetes://ops/kura-console") && !said.contains("sqlite"), "{said}");
        let deployment = &of(&objects, "Deployment")["spec"];
        assert_eq!(deployment["strategy"]["type"], "RollingUpdate");
        assert_eq!(deployment["template"]["spec"]["automountServiceAccountToken"], true);
        assert!(deployment.to_string().find("persistentVolumeClaim").is_none());
        let role = of(&objects, "Role");
        assert_eq!(
            (&role["metadata"]["namespace"], of(&objects, "RoleBinding")["roleRef"]["name"].as_str()),
            (&json!("ops"), role["metadata"]["name"].as_str())
        );
        let rights: Vec<String> = role["rules"]
            .as_array()
            .unwrap()
            .iter()
            .map(|rule| format!("{} {}", rule["resources"][0], rule["verbs"]))
            .collect();
        let pinned = [
            "\"configmaps\" [\"get\",\"list\",\"watch\",\"create\",\"update\",\"delete\"]",
            "\"secrets\" [\"get\",\"create\",\"delete\"]",
        ];
        assert_eq!(rights, pinned);
    }

    #[test]
    fn every_document_is_yaml_and_says_what_it_is() {
        for flags in [&[][..], &FULL, &["--no-cluster"], &["--fleet-rolls"], &IN_CLUSTER] {
            for object in made(flags) {
                let text = yaml(&object).unwrap();
                let read: Value = serde_yaml::from_str(&text).unwrap();
                assert_eq!(read, object, "{text}");
                assert!(
                    read["kind"].is_string() && read["apiVersion"].is_string() && read["metadata"]["name"].is_string()
                );
            }
        }
    }

    #[test]
    fn what_the_container_is_started_with_is_a_serve_that_parses() {
        for flags in [&[][..], &FULL, &IN_CLUSTER] {
            let objects = made(flags);
            let said = container(&objects)["args"].as_array().unwrap();
            let said = said.iter().map(|arg| arg.as_str().unwrap());
            let parsed = Program::try_parse_from(["kura-console"].into_iter().chain(said)).unwrap();
            assert!(matches!(parsed.run, Some(Run::Serve(_))));
        }
    }

    #[test]
    fn every_file_it_is_started_with_lies_on_a_volume_that_is_mounted() {
        let objects = made(&[]);
        let container = container(&objects);
        let mounts: Vec<&str> = container["volumeMounts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|mount| mount["mountPath"].as_str().unwrap())
            .collect();
        let files = container["args"].as_array().unwrap().iter().filter_map(Value::as_str);
        for file in files.map(|arg| arg.trim_start_matches("sqlite:")).filter(|arg| arg.starts_with('/')) {
            assert!(mounts.iter().any(|mount| file.starts_with(mount)), "{file} lies on no volume");
        }
        let pod = &of(&objects, "Deployment")["spec"]["template"]["spec"];
        let volumes: Vec<&Value> = pod["volumes"].as_array().unwrap().iter().map(|volume| &volume["name"]).collect();
        assert!(container["volumeMounts"].as_array().unwrap().iter().all(|mount| volumes.contains(&&mount["name"])));
        assert_eq!(
            pod["volumes"][0]["persistentVolumeClaim"]["claimName"],
            of(&objects, "PersistentVolumeClaim")["metadata"]["name"]
        );
    }

    #[test]
    fn probes_ask_for_what_the_server_serves_at_the_port_it_listens_on() {
        let objects = made(&[]);
        let (container, document) = (container(&objects), crate::server::openapi::document());
        for probe in ["startupProbe", "livenessProbe", "readinessProbe"] {
            let path = container[probe]["httpGet"]["path"].as_str().unwrap();
            assert!(document["paths"][path]["get"].is_object(), "{path} is not served");
            assert_eq!(container[probe]["httpGet"]["scheme"], "HTTPS", "it listens with TLS");
        }
        let port = &container["ports"][0]["containerPort"];
        assert!(container["args"].as_array().unwrap().contains(&json!(format!("0.0.0.0:{port}"))));
        assert_eq!(of(&objects, "Service")["spec"]["ports"][0]["targetPort"], container["ports"][0]["name"]);
        assert_eq!(
            of(&objects, "Service")["spec"]["selector"],
            of(&objects, "Deployment")["spec"]["template"]["metadata"]["labels"]
        );
    }

    #[test]
    fn it_may_not_become_root_nor_write_its_own_system() {
        let objects = made(&[]);
        let pod = &of(&objects, "Deployment")["spec"]["template"]["spec"];
        assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
        for container in pod["containers"].as_array().unwrap() {
            let context = &container["securityContext"];
            assert_eq!(
                (&context["readOnlyRootFilesystem"], &context["allowPrivilegeEscalation"]),
                (&json!(true), &json!(false))
            );
            assert_eq!(context["capabilities"]["drop"], json!(["ALL"]));
        }
        assert_eq!(of(&objects, "Deployment")["spec"]["replicas"], 1, "a file has one disk");
    }

    #[test]
    fn rights_are_the_least_and_these() {
        let said: Vec<String> = RIGHTS.iter().map(told).collect();
        let pinned = [
            "cluster /namespaces/kube-system: get",
            "cluster /nodes: list,watch",
            "cluster /persistentvolumes: list,watch",
            "cluster networking.k8s.io/ingressclasses: list,watch,delete",
            "kura kura.tuist.dev/kurainstances: get,list,watch,create,patch,delete",
            "kura kura.tuist.dev/kuragateways: get,list,watch,create,patch,delete",
            "kura /pods: list,watch,delete",
            "kura /persistentvolumeclaims: list,watch",
            "kura /services: list,watch",
            "kura /events: list,watch",
            "kura apps/statefulsets: list,watch",
            "kura networking.k8s.io/ingresses: list,watch",
            "kura cert-manager.io/certificates: list,watch",
        ];
        assert_eq!(said, pinned);
        let bound = made(&[]);
        let rules = ["ClusterRole", "Role"].iter().map(|kind| of(&bound, kind)["rules"].as_array().unwrap().len());
        assert_eq!(rules.sum::<usize>(), RIGHTS.len());
        for binding in ["ClusterRoleBinding", "RoleBinding"] {
            assert_eq!(of(&bound, binding)["subjects"][0]["name"], of(&bound, "ServiceAccount")["metadata"]["name"]);
        }
        assert!(made(&["--no-cluster"]).iter().all(|object| !object["kind"].as_str().unwrap().contains("Role")));
    }

    #[test]
    fn what_fleet_rolls_take_is_given_where_it_is_asked_for() {
        // F26, F58
        let said: Vec<String> = FLEET_RIGHTS.iter().map(told).collect();
        let pinned = [
            "cluster /nodes: patch",
            "cluster /pods: list,watch,delete",
            "cluster /pods/eviction: create",
            "kura /pods: create",
            "kura batch/jobs: list,watch,create,delete",
        ];
        assert_eq!(said, pinned);
        let rules = |flags: &[&str]| -> usize {
            let objects = made(flags);
            ["ClusterRole", "Role"].iter().map(|kind| of(&objects, kind)["rules"].as_array().unwrap().len()).sum()
        };
        assert_eq!(rules(&["--fleet-rolls"]), rules(&[]) + FLEET_RIGHTS.len());
    }

    fn told(right: &Right) -> String {
        let place = if right.place == Place::Cluster { "cluster" } else { "kura" };
        let name = right.name.map(|name| format!("/{name}")).unwrap_or_default();
        format!("{place} {}/{}{name}: {}", right.group, right.kind, right.verbs.join(","))
    }

    #[test]
    fn flags_reach_what_they_name() {
        let objects = made(&FULL);
        assert_eq!(container(&objects)["image"], "registry/kura:1");
        assert_eq!(of(&objects, "PersistentVolumeClaim")["spec"]["storageClassName"], "local");
        assert_eq!(of(&objects, "Ingress")["spec"]["rules"][0]["host"], "kura.example.com");
        let spaces = objects.iter().filter_map(|object| object["metadata"]["namespace"].as_str());
        assert!(spaces.filter(|space| *space != "kura").all(|space| space == "ops"));
    }
}
