//! Values that are typed into a dialog: what a field asks for, and the deed that comes of what is typed.

use super::deed::{Deed, Setting};
use super::filter::span;
use crate::domain::span::Seconds;
use crate::domain::world::World;

/// Places that are named where one is asked for.
const PLACES_NAMED: usize = 4;

impl Deed {
    /// What the field of its value is called, with what is true now; none where nothing is typed.
    pub fn field(self, world: &World) -> Option<String> {
        let name = match self {
            Self::Tune(_, Setting::Cap(_)) => "new cap",
            Self::Tune(_, Setting::Settle(_)) => "new settle window",
            Self::Tune(_, Setting::Stall(_)) => "new stall timeout",
            Self::Tune(_, Setting::Threshold(_)) => "failures that halt it",
            Self::Assign(..) => "new place",
            Self::Place(..) => "new place in the path",
            _ => return None,
        };
        Some(format!("{name}, now {}:", self.as_it_is(world).value(world)))
    }

    /// True where a value is typed.
    pub fn has_field(self) -> bool {
        matches!(self, Self::Tune(..) | Self::Assign(..) | Self::Place(..))
    }

    /// Its value as it would be typed.
    pub fn value(self, world: &World) -> String {
        match self {
            Self::Tune(_, Setting::Cap(count) | Setting::Threshold(count)) => count.to_string(),
            Self::Tune(_, Setting::Settle(span) | Setting::Stall(span)) => spelled(span),
            Self::Assign(_, tier, ring) => format!("{}/{}", world.environment_slug(tier), world.ring_slug(ring)),
            Self::Place(_, order) => order.map_or_else(|| "none".to_owned(), |order| order.to_string()),
            _ => String::new(),
        }
    }

    /// The same deed with the value that is true already.
    fn as_it_is(self, world: &World) -> Self {
        match self {
            Self::Tune(id, setting) => match world.rings.get(&id).map(|ring| &ring.settings) {
                None => self,
                Some(now) => Self::Tune(
                    id,
                    match setting {
                        Setting::Cap(_) => Setting::Cap(now.max_in_flight),
                        Setting::Settle(_) => Setting::Settle(now.min_settle_seconds),
                        Setting::Stall(_) => Setting::Stall(now.stall_timeout_seconds),
                        Setting::Threshold(_) => Setting::Threshold(now.failure_count_threshold),
                    },
                ),
            },
            Self::Assign(id, ..) => {
                let place = world.machines.get(&id).and_then(|machine| machine.place());
                place.map_or(self, |(tier, ring)| Self::Assign(id, tier, ring))
            }
            Self::Place(id, _) => Self::Place(id, world.environments.get(&id).and_then(|e| e.promotion_order)),
            _ => self,
        }
    }

    /// The same deed with a value as a person typed it; the error is one sentence for that person.
    pub fn with(self, typed: &str, world: &World) -> Result<Self, String> {
        let typed = typed.trim();
        let deed = match self {
            Self::Tune(id, setting) => Self::Tune(id, setting.with(typed)?),
            Self::Assign(id, ..) => {
                let (tier, ring) = typed.split_once('/').ok_or_else(|| places(world))?;
                let tier = world.environments.values().find(|e| e.slug == tier.trim()).ok_or_else(|| places(world))?;
                let ring = world.rings.values().find(|r| r.slug == ring.trim()).ok_or_else(|| places(world))?;
                Self::Assign(id, tier.id, ring.id)
            }
            Self::Place(id, _) if typed == "none" => Self::Place(id, None),
            Self::Place(id, _) => {
                Self::Place(id, Some(typed.parse().map_err(|_| "type a whole number, or none".to_owned())?))
            }
            _ => return Ok(self),
        };
        match deed == self.as_it_is(world) {
            true => Err(format!("it is {} already", deed.value(world))),
            false => Ok(deed),
        }
    }
}

impl Setting {
    fn with(self, typed: &str) -> Result<Self, String> {
        let count = |least: u32| {
            let count = typed.parse().ok().filter(|count: &u32| *count >= least);
            count.ok_or_else(|| format!("type a whole number from {least} on"))
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
        }
    }
}

/// A span so that typing it gives it again, to the second.
fn spelled(span: Seconds) -> String {
    let units = [("d", span.0 / 86_400), ("h", span.0 / 3_600 % 24), ("m", span.0 / 60 % 60), ("s", span.0 % 60)];
    let parts: String = units.iter().filter(|(_, n)| *n > 0).map(|(unit, n)| format!("{n}{unit}")).collect();
    if parts.is_empty() { "0".to_owned() } else { parts }
}

/// How a place is typed, with some that have machines.
fn places(world: &World) -> String {
    let slugs = |key: &(_, _)| format!("{}/{}", world.environment_slug(key.0), world.ring_slug(key.1));
    let known: Vec<String> = world.lanes().iter().take(PLACES_NAMED).map(|(key, _)| slugs(key)).collect();
    format!("type ENVIRONMENT/RING, such as {}", known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::{EnvironmentId, RingId};

    #[test]
    fn values_are_read_or_refused_with_a_sentence() {
        let (world, ring) = (World::default(), RingId::named("pine"));
        let read = |setting, typed: &str| Deed::Tune(ring, setting).with(typed, &world);
        let (cap, settle) = (Setting::Cap(7), Setting::Settle(Seconds(7)));
        assert_eq!(read(cap, " 0 "), Ok(Deed::Tune(ring, Setting::Cap(0))));
        assert_eq!(read(cap, "-1"), Err("type a whole number from 0 on".to_owned()));
        assert_eq!(read(cap, "7"), Err("it is 7 already".to_owned()));
        assert_eq!(read(Setting::Threshold(7), "0"), Err("type a whole number from 1 on".to_owned()));
        assert_eq!(read(settle, "1h30m"), Ok(Deed::Tune(ring, Setting::Settle(Seconds(5400)))));
        for nonsense in ["", "soon", "5x"] {
            assert!(read(settle, nonsense).is_err(), "{nonsense}");
        }
        let place = Deed::Place(EnvironmentId::named("pine"), Some(3));
        assert_eq!(place.with("-20", &world), Ok(Deed::Place(EnvironmentId::named("pine"), Some(-20))));
        assert!(place.with("first", &world).is_err());
    }

    #[test]
    fn a_span_can_be_typed_as_it_is_shown() {
        for seconds in [0, 5, 90, 300, 5400, 90_061] {
            assert_eq!(span(&spelled(Seconds(seconds))), Some(Seconds(seconds)), "{}", spelled(Seconds(seconds)));
        }
    }
}
