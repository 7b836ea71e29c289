//! One call below the generated client: pieces of many messages go out as they are, and come in as they are. So a
//! board costs neither a wake-up nor an allocation.
//!
//! It must never know: what a message means.

use std::convert::Infallible;
use std::error::Error;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::{Buf, Bytes, BytesMut};
use http_body::{Body as _, Frame};
use tokio::sync::mpsc;
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::codegen::http::{HeaderMap, Request, Uri};
use tonic::{Code, Status};

use super::wire::{Garbled, PREFIX};
use crate::service::{Authorized, causes};

/// The longest answer: that to the largest packed message takes far less.
const MAX_MESSAGE: usize = 64 << 20;

/// What a call is told by its server, or by what lies between.
#[derive(Debug)]
pub(super) enum Piece {
    /// Bytes of answers.
    Data(Bytes),
    /// The call is over: so said the server.
    Told(Box<Status>),
    /// The call is over: the connection broke.
    Broken(Box<Status>),
}

/// Requests as they come, to be sent as they are.
struct Outgoing(mpsc::UnboundedReceiver<Bytes>);

impl http_body::Body for Outgoing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(cx).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}

/// What a call that may still be opening has to say: a server may wait for the first message before it says a word.
enum Answers {
    Opening(Pin<Box<dyn Future<Output = Result<Body, Piece>> + Send>>),
    Open(Body),
}

/// A call.
pub(super) struct Call {
    /// None when all is said. What waits in it is bounded by what may be in flight.
    requests: Option<mpsc::UnboundedSender<Bytes>>,
    answers: Answers,
}

impl Call {
    /// Begins a call.
    pub(super) fn open(channel: Authorized, path: &'static str) -> Self {
        let (requests, receiver) = mpsc::unbounded_channel();
        let answers = Answers::Opening(Box::pin(open(channel, path, receiver)));
        Self { requests: Some(requests), answers }
    }

    /// Waits until the server has answered that it takes the call.
    ///
    /// # Errors
    /// How the call ended.
    pub(super) async fn opened(&mut self) -> Result<(), Piece> {
        if let Answers::Opening(opening) = &mut self.answers {
            self.answers = Answers::Open(opening.as_mut().await?);
        }
        Ok(())
    }

    /// Sends whole messages. If the call is over, the side of the answers says why.
    pub(super) fn send(&self, messages: Bytes) {
        if let Some(requests) = &self.requests {
            let _ = requests.send(messages);
        }
    }

    /// Says that no more will be sent.
    pub(super) fn half_close(&mut self) {
        self.requests = None;
    }

    /// Whether that was said.
    pub(super) fn is_half_closed(&self) -> bool {
        self.requests.is_none()
    }

    /// What comes next. Dropping this future loses nothing.
    pub(super) async fn piece(&mut self) -> Piece {
        loop {
            let answers = match &mut self.answers {
                Answers::Open(answers) => answers,
                Answers::Opening(_) => match self.opened().await {
                    Ok(()) => continue,
                    Err(end) => return end,
                },
            };
            match poll_fn(|cx| pin!(&mut *answers).poll_frame(cx)).await {
                None => return Piece::Broken(Status::internal("the call ended without a status").into()),
                Some(Err(status)) => return broken(&status),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => return Piece::Data(data),
                    Err(frame) => {
                        if let Ok(trailers) = frame.into_trailers() {
                            return Piece::Told(status(&trailers).into());
                        }
                    }
                },
            }
        }
    }
}

async fn open(
    mut channel: Authorized,
    path: &'static str,
    requests: mpsc::UnboundedReceiver<Bytes>,
) -> Result<Body, Piece> {
    let request = Request::post(Uri::from_static(path))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(Body::new(Outgoing(requests)))
        .expect("the headers are sound");
    let broken = |error| broken(&Status::from_error(Box::new(error)));
    poll_fn(|cx| channel.poll_ready(cx)).await.map_err(broken)?;
    let response = channel.call(request).await.map_err(broken)?;
    if let Some(status) = Status::from_header_map(response.headers()) {
        return Err(Piece::Told(status.into()));
    }
    if !response.status().is_success() {
        let status = Status::unavailable(format!("no gRPC server: it answered HTTP {}", response.status()));
        return Err(Piece::Told(status.into()));
    }
    Ok(response.into_body())
}

fn status(trailers: &HeaderMap) -> Status {
    Status::from_header_map(trailers).unwrap_or_else(|| Status::unknown("the call ended without a status"))
}

/// The end of a call whose connection broke: UNAVAILABLE, as gRPC has it, unless more is known.
fn broken(status: &Status) -> Piece {
    let code = if status.code() == Code::Unknown { Code::Unavailable } else { status.code() };
    let cause = status.source().map(|cause| format!(": {}", causes(cause))).unwrap_or_default();
    Piece::Broken(Status::new(code, format!("{}{cause}", status.message())).into())
}

/// What a status says, and what caused it.
pub(super) fn told(status: &Status) -> String {
    let message = match status.message() {
        "" => String::new(),
        message => format!(": {message}"),
    };
    let cause = status.source().map(|cause| format!(" ({})", causes(cause))).unwrap_or_default();
    format!("{}{message}{cause}", super::super::answer::code_name(status.code()))
}

/// The status of a call that was ended by the client.
pub(super) fn garbled(error: Garbled) -> Status {
    Status::new(Code::Internal, error.to_string())
}

/// Pieces → messages.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    /// The beginning of a message.
    partial: BytesMut,
}

impl Inbox {
    /// Hands over each message that a piece completes.
    ///
    /// # Errors
    /// What is no message, or the error of `take`.
    pub(super) fn each(
        &mut self,
        piece: &Bytes,
        mut take: impl FnMut(&[u8]) -> Result<(), Garbled>,
    ) -> Result<(), Garbled> {
        let mut rest = &piece[..];
        while !self.partial.is_empty() && !rest.is_empty() {
            // As much as is missing of the prefix, then of the message.
            let known = length(&self.partial)?;
            let whole = known.map_or(PREFIX, |length| PREFIX + length);
            if known.is_some() && self.partial.capacity() < whole {
                self.partial.reserve(whole - self.partial.len());
            }
            let (missing, after) = rest.split_at((whole - self.partial.len()).min(rest.len()));
            self.partial.extend_from_slice(missing);
            rest = after;
            if length(&self.partial)?.is_some_and(|length| self.partial.len() == PREFIX + length) {
                take(&self.partial[PREFIX..])?;
                self.partial.clear();
            }
        }
        while let Some(length) = length(rest)? {
            let Some(message) = rest.get(PREFIX..PREFIX + length) else { break };
            take(message)?;
            rest = &rest[PREFIX + length..];
        }
        self.partial.extend_from_slice(rest);
        Ok(())
    }
}

/// The length of the message that begins here, if that is known.
fn length(bytes: &[u8]) -> Result<Option<usize>, Garbled> {
    let Some(mut prefix) = bytes.get(..PREFIX) else { return Ok(None) };
    if prefix.get_u8() != 0 {
        return Err(Garbled("a compressed message, which was not asked for"));
    }
    match prefix.get_u32() as usize {
        length if length <= MAX_MESSAGE => Ok(Some(length)),
        _ => Err(Garbled("a message above 64 MiB")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_whole_however_they_are_cut() {
        let messages: Vec<Vec<u8>> = [0, 1, 300, 5, 0, 70_000, 2].map(|length| vec![7; length]).into();
        let framed: Vec<u8> = messages
            .iter()
            .flat_map(|m| [&[0], &u32::try_from(m.len()).unwrap().to_be_bytes()[..], m].concat())
            .collect();
        for size in [1, 2, 3, 5, 6, 7, 100, 1000, framed.len()] {
            let (mut inbox, mut got) = (Inbox::default(), Vec::new());
            for piece in framed.chunks(size) {
                let taken = inbox.each(&Bytes::copy_from_slice(piece), |message| {
                    got.push(message.to_vec());
                    Ok(())
                });
                taken.unwrap();
            }
            assert_eq!(got, messages, "{size}");
        }
    }

    #[test]
    fn what_is_no_message_is_said() {
        for bytes in [&[1, 0, 0, 0, 0][..], &[0, 255, 0, 0, 0]] {
            assert!(Inbox::default().each(&Bytes::copy_from_slice(bytes), |_| Ok(())).is_err());
        }
    }
}
