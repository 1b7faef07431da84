//! Many servers: what is drawn is what is in sight, and what did not change is not rendered again.

use super::super::super::kura::Part;
use super::bed::Bed;

#[test]
fn a_long_list_keeps_its_selection_in_sight_and_one_more_picture_renders_nothing_again() {
    let names: Vec<String> = (0..90).map(|n| format!("t{n:02}")).collect();
    let servers: Vec<(&str, &str)> = names.iter().map(|tenant| (tenant.as_str(), "eu")).collect();
    let mut bed = Bed::serving(80, 24, &servers).shown();
    bed.stage.press("3 G");
    assert!(bed.stage.screen().contains("t89-eu"), "{}", bed.stage.screen());
    assert!(!bed.stage.screen().contains("t40-eu"));
    let before = bed.stage.model.facts.kura.renderings();
    bed.pod("kura-t45-eu-0", |pod| pod.ready = false);
    bed.see();
    bed.stage.show();
    let after = bed.stage.model.facts.kura.renderings();
    assert!(before.iter().zip(&after).all(|(a, b)| std::sync::Arc::ptr_eq(a, b)), "rendered again");
    assert_eq!(bed.stage.model.kura.rows.len(), 90);
    assert!(bed.stage.model.kura.rows.iter().all(|part| matches!(part, Part::Server(_))), "one region, no heading");
}
