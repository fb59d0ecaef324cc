//! Values that all processes see, and barriers between them.

use super::FailureKind;
use super::connection::{Connection, failed};
use super::protocol::{Reply, Request};
use crate::{Error, Result};
use ramie_pjrt::{ErrorCode, KeyValueError};
use std::sync::Arc;
use std::time::Duration;

/// A table of values that all processes of the program see: of what one process sets,
/// the others can wait for. It is meant for small things such as addresses, names and
/// settings, and lives in process 0.
///
/// Got from [`key_value_store`](super::key_value_store).
#[derive(Clone)]
pub struct KeyValueStore {
    connection: Arc<Connection>,
    /// In front of all keys with a slash, so that users of the table do not meet. Messages
    /// leave it out.
    prefix: &'static str,
}

impl std::fmt::Debug for KeyValueStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "KeyValueStore({:?})",
            self.connection.place().coordinator
        )
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The coordinator answered something else than was asked.
fn confused() -> Error {
    failed(FailureKind::Other, "an answer to another question")
}

impl KeyValueStore {
    pub(super) fn new(connection: Arc<Connection>, prefix: &'static str) -> KeyValueStore {
        KeyValueStore { connection, prefix }
    }

    fn full(&self, key: &str) -> String {
        format!("{}/{key}", self.prefix)
    }

    fn set(&self, key: &str, value: &[u8], overwrite: bool) -> Result<()> {
        let reply = self.connection.demand(|id| Request::Put {
            id,
            key: self.full(key),
            value: value.to_vec(),
            overwrite,
        });
        match reply? {
            Reply::Done { .. } => Ok(()),
            _ => Err(confused()),
        }
    }

    /// Sets a key that has no value yet.
    ///
    /// # Errors
    /// [`FailureKind::AlreadyExists`] if it has one; [`FailureKind::PeerLost`] if a
    /// process is gone.
    pub fn put(&self, key: &str, value: &[u8]) -> Result<()> {
        self.set(key, value, false)
    }

    /// Sets a key, whether or not it has a value.
    ///
    /// # Errors
    /// [`FailureKind::PeerLost`] if a process is gone.
    pub fn put_overwrite(&self, key: &str, value: &[u8]) -> Result<()> {
        self.set(key, value, true)
    }

    /// Waits until some process has set this key, and returns its value.
    ///
    /// # Errors
    /// [`FailureKind::Timeout`] if none has within this time;
    /// [`FailureKind::PeerLost`] if a process is gone.
    pub fn get(&self, key: &str, timeout: Duration) -> Result<Vec<u8>> {
        let reply = self.connection.demand(|id| Request::Get {
            id,
            key: self.full(key),
            timeout_ms: milliseconds(timeout),
        });
        match reply? {
            Reply::Value { value, .. } => Ok(value),
            _ => Err(confused()),
        }
    }

    /// The value of a key, if it has one.
    ///
    /// # Errors
    /// [`FailureKind::PeerLost`] if a process is gone.
    pub fn try_get(&self, key: &str) -> Result<Option<Vec<u8>>> {
        let reply = self.connection.demand(|id| Request::TryGet {
            id,
            key: self.full(key),
        });
        match reply? {
            Reply::Value { value, .. } => Ok(Some(value)),
            Reply::Absent { .. } => Ok(None),
            _ => Err(confused()),
        }
    }

    /// Removes a key, and all keys that begin with it and a slash.
    ///
    /// # Errors
    /// [`FailureKind::PeerLost`] if a process is gone.
    pub fn delete(&self, key: &str) -> Result<()> {
        let reply = self.connection.demand(|id| Request::Delete {
            id,
            key: self.full(key),
        });
        reply.map(|_| ())
    }

    /// Waits until every process is at the barrier of this name. The name can be used
    /// again afterwards.
    ///
    /// # Errors
    /// [`FailureKind::Timeout`] if some process has not come within this time; the
    /// message names it, and all processes that are at the barrier get the error.
    /// [`FailureKind::PeerLost`] if a process is gone.
    pub fn barrier(&self, name: &str, timeout: Duration) -> Result<()> {
        let reply = self.connection.demand(|id| Request::Barrier {
            id,
            name: self.full(name),
            timeout_ms: milliseconds(timeout),
        });
        reply.map(|_| ())
    }
}

/// An error as plugins know them.
fn for_plugin(error: Error) -> KeyValueError {
    let code = match &error {
        Error::Distributed { kind, .. } => match kind {
            FailureKind::Timeout => ErrorCode::DeadlineExceeded,
            FailureKind::AlreadyExists => ErrorCode::AlreadyExists,
            FailureKind::PeerLost => ErrorCode::Unavailable,
            FailureKind::Refused | FailureKind::NotInitialized => ErrorCode::FailedPrecondition,
            FailureKind::Other => ErrorCode::Internal,
        },
        _ => ErrorCode::Internal,
    };
    KeyValueError {
        code,
        message: error.to_string(),
    }
}

/// What a plugin's processes tell each other.
impl ramie_pjrt::KeyValueStore for KeyValueStore {
    fn get(&self, key: &str, timeout: Duration) -> Result<Vec<u8>, KeyValueError> {
        KeyValueStore::get(self, key, timeout).map_err(for_plugin)
    }

    fn try_get(&self, key: &str) -> Result<Option<Vec<u8>>, KeyValueError> {
        KeyValueStore::try_get(self, key).map_err(for_plugin)
    }

    fn put(&self, key: &str, value: &[u8]) -> Result<(), KeyValueError> {
        KeyValueStore::put(self, key, value).map_err(for_plugin)
    }
}
