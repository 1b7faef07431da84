//! Bodies that nobody read: an answer that goes out before them would end the connection without a word, and whatever
//! the client sends next would seem lost.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::header::{CONNECTION, EXPECT};
use axum::http::{HeaderValue, Response};
use futures_util::StreamExt;
use hyper::body::{Frame, SizeHint};
use tokio::time::timeout;

use crate::wire::body::BODY_MAX;

/// What is taken in of a body that nobody asked for, in bytes: as much as any body may have.
const DRAIN_MAX: usize = BODY_MAX;

/// How long it may take to come.
const DRAIN_LIMIT: Duration = Duration::from_secs(1);

/// Where a body is put that was not read to its end.
type Back = Arc<Mutex<Option<Body>>>;

/// The body of a request that is being answered.
pub(super) struct Unread {
    back: Back,
    /// The client sends nothing before it is told to, so there is nothing to wait for.
    is_held_back: bool,
}

/// The same request; what nobody reads of its body can be had back once it is answered.
pub(super) fn lend(request: Request) -> (Request, Unread) {
    let back = Back::default();
    let is_held_back = request.headers().contains_key(EXPECT);
    let unread = Unread { back: Arc::clone(&back), is_held_back };
    (request.map(|body| Body::new(Lent { body, is_over: false, back })), unread)
}

impl Unread {
    /// Takes in what is left, so that the connection can go on; where that is too much or too slow the answer says that
    /// the connection ends.
    pub(super) async fn settle<B>(self, response: &mut Response<B>) {
        let left = self.back.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(body) = left else { return };
        if self.is_held_back || !drained(body).await {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
    }
}

async fn drained(body: Body) -> bool {
    let mut pieces = body.into_data_stream();
    let mut taken = 0;
    let to_the_end = async {
        while let Some(piece) = pieces.next().await {
            match piece {
                Ok(bytes) if taken + bytes.len() <= DRAIN_MAX => taken += bytes.len(),
                _ => return false,
            }
        }
        true
    };
    timeout(DRAIN_LIMIT, to_the_end).await.unwrap_or(false)
}

/// A body that puts itself back where it is not read to its end.
struct Lent {
    body: Body,
    is_over: bool,
    back: Back,
}

impl HttpBody for Lent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(task);
        self.is_over |= matches!(polled, Poll::Ready(None | Some(Err(_))));
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if self.is_over || self.body.is_end_stream() {
            return;
        }
        *self.back.lock().unwrap_or_else(PoisonError::into_inner) = Some(std::mem::take(&mut self.body));
    }
}
