//! The World survives being stored: whatever happened before, the stored form loads as the same World, index included.

use kura_console::domain::world::World;
use proptest::prelude::*;

use super::changes::{KINDS, change, entry, fold};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_world_survives_the_way_to_disk_and_back(history in prop::collection::vec((0..KINDS, any::<u32>()), 0..80)) {
        let place = |(revision, (kind, n)): (u64, (usize, u32))| entry(revision, n.into(), change(kind, n.into()));
        let entries: Vec<_> = (1..).zip(history).map(place).collect();
        let world = fold(&entries);
        let stored = serde_json::to_vec(&world).unwrap();
        let loaded: World = serde_json::from_slice(&stored).unwrap();
        prop_assert_eq!(&loaded, &world);
        prop_assert_eq!(serde_json::to_vec(&loaded).unwrap(), stored);
    }
}
