//! Heartbeats of the seat, beside the head: whoever can append can also be seen to live.

use super::journal::{KubernetesJournal, TRIES_MAX, crowded, damaged};
use super::names::{Part, labels, single};
use crate::adapters::kube::drawer::{Kept, Shelf};
use crate::adapters::kube::fault::ClusterFault;
use crate::control::ports::{Beat, Clock, JournalError};
use crate::domain::ids::AccountId;

const KEEP: &str = "keep a heartbeat";
const READ: &str = "read the heartbeat";
const BEAT: &str = "beat";

impl<C: Clock> KubernetesJournal<C> {
    /// A beat of an older epoch than the last one is dropped: its seat is lost.
    pub(super) async fn keep_beat(&self, account: AccountId, beat: &Beat) -> Result<(), JournalError> {
        let name = single(&self.name, account, Part::Beat);
        for _ in 0..TRIES_MAX {
            let last = self.drawer.get(Shelf::ConfigMap, &name).await.map_err(self.failed(KEEP))?;
            if let Some(last) = &last
                && read(last)?.is_some_and(|last| last.epoch > beat.epoch)
            {
                return Ok(());
            }
            let body = serde_json::to_vec(beat).map_err(|error| damaged(KEEP, error.to_string()))?;
            let kept = Kept {
                name: name.clone(),
                version: last.and_then(|last| last.version),
                labels: labels(&self.name, account, Part::Beat),
                bytes: [(BEAT.to_owned(), body)].into(),
                ..Kept::default()
            };
            let done = match kept.version {
                Some(_) => self.drawer.replace(Shelf::ConfigMap, &kept).await,
                None => self.drawer.create(Shelf::ConfigMap, &kept).await,
            };
            match done {
                Ok(_) => return Ok(()),
                Err(ClusterFault::Outrun { .. } | ClusterFault::Exists { .. } | ClusterFault::Missing { .. }) => {}
                Err(fault) => return Err(self.failed(KEEP)(fault)),
            }
        }
        Err(crowded(KEEP))
    }

    pub(super) async fn last_beat(&self, account: AccountId) -> Result<Option<Beat>, JournalError> {
        let name = single(&self.name, account, Part::Beat);
        match self.drawer.get(Shelf::ConfigMap, &name).await.map_err(self.failed(READ))? {
            Some(kept) => read(&kept),
            None => Ok(None),
        }
    }
}

fn read(kept: &Kept) -> Result<Option<Beat>, JournalError> {
    let Some(body) = kept.bytes.get(BEAT) else { return Ok(None) };
    serde_json::from_slice(body).map(Some).map_err(|error| damaged(READ, format!("{}: {error}", kept.name)))
}
