//! Files that are wrong: what is said, and where.

use super::bench::{PAIR, fault};

fn said(entries: &str) -> String {
    fault(&format!("scenario: a test\n{PAIR}{entries}")).to_string()
}

#[test]
fn an_unknown_key_is_an_error_with_line_and_column() {
    assert!(fault("scenario: x\ngivne: {}\n").to_string().starts_with("2:1: unknown field `givne`"));
    let machine = "scenario: x\ngiven:\n  machines:\n    - {id: ash, buckte: 1}\n";
    assert!(fault(machine).to_string().starts_with("4:17: unknown field `buckte`"), "{}", fault(machine));
    assert!(fault(machine).to_string().ends_with("(did you mean `bucket`?)"), "{}", fault(machine));
    let verb = said("when:\n  - {at: 0s, do: start_rolout, release: v1}\n");
    assert!(
        verb.starts_with("12:18: there is no verb start_rolout") && verb.ends_with("(did you mean `start_rollout`?)")
    );
    let view = said("then:\n  - {at: 0s, view: stauts, count: 1}\n");
    assert!(view.starts_with("12:20: there is no view stauts") && view.ends_with("(did you mean `status`?)"), "{view}");
    let entry = said("when:\n  - {at: 0s, do: poll, machine: ash, wait: 5}\n");
    assert!(entry.starts_with("12:38: unknown field `wait`"), "{entry}");
    let bare = said("when:\n  - {at: 0s, do: tick, machine: ash}\n");
    assert!(bare.starts_with("12:24: unknown field `machine`, this verb has no arguments"), "{bare}");
    let then = said("then:\n  - {at: 0s, view: status, contians: [x]}\n");
    assert!(then.starts_with("12:28: unknown field `contians`"), "{then}");
}

#[test]
fn what_cannot_be_explained_is_told_with_what_can() {
    let kind = said("then:\n  - {at: 0s, view: \"explain:gate/r1\", count: 1}\n");
    assert!(kind.contains("explain names account/ID, ring/ID, machine/ID, server/ID, roll/ID or node/NAME"), "{kind}");
}

#[test]
fn what_is_unknown_or_makes_no_sense_is_pointed_at() {
    let cases = [
        ("when:\n  - {at: 0s, do: frobnicate}\n", "12:18: there is no verb frobnicate, only tick, poll"),
        ("when:\n  - {do: tick}\n", "12:5: missing field `at`"),
        ("when:\n  - {at: 0s, every: 60s, do: tick}\n", "12:5: `at` stands alone"),
        ("when:\n  - {at: -5s, do: tick}\n", "12:5: `at` lies before the start"),
        ("when:\n  - {at: soon, do: tick}\n", "12:10: invalid value: string \"soon\", expected a time such as 90s"),
        ("when:\n  - {at: 0s, do: tick, process: ghost}\n", "12:5: there is no process ghost, only server"),
        ("when:\n  - {at: 0s, do: key, chords: hyper-x}\n", "12:5: hyper-x is no chord"),
        ("when:\n  - {at: 0s, do: pause, machine: ash, ring: oak}\n", "12:5: name exactly one of machine, ring"),
        ("then:\n  - {at: 0s, view: nothing, count: 1}\n", "12:20: there is no view nothing, only status"),
        ("then:\n  - {at: 0s, view: status}\n", "12:5: nothing is expected"),
        ("then:\n  - {view: status, count: 1}\n", "12:5: missing field `at`"),
        ("then:\n  - {from: 9s, until: 3s, view: status, count: 1}\n", "12:5: `until` lies before `from`"),
        ("then:\n  - {at: 0s, view: \"screen:sofa@80x24\", count: 1}\n", "12:5: there is no screen sofa"),
        ("then:\n  - {at: 0s, view: \"screen:now@80\", count: 1}\n", "12:20: a screen is written screen:NAME@WxH"),
        ("then:\n  - {at: 0s, view: status, path: \"$.[\", count: 1}\n", "12:34: this is no JSONPath"),
    ];
    for (entries, expected) in cases {
        let said = said(entries);
        assert!(said.starts_with(expected), "{said}\nfor\n{entries}");
    }
}

#[test]
fn given_must_not_contradict_itself() {
    let given = |text: &str| fault(&format!("scenario: x\ngiven:\n{text}")).to_string();
    let twice = given("  environments: [{slug: oak}, {slug: oak}]\n");
    assert_eq!(twice, "3:31: there are two of environment oak");
    let homeless = given("  machines: [{id: ash, environment: oak}]\n");
    assert_eq!(homeless, "3:14: there is no environment oak in given.environments");
    let ladder = given("  rings: [{slug: oak, wave_ladder: []}]\n");
    assert!(ladder.starts_with("3:11: wave_ladder must have at least one step"), "{ladder}");
    let later = "  environments: [{slug: e, promotion_order: 1}]\n  rings: [{slug: r, max_in_flight: 1}]\n  machines: [{id: ash, \
                 environment: e, ring: r}]\n  releases: [{id: v1}]\n  rollout: {release: v1, leases: [{machine: ash, \
                 granted: 10s}]}\n";
    assert_eq!(given(later), "7:45: 10s lies after the start");
    let nowhere = given("  releases: [{id: v1}]\n  rollout: {release: v2}\n");
    assert_eq!(nowhere, "4:22: there is no release v2 in given.releases");
}
