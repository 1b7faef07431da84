//! The process that looks: a mirror and nothing else. Says when all of it is there, then each pod that is not Ready as it
//! comes to be so.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use kura_console::adapters::clock::SystemClock;
use kura_console::adapters::kube::cluster::KubeCluster;
use kura_console::adapters::kube::deleter::NotReadyDeletion;
use kura_console::adapters::kube::target::{Choice, Target};
use kura_console::control::ports::{Clock, Cluster};
use kura_console::domain::kura::sight::Sight;
use kura_console::domain::kura::source::Contact;

use super::{Fallible, say};

pub(crate) async fn look(at: &[String]) -> Fallible<()> {
    let [kubeconfig, namespace] = at else { return Err("a kubeconfig and a namespace".into()) };
    let clock = SystemClock::start();
    let begun = clock.now();
    let choice = Choice { kubeconfig: Some(PathBuf::from(kubeconfig)), context: None };
    let target = Target::pin(&choice).await?;
    let mut cluster = KubeCluster::start(target, namespace, NotReadyDeletion::On, clock);
    let mut known: Option<BTreeSet<String>> = None;
    loop {
        let sight = cluster.sight().ok_or("no cluster")?;
        match &mut known {
            None if is_complete(&sight) => {
                let took = clock.now().duration_since(begun).as_millis();
                tell(&format!("complete {took} {}", sight.pods.rows.len()))?;
                known = Some(unready(&sight));
            }
            None => {}
            Some(known) => {
                let now = unready(&sight);
                now.difference(known).try_for_each(|pod| tell(&format!("pod {pod}")))?;
                *known = now;
            }
        }
        cluster.changed().await;
    }
}

fn is_complete(sight: &Sight) -> bool {
    let live = |contact: &Contact| matches!(contact, Contact::Live { .. });
    live(&sight.instances.contact) && live(&sight.pods.contact)
}

fn unready(sight: &Sight) -> BTreeSet<String> {
    sight.pods.rows.values().filter(|pod| !pod.ready).map(|pod| pod.stamp.name.clone()).collect()
}

/// Whoever started this has gone where nobody reads.
fn tell(line: &str) -> Fallible<()> {
    match say(&format!("{line}\n"), ExitCode::SUCCESS) {
        code if code == ExitCode::SUCCESS => Ok(()),
        _ => Err("nobody reads".into()),
    }
}
