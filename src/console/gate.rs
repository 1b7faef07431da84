//! Deeds about a fleet roll: what was on the screen when the key was pressed goes with them, and is never looked up again.

use jiff::Timestamp;

use crate::domain::ids::RollId;
use crate::domain::roll::fleet_roll::Roll;
use crate::domain::roll::spec::RollSpec;
use crate::domain::roll::verb::RollVerb;

/// A gate as it was shown: with its revision, and since when it waits (F54).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// Of which roll.
    pub roll: RollId,
    /// Which.
    pub gate: String,
    /// The revision that was shown.
    pub revision: String,
    /// Since when it was shown to wait.
    pub since: Timestamp,
}

impl Gate {
    /// The one a roll waits at.
    pub fn of(roll: &Roll) -> Option<Self> {
        let waiting = roll.gate.as_ref()?;
        let (gate, revision, since) = (waiting.gate.clone(), roll.revision.clone(), waiting.since);
        Some(Self { roll: roll.id, gate, revision, since })
    }

    /// The verb that opens it.
    pub fn approve(&self) -> RollVerb {
        let Self { roll, gate, revision, since } = self.clone();
        RollVerb::Approve { roll, gate, revision, awaiting_since: Some(since) }
    }

    /// The verb that keeps it shut.
    pub fn deny(&self) -> RollVerb {
        let Self { roll, gate, revision, since } = self.clone();
        RollVerb::Deny { roll, gate, revision, awaiting_since: Some(since) }
    }
}

/// Another roll of the same fleet, in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Again {
    /// The roll whose row it was asked for.
    pub from: RollId,
    project: String,
    target: String,
    spec: RollSpec,
    /// One goes on and would have to make way (F53).
    displace: bool,
    /// The image and the revision; empty until they are typed.
    what: (String, String),
}

impl Again {
    /// As a roll went, with nothing to roll yet.
    pub fn of(roll: &Roll, displace: bool) -> Self {
        let (project, target) = (roll.project.clone(), roll.target.clone());
        Self { from: roll.id, project, target, spec: roll.spec.clone(), displace, what: Default::default() }
    }

    /// The same with what a person typed; the error is one sentence for that person.
    ///
    /// # Errors
    /// Where it is not an image and a revision.
    pub fn with(&self, typed: &str) -> Result<Self, String> {
        match typed.split_whitespace().collect::<Vec<_>>()[..] {
            [image, revision] => Ok(Self { what: (image.to_owned(), revision.to_owned()), ..self.clone() }),
            _ => Err("type the image and then its revision, such as registry/kernel:33 kernel33".to_owned()),
        }
    }

    /// As it would be typed.
    pub fn value(&self) -> String {
        format!("{} {}", self.what.0, self.what.1).trim().to_owned()
    }

    /// The verb it is; its identity is given when it is confirmed.
    pub fn verb(&self) -> RollVerb {
        let (image, revision) = self.what.clone();
        RollVerb::Start {
            id: RollId(uuid::Uuid::nil()),
            project: self.project.clone(),
            target: self.target.clone(),
            image,
            revision,
            spec: Box::new(self.spec.clone()),
            displace: self.displace,
        }
    }
}
