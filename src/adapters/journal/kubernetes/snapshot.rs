//! Snapshots: worlds in pieces, and the list of them. Losing one costs time, never facts.

use serde::{Deserialize, Serialize};

use super::super::kept::{FOLD_VERSION, SNAPSHOTS_KEPT};
use super::book::Pieces;
use super::journal::{KubernetesJournal, TRIES_MAX, crowded, damaged};
use super::names::{Part, labels, piece, single};
use crate::adapters::kube::drawer::{Kept, Shelf};
use crate::adapters::kube::fault::ClusterFault;
use crate::control::batch::check_snapshot;
use crate::control::ports::{Clock, JournalError};
use crate::domain::ids::AccountId;
use crate::domain::world::World;

const ATTEMPT: &str = "keep a snapshot";
const LIST: &str = "snapshots";

/// The snapshots of an account, oldest first.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Index {
    #[serde(skip)]
    version: Option<String>,
    pub(super) list: Vec<Pieces>,
}

impl Index {
    /// One more; what is not kept any more because of it. Those of older folds go; those of a newer one belong to a newer
    /// program that runs beside this one.
    fn add(&mut self, new: Pieces) -> Vec<Pieces> {
        self.list.retain(|kept| (kept.fold, kept.revision) != (new.fold, new.revision));
        self.list.push(new);
        self.list.sort_by_key(|kept| (kept.revision, kept.fold));
        let ours = self.list.iter().filter(|kept| kept.fold == FOLD_VERSION).count();
        let mut surplus = ours.saturating_sub(usize::try_from(SNAPSHOTS_KEPT).unwrap_or(usize::MAX));
        let (mut stay, mut go) = (Vec::new(), Vec::new());
        for kept in self.list.drain(..) {
            if kept.fold < FOLD_VERSION || (kept.fold == FOLD_VERSION && surplus > 0) {
                surplus -= usize::from(kept.fold == FOLD_VERSION);
                go.push(kept);
            } else {
                stay.push(kept);
            }
        }
        self.list = stay;
        go
    }
}

impl<C: Clock> KubernetesJournal<C> {
    pub(super) async fn index(&self, account: AccountId) -> Result<Index, JournalError> {
        let name = single(&self.name, account, Part::Snapshots);
        let kept = self.drawer.get(Shelf::ConfigMap, &name).await.map_err(self.failed("read the snapshots"))?;
        let Some(kept) = kept else { return Ok(Index::default()) };
        let list = kept.bytes.get(LIST).map(Vec::as_slice).unwrap_or_default();
        match serde_json::from_slice::<Index>(list) {
            Ok(index) => Ok(Index { version: kept.version, ..index }),
            Err(error) => {
                tracing::warn!(%account, %error, "the list of snapshots cannot be read, folding everything");
                Ok(Index { version: kept.version, list: Vec::new() })
            }
        }
    }

    /// Refuses a world that is ahead of the journal: it was decided, and never appended.
    pub(super) async fn keep_snapshot(&self, account: AccountId, world: World) -> Result<(), JournalError> {
        check_snapshot(self.book(account, ATTEMPT).await?.head(), &world)?;
        let pieces = self.keep_world(account, ATTEMPT, &world).await?;
        for _ in 0..TRIES_MAX {
            let mut index = self.index(account).await?;
            let go = index.add(pieces.clone());
            if self.put_index(account, &index).await? {
                let stay: Vec<&String> = index.list.iter().flat_map(|kept| &kept.pieces).collect();
                let base = self.book(account, ATTEMPT).await?.record.base;
                let based = |end: &String| base.as_ref().is_some_and(|base| base.pieces.contains(end));
                for end in go.iter().flat_map(|kept| &kept.pieces).filter(|end| !stay.contains(end) && !based(end)) {
                    let name = piece(&self.name, account, Part::World, end);
                    self.drawer.delete(Shelf::ConfigMap, &name).await.map_err(self.failed(ATTEMPT))?;
                }
                return Ok(());
            }
        }
        Err(crowded(ATTEMPT))
    }

    /// False where somebody else changed it meanwhile.
    async fn put_index(&self, account: AccountId, index: &Index) -> Result<bool, JournalError> {
        let list = serde_json::to_vec(index).map_err(|error| damaged(ATTEMPT, error.to_string()))?;
        let kept = Kept {
            name: single(&self.name, account, Part::Snapshots),
            version: index.version.clone(),
            labels: labels(&self.name, account, Part::Snapshots),
            bytes: [(LIST.to_owned(), list)].into(),
            ..Kept::default()
        };
        let done = match kept.version {
            Some(_) => self.drawer.replace(Shelf::ConfigMap, &kept).await,
            None => self.drawer.create(Shelf::ConfigMap, &kept).await,
        };
        match done {
            Ok(_) => Ok(true),
            Err(ClusterFault::Outrun { .. } | ClusterFault::Exists { .. }) => Ok(false),
            Err(fault) => Err(self.failed(ATTEMPT)(fault)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_of_this_fold_are_kept_and_those_of_a_newer_program() {
        let pieces = |revision, fold| Pieces { revision, fold, pieces: vec![format!("{revision}.{fold}")] };
        let mut index = Index::default();
        for (revision, fold) in [(1, FOLD_VERSION - 1), (2, FOLD_VERSION + 1), (3, FOLD_VERSION), (4, FOLD_VERSION)] {
            index.list.push(pieces(revision, fold));
        }
        let go = index.add(pieces(5, FOLD_VERSION));
        assert_eq!(go, [pieces(1, FOLD_VERSION - 1), pieces(3, FOLD_VERSION)]);
        assert_eq!(index.list, [pieces(2, FOLD_VERSION + 1), pieces(4, FOLD_VERSION), pieces(5, FOLD_VERSION)]);
        assert!(index.add(pieces(5, FOLD_VERSION)).is_empty(), "the same again");
    }
}
