//! A resolver on loopback that answers what a test says, over UDP.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

/// What is said to a question for an address.
#[derive(Debug, Clone)]
pub enum Answer {
    Addresses(Vec<Ipv4Addr>),
    /// The name is there, and has none.
    Nothing,
    NxDomain,
    ServerFailure,
    /// Nothing is said at all.
    Silence,
}

/// The resolver. Names it was not told of do not exist.
pub struct Resolver {
    pub address: SocketAddr,
    answers: Arc<Mutex<BTreeMap<String, Answer>>>,
    task: JoinHandle<()>,
}

impl Resolver {
    pub async fn start() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.expect("loopback");
        let address = socket.local_addr().expect("an address");
        let answers: Arc<Mutex<BTreeMap<String, Answer>>> = Arc::default();
        let told = Arc::clone(&answers);
        let task = tokio::spawn(async move {
            let mut buffer = [0; 1_500];
            while let Ok((read, from)) = socket.recv_from(&mut buffer).await {
                let question = Question::read(&buffer[..read]);
                let answer = told.lock().unwrap_or_else(PoisonError::into_inner).get(&question.name).cloned();
                if let Some(bytes) = question.answered(answer.unwrap_or(Answer::NxDomain)) {
                    let _ = socket.send_to(&bytes, from).await;
                }
            }
        });
        Self { address, answers, task }
    }

    pub fn say(&self, name: &str, answer: Answer) {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), answer);
    }

    /// The name leads to loopback.
    pub fn lead_here(&self, name: &str) {
        self.say(name, Answer::Addresses(vec![Ipv4Addr::LOCALHOST]));
    }
}

impl Drop for Resolver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The one question of a message.
struct Question {
    id: [u8; 2],
    name: String,
    /// As it was asked: the name, its type and its class.
    bytes: Vec<u8>,
}

impl Question {
    const HEADER: usize = 12;
    const A: [u8; 2] = [0, 1];

    fn read(message: &[u8]) -> Self {
        let mut at = Self::HEADER;
        let mut labels = Vec::new();
        while message[at] != 0 {
            let length = usize::from(message[at]);
            labels.push(String::from_utf8_lossy(&message[at + 1..=at + length]).into_owned());
            at += length + 1;
        }
        let bytes = message[Self::HEADER..at + 5].to_vec();
        Self { id: [message[0], message[1]], name: labels.join(".").to_lowercase(), bytes }
    }

    fn answered(&self, answer: Answer) -> Option<Vec<u8>> {
        let (code, addresses) = match answer {
            Answer::Silence => return None,
            Answer::ServerFailure => (2, Vec::new()),
            Answer::NxDomain => (3, Vec::new()),
            Answer::Nothing => (0, Vec::new()),
            Answer::Addresses(addresses) if self.asks_for_a() => (0, addresses),
            Answer::Addresses(_) => (0, Vec::new()),
        };
        let count = u8::try_from(addresses.len()).expect("a few");
        let mut bytes = self.id.to_vec();
        bytes.extend([0x81, 0x80 | code, 0, 1, 0, count, 0, 0, 0, 0]);
        bytes.extend(&self.bytes);
        for address in addresses {
            bytes.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
            bytes.extend(address.octets());
        }
        Some(bytes)
    }

    fn asks_for_a(&self) -> bool {
        self.bytes[self.bytes.len() - 4..self.bytes.len() - 2] == Self::A
    }
}

/// What the rest of a test expects an address to look like.
pub fn loopback() -> String {
    IpAddr::V4(Ipv4Addr::LOCALHOST).to_string()
}
