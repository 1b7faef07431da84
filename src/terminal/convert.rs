//! From the link's words to the console's: pictures, answers, results.

use crate::console::effect::SealedSeat;
use crate::console::past::Past;
use crate::console::{msg, snapshot};
use crate::control::{link, picture, ports};

/// A picture as the console knows it.
pub fn snapshot(picture: picture::Picture) -> snapshot::Snapshot {
    snapshot::Snapshot {
        world: picture.world,
        observed: picture.observed,
        tail: picture.tail,
        past: Past::default(),
        seat: snapshot::Seat {
            holder: picture.seat.holder,
            epoch: picture.seat.epoch,
            last_tick: picture.seat.last_tick,
        },
        api: freshness(picture.api),
        endpoint: picture.endpoint,
        account: picture.account,
        access: access(picture.role),
        glimpse: picture.glimpse,
        own: picture.own,
        fallback: picture.fallback,
    }
}

/// An answer to an order as the console knows it.
pub fn answer(answer: link::Answer) -> msg::Answer {
    match answer {
        link::Answer::Done { sentence } => msg::Answer::Done { sentence },
        link::Answer::Refused { sentence, hints } => msg::Answer::Refused { sentence, hints },
        link::Answer::Moved { sentence } => msg::Answer::Moved { sentence },
        link::Answer::Unknown { why } => msg::Answer::Unknown { why },
        link::Answer::Unseen { why } => msg::Answer::Unseen { why },
        link::Answer::Unsent { why } => msg::Answer::Unsent { why },
    }
}

/// A wish about the seat as the link knows it.
pub fn seat_order(sealed: SealedSeat) -> link::SeatOrder {
    let (take, signature) = sealed.open();
    let wish = if take { link::SeatWish::Take } else { link::SeatWish::Leave };
    link::SeatOrder { wish, by: signature.by, reason: signature.reason, key: signature.key }
}

/// A run as the console knows it.
pub fn result(result: ports::ApplyResult) -> snapshot::RunResult {
    let failed =
        |state: ports::FailedState| snapshot::FailedState { id: state.id, name: state.name, comment: state.comment };
    snapshot::RunResult {
        outcome: result.outcome,
        started_at: result.started_at,
        finished_at: result.finished_at,
        received_at: result.received_at,
        changed_count: result.changed_count,
        failed_states: result.failed_states.into_iter().map(failed).collect(),
        log_tail: result.log_tail,
    }
}

fn freshness(freshness: picture::Freshness) -> snapshot::Freshness {
    match freshness {
        picture::Freshness::Connecting => snapshot::Freshness::Connecting,
        picture::Freshness::Live(at) => snapshot::Freshness::Live(at),
        picture::Freshness::Lost { since, why, retry_at } => snapshot::Freshness::Lost { since, why, retry_at },
        picture::Freshness::Refused { why, hint } => snapshot::Freshness::Refused { why, hint },
    }
}

fn access(role: picture::Role) -> snapshot::Access {
    match role {
        picture::Role::Viewer => snapshot::Access::Viewer,
        picture::Role::Operator => snapshot::Access::Operator,
        picture::Role::Owner => snapshot::Access::Owner,
    }
}
