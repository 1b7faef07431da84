//! Values that are typed into a dialog: what a field asks for, and the deed that comes of what is typed.

use super::deed::{Deed, Place, Setting};
use super::filter::span;
use crate::domain::fleet::{RingSettings, Rung};
use crate::domain::rows::lanes_in_order;
use crate::domain::span::Seconds;
use crate::domain::world::World;

/// Places that are named where one is asked for.
const PLACES_NAMED: usize = 4;

/// Tags that are named where one is asked for.
const TAGS_NAMED: usize = 4;

/// How the absence of something is typed.
const NONE: &str = "none";

impl Deed {
    /// What the field of its value is called, with what is true now; none where nothing is typed.
    pub fn field(&self, world: &World) -> Option<String> {
        let name = match self {
            Self::Tune(_, Setting::Cap(_)) => "new cap",
            Self::Tune(_, Setting::Settle(_)) => "new settle window",
            Self::Tune(_, Setting::Stall(_)) => "new stall timeout",
            Self::Tune(_, Setting::Threshold(_)) => "failures that halt it",
            Self::Tune(_, Setting::Ladder(_)) => "new ladder",
            Self::Add { .. } => return Some("HOST ENVIRONMENT/RING:".to_owned()),
            Self::Assign(..) => "new place",
            Self::Place(..) => "new place in the path",
            Self::FollowTags(_) => "new tag pattern",
            Self::RollAgain(_) => return Some("IMAGE REVISION:".to_owned()),
            Self::Deploy(..) | Self::ReleaseTag(_) => {
                return Some(match world.kura.target() {
                    Some(newest) => format!("tag, the newest is {newest}:"),
                    None => "tag:".to_owned(),
                });
            }
            Self::Strip { among, .. } if among.len() > 1 => return Some("which finalizer:".to_owned()),
            _ => return None,
        };
        let now = self.as_it_is(world);
        Some(now.map_or_else(|| format!("{name}:"), |now| format!("{name}, now {}:", now.value(world))))
    }

    /// True where a value is typed.
    pub fn has_field(&self) -> bool {
        let is_one_of_many = matches!(self, Self::Strip { among, .. } if among.len() > 1);
        let is_typed = matches!(
            self,
            Self::Tune(..)
                | Self::Add { .. }
                | Self::Assign(..)
                | Self::Place(..)
                | Self::FollowTags(_)
                | Self::Deploy(..)
                | Self::ReleaseTag(_)
                | Self::RollAgain(_)
        );
        is_typed || is_one_of_many
    }

    /// Its value as it would be typed.
    pub fn value(&self, world: &World) -> String {
        let place = |place: &Place| format!("{}/{}", world.environment_slug(place.0), world.ring_slug(place.1));
        let none = || NONE.to_owned();
        match self {
            Self::Tune(_, Setting::Cap(count) | Setting::Threshold(count)) => count.to_string(),
            Self::Tune(_, Setting::Settle(span) | Setting::Stall(span)) => spelled(*span),
            Self::Tune(_, Setting::Ladder(rungs)) => steps(rungs),
            Self::Add { hostname, place: None } => hostname.clone(),
            Self::Add { hostname, place: Some(it) } => format!("{hostname} {}", place(it)),
            Self::Assign(_, to) => to.as_ref().map_or_else(none, place),
            Self::Place(_, order) => order.map_or_else(none, |order| order.to_string()),
            Self::FollowTags(pattern) => pattern.clone().unwrap_or_else(none),
            Self::Deploy(_, tag) | Self::ReleaseTag(tag) => tag.clone().unwrap_or_default(),
            Self::RollAgain(again) => again.value(),
            Self::Strip { finalizer, .. } => finalizer.clone().unwrap_or_default(),
            _ => String::new(),
        }
    }

    /// The same deed with the value that is true already; none where there is none yet.
    fn as_it_is(&self, world: &World) -> Option<Self> {
        match self {
            Self::Tune(id, setting) => Some(Self::Tune(*id, setting.as_it_is(&world.rings.get(id)?.settings))),
            Self::Assign(id, _) => Some(Self::Assign(*id, world.machines.get(id)?.place())),
            Self::Place(id, _) => Some(Self::Place(*id, world.environments.get(id)?.promotion_order)),
            Self::FollowTags(_) => Some(Self::FollowTags(world.account.config_tag_pattern.clone())),
            _ => None,
        }
    }

    /// The same deed with a value as a person typed it; the error is one sentence for that person.
    pub fn with(&self, typed: &str, world: &World) -> Result<Self, String> {
        let typed = typed.trim();
        let deed = match self {
            Self::Tune(id, setting) => Self::Tune(*id, setting.with(typed)?),
            Self::Add { .. } => newcomer(typed, world)?,
            Self::Assign(id, _) => Self::Assign(*id, Some(place(typed, world)?)),
            Self::Place(id, _) if typed == NONE => Self::Place(*id, None),
            Self::Place(id, _) => {
                Self::Place(*id, Some(typed.parse().map_err(|_| "type a whole number, or none".to_owned())?))
            }
            Self::Deploy(id, _) => Self::Deploy(*id, Some(known_tag(typed, world)?)),
            Self::ReleaseTag(_) => Self::ReleaseTag(Some(new_tag(typed, world)?)),
            Self::RollAgain(again) => Self::RollAgain(Box::new(again.with(typed)?)),
            Self::Strip { part, name, among, .. } if among.len() > 1 => {
                let known = among.iter().find(|one| *one == typed).cloned();
                let finalizer = Some(known.ok_or_else(|| format!("type one of {}", among.join(", ")))?);
                Self::Strip { part: *part, name: name.clone(), finalizer, among: among.clone() }
            }
            Self::FollowTags(_) => match typed {
                "" => return Err("type a pattern such as v1.31.*, or none".to_owned()),
                NONE => Self::FollowTags(None),
                pattern => Self::FollowTags(Some(pattern.to_owned())),
            },
            _ => return Ok(self.clone()),
        };
        match Some(&deed) == self.as_it_is(world).as_ref() {
            true => Err(format!("it is {} already", deed.value(world))),
            false => Ok(deed),
        }
    }
}

/// A machine that is not known yet, with its place or without one.
fn newcomer(typed: &str, world: &World) -> Result<Deed, String> {
    let words: Vec<&str> = typed.split_whitespace().collect();
    match words[..] {
        [hostname] if !hostname.contains('/') => Ok(Deed::Add { hostname: hostname.to_owned(), place: None }),
        [hostname, at] => Ok(Deed::Add { hostname: hostname.to_owned(), place: Some(place(at, world)?) }),
        _ => Err(format!("type its host name and then its place, {}", known(world))),
    }
}

/// A tag that was released, or that a server runs.
fn known_tag(typed: &str, world: &World) -> Result<String, String> {
    if world.kura.knows_tag(typed) {
        return Ok(typed.to_owned());
    }
    let newest = world.kura.tags.iter().rev().take(TAGS_NAMED).map(|tag| tag.tag.as_str()).collect::<Vec<_>>();
    match newest.is_empty() {
        true => Err("no runtime tag was released yet: release it first".to_owned()),
        false => Err(format!("type a tag that was released, such as {}", newest.join(", "))),
    }
}

/// A tag that was not released yet.
fn new_tag(typed: &str, world: &World) -> Result<String, String> {
    match typed {
        "" => Err("type the tag, such as 0.21.4".to_owned()),
        tag if world.kura.tags.iter().any(|known| known.tag == tag) => Err(format!("{tag} was released already")),
        tag => Ok(tag.to_owned()),
    }
}

/// `ENVIRONMENT/RING` by their slugs.
fn place(typed: &str, world: &World) -> Result<Place, String> {
    let wrong = || format!("type ENVIRONMENT/RING, {}", known(world));
    let (tier, ring) = typed.split_once('/').ok_or_else(wrong)?;
    let tier = world.environments.values().find(|e| e.slug == tier.trim()).ok_or_else(wrong)?;
    let ring = world.rings.values().find(|r| r.slug == ring.trim()).ok_or_else(wrong)?;
    Ok((tier.id, ring.id))
}

/// Some places that have machines; where none has, what there is to make a place of.
fn known(world: &World) -> String {
    let slugs = |key: &Place| format!("{}/{}", world.environment_slug(key.0), world.ring_slug(key.1));
    let places: Vec<String> = lanes_in_order(world).iter().take(PLACES_NAMED).map(slugs).collect();
    if !places.is_empty() {
        return format!("such as {}", places.join(", "));
    }
    let listed = |slugs: Vec<&str>| if slugs.is_empty() { NONE.to_owned() } else { slugs.join(", ") };
    let tiers = world.environments.values().take(PLACES_NAMED).map(|tier| tier.slug.as_str()).collect();
    let rings = world.rings.values().take(PLACES_NAMED).map(|ring| ring.slug.as_str()).collect();
    format!("of the environments {} and the rings {}", listed(tiers), listed(rings))
}

impl Setting {
    /// What is set now.
    fn as_it_is(&self, now: &RingSettings) -> Self {
        match self {
            Self::Cap(_) => Self::Cap(now.max_in_flight),
            Self::Settle(_) => Self::Settle(now.min_settle_seconds),
            Self::Stall(_) => Self::Stall(now.stall_timeout_seconds),
            Self::Threshold(_) => Self::Threshold(now.failure_count_threshold),
            Self::Ladder(_) => Self::Ladder(now.wave_ladder.clone()),
        }
    }

    fn with(&self, typed: &str) -> Result<Self, String> {
        let count = |least: u32| {
            let count = typed.parse().ok().filter(|count: &u32| *count >= least);
            let off = if least == 0 { "; 0 takes it away" } else { "" };
            count.ok_or_else(|| format!("type a whole number from {least} on{off}"))
        };
        let time = || {
            let time = if typed.is_empty() { None } else { span(typed) };
            time.ok_or_else(|| "type a time like 90s, 30m or 1h30m; 0 turns it off".to_owned())
        };
        match self {
            Self::Cap(_) => count(0).map(Self::Cap),
            Self::Settle(_) => time().map(Self::Settle),
            Self::Stall(_) => time().map(Self::Stall),
            Self::Threshold(_) => count(1).map(Self::Threshold),
            Self::Ladder(_) => {
                let rungs: Option<Vec<Rung>> = typed.split(',').map(rung).collect();
                rungs.map(Self::Ladder).ok_or_else(|| "type steps like 0:20,30m:60,1h:100".to_owned())
            }
        }
    }
}

/// `30m:60`: after that long, so many per cent.
fn rung(typed: &str) -> Option<Rung> {
    let (after, pct) = typed.trim().split_once(':')?;
    let after_seconds = span(after.trim()).filter(|_| !after.trim().is_empty())?.0;
    Some(Rung { after_seconds, pct: pct.trim().trim_end_matches('%').parse().ok()? })
}

/// A ladder as it is typed.
pub(super) fn steps(rungs: &[Rung]) -> String {
    let step = |rung: &Rung| format!("{}:{}", spelled(Seconds(rung.after_seconds)), rung.pct);
    rungs.iter().map(step).collect::<Vec<_>>().join(",")
}

/// A span so that typing it gives it again, to the second.
fn spelled(span: Seconds) -> String {
    let units = [("d", span.0 / 86_400), ("h", span.0 / 3_600 % 24), ("m", span.0 / 60 % 60), ("s", span.0 % 60)];
    let parts: String = units.iter().filter(|(_, n)| *n > 0).map(|(unit, n)| format!("{n}{unit}")).collect();
    if parts.is_empty() { "0".to_owned() } else { parts }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::{EnvironmentId, RingId};

    #[test]
    fn values_are_read_or_refused_with_a_sentence() {
        let (world, ring) = (World::default(), RingId::named("pine"));
        let read = |setting, typed: &str| Deed::Tune(ring, setting).with(typed, &world);
        assert_eq!(read(Setting::Cap(7), " 0 "), Ok(Deed::Tune(ring, Setting::Cap(0))));
        assert_eq!(read(Setting::Cap(7), "-1"), Err("type a whole number from 0 on; 0 takes it away".to_owned()));
        assert_eq!(read(Setting::Threshold(7), "0"), Err("type a whole number from 1 on".to_owned()));
        let settle = || Setting::Settle(Seconds(7));
        assert_eq!(read(settle(), "1h30m"), Ok(Deed::Tune(ring, Setting::Settle(Seconds(5400)))));
        for nonsense in ["", "soon", "5x"] {
            assert!(read(settle(), nonsense).is_err(), "{nonsense}");
        }
        let place = Deed::Place(EnvironmentId::named("pine"), Some(3));
        assert_eq!(place.with("-20", &world), Ok(Deed::Place(EnvironmentId::named("pine"), Some(-20))));
        assert!(place.with("first", &world).is_err());
    }

    #[test]
    fn a_ladder_is_typed_in_steps_and_read_again_as_it_is_shown() {
        let rungs = [(0, 20), (1800, 60), (5400, 100)].map(|(after_seconds, pct)| Rung { after_seconds, pct });
        assert_eq!(steps(&rungs), "0:20,30m:60,1h30m:100");
        let ladder = Setting::Ladder(Vec::new());
        assert_eq!(ladder.with("0:20, 30m:60%,1h30m : 100"), Ok(Setting::Ladder(rungs.to_vec())));
        for nonsense in ["", "20", "0:", ":20", "0:20,", "0:300", "soon:20", "0:-1"] {
            assert!(ladder.with(nonsense).is_err(), "{nonsense}");
        }
    }

    #[test]
    fn a_newcomer_has_a_name_and_perhaps_a_place() {
        let nobody = Deed::Add { hostname: String::new(), place: None };
        let ash = Deed::Add { hostname: "ash".to_owned(), place: None };
        assert_eq!(nobody.with(" ash ", &World::default()), Ok(ash.clone()));
        assert_eq!(ash.with("ash ", &World::default()), Ok(ash), "a blank behind it changes nothing");
        for wrong in ["", "pine-cp/pine-cp", "ash pine-cp", "ash pine-cp/pine-cp now"] {
            let why = nobody.with(wrong, &World::default()).unwrap_err();
            assert!(why.contains("environments none and the rings none"), "{wrong}: {why}");
        }
    }

    #[test]
    fn a_span_can_be_typed_as_it_is_shown() {
        for seconds in [0, 5, 90, 300, 5400, 90_061] {
            assert_eq!(span(&spelled(Seconds(seconds))), Some(Seconds(seconds)), "{}", spelled(Seconds(seconds)));
        }
    }
}
