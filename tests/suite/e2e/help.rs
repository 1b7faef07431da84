//! `--help` of everything: within 100 columns, with the variables that stand for flags.

use super::command::kura;

/// What help has to fit into.
const WIDTH: usize = 100;

/// What the help of every verb names, besides what its exit codes mean.
const VERB: [&str; 5] =
    ["KURA_CONSOLE_API", "KURA_CONSOLE_TOKEN", "DURANTIC_ENDPOINT", "DURANTIC_API_TOKEN", "Exit codes:"];

/// The variables of everything that talks to a control plane.
const TARGET: &[&str] = &["KURA_CONSOLE_API", "KURA_CONSOLE_TOKEN", "DURANTIC_ENDPOINT", "DURANTIC_API_TOKEN"];

/// Every way to run with the variables its help must name.
const WAYS: [(&[&str], &[&str]); 62] = [
    (&[], &["KURA_CONSOLE_API", "KURA_CONSOLE_TOKEN", "KURA_CONSOLE_THEME", "KURA_CONSOLE_KEYMAP"]),
    (&["demo"], &["KURA_CONSOLE_THEME", "KURA_CONSOLE_KEYMAP"]),
    (&["serve"], &["KURA_CONSOLE_JOURNAL", "KURA_CONSOLE_LOG", "KURA_CONSOLE_TOKEN"]),
    (&["status"], TARGET),
    (&["rollouts"], TARGET),
    (&["rings"], TARGET),
    (&["machines"], TARGET),
    (&["environments"], TARGET),
    (&["releases"], TARGET),
    (&["servers"], TARGET),
    (&["deployments"], TARGET),
    (&["drift"], TARGET),
    (&["runtime-tags"], TARGET),
    (&["gateways"], TARGET),
    (&["orphans"], TARGET),
    (&["rolls"], TARGET),
    (&["nodes"], TARGET),
    (&["explain"], TARGET),
    (&["audit", "show"], TARGET),
    (&["doctor"], TARGET),
    (&["halt"], &VERB),
    (&["pause"], &VERB),
    (&["unpause"], &VERB),
    (&["start"], &VERB),
    (&["reset"], &VERB),
    (&["yank"], &VERB),
    (&["build"], &VERB),
    (&["ring"], &VERB),
    (&["add-ring"], &VERB),
    (&["environment"], &VERB),
    (&["add-environment"], &VERB),
    (&["assign"], &VERB),
    (&["add-machine"], &VERB),
    (&["remove-machine"], &VERB),
    (&["account"], &VERB),
    (&["set-secret"], &VERB),
    (&["release-tag"], &VERB),
    (&["add-server"], &VERB),
    (&["server"], &VERB),
    (&["move-server"], &VERB),
    (&["deploy"], &VERB),
    (&["force-reapply"], &VERB),
    (&["destroy-server"], &VERB),
    (&["delete-gateway"], &VERB),
    (&["strip-finalizer"], &VERB),
    (&["delete-orphan"], &VERB),
    (&["accept-cluster"], &VERB),
    (&["start-roll"], &VERB),
    (&["approve"], &VERB),
    (&["deny"], &VERB),
    (&["abort"], &VERB),
    (&["probe"], &VERB),
    (&["uncordon"], &VERB),
    (&["accept-clock"], &VERB),
    (&["leave-seat"], &VERB),
    (&["journal"], &[]),
    (&["simulate"], &[]),
    (&["agent"], &["KURA_CONSOLE_API", "KURA_CONSOLE_MACHINE", "KURA_CONSOLE_AGENT_TOKEN", "KURA_CONTENT"]),
    (&["token"], &[]),
    (&["manifests"], &[]),
    (&["completions"], &[]),
    (&["man"], &[]),
];

#[test]
fn help_fits_and_names_the_variables() {
    let folder = tempfile::tempdir().expect("a folder");
    for (way, variables) in WAYS {
        for (flag, columns) in [("--help", "100"), ("--help", "250"), ("-h", "100")] {
            let said = kura(folder.path(), &[("COLUMNS", columns)], &[way, &[flag]].concat());
            assert_eq!((said.code, &said.stderr[..]), (Some(0), ""), "{way:?}");
            let wide: Vec<&str> = said.stdout.lines().filter(|line| line.chars().count() > WIDTH).collect();
            assert!(wide.is_empty(), "{way:?} {flag} at {columns} columns: {wide:#?}");
            for variable in variables.iter().filter(|_| flag == "--help") {
                assert!(said.stdout.contains(variable), "{way:?} says nothing of {variable}:\n{}", said.stdout);
            }
        }
    }
}

#[test]
fn every_way_to_run_is_looked_at() {
    let folder = tempfile::tempdir().expect("a folder");
    let said = kura(folder.path(), &[], &["--help"]);
    let listed =
        said.stdout.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names: Vec<&str> = listed.filter_map(|line| line.split_whitespace().next()).filter(|n| *n != "help").collect();
    let looked_at: Vec<&str> = WAYS.iter().flat_map(|(way, _)| way.first().copied()).collect();
    assert_eq!(names, looked_at);
}

#[test]
fn completions_and_the_man_page_cover_every_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let commands: Vec<&str> = WAYS.iter().flat_map(|(way, _)| way.first().copied()).collect();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = kura(folder.path(), &[], &["completions", shell]);
        assert_eq!((script.code, &script.stderr[..]), (Some(0), ""), "{shell}");
        for command in &commands {
            assert!(script.stdout.contains(command), "{shell} does not complete {command}");
        }
    }
    let bash = kura(folder.path(), &[], &["completions", "bash"]).stdout;
    for flag in ["--dry-run", "--no-local-audit", "--rollout", "--kura-namespace"] {
        assert!(bash.contains(flag), "bash does not complete {flag}");
    }
    let man = kura(folder.path(), &[], &["man"]).stdout;
    for command in &commands {
        let named = format!("kura\\-console\\-{}(1)", command.replace('-', "\\-"));
        assert!(man.contains(&named), "the man page does not name {named}");
    }
}

/// The codes of the README are those of the help of every verb, word for word, and those of the program.
#[test]
fn the_readme_tells_the_exit_codes_as_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let help = kura(folder.path(), &[], &["halt", "--help"]).stdout;
    let told = help.lines().skip_while(|line| *line != "Exit codes:").skip(1).take_while(|line| !line.is_empty());
    let told: Vec<String> = told.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let readme = include_str!("../../../README.md");
    let rows = readme.lines().skip_while(|line| *line != "| exit code | means |").skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let written: Vec<String> =
        rows.map(|row| row.trim_matches(['|', ' ']).replacen(" | ", " ", 1).replace('`', "")).collect();
    assert_eq!(written, told);
    assert_eq!(written.len(), 7, "0 to 6");
}
