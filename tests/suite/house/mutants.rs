//! docs/faults.md: every mutant with what finds it, generated from the headers in scripts/mutants.d. And the patches
//! themselves: they apply to the tree as it is, and the tests they name exist.
//!
//! To write the page anew: `KURA_REGENERATE=1 cargo test --test suite house`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use kura_console::sim::seeds::profile::Profile;

use super::sources::{below, is_test, root};

/// Fewer mutants than this prove too little.
const MUTANTS_MIN: usize = 40;

/// Between these lines the page is generated.
const BEGIN: &str = "<!-- generated from scripts/mutants.d -->\n";
const END: &str = "<!-- end of what is generated -->\n";

/// A planted mistake, as its header describes it.
struct Mutant {
    name: String,
    file: PathBuf,
    mistake: String,
    about: String,
    rule: String,
    finders: Vec<Finder>,
}

/// Who has to find it.
enum Finder {
    Test { kind: String, path: String },
    Seeds { family: &'static str, range: String, words: String },
}

impl Finder {
    fn of(line: &str) -> Option<Self> {
        let (kind, what) = line.split_once(' ')?;
        match kind {
            "lib" | "suite" => Some(Self::Test { kind: kind.to_owned(), path: what.to_owned() }),
            seeds if seeds.starts_with("seeds") => {
                let family = seeds.strip_prefix("seeds-").unwrap_or("rings");
                let family = Profile::ALL.iter().map(|known| known.word()).find(|word| *word == family)?;
                let (range, words) = what.split_once(' ')?;
                let (first, end) = range.split_once("..")?;
                let ascends = first.parse::<u64>().ok()? < end.parse::<u64>().ok()?;
                ascends.then(|| Self::Seeds { family, range: range.to_owned(), words: words.to_owned() })
            }
            _ => None,
        }
    }

    fn exists(&self) -> bool {
        match self {
            Self::Test { kind, path } => is_test(kind, path),
            Self::Seeds { .. } => true,
        }
    }
}

fn mutants() -> Vec<Mutant> {
    let entries = fs::read_dir(root().join("scripts/mutants.d")).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(mutant).collect()
}

fn mutant(file: PathBuf) -> Mutant {
    let text = fs::read_to_string(&file).unwrap();
    let header = text.split("diff --git").next().unwrap_or_default();
    let field = |name: &str| -> Vec<String> {
        let start = format!("{name}: ");
        header.lines().filter_map(|line| line.strip_prefix(&start)).map(str::to_owned).collect()
    };
    let one = |name: &str| {
        let [value] = &field(name)[..] else { panic!("{} needs one line {name}", file.display()) };
        value.clone()
    };
    let finder = |line: &String| {
        Finder::of(line).unwrap_or_else(|| panic!("{} is found by nothing that is known: {line}", file.display()))
    };
    let name = file.file_stem().unwrap().to_string_lossy().into_owned();
    let finders = field("Found by").iter().map(finder).collect();
    Mutant { name, mistake: one("Mistake"), about: one("About"), rule: one("Rule"), finders, file }
}

/// The part of the page that is generated.
fn table(mutants: &[Mutant]) -> String {
    let mut table = format!(
        "{BEGIN}\n{} mutants.\n\n| about | mutant | the mistake | rule | found by |\n|---|---|---|---|---|\n",
        mutants.len()
    );
    let mut sorted: Vec<&Mutant> = mutants.iter().collect();
    sorted.sort_by_key(|mutant| (&mutant.about, &mutant.name));
    for Mutant { name, mistake, about, rule, finders, .. } in sorted {
        let told = finders.iter().map(|finder| match finder {
            Finder::Test { path, .. } => format!("`{path}`"),
            Finder::Seeds { family: "rings", range, words } => format!("seeds {range} ({words})"),
            Finder::Seeds { family, range, words } => format!("seeds {range} of {family} ({words})"),
        });
        let found = told.collect::<Vec<_>>().join("<br>");
        let _ = writeln!(table, "| {about} | {name} | {mistake} | {rule} | {found} |");
    }
    table + "\n" + END
}

#[test]
fn the_page_of_faults_lists_exactly_the_mutants() {
    let path = root().join("docs/faults.md");
    let kept = fs::read_to_string(&path).unwrap();
    let (before, rest) = kept.split_once(BEGIN).expect("the page has a generated part");
    let (_, after) = rest.split_once(END).expect("the generated part has an end");
    let made = format!("{before}{}{after}", table(&mutants()));
    if std::env::var_os("KURA_REGENERATE").is_some() {
        fs::write(&path, &made).unwrap();
    } else {
        assert!(kept == made, "docs/faults.md is stale: run KURA_REGENERATE=1 cargo test --test suite house");
    }
}

#[test]
fn every_mutant_applies_to_the_tree_as_it_is() {
    let mutants = mutants();
    assert!(mutants.len() >= MUTANTS_MIN, "only {} mutants", mutants.len());
    let stale: Vec<String> = mutants.iter().filter_map(unapplied).collect();
    assert!(stale.is_empty(), "adapt these patches in scripts/mutants.d to the code:\n{}", stale.join("\n"));
}

/// Why git would not apply a patch here. The tree need not be a repository.
fn unapplied(mutant: &Mutant) -> Option<String> {
    let mut git = Command::new("git");
    git.current_dir(root()).env("GIT_CEILING_DIRECTORIES", root().parent().unwrap_or(root()));
    let output = git.args(["apply", "--check"]).arg(&mutant.file).output().unwrap();
    let why = String::from_utf8_lossy(&output.stderr).into_owned();
    (!output.status.success()).then(|| format!("{}: {why}", mutant.name))
}

#[test]
fn every_mutant_names_a_mistake_of_its_own_and_finders_that_exist() {
    let mutants = mutants();
    let mistakes: BTreeSet<&str> = mutants.iter().map(|mutant| mutant.mistake.as_str()).collect();
    assert_eq!(mistakes.len(), mutants.len(), "two mutants make the same mistake");
    for Mutant { name, finders, .. } in &mutants {
        assert!(!finders.is_empty(), "nobody has to find {name}");
        for finder in finders {
            let Finder::Test { kind, path } = finder else { continue };
            assert!(finder.exists(), "{name} is to be found by {kind} {path}, which does not exist");
        }
    }
}

/// Where fleet rolls are guarded: what is said of a breach begins with the rule it breaks.
const GUARDED_IN: [&str; 3] = ["src/domain/roll/invariants.rs", "src/sim/cluster/envelope.rs", "src/sim/seeds/rolls"];

/// Guards of the safety envelope that are no invariants.
const ENVELOPE: [&str; 6] = ["F46", "F47", "F48", "F49", "F50", "F52"];

#[test]
fn every_guard_of_fleet_rolls_has_a_mistake_that_it_finds() {
    // F51
    let mutants = mutants();
    let planted: BTreeSet<&str> = mutants.iter().flat_map(|mutant| mutant.rule.split(", ")).collect();
    let sources = below("src").into_iter();
    let guarded = sources.filter(|source| GUARDED_IN.iter().any(|place| source.path.starts_with(place)));
    let mut guards: BTreeSet<String> = guarded.flat_map(|source| codes(&source.text)).collect();
    assert!(guards.len() > 20, "only these guards: {guards:?}");
    guards.extend(ENVELOPE.map(str::to_owned));
    let unproven: Vec<&String> = guards.iter().filter(|rule| !planted.contains(rule.as_str())).collect();
    assert!(unproven.is_empty(), "no mistake in scripts/mutants.d shows that these guards find any: {unproven:?}");
}

/// Rules that texts begin with: `"F23: `.
fn codes(text: &str) -> Vec<String> {
    let starts = text.split('"').filter_map(|text| text.split_once(": ")).map(|(word, _)| word);
    let is_rule = |word: &&str| {
        let mut signs = word.chars();
        matches!(signs.next(), Some('F' | 'A')) && word.len() > 1 && signs.all(|sign| sign.is_ascii_digit())
    };
    starts.filter(is_rule).map(str::to_owned).collect()
}

#[test]
fn the_test_that_plays_seeds_for_mutants_is_where_their_script_looks_for_it() {
    let script = fs::read_to_string(root().join("scripts/mutants")).unwrap();
    let named = script.lines().find_map(|line| line.strip_prefix("SEEDS_TEST=")).unwrap();
    assert!(Finder::Test { kind: "lib".to_owned(), path: named.to_owned() }.exists(), "{named} does not exist");
    let reads = below("src/sim/seeds").into_iter().any(|source| source.text.contains("\"KURA_SEEDS\""));
    assert!(reads && script.contains("KURA_SEEDS="));
    // What the script looks for is what the test says.
    let says =
        below("src/sim/seeds").into_iter().any(|source| source.text.contains("\"seed {seed} of {word} fails after"));
    assert!(says && script.contains("SEED_FAILS='^seed [0-9]+ of [a-z]+ fails'"));
}

#[test]
fn a_finder_that_does_not_exist_is_noticed() {
    let test = |path: &str| Finder::of(path).is_some_and(|finder| finder.exists());
    assert!(test("suite house::mutants::a_finder_that_does_not_exist_is_noticed"));
    assert!(!test("suite house::rules::a_finder_that_does_not_exist_is_noticed"));
    assert!(test("lib domain::bucket::tests::a_bucket_is_fixed_for_a_pair_and_new_for_another_release"));
    assert!(!test("lib domain::bucket::tests::a_bucket_is_something_else"));
    assert!(Finder::of("seeds 0..4 R21").is_some() && Finder::of("seeds-rolls 0..4 F23").is_some());
    assert!(Finder::of("seeds-sofas 0..4 F23").is_none());
    assert!(Finder::of("seeds 4..4 R21").is_none() && Finder::of("seeds 0..4").is_none());
    assert!(Finder::of("somebody else").is_none());
}
