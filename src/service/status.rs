//! The one table from what went wrong to what a client is told. It decides nothing.

use std::collections::HashMap;
use std::time::Duration;

use prost::Message;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

use crate::config::MAX_REQUEST_ID_BYTES;
use crate::engine::{Failure, Overload};

/// How long a client should wait before it tries again what was shed, or has to go on over another stream.
const RETRY_AFTER: Duration = Duration::from_millis(100);
/// How long a client should wait before it tries again at a worker that stops: by
/// then its balancer knows of another.
const RETRY_AFTER_DRAIN: Duration = Duration::from_secs(1);
/// Whose reasons [`ErrorDetails`] give.
const DOMAIN: &str = "taquin";

/// What can go wrong with a job or a call.
#[derive(Debug, thiserror::Error)]
pub(super) enum ServiceError {
    /// A field of the job is wrong.
    #[error("{field}: {description}")]
    Invalid { field: String, description: String },
    /// The job's id is in flight on its stream.
    #[error("{field}: {id:?} is in flight on this stream already, expected an id of its own")]
    DuplicateId { field: &'static str, id: String },
    /// There is no room for the job.
    #[error(transparent)]
    Overload(#[from] Overload),
    /// There is no room for the call.
    #[error("{limit} calls are open, as many as may be (max_streams)")]
    Streams { limit: u32 },
    /// There is no room for the job on its connection.
    #[error(
        "{limit} jobs of this connection are in flight, as many as may be (max_in_flight_per_connection)"
    )]
    Connection { limit: u32 },
    /// There is no room for the job among those of its caller.
    #[error("{limit} jobs of this caller are in flight, as many as may be (max_in_flight of its token)")]
    CallerInFlight { limit: u32 },
    /// The caller asks for more jobs a second than it may.
    #[error("this caller asks for more than {rate} jobs a second, as many as may be (rate of its token)")]
    CallerRate { rate: u32, retry_after: Duration },
    /// The call shows no token.
    #[error("this worker wants a token, in a header `authorization: Bearer TOKEN`")]
    NoToken,
    /// The call shows a token, but none that is known.
    #[error("the token of this call is none of this worker's")]
    WrongToken,
    /// The call's token was one when it began.
    #[error("the token of this call is none of this worker's any more")]
    Revoked,
    /// The job was taken but found no verdict.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// The worker is about to stop.
    #[error("this worker is draining: send what is unanswered to another")]
    Draining,
    /// The stream was not spoken as it must be.
    #[error("{0}")]
    Misuse(&'static str),
    /// The caller's own deadline passed.
    #[error("the deadline of this call has passed")]
    Deadline,
    /// The request did not come in time.
    #[error("the request was not complete and answered within {within:?}, the longest that a call may take")]
    Request { within: Duration },
    /// The stream has become old.
    #[error("this stream is as old as may be (max_stream_age_ms): send what is unanswered on another")]
    Aged,
    /// Answers were left unread.
    #[error(
        "answers were left unread for {after:?}, as long as may be (stall_timeout_ms); the rest is given up"
    )]
    ReaderStalled { after: Duration },
}

impl ServiceError {
    /// A field that is wrong, and what was expected.
    pub(super) fn invalid(field: impl Into<String>, description: impl Into<String>) -> Self {
        Self::Invalid { field: field.into(), description: description.into() }
    }

    /// Refuses an id that is too long to be repeated.
    pub(super) fn check_id(field: &str, id: &str) -> Result<(), Self> {
        if id.len() <= MAX_REQUEST_ID_BYTES {
            return Ok(());
        }
        Err(Self::invalid(
            field,
            format!("has {} bytes, expected at most {MAX_REQUEST_ID_BYTES} (max_request_id_bytes)", id.len()),
        ))
    }

    fn code(&self) -> Code {
        match self {
            Self::Invalid { .. } | Self::Misuse(_) => Code::InvalidArgument,
            Self::DuplicateId { .. } => Code::AlreadyExists,
            Self::Overload(_)
            | Self::Streams { .. }
            | Self::Connection { .. }
            | Self::CallerInFlight { .. }
            | Self::CallerRate { .. }
            | Self::ReaderStalled { .. } => Code::ResourceExhausted,
            Self::NoToken | Self::WrongToken | Self::Revoked => Code::Unauthenticated,
            Self::Failure(Failure::Panicked) => Code::Internal,
            Self::Failure(Failure::Stopped) | Self::Draining | Self::Aged => Code::Unavailable,
            Self::Deadline | Self::Request { .. } => Code::DeadlineExceeded,
        }
    }

    fn details(&self) -> ErrorDetails {
        match self {
            Self::Invalid { field, description } => {
                ErrorDetails::with_bad_request_violation(field, description)
            }
            Self::DuplicateId { field, .. } => {
                ErrorDetails::with_bad_request_violation(*field, "is in flight on this stream already")
            }
            Self::Overload(_)
            | Self::Streams { .. }
            | Self::Connection { .. }
            | Self::CallerInFlight { .. }
            | Self::Aged => ErrorDetails::with_retry_info(Some(RETRY_AFTER)),
            Self::CallerRate { retry_after, .. } => ErrorDetails::with_retry_info(Some(*retry_after)),
            Self::Failure(Failure::Stopped) | Self::Draining => {
                ErrorDetails::with_retry_info(Some(RETRY_AFTER_DRAIN))
            }
            Self::ReaderStalled { .. } => {
                ErrorDetails::with_error_info("READER_STALLED", DOMAIN, HashMap::new())
            }
            Self::Misuse(_)
            | Self::NoToken
            | Self::WrongToken
            | Self::Revoked
            | Self::Failure(Failure::Panicked)
            | Self::Deadline
            | Self::Request { .. } => ErrorDetails::new(),
        }
    }

    /// As the outcome of one job of many.
    pub(super) fn to_outcome(&self) -> tonic_types::pb::Status {
        let status = Status::from(self);
        tonic_types::pb::Status::decode(status.details()).unwrap_or_else(|_| tonic_types::pb::Status {
            code: status.code().into(),
            message: status.message().to_owned(),
            details: Vec::new(),
        })
    }
}

impl From<&ServiceError> for Status {
    fn from(error: &ServiceError) -> Self {
        Self::with_error_details(error.code(), error.to_string(), error.details())
    }
}

impl From<ServiceError> for Status {
    fn from(error: ServiceError) -> Self {
        Self::from(&error)
    }
}
