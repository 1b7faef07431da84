//! docs/scenario.schema.json: made from the types that read scenario files.
//!
//! To write it anew: `KURA_REGENERATE=1 cargo test --test suite schema`.

use std::fs;
use std::path::Path;

use kura_console::sim::scenario::schema::schema;

#[test]
fn the_kept_schema_is_that_of_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/scenario.schema.json");
    let made = format!("{:#}\n", schema());
    if std::env::var_os("KURA_REGENERATE").is_some() {
        fs::write(&path, &made).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == made, "docs/scenario.schema.json is stale: run KURA_REGENERATE=1 cargo test --test suite schema");
}
