//! What is known of an account from afar, so that another journal, or an old copy of this one, is told apart.

use std::sync::Arc;

use jiff::Timestamp;

use super::picture::Picture;
use super::ports::{Head, Journal};
use super::trouble::sentence;
use crate::domain::change::Entry;
use crate::domain::ids::{AccountId, Revision};

/// The account of a control plane, as it was seen last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Its name.
    pub account: String,
    /// The last revision that was seen of it.
    pub revision: Revision,
    /// When the world changed last that was seen of it.
    pub at: Timestamp,
    /// The entry of that revision, where it came along: no other journal has the same one in the same place.
    pub last: Option<Arc<Entry>>,
}

impl Known {
    /// None where nothing was ever seen of it.
    pub fn of(picture: &Picture) -> Option<Self> {
        let (revision, at) = (picture.world.revision, picture.world.at);
        let is_known = !picture.account.is_empty() && picture.glimpse.is_none() && revision > 0;
        let last = picture.tail.last().filter(|entry| entry.revision == revision).cloned();
        is_known.then(|| Self { account: picture.account.clone(), revision, at, last })
    }

    /// Whether the journal, which ends at `head`, is the one this was seen of.
    ///
    /// # Errors
    /// Why it is not, or why nobody can tell, in one sentence.
    pub async fn is_in(&self, journal: &impl Journal, head: Head) -> Result<(), String> {
        let (seen, there) = (self.revision, head.revision);
        if there < seen {
            return Err(format!(
                "the journal ends at revision {there} and the control plane was at {seen}: it is another one, or an old copy"
            ));
        }
        let Some(last) = &self.last else { return Ok(()) };
        let account = AccountId::named(&self.account);
        let is_same = if seen < head.oldest {
            let world = journal.load(account).await.map_err(|error| sentence(&error))?;
            if world.revision > seen {
                return Err(format!(
                    "what the control plane showed last, revision {seen}, is archived in the journal: nobody can tell whether it \
                     is the same one"
                ));
            }
            world.at == self.at
        } else {
            let found = journal.read(account, seen - 1, 1).await.map_err(|error| sentence(&error))?;
            found.first().is_some_and(|found| (found.at, &found.by) == (last.at, &last.by))
        };
        if is_same {
            return Ok(());
        }
        Err(format!(
            "revision {seen} is something else in the journal than at the control plane: it is another one, or a copy that went \
             its own way"
        ))
    }
}
