//! The loop of one account: loads the world, takes what waits, watches what other processes append.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use super::door::{DoorError, Request};
use super::draft::REQUESTS_PER_BATCH;
use super::host::Host;
use super::ports::{Clock, Head, Journal, JournalError};
use super::stop::Stop;
use super::time::later;
use super::trouble::sentence;
use super::turn::Turns;
use crate::domain::ids::{AccountId, Revision};

/// First pause before a journal that does not answer is asked again; doubles up to `RETRY_AT_LATEST`.
pub const RETRY_FIRST: Duration = Duration::from_secs(1);

/// Longest pause before a journal that does not answer is asked again.
pub const RETRY_AT_LATEST: Duration = Duration::from_secs(15);

/// Runs the turns of one account until it is stopped. No error of the journal ends it.
pub(super) async fn run_turns<H: Host>(turns: Turns<H>, mut requests: mpsc::Receiver<Request>, stop: Stop) {
    if load_patiently(&turns, &mut requests, &stop).await {
        serve(&turns, &mut requests, &stop).await;
    }
    // What was asked before the end and is not decided yet is told so; nothing can be asked any more.
    requests.close();
    while let Some(request) = requests.recv().await {
        request.answer(Err(DoorError::Stopped));
    }
}

/// Takes what waits and watches the journal, in one place, so that only one of the two changes the world at a time.
async fn serve<H: Host>(turns: &Turns<H>, requests: &mut mpsc::Receiver<Request>, stop: &Stop) {
    let (host, account) = (Arc::clone(&turns.host), turns.account);
    let mut waiting = Vec::new();
    let mut pause = Duration::ZERO;
    // One look lasts over many turns: a look that began anew with every request would never come to its end.
    let mut look = pin!(look(host.as_ref(), account, turns.revision(), pause));
    loop {
        tokio::select! {
            biased;
            () = stop.asked() => break,
            seen = &mut look => {
                pause = see(turns, seen, pause).await;
                look.set(self::look(host.as_ref(), account, turns.revision(), pause));
            }
            taken = requests.recv_many(&mut waiting, REQUESTS_PER_BATCH) => match taken {
                0 => break,
                _ => turns.decide_all(&mut waiting).await,
            },
        }
    }
    requests.close();
    while requests.recv_many(&mut waiting, REQUESTS_PER_BATCH).await > 0 {
        turns.decide_all(&mut waiting).await;
    }
}

/// Waits until the journal is past `after`, beginning after `pause`.
async fn look<H: Host>(host: &H, account: AccountId, after: Revision, pause: Duration) -> Result<Head, JournalError> {
    if !pause.is_zero() {
        host.clock().sleep(pause).await;
    }
    host.journal().follow(account, after).await
}

/// Folds what was seen; returns the pause before the next look.
async fn see<H: Host>(turns: &Turns<H>, seen: Result<Head, JournalError>, pause: Duration) -> Duration {
    let met = match seen {
        Ok(head) => turns.reader.meet(head).await,
        Err(error) => Err(error),
    };
    let Err(error) = met else { return Duration::ZERO };
    let pause = longer(pause);
    turns.reader.lose(&error, Some(later(turns.host.clock().now(), pause)));
    pause
}

/// Loads the world, again and again until it works. False = stopped first.
async fn load_patiently<H: Host>(turns: &Turns<H>, requests: &mut mpsc::Receiver<Request>, stop: &Stop) -> bool {
    let mut pause = Duration::ZERO;
    loop {
        let loaded = tokio::select! {
            biased;
            () = stop.asked() => return false,
            loaded = turns.reader.load() => loaded,
        };
        let Err(error) = loaded else { return true };
        pause = longer(pause);
        let why = sentence(&error);
        tracing::warn!(account = %turns.account, %why, "the journal cannot be loaded");
        let mut over = pin!(turns.host.clock().sleep(pause));
        loop {
            tokio::select! {
                biased;
                () = stop.asked() => return false,
                () = &mut over => break,
                request = requests.recv() => match request {
                    Some(request) => request.answer(Err(DoorError::Journal(why.clone()))),
                    None => return false,
                },
            }
        }
    }
}

fn longer(pause: Duration) -> Duration {
    (pause * 2).clamp(RETRY_FIRST, RETRY_AT_LATEST)
}
