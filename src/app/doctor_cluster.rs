//! The cluster of the Kura servers, as it is reached from here: which one, whether it is the control plane's, and what may
//! be done there.

use futures_util::future::join_all;

use super::cluster::ClusterArgs;
use super::doctor::Finding;
use super::manifests::rights::{FLEET_RIGHTS, Place, RIGHTS, Right};
use crate::adapters::clock::SystemClock;
use crate::adapters::kube::connection::Connection;
use crate::adapters::kube::fault::ClusterFault;
use crate::adapters::kube::identity::Identity;
use crate::adapters::kube::rights::{Question, may};

/// Rights that are named where some are missing.
const NAMED_MAX: usize = 6;

/// Everything about it. `theirs` is the uid of the control plane's; none where that one tells none.
pub async fn look(args: &ClusterArgs, theirs: Option<&str>) -> Vec<Finding> {
    if !args.is_given() {
        return Vec::new();
    }
    let target = match args.pin().await {
        Ok(target) => target,
        Err(problem) => return vec![Finding::of("kube", &problem)],
    };
    let kubectl = target.kubectl();
    let connection = Connection::new(target, SystemClock::start());
    let identity = match Identity::ask(&connection).await {
        Ok(identity) => identity,
        Err(fault) => return vec![unreached(&fault, &kubectl)],
    };
    let server = connection.target().server();
    let told = format!("{server} answers, {}", identity.version);
    let mut findings = vec![Finding::ok("kube", told), same(&identity, theirs)];
    findings.push(rights(&connection, args.kura_space.as_str()).await);
    findings.push(fleet_rights(&connection, args.kura_space.as_str()).await);
    findings
}

fn unreached(fault: &ClusterFault, kubectl: &str) -> Finding {
    let hint = match fault {
        // It names the command itself.
        ClusterFault::LogIn { command, .. } => format!("run {command}, log in there, and try again"),
        _ => format!("compare with what {kubectl} version says from here"),
    };
    Finding::bad("kube", fault.to_string(), hint)
}

/// Whether both ends are one (A19).
fn same(own: &Identity, theirs: Option<&str>) -> Finding {
    match (own.uid.as_deref(), theirs) {
        (Some(own), Some(theirs)) if own == theirs => {
            Finding::ok("same", format!("it is the control plane's cluster, {own}"))
        }
        (Some(own), Some(theirs)) => Finding::bad(
            "same",
            format!("different clusters: this is {own}, the control plane looks at {theirs}"),
            "name the context of the control plane's cluster, or another control plane; verbs are off until then",
        ),
        (Some(own), None) => Finding::ok("same", format!("it is {own}; the control plane does not say which its is")),
        (None, _) => Finding::warn(
            "same",
            "these credentials may not read which cluster it is",
            "allow get on the namespace kube-system",
        ),
    }
}

async fn rights(connection: &Connection<SystemClock>, namespace: &str) -> Finding {
    let missing = match missing(connection, &RIGHTS, namespace).await {
        Ok(missing) => missing,
        Err(fault) => return untold("may", &fault),
    };
    if missing.is_empty() {
        return Finding::ok("may", format!("everything a control plane needs in the namespace {namespace}"));
    }
    let hint = "a console that only looks needs list and watch; the roles of a control plane: kura-console manifests";
    Finding::warn("may", format!("not in the namespace {namespace}: {}", some_of(&missing)), hint)
}

/// Whoever has none of these is not meant to roll fleets; whoever has some of them would get stuck on the way.
async fn fleet_rights(connection: &Connection<SystemClock>, namespace: &str) -> Finding {
    let missing = match missing(connection, &FLEET_RIGHTS, namespace).await {
        Ok(missing) => missing,
        Err(fault) => return untold("rolls", &fault),
    };
    fleet_finding(&missing)
}

fn fleet_finding(missing: &[String]) -> Finding {
    let all: usize = FLEET_RIGHTS.iter().map(|right| right.verbs.len()).sum();
    let hint = "kura-console manifests --fleet-rolls prints the roles; rolls wait until it may, the rest goes on";
    match missing.len() {
        0 => Finding::ok("rolls", "everything fleet rolls take"),
        some if some == all => Finding::ok("rolls", "these credentials roll no fleets"),
        _ => Finding::warn("rolls", format!("fleet rolls would get stuck, for want of: {}", some_of(missing)), hint),
    }
}

fn untold(check: &'static str, fault: &ClusterFault) -> Finding {
    Finding::warn(check, format!("what may be done there is not told: {fault}"), "ask whoever runs the cluster")
}

/// The first few, and how many more.
fn some_of(missing: &[String]) -> String {
    let more = missing.len().saturating_sub(NAMED_MAX);
    let named = missing.iter().take(NAMED_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{named}, and {more} more") } else { named }
}

/// What of these may not be done, in words.
async fn missing(
    connection: &Connection<SystemClock>,
    rights: &[Right],
    namespace: &str,
) -> Result<Vec<String>, ClusterFault> {
    let all = rights.iter().flat_map(|right| right.verbs.iter().map(move |verb| (right, *verb)));
    let answers = join_all(all.map(|(right, verb)| asked(connection, right, verb, namespace))).await;
    answers.into_iter().filter_map(Result::transpose).collect()
}

/// What is lacking, in words; none where it may be done.
async fn asked(
    connection: &Connection<SystemClock>,
    right: &Right,
    verb: &str,
    namespace: &str,
) -> Result<Option<String>, ClusterFault> {
    let namespace = (right.place == Place::Kura).then_some(namespace);
    let question = Question { verb, group: right.group, kind: right.kind, namespace, name: right.name };
    let may = may(connection, question).await?;
    Ok((!may).then(|| format!("{verb} {}", right.kind)))
}

#[cfg(test)]
mod tests {
    use super::super::doctor::Verdict;
    use super::*;

    #[test]
    fn two_ends_are_compared_and_a_login_is_told_with_its_command() {
        let own = |uid: Option<&str>| Identity { uid: uid.map(str::to_owned), version: "v1".to_owned(), minor: 34 };
        assert_eq!(same(&own(Some("a")), Some("a")).verdict, Verdict::Ok);
        let finding = same(&own(Some("a")), Some("b"));
        assert!(finding.verdict == Verdict::Bad && finding.said.contains("different clusters"), "{finding:?}");
        assert_eq!(same(&own(Some("a")), None).verdict, Verdict::Ok);
        assert_eq!(same(&own(None), Some("b")).verdict, Verdict::Warn);
        let lacks = |count: usize| fleet_finding(&vec!["patch nodes".to_owned(); count]);
        assert_eq!((lacks(0).verdict, lacks(10).verdict), (Verdict::Ok, Verdict::Ok));
        assert!(lacks(1).verdict == Verdict::Warn && lacks(1).said.ends_with("patch nodes"), "{:?}", lacks(1));
        let fault = ClusterFault::LogIn { what: "x".to_owned(), command: "kubectl --context a version".to_owned() };
        assert!(unreached(&fault, "kubectl").hint.is_some_and(|hint| hint.contains("kubectl --context a version")));
    }
}
