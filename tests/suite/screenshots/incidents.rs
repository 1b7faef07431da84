//! The incidents of Kura servers and of fleet rolls, as the demo opens on them: the sentence, the advice and what to verify at
//! both sizes, their own screens, and the pictures of them that are kept.

use kura_console::app::actors::Actors;
use kura_console::console::theme::{Depth, Theme};
use kura_console::control::link::Link;
use kura_console::control::local::Introduction;
use kura_console::control::picture::{Picture, Role};
use kura_console::sim::presets::{Family, INCIDENTS, Incident};
use kura_console::terminal::{linear, record};

use super::{frame, is_kept, look_at, opening};

/// The sizes a first screen has to work at.
const SIZES: [(u16, u16); 2] = [(80, 24), (120, 36)];

/// What is pressed: nothing, then what leads to the screens of its own.
fn keys(incident: &Incident) -> &'static [(&'static str, &'static str)] {
    match incident.family {
        Family::Rings => &[("fallback", "F"), ("now", "")],
        Family::Kura => &[("now", ""), ("kura", "3")],
        Family::Fleet => &[("now", ""), ("rolls", "4"), ("nodes", "5")],
    }
}

/// What each first screen has to say, in this order: who and what, the key or the command, and the check.
const SAID: [(&str, &[&str]); 8] = [
    (
        "bad-night",
        &[
            "standing by: the journal is read from here, and nobody here ticks",
            "F shows what the first tick would do, and how to take the seat",
            "the header says who has the seat",
        ],
    ),
    (
        "manifest-deadlock",
        &[
            "tuist-eu-central-1 does not serve",
            "0.10.15 has waited 5h 59m for a controller of its ingress class",
            "somebody edited spec.ingressClassName: live kgw-tuist-eu-central, rendered kura-eu-central",
            "u a force a re-apply of what is rendered",
            "its fields read as rendered, and the chain to /up holds",
        ],
    ),
    (
        "stuck-14h",
        &[
            "0.19.0 has waited 13h 59m for its pods",
            "readiness probe failed with 503",
            "u t release a newer runtime tag; what is not Ready rolls to it together",
            "pods not Ready roll together to it",
        ],
    ),
    (
        "version-skew",
        &[
            "12 servers wait for their pods on 0.21.3, the first of them for 1h 59m",
            "u t release a newer tag: pods that are not Ready roll to it together",
            "each gets Ready pods on it, and its deployment succeeds",
        ],
    ),
    (
        "reference-roll",
        &[
            "kernel/fleet waits at its canary gate for a person: wk-1 is green on seanfarm32, 5 nodes follow",
            "u g approve the canary gate: wk-2 goes next",
            "wk-2 is cordoned, and proven green before another one",
        ],
    ),
    (
        "wedged-runtime",
        &[
            "wk-1 is Ready and cannot start containers: its probe says CreateContainerError",
            "u p probe wk-1 once it is mended",
            "a probe of wk-1 is proven",
        ],
    ),
    (
        "registry-host",
        &[
            "kernel/fleet stands still: the registry is nowhere to be seen: nobody could pull after a drain",
            "bring the registry back",
            "a pod of it is Ready; the roll goes on by itself",
        ],
    ),
    (
        "foreign-uncordon",
        &[
            "wk-3 is schedulable again: somebody lifted its cordon before the boot",
            "u i mend what it names, then roll again",
            "another roll of this fleet goes on",
        ],
    ),
];

/// What a console sees when the demo opens on an incident.
fn seen(incident: &Incident) -> Picture {
    let mut run = incident.begin(opening(), Actors::usual().unwrap()).unwrap();
    let introduction =
        Introduction { endpoint: "demo".to_owned(), account: incident.name.to_owned(), role: Role::Operator };
    run.advance_to(opening()).unwrap();
    incident.open(&mut run);
    let (link, painter) = run.link(introduction).unwrap();
    run.go_live(painter).unwrap();
    link.pictures().borrow().clone()
}

fn name(incident: &Incident, screen: &str, (width, height): (u16, u16)) -> String {
    format!("{}-{screen}-{width}x{height}", incident.name)
}

/// What the kept pictures are called.
pub(super) fn names() -> Vec<String> {
    let all = INCIDENTS.iter().flat_map(|incident| keys(incident).iter().map(move |(screen, _)| (incident, screen)));
    all.flat_map(|(incident, screen)| SIZES.map(|size| name(incident, screen, size))).collect()
}

#[test]
fn the_kept_pictures_of_the_incidents_are_what_the_demo_opens_on() {
    let theme = Theme::shipped("dark", Depth::True).unwrap();
    let mut stale = Vec::new();
    for incident in &INCIDENTS {
        let picture = seen(incident);
        for (screen, keys) in keys(incident) {
            for size in SIZES {
                let drawn = frame(&look_at(picture.clone(), size, keys), &theme, size);
                let drawn = record::svg(&drawn, "kura-console", theme.ground());
                stale.extend(Some(name(incident, screen, size)).filter(|name| !is_kept(name, &drawn)));
            }
        }
    }
    assert!(stale.is_empty(), "stale: {stale:?}; run KURA_REGENERATE=1 cargo test --test suite screenshots");
}

#[test]
fn the_first_screen_of_every_incident_has_its_sentence_its_advice_and_what_to_verify() {
    let theme = Theme::shipped("dark", Depth::True).unwrap();
    for (incident, (called, said)) in INCIDENTS.iter().zip(SAID) {
        assert_eq!(incident.name, called);
        let picture = seen(incident);
        for size in SIZES {
            let rows = linear::rows(&frame(&look_at(picture.clone(), size, ""), &theme, size));
            let detail = rows.iter().map(|row| row.rsplit('│').next().unwrap_or_default());
            let words = detail.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
            let shown = rows.join("\n");
            let places: Vec<Option<usize>> = said.iter().map(|part| words.find(part)).collect();
            assert!(places.iter().all(Option::is_some), "{called} {size:?}: {places:?}\n{shown}");
            assert!(words.contains("THEN VERIFY"), "{called} {size:?}\n{shown}");
        }
    }
}

#[test]
fn an_incident_reads_without_colour_too() {
    let theme = Theme::shipped("mono", Depth::True).unwrap();
    for incident in &INCIDENTS {
        let picture = seen(incident);
        let drawn = frame(&look_at(picture, (120, 36), keys(incident)[1].1), &theme, (120, 36));
        let selected = drawn.content.iter().filter(|cell| cell.symbol() == "❯").count();
        assert_eq!(selected, 1, "the selection is a mark, not only a colour");
        let colours: Vec<_> =
            drawn.content.iter().filter(|cell| cell.fg != theme.ground().fg.unwrap_or(cell.fg)).collect();
        assert!(colours.iter().all(|cell| cell.fg == ratatui::style::Color::Reset), "{:?}", colours.first());
    }
}
