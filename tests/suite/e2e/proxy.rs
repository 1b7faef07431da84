//! A wire that can be cut: a loopback proxy in front of a control plane that passes requests on, or loses them.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

use super::super::pty::driver::PATIENCE;

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is passed on, and its answer comes back as it comes.
    Pass,
    /// The same, but for as long as the proxy is frozen nothing of its answer comes back.
    Flow,
    /// It is passed on and carried out, and its answer is lost.
    LoseAnswer,
    /// It is lost itself.
    Lose,
    /// It is kept, and never answered.
    Keep,
}

/// Whether answers that flow are held back.
#[derive(Default)]
struct Frost(Mutex<bool>, Condvar);

impl Frost {
    fn set(&self, frozen: bool) {
        *self.0.lock().expect("the frost") = frozen;
        self.1.notify_all();
    }

    /// Returns once it is over.
    fn outlast(&self) {
        let frozen = self.0.lock().expect("the frost");
        drop(self.1.wait_while(frozen, |frozen| *frozen).expect("the frost"));
    }
}

/// A proxy, and every request that came to it.
pub(super) struct Proxy {
    url: String,
    heads: Arc<Mutex<Vec<String>>>,
    frost: Arc<Frost>,
}

impl Proxy {
    /// In front of `address`; `fate` is asked about each request, by its head and by how many of its kind came before.
    pub(super) fn before(address: String, fate: impl Fn(&str, usize) -> Fate + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let heads = Arc::new(Mutex::new(Vec::<String>::new()));
        let (known, fate, frost) = (Arc::clone(&heads), Arc::new(fate), Arc::<Frost>::default());
        let cold = Arc::clone(&frost);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (address, known, fate) = (address.clone(), Arc::clone(&known), Arc::clone(&fate));
                let frost = Arc::clone(&cold);
                std::thread::spawn(move || serve(client, &address, &known, fate.as_ref(), &frost));
            }
        });
        Self { url, heads, frost }
    }

    /// From now on nothing of what flows comes back, until it is thawed.
    pub(super) fn freeze(&self) {
        self.frost.set(true);
    }

    /// What was held back comes, and the rest after it.
    pub(super) fn thaw(&self) {
        self.frost.set(false);
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Heads of the requests that were verbs in earnest, in lower case.
    pub(super) fn orders(&self) -> Vec<String> {
        self.heads.lock().expect("the heads").iter().filter(|head| is_order(head)).cloned().collect()
    }
}

/// A verb that is not merely planned.
pub(super) fn is_order(head: &str) -> bool {
    !head.starts_with("get ") && !head.lines().next().unwrap_or_default().contains("dry_run")
}

fn serve(
    mut client: TcpStream,
    address: &str,
    known: &Mutex<Vec<String>>,
    fate: &dyn Fn(&str, usize) -> Fate,
    frost: &Frost,
) {
    let Some((head, body)) = request(&mut client) else { return };
    let said = head.to_lowercase();
    let before = {
        let mut known = known.lock().expect("the heads");
        let line = said.lines().next().unwrap_or_default().to_owned();
        let before = known.iter().filter(|other| other.starts_with(&line)).count();
        known.push(said.clone());
        before
    };
    match fate(&said, before) {
        Fate::Pass => flow(&mut passed_on(address, &head, &body), &mut client, || ()),
        Fate::Flow => flow(&mut passed_on(address, &head, &body), &mut client, || frost.outlast()),
        Fate::LoseAnswer => _ = passed_on(address, &head, &body).read_to_end(&mut Vec::new()),
        Fate::Lose => {}
        Fate::Keep => std::thread::sleep(PATIENCE),
    }
}

/// One request: its head with the blank line, and its body.
fn request(client: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 65_536]);
    let mut more = |bytes: &mut Vec<u8>| match client.read(&mut piece) {
        Ok(length @ 1..) => {
            bytes.extend_from_slice(&piece[..length]);
            true
        }
        _ => false,
    };
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if !more(&mut bytes) {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
    let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    while bytes.len() < end + length.unwrap_or(0) {
        if !more(&mut bytes) {
            return None;
        }
    }
    Some((head, bytes[end..].to_vec()))
}

/// Where the answer comes from; each request has a connection of its own.
fn passed_on(address: &str, head: &str, body: &[u8]) -> TcpStream {
    let mut server = TcpStream::connect(address).expect("the control plane");
    let closing = head.replacen("\r\n", "\r\nconnection: close\r\n", 1);
    server.write_all(closing.as_bytes()).and_then(|()| server.write_all(body)).expect("it takes a request");
    server
}

/// The answer piece by piece; before each, whatever has to be waited for.
fn flow(server: &mut TcpStream, client: &mut TcpStream, wait: impl Fn()) {
    let mut piece = [0; 65_536];
    while let Ok(length @ 1..) = server.read(&mut piece) {
        wait();
        if client.write_all(&piece[..length]).is_err() {
            return;
        }
    }
}
