//! Values shared by all processes, and barriers between processes.

use super::FailureKind;
use super::connection::{Connection, failed};
use super::protocol::{Reply, Request};
use crate::{Error, Result};
use ramie_pjrt::{ErrorCode, KeyValueError};
use std::sync::Arc;
use std::time::Duration;

/// A table of values shared by all processes of the program: processes can wait for keys that
/// others set. It is meant for small values such as addresses, names and settings, and is stored
/// in process 0.
///
/// Returned by [`key_value_store`](super::key_value_store).
#[derive(Clone)]
pub struct KeyValueStore {
    connection: Arc<Connection>,
    /// Prefix of all keys, followed by a slash, which separates the users of the table. Messages
    /// omit it.
    prefix: &'static str,
}

impl std::fmt::Debug for KeyValueStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "KeyValueStore({:?})",
            self.connection.config().coordinator
        )
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the error for a reply of the wrong kind.
fn confused() -> Error {
    failed(FailureKind::Other, "received an unexpected reply")
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
    /// Returns [`FailureKind::AlreadyExists`] if the key has a value, and
    /// [`FailureKind::PeerLost`] if a process is lost.
    pub fn put(&self, key: &str, value: &[u8]) -> Result<()> {
        self.set(key, value, false)
    }

    /// Sets a key, whether or not it has a value.
    ///
    /// # Errors
    /// Returns [`FailureKind::PeerLost`] if a process is lost.
    pub fn put_overwrite(&self, key: &str, value: &[u8]) -> Result<()> {
        self.set(key, value, true)
    }

    /// Waits until some process has set this key, and returns its value.
    ///
    /// # Errors
    /// Returns [`FailureKind::Timeout`] if no process sets it within `timeout`, and
    /// [`FailureKind::PeerLost`] if a process is lost.
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

    /// Returns the value of a key, if it has one.
    ///
    /// # Errors
    /// Returns [`FailureKind::PeerLost`] if a process is lost.
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

    /// Removes a key, and all keys that start with it followed by a slash.
    ///
    /// # Errors
    /// Returns [`FailureKind::PeerLost`] if a process is lost.
    pub fn delete(&self, key: &str) -> Result<()> {
        let reply = self.connection.demand(|id| Request::Delete {
            id,
            key: self.full(key),
        });
        reply.map(|_| ())
    }

    /// Waits until every process reaches the barrier of this name. The name can be reused
    /// afterwards.
    ///
    /// # Errors
    /// Returns [`FailureKind::Timeout`] if some process does not arrive within `timeout`; the
    /// message names it, and all processes at the barrier get the error. Returns
    /// [`FailureKind::PeerLost`] if a process is lost.
    pub fn barrier(&self, name: &str, timeout: Duration) -> Result<()> {
        let reply = self.connection.demand(|id| Request::Barrier {
            id,
            name: self.full(name),
            timeout_ms: milliseconds(timeout),
        });
        reply.map(|_| ())
    }
}

/// Converts an error to a plugin's error.
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

/// The store through which a plugin's processes communicate.
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
