//! Without the control plane: what it told stands still and fades, what is seen of the cluster from here goes on.

use std::sync::Arc;

use super::super::super::snapshot::Freshness;
use super::bed::Bed;
use crate::domain::kura::ends::OwnEnd;
use crate::domain::span::Seconds;

/// A server, and the control plane gone since a moment ago; the cluster is seen from here, or by nobody.
fn lost(is_seen_from_here: bool) -> Bed {
    let mut bed = Bed::serving(140, 40, &[("acme", "eu")]).shown();
    bed.stage.press("3");
    let since = bed.stage.now;
    bed.stage.picture.api = Freshness::Lost { since, why: "connection refused".to_owned(), retry_at: None };
    let own = OwnEnd { context: "prod-a".to_owned(), uid: None, trouble: None, is_shown: true };
    bed.stage.picture.own = is_seen_from_here.then(|| Arc::new(own));
    bed.stage.now = Seconds(600).after(since);
    bed
}

#[test]
fn what_is_seen_from_here_goes_on_and_what_the_control_plane_told_stands_still() {
    // A20
    let mut bed = lost(true);
    bed.hear();
    bed.pod("kura-acme-eu-0", |pod| pod.ready = false);
    bed.see();
    bed.stage.show();
    assert!(!bed.stage.is_faded("1/2"), "{}", bed.stage.screen());
    assert!(bed.stage.is_faded("active"), "{}", bed.stage.screen());
    assert!(!bed.stage.screen().contains("stale"), "{}", bed.stage.screen());
    bed.stage.press("enter");
    assert!(!bed.stage.is_faded("not Ready"), "{}", bed.stage.screen());
    bed.stage.press("esc");

    // It goes stale like anything that is not heard of.
    bed.stage.now = Seconds(120).after(bed.stage.now);
    bed.stage.show();
    assert!(bed.stage.screen().contains("instances stale 2m"), "{}", bed.stage.screen());
}

#[test]
fn a_cluster_that_only_the_control_plane_saw_stands_still_with_it() {
    let mut bed = lost(false);
    bed.stage.show();
    for words in ["2/2", "active", "acme-eu"] {
        assert!(bed.stage.is_faded(words), "{words}:\n{}", bed.stage.screen());
    }
    assert!(!bed.stage.screen().contains("stale"), "{}", bed.stage.screen());
    bed.stage.picture.api = Freshness::Live(bed.stage.now);
    bed.hear();
    bed.stage.show();
    for words in ["2/2", "active", "acme-eu"] {
        assert!(!bed.stage.is_faded(words), "{words}:\n{}", bed.stage.screen());
    }
}
