//! Things by the names people type: a slug, a host name, a git ref, a uuid or the first digits of one.

use uuid::Uuid;

use crate::domain::kura::server::{Server, ServerStatus};
use crate::domain::roll::fleet_roll::Roll;
use crate::domain::world::World;
use crate::wire::problem::{Problem, ProblemKind};

/// Hex digits of a uuid that are enough where they are unique.
const PREFIX_MIN: usize = 8;

/// Names that are told where one is not known or not clear.
const TOLD_MAX: usize = 8;

/// A thing that can be named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// What people call it.
    pub name: String,
    /// Its identity.
    pub uuid: Uuid,
}

/// Everything of one kind.
#[derive(Debug, Clone)]
pub struct Names {
    kind: &'static str,
    known: Vec<Known>,
}

impl Names {
    /// Machines by host name.
    pub fn machines(world: &World) -> Self {
        Self::of("machine", world.machines.values().map(|machine| (machine.hostname.clone(), machine.id.0)))
    }

    /// Rings by slug.
    pub fn rings(world: &World) -> Self {
        Self::of("ring", world.rings.values().map(|ring| (ring.slug.clone(), ring.id.0)))
    }

    /// Environments by slug.
    pub fn environments(world: &World) -> Self {
        Self::of("environment", world.environments.values().map(|tier| (tier.slug.clone(), tier.id.0)))
    }

    /// Releases by git ref.
    pub fn releases(world: &World) -> Self {
        Self::of("release", world.releases.values().map(|release| (release.git_ref.clone(), release.id.0)))
    }

    /// Rollouts: the running one by the git ref of its release, the others by uuid only.
    pub fn rollouts(world: &World) -> Self {
        let named = |rollout: &crate::domain::rollout::Rollout| {
            let release = world.release_name(rollout.release);
            match rollout.is_running() {
                true => release.to_owned(),
                false => format!("{release} ({})", rollout.status()),
            }
        };
        Self::of("rollout", world.rollouts.iter().map(|rollout| (named(rollout), rollout.id.0)))
    }

    /// Kura servers: those that are not gone by tenant and region, the others by id only.
    pub fn servers(world: &World) -> Self {
        let named = |server: &Server| match server.status {
            ServerStatus::Destroyed => format!("{} (destroyed)", server.name()),
            _ => server.name(),
        };
        Self::of("server", world.kura.servers.values().map(|server| (named(server), server.id.0)))
    }

    /// Fleet rolls: those that go on by project and target, the others by id only.
    pub fn rolls(world: &World) -> Self {
        let named = |roll: &Roll| match roll.is_live() {
            true => roll.name(),
            false => format!("{} ({})", roll.name(), roll.state().word()),
        };
        Self::of("roll", world.rolls.rolls.iter().map(|roll| (named(roll), roll.id.0)))
    }

    fn of(kind: &'static str, known: impl Iterator<Item = (String, Uuid)>) -> Self {
        Self { kind, known: known.map(|(name, uuid)| Known { name, uuid }).collect() }
    }

    /// The one thing that is meant.
    ///
    /// # Errors
    /// Where nothing has that name, with those that are near; where more than one thing has it, with all of them.
    pub fn find(&self, text: &str) -> Result<Known, Problem> {
        let digits = digits(text);
        let is_meant = |known: &&Known| {
            known.name == text || digits.as_ref().is_some_and(|d| known.uuid.simple().to_string().starts_with(d))
        };
        let meant: Vec<&Known> = self.known.iter().filter(is_meant).collect();
        match meant.as_slice() {
            [one] => Ok(Known::clone(one)),
            [] => Err(self.unknown(text)),
            several => Err(self.ambiguous(text, several)),
        }
    }

    fn unknown(&self, text: &str) -> Problem {
        let kind = self.kind;
        let problem = Problem::new(ProblemKind::NotFound, &format!("no_{kind}"), format!("there is no {kind} {text}"));
        let near = self.near(text);
        match (near.as_slice(), self.known.len()) {
            ([], 0) => problem.hint(format!("there is no {kind} at all yet")),
            ([], _) => problem.hint(format!("there are {}", listed(self.known.iter()))),
            (near, _) => problem.hint(format!("near to it: {}", listed(near.iter().copied()))),
        }
    }

    fn ambiguous(&self, text: &str, several: &[&Known]) -> Problem {
        let message = format!("{text} can be {} {}s", several.len(), self.kind);
        let said = several.iter().take(TOLD_MAX).map(|known| format!("{} is {}", known.uuid, known.name));
        let problem = Problem::new(ProblemKind::Usage, "ambiguous", message).hint("name one of them by its uuid");
        said.fold(problem, Problem::hint)
    }

    /// Names that somebody may have meant, the nearest first: a third of the letters differ at most, or one is a part of
    /// the other.
    fn near(&self, text: &str) -> Vec<&Known> {
        let text = text.to_lowercase();
        let distance = |known: &Known| {
            let name = known.name.to_lowercase();
            let distance = strsim::osa_distance(&text, &name);
            let is_part = text.len() > 1 && (name.contains(&text) || text.contains(&name));
            (is_part || distance * 3 <= name.chars().count().max(3)).then_some(distance)
        };
        let mut near: Vec<_> = self.known.iter().filter_map(|known| Some((distance(known)?, known))).collect();
        near.sort_by(|(a, one), (b, other)| (a, &one.name).cmp(&(b, &other.name)));
        near.into_iter().map(|(_, known)| known).collect()
    }
}

/// The hex digits of a text that may be a uuid or the beginning of one.
fn digits(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(|c| *c != '-').map(|c| c.to_ascii_lowercase()).collect();
    (digits.len() >= PREFIX_MIN && digits.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(digits)
}

fn listed<'a>(known: impl ExactSizeIterator<Item = &'a Known>) -> String {
    let rest = known.len().saturating_sub(TOLD_MAX);
    let names: Vec<&str> = known.take(TOLD_MAX).map(|known| known.name.as_str()).collect();
    if rest == 0 { names.join(", ") } else { format!("{} and {rest} more", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(known: &[(&str, &str)]) -> Names {
        Names::of("machine", known.iter().map(|(name, uuid)| ((*name).to_owned(), uuid.parse().unwrap())))
    }

    const ASH: &str = "11111111-2222-4333-8444-555555555555";
    const BIRCH: &str = "11111111-9999-4333-8444-555555555555";
    const OAK: &str = "aaaaaaaa-2222-4333-8444-555555555555";

    fn fleet() -> Names {
        names(&[("ash", ASH), ("birch", BIRCH), ("oak-1", OAK)])
    }

    #[test]
    fn a_thing_is_found_by_its_name_its_uuid_or_the_digits_that_tell_it_apart() {
        for meant in ["oak-1", OAK, &OAK.to_uppercase(), "aaaaaaaa", "aaaaaaaa-2222", "AAAAAAAA2222"] {
            assert_eq!(fleet().find(meant).unwrap().name, "oak-1", "{meant}");
        }
        assert_eq!(fleet().find("111111119").unwrap().name, "birch");
        assert_eq!(fleet().find("aaaaaaa").unwrap_err().code, "no_machine", "seven digits are a name");
    }

    #[test]
    fn what_may_be_several_things_is_none_of_them() {
        let problem = fleet().find("11111111").unwrap_err();
        assert_eq!((problem.code.as_str(), problem.kind), ("ambiguous", ProblemKind::Usage));
        assert!(problem.hints.iter().any(|hint| hint.contains(ASH) && hint.contains("ash")), "{problem:?}");
        let twice = names(&[("v1", ASH), ("v1", OAK)]);
        assert_eq!(twice.find("v1").unwrap_err().hints.len(), 3);
        let named_like_another = names(&[("aaaaaaaa", ASH), ("oak", OAK)]);
        assert_eq!(named_like_another.find("aaaaaaaa").unwrap_err().code, "ambiguous");
    }

    #[test]
    fn an_unknown_name_is_answered_with_those_near_to_it() {
        let hints = |text: &str| fleet().find(text).unwrap_err().hints.join(" ");
        assert_eq!(hints("birhc"), "near to it: birch");
        assert_eq!(hints("OAK"), "near to it: oak-1");
        assert_eq!(hints("zzzzzzzz"), "there are ash, birch, oak-1");
        assert_eq!(names(&[]).find("x").unwrap_err().hints, ["there is no machine at all yet"]);
    }
}
