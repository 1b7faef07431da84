//! A replica: the world of a control plane, folded from its changes with the one fold there is. Pure.

use std::sync::Arc;

use imbl::{OrdMap, Vector};
use jiff::Timestamp;

use super::stream::Frame;
use crate::control::picture::{Role, SeatView, TAIL_KEPT};
use crate::domain::change::Entry;
use crate::domain::ids::Revision;
use crate::domain::observed::Observed;
use crate::domain::world::World;
use crate::wire::process::SeatBody;
use crate::wire::sight::{CLUSTER, ClusterBody};
use crate::wire::stream::{CHANGE, PRESENCE, PresenceBody, Trouble};
use crate::wire::world::{RoleWord, WorldBody};

/// Why a frame could not be folded. The cure is to load the world again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Gap {
    /// Changes are missing.
    #[error("change {got} arrived after change {had}")]
    Missing {
        /// The last one folded.
        had: Revision,
        /// The one that came.
        got: Revision,
    },
    /// A frame of ours that cannot be read.
    #[error("a record of the change stream cannot be read: {0}")]
    Unreadable(String),
}

/// What a reader holds of an account.
#[derive(Debug, Clone)]
pub struct Replica {
    /// Facts.
    pub world: Arc<World>,
    /// Presence, telemetry, the cluster.
    pub observed: Arc<Observed>,
    /// The edition of what is known of the cluster; none where the far end tells nothing of it.
    pub edition: Option<String>,
    /// The last changes, at most `TAIL_KEPT`.
    pub tail: Vector<Arc<Entry>>,
    /// Who ticks.
    pub seat: SeatView,
    /// How the far end's journal stands; none = well.
    pub trouble: Option<Trouble>,
    /// The account's name.
    pub account: String,
    /// What the reader may do.
    pub role: Role,
    /// What the far end's clock showed when it last said so.
    pub said_at: Timestamp,
}

impl Replica {
    /// What was loaded.
    pub fn load(body: WorldBody) -> Self {
        Self {
            world: Arc::new(body.world),
            observed: Arc::new(body.observed),
            edition: body.cluster_edition,
            tail: body.tail.into_iter().map(Arc::new).collect(),
            seat: seat_view(&body.seat),
            trouble: body.journal,
            account: body.account.name,
            role: role_of(body.role),
            said_at: body.now,
        }
    }

    /// Folds a frame of the stream. Frames of unknown kinds are passed over.
    pub fn fold(&mut self, frame: &Frame) -> Result<(), Gap> {
        match frame.event.as_str() {
            CHANGE => self.change(read(&frame.data)?),
            PRESENCE => {
                self.presence(read(&frame.data)?);
                Ok(())
            }
            CLUSTER => {
                self.cluster(read(&frame.data)?);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn change(&mut self, entry: Entry) -> Result<(), Gap> {
        let had = self.world.revision;
        if entry.revision <= had {
            // The stream began before the last change that is known: nothing new.
            return Ok(());
        }
        if entry.revision != had + 1 {
            return Err(Gap::Missing { had, got: entry.revision });
        }
        Arc::make_mut(&mut self.world).apply(&entry);
        self.tail.push_back(Arc::new(entry));
        while self.tail.len() > TAIL_KEPT {
            self.tail.pop_front();
        }
        let record = &self.world.seat;
        if record.epoch > self.seat.epoch {
            self.seat = SeatView { holder: record.holder.clone(), epoch: record.epoch, last_tick: None };
        }
        Ok(())
    }

    fn cluster(&mut self, seen: ClusterBody) {
        self.edition = Some(seen.edition.clone());
        self.said_at = seen.now;
        seen.fold(Arc::make_mut(&mut self.observed));
    }

    fn presence(&mut self, seen: PresenceBody) {
        let observed = Arc::make_mut(&mut self.observed);
        if seen.everybody {
            observed.last_poll = OrdMap::new();
        }
        observed.last_poll.extend(seen.last_poll);
        observed.listening_since = seen.listening_since;
        observed.telemetry = seen.telemetry;
        observed.last_tick = seen.last_tick;
        observed.refused_start = seen.refused_start;
        observed.clock_suspect = seen.clock_suspect;
        self.seat = seat_view(&seen.seat);
        self.trouble = seen.journal;
        self.said_at = seen.now;
    }
}

fn read<T: serde::de::DeserializeOwned>(data: &str) -> Result<T, Gap> {
    serde_json::from_str(data).map_err(|error| Gap::Unreadable(error.to_string()))
}

fn seat_view(seat: &SeatBody) -> SeatView {
    SeatView { holder: seat.holder.clone(), epoch: seat.epoch, last_tick: seat.last_tick }
}

fn role_of(word: RoleWord) -> Role {
    match word {
        RoleWord::Viewer => Role::Viewer,
        RoleWord::Operator => Role::Operator,
        RoleWord::Owner => Role::Owner,
    }
}
