//! The audit: one link of a chain for every verb that was decided, done or refused. Each link's seal covers the seal
//! before it, so that nothing can be taken out, put in or rewritten without every later link saying so.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::change::{Cause, Change, Entry};
use super::ids::Revision;
use super::input::{Order, Verb};
use super::kura::change::KuraChange;
use super::kura::verb::KuraVerb;
use super::observed::Observed;
use super::plan::{Thing, plan};
use super::release::Digest;
use super::verdict::{Reply, Verdict};
use super::world::World;

/// Where the chain of an account stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditHead {
    /// Links there are.
    pub count: u64,
    /// Seal of the last one; none where there is none.
    pub seal: Option<Digest>,
}

/// What came of a verb.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Fate {
    /// It was carried out.
    Done,
    /// The core said no.
    Refused {
        /// A stable word for programs.
        code: String,
        /// The sentence the person was told.
        detail: String,
    },
}

/// One link. Who, when, why and under which key stand in the entry around it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Its place in the chain, from 1.
    pub number: u64,
    /// What the verb was given to, as people call it.
    pub target: Vec<String>,
    /// The verb with everything that was asked for.
    pub asked: Value,
    /// What would follow, as it was rehearsed in the moment of the decision.
    pub plan: Vec<String>,
    /// What came of it.
    pub fate: Fate,
    /// Changes the verb made: the entries right before this one.
    pub changes: u64,
    /// SHA-256 over those changes.
    pub effect: Digest,
    /// Seal of the link before; none in the first.
    pub before: Option<Digest>,
    /// SHA-256 over all of this and the entry's time, author and cause.
    pub seal: Digest,
}

/// What is wrong with a chain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// A link is missing, or one too many is there.
    #[error("link {expected} should stand at revision {revision}, and link {found} does")]
    Number {
        /// Where.
        revision: Revision,
        /// Of the next link.
        expected: u64,
        /// Of the one that is there.
        found: u64,
    },
    /// A link does not hang on the one before.
    #[error("link {number} at revision {revision} does not hang on the one before it")]
    Before {
        /// Where.
        revision: Revision,
        /// Which.
        number: u64,
    },
    /// A link says something else than when it was sealed.
    #[error("link {number} at revision {revision} was changed after it was sealed")]
    Seal {
        /// Where.
        revision: Revision,
        /// Which.
        number: u64,
    },
    /// What a verb did is not what its link says.
    #[error("the changes in front of link {number} at revision {revision} are not the ones it was sealed with")]
    Effect {
        /// Where.
        revision: Revision,
        /// Which.
        number: u64,
    },
}

/// The link for a verb that was decided on `world`; to be appended right behind its changes.
pub fn link(order: &Order, verdict: &Verdict, world: &World, observed: &Observed, now: Timestamp) -> Link {
    let rehearsed = plan(&order.verb, world, observed, &order.by, now);
    let mut link = Link {
        number: world.audit.count.saturating_add(1),
        target: target(&order.verb, &verdict.changes, world),
        asked: json!(order.verb),
        plan: rehearsed.lines.into_iter().map(|line| line.text).collect(),
        fate: fate(&verdict.reply),
        changes: u64::try_from(verdict.changes.len()).unwrap_or(u64::MAX),
        effect: digest(&json!(verdict.changes)),
        before: world.audit.seal.clone(),
        seal: Digest(String::new()),
    };
    link.seal = link.sealed(now, &order.by, &order.cause());
    link
}

/// What the verb was given to; a verb that made something is named by what it made.
fn target(verb: &Verb, changes: &[Change], world: &World) -> Vec<String> {
    let made = changes.iter().filter_map(|change| match change {
        Change::EnvironmentCreated { environment } => Some(format!("environment {}", environment.slug)),
        Change::RingCreated { ring } => Some(format!("ring {}", ring.slug)),
        Change::MachineAdded { machine } => Some(format!("machine {}", machine.hostname)),
        Change::ReleasePublished { release } => Some(format!("release {}", release.git_ref)),
        Change::Kura(change) => match &**change {
            KuraChange::ServerAdded { server } => Some(format!("server {}", server.name())),
            KuraChange::TagReleased { tag } => Some(format!("runtime tag {tag}")),
            KuraChange::Asked { asked } => Some(asked.object.to_string()),
            _ => None,
        },
        _ => None,
    });
    let known = Thing::of(verb, world).into_iter().map(|thing| thing.name(world));
    // Neither is a thing with an identity. Of a secret only its name is anybody's business.
    let bare = match verb {
        Verb::SetSecret { name, .. } => Some(format!("secret {name}")),
        Verb::AcceptClock => Some("clock".to_owned()),
        Verb::Kura(KuraVerb::AcceptCluster { uid }) => Some(format!("cluster {uid}")),
        _ => None,
    };
    made.chain(known).chain(bare).collect()
}

fn fate(reply: &Reply) -> Fate {
    match reply {
        Reply::Refused(refusal) => Fate::Refused { code: refusal.code().to_owned(), detail: refusal.to_string() },
        _ => Fate::Done,
    }
}

impl Link {
    /// The seal that belongs on it where it stands.
    fn sealed(&self, at: Timestamp, by: &str, cause: &Cause) -> Digest {
        let mut whole = json!({ "at": at, "by": by, "cause": cause, "link": self });
        if let Some(link) = whole.get_mut("link").and_then(Value::as_object_mut) {
            link.remove("seal");
        }
        digest(&whole)
    }
}

/// SHA-256 of a value whose objects are sorted by name, which makes its text the only one.
fn digest(value: &Value) -> Digest {
    Digest(Sha256::digest(value.to_string()).iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Walks along a journal from its first link on and checks every one it comes by.
#[derive(Debug, Clone, Default)]
pub struct Auditor {
    head: AuditHead,
    /// Changes since the last link that were made for a verb.
    effect: Vec<Change>,
}

impl Auditor {
    /// Starts behind a link that is trusted.
    pub fn behind(head: AuditHead) -> Self {
        Self { head, effect: Vec::new() }
    }

    /// Where the chain stands that was walked so far.
    pub fn head(&self) -> &AuditHead {
        &self.head
    }

    /// Takes the next entry.
    ///
    /// # Errors
    /// What is wrong with the chain; it can be walked on behind it.
    pub fn take(&mut self, entry: &Entry) -> Result<(), Broken> {
        let (Change::Audited { link }, Cause::Verb { .. }) = (&entry.change, &entry.cause) else {
            if matches!(entry.cause, Cause::Verb { .. }) {
                self.effect.push(entry.change.clone());
            }
            return Ok(());
        };
        let effect = std::mem::take(&mut self.effect);
        let before = std::mem::replace(&mut self.head, AuditHead { count: link.number, seal: Some(link.seal.clone()) });
        hangs(entry, link, &before)?;
        says(entry, link, &effect)
    }

    /// Takes the next link where the changes between are not at hand.
    ///
    /// # Errors
    /// What is wrong with the chain, but for what its verbs changed.
    pub fn take_link(&mut self, entry: &Entry) -> Result<(), Broken> {
        match self.take(entry) {
            Err(Broken::Effect { .. }) => Ok(()),
            taken => taken,
        }
    }
}

fn hangs(entry: &Entry, link: &Link, before: &AuditHead) -> Result<(), Broken> {
    let (revision, number) = (entry.revision, link.number);
    let expected = before.count.saturating_add(1);
    if number != expected {
        return Err(Broken::Number { revision, expected, found: number });
    }
    if link.before != before.seal {
        return Err(Broken::Before { revision, number });
    }
    Ok(())
}

fn says(entry: &Entry, link: &Link, effect: &[Change]) -> Result<(), Broken> {
    let (revision, number) = (entry.revision, link.number);
    if link.sealed(entry.at, &entry.by, &entry.cause) != link.seal {
        return Err(Broken::Seal { revision, number });
    }
    if digest(&json!(effect)) != link.effect {
        return Err(Broken::Effect { revision, number });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_sealed_as_the_number_that_is_read_again() {
        // Schemathesis found it: read with the last digit wrong, each reading gave another number, and the seal broke.
        for number in ["-3.4028234659999998e+38", "4.7749713997347176e+16", "-6.23208134808259e+16"] {
            let sent: Value = serde_json::from_str(number).unwrap();
            let kept: Value = serde_json::from_str(&sent.to_string()).unwrap();
            assert_eq!(digest(&sent), digest(&kept), "{number}");
        }
    }
}
