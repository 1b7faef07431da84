//! docs/keys.md and docs/themes.md: generated from the command table, the roles and the built-in files.
//!
//! To write the pages anew: `KURA_REGENERATE=1 cargo test --test suite house`.

use std::fs;

use kura_console::console::{keys, theme};

use super::sources::root;

fn compare(page: &str, made: &str) {
    let path = root().join(page);
    if std::env::var_os("KURA_REGENERATE").is_some() {
        fs::write(&path, made).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == made, "{page} is stale: run KURA_REGENERATE=1 cargo test --test suite house");
}

#[test]
fn the_page_of_keys_is_up_to_date() {
    compare("docs/keys.md", &keys::page());
}

#[test]
fn the_page_of_themes_is_up_to_date() {
    compare("docs/themes.md", &theme::page());
}
