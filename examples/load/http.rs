//! One kept connection of HTTP/1.1, as thin as it gets: the load must not cost more than what it measures.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Fallible;

/// The longest answer that is read, in bytes: a world of twenty thousand machines fits.
const ANSWER_MAX: usize = 64 * 1024 * 1024;

/// An answer: status, and where its body lies in the buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    begin: usize,
    end: usize,
}

/// A connection that is used for one request after the other.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: &str) -> Fallible<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(1_024) })
    }

    /// Sends a whole request and reads its whole answer.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> Fallible<Answer> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        let (status, begin, length) = loop {
            self.fill().await?;
            if let Some(head) = head(&self.buffer)? {
                break head;
            }
        };
        let end = begin + length;
        if end > ANSWER_MAX {
            return Err(format!("an answer of {length} bytes").into());
        }
        while self.buffer.len() < end {
            self.fill().await?;
        }
        Ok(Answer { status, begin, end })
    }

    async fn fill(&mut self) -> Fallible<()> {
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            _ => Ok(()),
        }
    }

    /// The body of the last answer.
    pub(crate) fn body(&self, answer: Answer) -> &[u8] {
        self.buffer.get(answer.begin..answer.end).unwrap_or_default()
    }

    /// The bare stream, for an answer without an end.
    pub(crate) fn into_stream(self) -> TcpStream {
        self.stream
    }
}

/// Status, where the body begins, how long it is; none while the head is not whole.
fn head(bytes: &[u8]) -> Fallible<Option<(u16, usize, usize)>> {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { return Ok(None) };
    let text = std::str::from_utf8(bytes.get(..end).unwrap_or_default())?;
    let mut lines = text.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|status| status.parse().ok());
    let status = status.ok_or("an answer without a status")?;
    let length = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    Ok(Some((status, end + 4, length.unwrap_or(0))))
}

/// A request with these headers, each with its line end, and this body.
pub(crate) fn request(method: &str, path: &str, token: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = if method == "GET" {
        String::new()
    } else {
        format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len())
    };
    let head =
        format!("{method} {path} HTTP/1.1\r\nhost: load\r\nauthorization: Bearer {token}\r\n{headers}{length}\r\n");
    (head + body).into_bytes()
}
