//! Readers of the change stream: each counts what it is sent and that no change is missing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::Fallible;
use super::http::{Connection, request};
use super::plane::Plane;

/// What the streams saw.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Followed {
    /// Streams that saw every change up to the last one, in order.
    pub(crate) whole: u64,
    /// Streams that were cut off or had a gap.
    pub(crate) broken: u64,
    pub(crate) bytes: u64,
}

/// Streams under way.
#[derive(Debug)]
pub(crate) struct Streams {
    readers: JoinSet<Fallible<bool>>,
    last: Arc<AtomicU64>,
    end: Arc<AtomicBool>,
    bytes: Arc<AtomicU64>,
}

/// Opens that many, from the revision the journal is at now.
pub(crate) async fn follow(plane: &Plane, count: u32) -> Fallible<Streams> {
    let after = plane.revision().await?;
    let (last, end, bytes) = (Arc::new(AtomicU64::new(u64::MAX)), Arc::new(AtomicBool::new(false)), Arc::default());
    let mut streams = Streams { readers: JoinSet::new(), last, end, bytes };
    for role in ["viewer", "operator", "owner"].into_iter().cycle().take(usize::try_from(count)?) {
        let mut stream = Connection::open(&plane.address).await?.into_stream();
        let path = format!("/api/changes?after={after}");
        stream.write_all(&request("GET", &path, plane.token(role)?, "", "")).await?;
        let (last, end, bytes) = (Arc::clone(&streams.last), Arc::clone(&streams.end), Arc::clone(&streams.bytes));
        streams.readers.spawn(async move { read(stream, after, &last, &end, &bytes).await });
    }
    Ok(streams)
}

impl Streams {
    /// Waits until each has seen this revision.
    pub(crate) async fn end(mut self, revision: u64, patience: Duration) -> Followed {
        self.last.store(revision, Ordering::Relaxed);
        let until = tokio::time::Instant::now() + patience;
        let mut followed = Followed::default();
        while let Ok(Some(ended)) = tokio::time::timeout_at(until, self.readers.join_next()).await {
            match ended {
                Ok(Ok(true)) => followed.whole += 1,
                _ => followed.broken += 1,
            }
        }
        self.end.store(true, Ordering::Relaxed);
        followed.broken += u64::try_from(self.readers.len()).unwrap_or(u64::MAX);
        followed.bytes = self.bytes.load(Ordering::Relaxed);
        followed
    }
}

/// Reads until the last revision was seen; false where one is missing.
async fn read(
    mut stream: TcpStream,
    after: u64,
    last: &AtomicU64,
    end: &AtomicBool,
    bytes: &AtomicU64,
) -> Fallible<bool> {
    let (mut buffer, mut rest, mut seen) = (vec![0; 64 * 1024], Vec::<u8>::new(), after);
    while !end.load(Ordering::Relaxed) && seen < last.load(Ordering::Relaxed) {
        let wait = tokio::time::timeout(Duration::from_millis(500), stream.read(&mut buffer)).await;
        let Ok(read) = wait else { continue };
        let read = read?;
        if read == 0 {
            return Ok(false);
        }
        bytes.fetch_add(u64::try_from(read).unwrap_or(0), Ordering::Relaxed);
        rest.extend_from_slice(buffer.get(..read).unwrap_or_default());
        let whole = rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        for line in rest.get(..whole).unwrap_or_default().split(|byte| *byte == b'\n') {
            let id = line.strip_prefix(b"id: ").and_then(|id| std::str::from_utf8(id).ok()?.trim().parse::<u64>().ok());
            match id {
                Some(id) if id == seen + 1 => seen = id,
                Some(id) if id > seen => return Ok(false),
                _ => {}
            }
        }
        rest.drain(..whole);
    }
    Ok(seen >= last.load(Ordering::Relaxed))
}
