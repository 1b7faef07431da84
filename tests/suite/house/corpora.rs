//! What the fuzzer starts from, fed to the same functions: `fuzz/feeds.rs`.

use std::fs;
use std::path::PathBuf;

use super::sources::root;

#[path = "../../../fuzz/feeds.rs"]
mod feeds;

/// A corpus is for starting from; what a long run adds is made small first.
const FILE_MAX: usize = 16 * 1_024;

/// Files of a corpus.
const FILES_MAX: usize = 400;

type Feed = fn(&[u8]);

const FEEDS: [(&str, Feed); 7] = [
    ("journal_rows", feeds::journal_rows),
    ("cluster_journal", feeds::cluster_journal),
    ("change_stream", feeds::change_stream),
    ("scenario_files", feeds::scenario_files),
    ("keymaps", feeds::keymaps),
    ("themes", feeds::themes),
    ("cluster_objects", feeds::cluster_objects),
];

fn corpus(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(root().join("fuzz/corpus").join(name)).unwrap();
    entries.map(|entry| entry.unwrap().path()).map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[test]
fn nothing_in_the_corpora_breaks_what_reads_it() {
    for (name, feed) in FEEDS {
        let corpus = corpus(name);
        assert!((1..=FILES_MAX).contains(&corpus.len()), "{name}: {} files", corpus.len());
        for (path, bytes) in corpus {
            assert!(bytes.len() <= FILE_MAX, "{} is too large to start from", path.display());
            feed(&bytes);
        }
    }
}

#[test]
fn every_feed_is_a_target_and_the_other_way_round() {
    let targets = fs::read_dir(root().join("fuzz/fuzz_targets")).unwrap();
    let mut targets: Vec<String> =
        targets.map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned()).collect();
    targets.sort();
    let mut feeds = FEEDS.map(|(name, _)| name.to_owned());
    feeds.sort();
    assert_eq!(targets, feeds);
    let manifest = fs::read_to_string(root().join("fuzz/Cargo.toml")).unwrap();
    for name in targets {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name} is not built");
    }
}
