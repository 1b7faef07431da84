//! docs/keys.md: every command with its keys, generated from the command table and the built-in keymaps.
//!
//! To write the page anew: `KURA_REGENERATE=1 cargo test --test suite house`.

use std::fs;

use kura_console::console::keys::page;

use super::sources::root;

#[test]
fn the_page_of_keys_is_up_to_date() {
    let path = root().join("docs/keys.md");
    let page = page();
    if std::env::var_os("KURA_REGENERATE").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == page, "docs/keys.md is stale: run KURA_REGENERATE=1 cargo test --test suite house");
}
