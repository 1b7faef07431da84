//! A stretch of wire between the adapter and the API server that tests can cut, or let go silent.

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
    /// Connections that are there carry nothing and stay; new ones carry (A20).
    Silent,
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

    pub fn mend(&self) {
        self.wire.send_replace(Wire::Whole);
    }
}

impl Drop for WireCutter {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

async fn carry(near: TcpStream, port: u16, mut how: watch::Receiver<Wire>) {
    let Ok(far) = TcpStream::connect(("127.0.0.1", port)).await else { return };
    let (near_in, near_out) = near.into_split();
    let (far_in, far_out) = far.into_split();
    how.mark_unchanged();
    let both = async {
        tokio::select! {
            () = pass(near_in, far_out) => {}
            () = pass(far_in, near_out) => {}
        }
    };
    tokio::select! {
        () = both => {}
        silent = falls_silent(&mut how) => {
            if silent {
                // Whatever is on its way is lost, and neither end is told.
                std::future::pending::<()>().await;
            }
        }
    }
}

/// Returns once the wire is not whole any more.
async fn falls_silent(how: &mut watch::Receiver<Wire>) -> bool {
    how.wait_for(|wire| *wire != Wire::Whole).await.is_ok_and(|wire| *wire == Wire::Silent)
}

async fn pass(mut from: OwnedReadHalf, mut to: OwnedWriteHalf) {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        match from.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(read) => {
                if to.write_all(&buffer[..read]).await.is_err() {
                    return;
                }
            }
        }
    }
}
