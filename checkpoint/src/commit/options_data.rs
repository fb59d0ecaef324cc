//! Options of a checkpointer in configuration files.

use super::{Atomicity, CheckpointerOptions, MultiprocessingOptions};
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::time::Duration;

/// The options that are data; `None` for a default. The names are those of the setters.
#[derive(Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Data {
    #[serde(skip_serializing_if = "Option::is_none")]
    asynchronous: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    threads: Option<usize>,
    /// In seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    atomicity: Option<Atomicity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_permission_mode: Option<u32>,
}

impl CheckpointerOptions {
    fn data(&self) -> Data {
        let default = CheckpointerOptions::new();
        Data {
            asynchronous: (!self.asynchronous).then_some(false),
            threads: (self.threads != default.threads).then_some(self.threads),
            timeout: (self.timeout != default.timeout).then_some(self.timeout.as_secs_f64()),
            atomicity: (self.atomicity != default.atomicity).then_some(self.atomicity),
            path_permission_mode: self.permissions,
        }
    }

    /// Returns the name of an option that is set and is not data.
    fn function(&self) -> Option<&'static str> {
        if self.callback.is_some() {
            return Some("post_finalization_callback");
        }
        let is_default = self.multiprocessing == MultiprocessingOptions::default();
        (!is_default).then_some("multiprocessing")
    }

    /// Returns whether any option differs from its default.
    pub(crate) fn is_changed(&self) -> bool {
        self.function().is_some() || self.data() != Data::default()
    }
}

/// Writes the options that differ from their defaults, the timeout in seconds.
///
/// # Errors
/// Returns an error if a callback or the processes are set, which a program sets itself.
impl Serialize for CheckpointerOptions {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.function() {
            Some(name) => Err(S::Error::custom(format!(
                "CheckpointerOptions: `{name}` is not data\n  help: save the options before setting it"
            ))),
            None => self.data().serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for CheckpointerOptions {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let data = Data::deserialize(from)?;
        let mut options = CheckpointerOptions::new();
        if let Some(asynchronous) = data.asynchronous {
            options = options.asynchronous(asynchronous);
        }
        match data.threads {
            Some(0) => return Err(D::Error::custom("threads is 0, expected at least 1")),
            Some(threads) => options = options.threads(threads),
            None => {}
        }
        if let Some(seconds) = data.timeout {
            let timeout = Duration::try_from_secs_f64(seconds);
            let timeout = timeout.map_err(|e| D::Error::custom(format!("timeout: {e}")))?;
            options = options.timeout(timeout);
        }
        if let Some(atomicity) = data.atomicity {
            options = options.atomicity(atomicity);
        }
        if let Some(mode) = data.path_permission_mode {
            options = options.path_permission_mode(mode);
        }
        Ok(options)
    }
}
