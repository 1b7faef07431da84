//! A stretch of wire on loopback, between any two programs, that tests can cut, slow down, or let lose what it carries.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How the wire is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wire {
    /// It carries.
    Whole,
    /// Connections break, new ones come to nothing.
    Cut,
    /// Connections carry nothing and stay, new ones too: nobody is told that nobody hears (A20).
    Silent,
    /// What is asked arrives, and no answer comes back.
    Deaf,
    /// Each piece takes so long, in both directions.
    Slow(Duration),
}

/// The wire.
pub struct WireCutter {
    pub port: u16,
    wire: watch::Sender<Wire>,
    listener: JoinHandle<()>,
}

impl WireCutter {
    /// A wire to a port on loopback.
    pub async fn before(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback");
        let near = listener.local_addr().expect("an address").port();
        let (wire, how) = watch::channel(Wire::Whole);
        let listener = tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                if *how.borrow() != Wire::Cut {
                    tokio::spawn(carry(near, port, how.clone()));
                }
            }
        });
        Self { port: near, wire, listener }
    }

    pub fn cut(&self) {
        self.wire.send_replace(Wire::Cut);
    }

    pub fn go_silent(&self) {
        self.wire.send_replace(Wire::Silent);
    }

    /// No answer comes through any more.
    pub fn swallow_answers(&self) {
        self.wire.send_replace(Wire::Deaf);
    }

    /// Everything takes so long.
    pub fn slow_down(&self, by: Duration) {
        self.wire.send_replace(Wire::Slow(by));
    }

    /// New connections carry. Those that lost something never go on as if nothing had been.
    pub fn mend(&self) {
        self.wire.send_replace(Wire::Whole);
    }
}

impl Drop for WireCutter {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

/// Until one end closes it, or it breaks. A connection that lost something carries nothing any more.
async fn carry(near: TcpStream, port: u16, mut how: watch::Receiver<Wire>) {
    let Ok(far) = TcpStream::connect(("127.0.0.1", port)).await else { return };
    let (near_in, near_out) = near.into_split();
    let (far_in, far_out) = far.into_split();
    let (asking, answering) = (how.clone(), how.clone());
    let both = async {
        tokio::select! {
            () = pass(near_in, far_out, asking, |_| false) => {}
            () = pass(far_in, near_out, answering, |wire| wire == Wire::Deaf) => {}
        }
    };
    tokio::select! {
        () = both => {}
        silent = breaks(&mut how) => {
            if silent {
                // Whatever is on its way is lost, and neither end is told.
                std::future::pending::<()>().await;
            }
        }
    }
}

/// Returns once the wire breaks: true = without a word.
async fn breaks(how: &mut watch::Receiver<Wire>) -> bool {
    let broken = how.wait_for(|wire| matches!(wire, Wire::Cut | Wire::Silent)).await;
    broken.is_ok_and(|wire| *wire != Wire::Cut)
}

/// One direction. What is lost once makes the rest worthless: it ends there as soon as the wire is mended.
async fn pass(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    how: watch::Receiver<Wire>,
    loses: impl Fn(Wire) -> bool,
) {
    let (mut buffer, mut torn) = (vec![0; 16 * 1024], false);
    loop {
        let Ok(read @ 1..) = from.read(&mut buffer).await else { return };
        let wire = *how.borrow();
        if let Wire::Slow(by) = wire {
            tokio::time::sleep(by).await;
        }
        torn |= loses(wire);
        if torn && !loses(wire) {
            return;
        }
        if !torn && to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}
