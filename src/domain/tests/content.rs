//! R155-R164: what a release promises, as a lint reads it.

use crate::domain::preflight::{File, Grade, content};

/// A release as the runbook wants it.
const SOUND: &str = "
{% set target = vars.K8S_VERSION %}
# an upgrade, step by step
cordon_drain:
  cmd.run:
    - name: kubectl --kubeconfig /run/drain.conf --server https://{{ vars.K8S_VIP }}:6443 drain {{ machine.node }}
    - onlyif: test \"$(printf '%s\\n' {{ running }} {{ target }} | sort -V | head -1)\" = {{ running }}
    - failhard: True
upgrade:
  cmd.run:
    - name: rke2-upgrade {{ target }}
    - onlyif: dpkg --compare-versions {{ running }} lt {{ target }}
    - failhard: True
    - require: [cmd: cordon_drain]
health_gate:
  cmd.run:
    - name: kubectl wait node/{{ machine.node }} --for=condition=Ready
    - failhard: True
    - require: [cmd: upgrade]
uncordon:
  cmd.run:
    - name: kubectl uncordon {{ machine.node }}
    - onchanges: [cmd: upgrade]
    - require: [cmd: health_gate]
kubeconfig:
  file.managed:
    - name: /run/drain.conf
    - mode: '0600'
    - contents: 'token: {{ secrets.K8S_DRAIN_TOKEN }}'
kubeconfig_gone:
  file.absent:
    - name: /run/drain.conf
";

const ROLE: &str = "
durantic-node-maintainer:
  k8s.present:
    - kind: ClusterRole
    - rules: [{resources: [pods], verbs: [list, get]}, {resources: [pods/eviction], verbs: [create]}, {resources: [nodes], verbs: [get, patch]}]
";

/// What does not pass, with its sentence.
fn found(text: &str) -> Vec<(&'static str, Grade, String)> {
    let checks = content(&[File { path: "k8s.sls", text }, File { path: "role.sls", text: ROLE }]);
    assert!(checks.iter().all(|check| (check.grade == Grade::Pass) == check.hint.is_none()));
    checks.into_iter().filter(|c| c.grade != Grade::Pass).map(|c| (c.id, c.grade, c.sentence)).collect()
}

/// The sound release with a text in place of another.
fn with(old: &str, new: &str) -> Vec<(&'static str, Grade, String)> {
    assert!(SOUND.contains(old));
    found(&SOUND.replace(old, new))
}

fn only(found: &[(&'static str, Grade, String)], id: &str, grade: Grade, word: &str) {
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].0, found[0].1), (id, grade), "{found:?}");
    assert!(found[0].2.contains(word), "{found:?}");
}

#[test]
fn a_release_that_keeps_its_promises_passes() {
    // R155, R156, R158, R162, R163, R164
    assert_eq!(found(SOUND), []);
    let checks = content(&[File { path: "k8s.sls", text: SOUND }, File { path: "role.sls", text: ROLE }]);
    assert_eq!(checks.len(), 6);
}

#[test]
fn a_guard_must_be_there_and_compare_by_order() {
    // R155, R157, R159
    let guard = "    - onlyif: dpkg --compare-versions {{ running }} lt {{ target }}\n";
    only(&with(guard, ""), "guards", Grade::Fail, "upgrade in k8s.sls");
    let unequal = "    - onlyif: test {{ running }} != {{ target }}\n";
    only(&with(guard, unequal), "guards", Grade::Fail, "differ");
    only(&with(guard, "    - onlyif: /usr/local/bin/old-enough\n"), "guards", Grade::Warn, "may not compare");
    let hint = content(&[File { path: "x", text: "drain:\n  cmd.run: []\n" }])[0].hint.clone().unwrap();
    for word in ["drift", "last known good", "must change nothing", "acceptance test"] {
        assert!(hint.contains(word), "{hint}");
    }
}

#[test]
fn uncordon_hangs_on_the_upgrade_only() {
    // R156, R159
    let bare = with("    - onchanges: [cmd: upgrade]\n", "");
    only(&bare, "uncordon", Grade::Fail, "uncordon in k8s.sls");
    let none = with("uncordon:\n", "something_else:\n");
    only(&none, "uncordon", Grade::Warn, "no state uncordons");
}

#[test]
fn the_arc_has_an_order_and_stops_at_a_failure() {
    // R158
    only(&with("    - require: [cmd: upgrade]\n", ""), "order", Grade::Fail, "health_gate");
    let soft = SOUND.replacen("    - failhard: True\n", "", 1);
    only(&found(&soft), "order", Grade::Fail, "cordon_drain");
}

#[test]
fn drains_go_through_the_vip_with_a_token_that_leaves_nothing_behind() {
    // R162, R163, R164
    let own = with("https://{{ vars.K8S_VIP }}:6443", "https://127.0.0.1:6443");
    only(&own, "drain-server", Grade::Fail, "127.0.0.1");
    only(&with("vars.K8S_VIP", "vars.API"), "drain-server", Grade::Warn, "K8S_VIP");
    only(&with("mode: '0600'", "mode: '0644'"), "token-file", Grade::Fail, "0600");
    only(&with("file.absent", "file.exists"), "token-file", Grade::Warn, "removes");
    let role = ROLE.replace("pods/eviction", "pods");
    let checks = content(&[File { path: "k8s.sls", text: SOUND }, File { path: "role.sls", text: &role }]);
    let rights = checks.iter().find(|check| check.id == "drain-rights").unwrap();
    assert_eq!(rights.grade, Grade::Fail);
    assert!(rights.sentence.contains("pods/eviction") && rights.hint.as_ref().unwrap().contains("nodes get and patch"));
}

#[test]
fn content_that_touches_no_node_promises_nothing() {
    // R155
    assert_eq!(content(&[File { path: "motd.sls", text: "motd:\n  file.managed: []\n" }]).len(), 0);
    assert_eq!(content(&[]).len(), 0);
    let comment = "# drain:\n#   cmd.run: []\nmotd:\n  file.managed:\n    - name: /etc/drain\n";
    assert_eq!(content(&[File { path: "motd.sls", text: comment }]).len(), 0, "ids count, not words");
}
