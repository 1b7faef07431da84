//! Connections whose readers have to keep up: what nobody takes is not kept for ever.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::serve::Listener;
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Sleep, sleep};

/// How long a reader may take nothing of what is sent to it; then its connection is cut off.
pub const WRITE_LIMIT: Duration = Duration::from_secs(10);

/// What the kernel keeps of what is on its way to one reader, in bytes. Small enough for a reader that is slow but alive
/// to make room within `WRITE_LIMIT`, and for a thousand that are not alive to fit into memory.
const SEND_BUFFER: usize = 256 * 1024;

/// A listener whose connections send small answers at once, and cut off readers that take nothing for `limit`.
pub fn quick(listener: TcpListener, limit: Duration) -> Quick {
    Quick { listener, limit }
}

/// What `quick` makes.
#[derive(Debug)]
pub struct Quick {
    listener: TcpListener,
    limit: Duration,
}

impl Listener for Quick {
    type Io = Paced;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Paced, SocketAddr) {
        let (stream, peer) = Listener::accept(&mut self.listener).await;
        let made = stream.set_nodelay(true).and_then(|()| SockRef::from(&stream).set_send_buffer_size(SEND_BUFFER));
        if let Err(error) = made {
            tracing::debug!(%error, "a connection could not be made quick");
        }
        (Paced { stream, limit: self.limit, stalled: None }, peer)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// One connection. What is written to it fails once nothing was taken for `limit`.
#[derive(Debug)]
pub struct Paced {
    stream: TcpStream,
    limit: Duration,
    /// Runs while the reader takes nothing.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Paced {
    fn paced<T>(&mut self, task: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(self.limit)));
        if stalled.as_mut().poll(task).is_pending() {
            return Poll::Pending;
        }
        // What is on its way goes with it: the kernel would offer it to the reader for minutes.
        if let Err(error) = self.stream.set_zero_linger() {
            tracing::debug!(%error, "what a reader did not take stays with the kernel");
        }
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the reader takes nothing")))
    }
}

impl AsyncRead for Paced {
    fn poll_read(mut self: Pin<&mut Self>, task: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(task, buffer)
    }
}

impl AsyncWrite for Paced {
    fn poll_write(mut self: Pin<&mut Self>, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(task, bytes);
        self.paced(task, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(task, bytes);
        self.paced(task, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(task)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(task)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const SHORT: Duration = Duration::from_millis(200);

    async fn pair(limit: Duration) -> (Paced, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut listener = quick(listener, limit);
        let (near, far) = tokio::join!(listener.accept(), TcpStream::connect(address));
        (near.0, far.unwrap())
    }

    const LARGE: usize = 64 * 1024 * 1024;

    #[tokio::test]
    async fn a_reader_that_takes_nothing_is_cut_off_with_all_that_is_on_its_way() {
        let (mut near, mut far) = pair(SHORT).await;
        let content = vec![0; LARGE];
        let written = tokio::time::timeout(SHORT * 100, near.write_all(&content)).await;
        assert_eq!(written.expect("it is cut off").unwrap_err().kind(), io::ErrorKind::TimedOut);
        drop(near);
        let mut taken = Vec::new();
        let error = far.read_to_end(&mut taken).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset, "{} bytes", taken.len());
    }

    #[tokio::test]
    async fn a_reader_that_takes_a_little_now_and_then_hears_everything() {
        let (mut near, mut far) = pair(Duration::from_secs(2)).await;
        let began = tokio::time::Instant::now();
        let writing = tokio::spawn(async move { near.write_all(&vec![0; LARGE / 8]).await });
        let mut piece = vec![0; LARGE / 64];
        for _ in 0..8 {
            far.read_exact(&mut piece).await.unwrap();
            sleep(SHORT * 2).await;
        }
        writing.await.unwrap().unwrap();
        assert!(began.elapsed() > Duration::from_secs(3), "longer altogether than it may take nothing");
    }
}
