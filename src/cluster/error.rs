//! Why a request failed: a closed list of classes, because what to do next depends on the class alone.

use std::time::Duration;

use crate::rules::facts::ReadFailure;

/// How long one request other than a watch may take.
pub const REQUEST: Duration = Duration::from_secs(10);

/// What kind of failure it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureClass {
    /// The API server refuses us the right (401, 403). A person has to bind a role; minutes pass.
    AccessDenied,
    /// Somebody else wrote in between (409). Read again.
    Conflict,
    /// The object, or its whole kind, is not there (404).
    NotFound,
    /// The API server does not accept what we wrote (400, 422). It will not accept it a second later either.
    Refused,
    /// The API server asks for patience (429) or has a fault of its own (5xx).
    Server,
    /// No connection, no answer in time, or an answer that cannot be read.
    Transport,
    /// Our own fault: a pass panicked.
    Internal,
}

impl FailureClass {
    /// The class as a metric label.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AccessDenied => "access-denied",
            Self::Conflict => "conflict",
            Self::NotFound => "not-found",
            Self::Refused => "refused",
            Self::Server => "server",
            Self::Transport => "transport",
            Self::Internal => "internal",
        }
    }

    /// The class of an HTTP status that is no success.
    pub const fn of_status(code: u16) -> Self {
        match code {
            401 | 403 => Self::AccessDenied,
            404 => Self::NotFound,
            409 => Self::Conflict,
            429 | 500.. => Self::Server,
            _ => Self::Refused,
        }
    }
}

/// A request that failed, with what it was about.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{action}: {reason}")]
pub struct RequestError {
    /// What was tried, with the object: `write status of SecretContract "a/b"`.
    pub action: String,
    /// What kind of failure it was.
    pub class: FailureClass,
    /// What the API server or the connection said, on one line and bounded.
    pub reason: String,
}

impl RequestError {
    /// The error of a request by the client.
    pub fn new(action: impl Into<String>, error: &kube::Error) -> Self {
        Self { action: action.into(), class: class(error), reason: describe(error) }
    }

    /// No answer within [`REQUEST`].
    pub fn timeout(action: impl Into<String>) -> Self {
        let reason = format!("no answer within {} s", REQUEST.as_secs());
        Self { action: action.into(), class: FailureClass::Transport, reason }
    }
}

/// The class of a client's error.
pub fn class(error: &kube::Error) -> FailureClass {
    match error {
        kube::Error::Api(status) => FailureClass::of_status(status.code),
        _ => FailureClass::Transport,
    }
}

/// The HTTP status in a client's error, if the API server answered at all.
pub fn status_code(error: &kube::Error) -> Option<u16> {
    match error {
        kube::Error::Api(status) => Some(status.code),
        _ => None,
    }
}

/// A client's error on one line of at most 512 bytes. An answer that could not be read is not repeated.
pub fn describe(error: &kube::Error) -> String {
    let text = match error {
        kube::Error::Api(status) => format!("{} ({})", status.message, status.code),
        kube::Error::SerdeError(_) | kube::Error::FromUtf8(_) => {
            "the answer could not be understood".to_owned()
        }
        kube::Error::Service(inner) => chain(inner.as_ref()),
        other => chain(other),
    };
    bounded(&text, 512)
}

/// The error with its causes: the outermost words alone ("client error (Connect)") help nobody.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let words = cause.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        next = cause.source();
    }
    text
}

/// `text` on one line, cut to at most `limit` bytes at a character.
pub fn bounded(text: &str, limit: usize) -> String {
    let clean: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    crate::rules::text::cut(clean, limit)
}

/// Runs `request` with the time limit of [`REQUEST`]. `action` says what it is about.
pub async fn within<T>(
    action: impl Into<String>,
    request: impl Future<Output = Result<T, kube::Error>>,
) -> Result<T, RequestError> {
    match tokio::time::timeout(REQUEST, request).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(RequestError::new(action, &error)),
        Err(_) => Err(RequestError::timeout(action)),
    }
}

/// What a failed read means to the rules.
pub fn read_failure(error: &kube::Error) -> ReadFailure {
    match error {
        kube::Error::Api(status) => ReadFailure::Status(status.code),
        kube::Error::SerdeError(_) | kube::Error::FromUtf8(_) => ReadFailure::Malformed,
        _ => ReadFailure::Connection,
    }
}
