//! Errors of a plugin, and of calls into it.

use crate::sys::{self, Api, Arguments, Padded, RawError};
use std::fmt;
use std::path::PathBuf;

/// A `Result` with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// A failure of the plugin, of loading it, or of arguments passed to it.
///
/// Its `Debug` form is the message, like that of all errors of this crate, so that `unwrap` and
/// `main` print a readable error.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A call of the plugin returned an error.
    #[error("{context}: {message} [{code}]")]
    Plugin {
        /// The kind of failure.
        code: ErrorCode,
        /// The plugin's message.
        message: String,
        /// The call or step that failed.
        context: String,
    },
    /// There is no file at the plugin's path.
    #[error(
        "no plugin at {path:?}\n  help: pass the path of a PJRT plugin, a shared library such as \
         `xla_cpu_pjrt.so`"
    )]
    PluginNotFound {
        /// The path that was tried.
        path: PathBuf,
    },
    /// The dynamic loader rejects the file.
    #[error(
        "cannot load {path:?} as a PJRT plugin: {reason}\n  help: use a shared library for this machine, \
         and install the libraries that it needs"
    )]
    PluginUnloadable {
        /// The path that was tried.
        path: PathBuf,
        /// The loader's message.
        reason: String,
    },
    /// The shared library does not export `GetPjrtApi`, or the function returns null.
    #[error(
        "{path:?} is a shared library but not a PJRT plugin: {reason}\n  help: pass the path of a PJRT \
         plugin, such as `xla_cpu_pjrt.so`; without RAMIE_PJRT_PLUGIN, programs run on the linked CPU backend"
    )]
    NotAPlugin {
        /// The path that was tried.
        path: PathBuf,
        /// What is missing.
        reason: String,
    },
    /// The plugin's API version is not supported.
    #[error(
        "{path:?} implements PJRT API {major}.{minor}, but this program needs 0.{min} or a later 0.x\n  \
         help: install a {age} plugin", min = sys::OLDEST_MINOR, age = if *.major > 0 { "matching" } else { "newer" }
    )]
    UnsupportedVersion {
        /// The plugin's path.
        path: PathBuf,
        /// The plugin's major version.
        major: i32,
        /// The plugin's minor version.
        minor: i32,
    },
    /// A client option has an unknown name, or a value of the wrong type or range.
    #[error("client option `{name}`: {reason}")]
    ClientOption {
        /// The name of the option.
        name: String,
        /// The reason why it was rejected.
        reason: String,
    },
    /// Compile options or a signature contradict themselves or the client.
    #[error("compile options: {0}")]
    CompileOptions(String),
    /// The length of host data does not match the shape.
    #[error("{operation}: {ty} takes {expected} bytes, got {got}")]
    HostSize {
        /// The operation that was attempted.
        operation: &'static str,
        /// The buffer's type.
        ty: String,
        /// Number of bytes passed.
        got: usize,
        /// Number of bytes required.
        expected: usize,
    },
    /// The plugin rejects elements of 64-bit floats, which many GPUs do not have.
    #[error(
        "{ty} cannot be copied to a device of `{platform}`: {message} [{code}]\n  help: this device probably has no \
         64-bit floats; use 32-bit ones, such as `vec![0.1f32]` or `.astype(DType::F32)`"
    )]
    No64BitFloats {
        /// The array's type.
        ty: String,
        /// The platform that the plugin reports.
        platform: &'static str,
        /// The kind of failure.
        code: ErrorCode,
        /// The plugin's message.
        message: String,
    },
    /// The number of arguments does not match the executable.
    #[error(
        "`{executable}` takes {expected} arguments ({devices} devices × {per_device} inputs), got {got}"
    )]
    ArgumentCount {
        /// The executable's name.
        executable: String,
        /// Number of arguments passed.
        got: usize,
        /// Number of arguments required.
        expected: usize,
        /// Number of devices that the executable runs on.
        devices: usize,
        /// Number of inputs on each device.
        per_device: usize,
    },
    /// An argument has the wrong type or device, or was deleted.
    #[error("argument {index} for device {device}: got {got}, expected {expected}")]
    ExecuteArgument {
        /// Index among the inputs of one device.
        index: usize,
        /// Id of the device that the argument was meant for.
        device: i32,
        /// The argument that was passed.
        got: String,
        /// The argument that the executable requires.
        expected: String,
    },
    /// Programs of the platform cannot call functions of this process.
    #[error(
        "programs on the platform `{platform}` cannot call functions of the process: {reason}\n  help: run the \
         part with the callback on a CPU client, or do its work between compiled calls"
    )]
    Callbacks {
        /// The client's platform.
        platform: String,
        /// What the platform or plugin lacks.
        reason: String,
    },
    /// The host has less memory than an operation needs.
    #[error(
        "{operation} needs {} of host memory, but only {} is available, limited by {limit}\n  help: use \
         smaller arrays or batches, or end other programs; RAMIE_CHECK_MEMORY=0 turns this check off",
        Bytes(*bytes), Bytes(*available)
    )]
    HostMemory {
        /// The operation that needs the memory, as the subject of a sentence.
        operation: String,
        /// Number of bytes required.
        bytes: u64,
        /// Number of bytes available.
        available: u64,
        /// A description of the limit.
        limit: String,
    },
    /// A buffer that was donated to an execution is used again.
    #[error(
        "{operation}: the buffer {ty} was donated to an execution and no longer contains data\n  help: \
         use the execution's result, or list the input as non-donatable"
    )]
    Donated {
        /// The operation that was attempted.
        operation: &'static str,
        /// The buffer's type.
        ty: String,
    },
    /// A buffer that was deleted is used again.
    #[error(
        "{operation}: the buffer {ty} was deleted and no longer contains data\n  help: delete an \
         array after its last use"
    )]
    Deleted {
        /// The operation that was attempted.
        operation: &'static str,
        /// The buffer's type.
        ty: String,
    },
    /// A buffer cannot be deleted, because its contents are in use.
    #[error(
        "{operation}: the contents of the buffer {ty} are in use\n  help: end the launches and \
         reads of other threads first"
    )]
    InUse {
        /// The operation that was attempted.
        operation: &'static str,
        /// The buffer's type.
        ty: String,
    },
}

ramie_base::debug_is_message!(Error);

impl Error {
    /// Returns the kind of failure, including for errors detected before calling the plugin.
    pub fn code(&self) -> ErrorCode {
        match self {
            Error::Plugin { code, .. } | Error::No64BitFloats { code, .. } => *code,
            Error::PluginNotFound { .. } => ErrorCode::NotFound,
            Error::UnsupportedVersion { .. } | Error::Callbacks { .. } => ErrorCode::Unimplemented,
            Error::Donated { .. } | Error::Deleted { .. } | Error::InUse { .. } => {
                ErrorCode::FailedPrecondition
            }
            Error::HostMemory { .. } => ErrorCode::ResourceExhausted,
            _ => ErrorCode::InvalidArgument,
        }
    }

    /// Returns the plugin's message, or this error's own message.
    pub fn message(&self) -> String {
        match self {
            Error::Plugin { message, .. } => message.clone(),
            other => other.to_string(),
        }
    }

    /// Removes the prefixes that the plugin adds to the message of a failed program, one for each
    /// program that depends on it. If a program ran out of memory, explains what happened to its
    /// arguments.
    pub(crate) fn without_layers(self) -> Error {
        const LAYERS: [&str; 3] = [
            "Buffer Definition Event: ",
            "Error dispatching computation: ",
            "Error preparing computation: ",
        ];
        let Error::Plugin {
            mut code,
            message,
            context,
        } = self
        else {
            return self;
        };
        let mut inner = message.as_str();
        while let Some(rest) = LAYERS.iter().find_map(|layer| inner.strip_prefix(layer)) {
            inner = rest;
        }
        let mut message = inner.to_string();
        if inner.starts_with("Out of memory") {
            code = ErrorCode::ResourceExhausted;
            message.push_str(
                " While the program ran, it owned the arrays that were donated to it, such as a state \
                 passed by `&mut`: they are lost, and so is everything computed from its results\n  help: \
                 restore the state from a checkpoint, and use smaller arrays or batches",
            );
        }
        Error::Plugin {
            code,
            message,
            context,
        }
    }

    /// Sets the step that failed in a plugin error. Other errors already contain it.
    pub(crate) fn during(self, step: impl fmt::Display) -> Error {
        match self {
            Error::Plugin { code, message, .. } => Error::Plugin {
                code,
                message,
                context: step.to_string(),
            },
            other => other,
        }
    }
}

/// The kinds of failure that a plugin reports. The numbers are those of the ABI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum ErrorCode {
    Cancelled = 1,
    Unknown = 2,
    InvalidArgument = 3,
    DeadlineExceeded = 4,
    NotFound = 5,
    AlreadyExists = 6,
    PermissionDenied = 7,
    ResourceExhausted = 8,
    FailedPrecondition = 9,
    Aborted = 10,
    OutOfRange = 11,
    Unimplemented = 12,
    Internal = 13,
    Unavailable = 14,
    DataLoss = 15,
    Unauthenticated = 16,
}

impl ErrorCode {
    /// Returns the code with this number, or `Unknown` for numbers outside the ABI.
    pub fn from_raw(code: i32) -> ErrorCode {
        use ErrorCode::*;
        const ALL: [ErrorCode; 16] = [
            Cancelled,
            Unknown,
            InvalidArgument,
            DeadlineExceeded,
            NotFound,
            AlreadyExists,
            PermissionDenied,
            ResourceExhausted,
            FailedPrecondition,
            Aborted,
            OutOfRange,
            Unimplemented,
            Internal,
            Unavailable,
            DataLoss,
            Unauthenticated,
        ];
        usize::try_from(code - 1)
            .ok()
            .and_then(|i| ALL.get(i).copied())
            .unwrap_or(Unknown)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ErrorCode::*;
        f.write_str(match self {
            Cancelled => "cancelled",
            Unknown => "unknown",
            InvalidArgument => "invalid argument",
            DeadlineExceeded => "deadline exceeded",
            NotFound => "not found",
            AlreadyExists => "already exists",
            PermissionDenied => "permission denied",
            ResourceExhausted => "resource exhausted",
            FailedPrecondition => "failed precondition",
            Aborted => "aborted",
            OutOfRange => "out of range",
            Unimplemented => "unimplemented",
            Internal => "internal",
            Unavailable => "unavailable",
            DataLoss => "data loss",
            Unauthenticated => "unauthenticated",
        })
    }
}

impl Api {
    /// Calls the function that takes `T`.
    ///
    /// # Errors
    /// Returns the plugin's error, or `Unimplemented` if the plugin's function table ends before
    /// the function.
    ///
    /// # Safety
    /// The fields of `args` must satisfy the function's contract.
    #[inline]
    pub(crate) unsafe fn call<T: Arguments>(self, args: &mut Padded<T>) -> Result<()> {
        match self.function::<T>() {
            // SAFETY: the slot contains the function that takes `T`; the caller guarantees the
            // validity of the fields.
            Some(function) => match unsafe { function(args) } {
                error if error.is_null() => Ok(()),
                // SAFETY: a non-null result is an error that is now ours.
                error => Err(unsafe { self.take_error(error, T::NAME) }),
            },
            None => Err(missing(self, T::NAME)),
        }
    }

    /// Converts the plugin's error and frees it.
    ///
    /// # Safety
    /// `error` must be a live error of this plugin that nothing else frees.
    #[cold]
    pub(crate) unsafe fn take_error(self, error: *mut RawError, context: &str) -> Error {
        let mut text = sys::zeroed::<sys::ErrorMessage>();
        text.error = error;
        let mut message = String::new();
        if let Some(function) = self.function::<sys::ErrorMessage>() {
            // SAFETY: `error` is live. The function returns nothing, and its result register is
            // not read.
            unsafe { function(&mut text) };
            // SAFETY: the string lives as long as the error.
            message = unsafe { owned_string(text.message.cast(), text.message_size) };
        }
        let mut kind = sys::zeroed::<sys::ErrorGetCode>();
        kind.error = error;
        kind.code = ErrorCode::Unknown as i32;
        if let Some(function) = self.function::<sys::ErrorGetCode>() {
            // SAFETY: `error` is live. An error while reading an error is ignored.
            unsafe { function(&mut kind) };
        }
        let mut destroy = sys::zeroed::<sys::ErrorDestroy>();
        destroy.error = error;
        if let Some(function) = self.function::<sys::ErrorDestroy>() {
            // SAFETY: `error` is live and not used after this call.
            unsafe { function(&mut destroy) };
        }
        Error::Plugin {
            code: ErrorCode::from_raw(kind.code),
            message,
            context: context.to_string(),
        }
    }
}

#[cold]
fn missing(api: Api, name: &str) -> Error {
    let (major, minor) = api.version();
    Error::Plugin {
        code: ErrorCode::Unimplemented,
        message: format!("this plugin (PJRT API {major}.{minor}) does not provide this function"),
        context: name.to_string(),
    }
}

/// Copies a string of the plugin.
///
/// # Safety
/// `pointer` must be null or point to `size` readable bytes.
pub(crate) unsafe fn owned_string(pointer: *const u8, size: usize) -> String {
    if pointer.is_null() || size == 0 {
        return String::new();
    }
    // SAFETY: non-null, so readable for `size` bytes.
    String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(pointer, size) }).into_owned()
}

/// Borrows an array of the plugin. A null pointer is an empty array.
///
/// # Safety
/// `pointer` must be null or point to `len` elements that live for `'a`.
pub(crate) unsafe fn borrowed<'a, T>(pointer: *const T, len: usize) -> &'a [T] {
    if pointer.is_null() || len == 0 {
        return &[];
    }
    // SAFETY: non-null, so valid as guaranteed by the caller.
    unsafe { std::slice::from_raw_parts(pointer, len) }
}

/// A number of bytes, formatted in decimal units for messages.
pub(crate) struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 4] = [
            (1_000_000_000_000, "TB"),
            (1_000_000_000, "GB"),
            (1_000_000, "MB"),
            (1_000, "kB"),
        ];
        let unit = UNITS.into_iter().find(|(size, _)| self.0 >= *size);
        match unit {
            Some((size, name)) => write!(f, "{:.1} {name}", self.0 as f64 / size as f64),
            None => write!(f, "{} bytes", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_units() {
        let text = |bytes| Bytes(bytes).to_string();
        assert_eq!(text(999), "999 bytes");
        assert_eq!(text(259_000_000), "259.0 MB");
        assert_eq!(text(3 << 40), "3.3 TB");
    }

    #[test]
    fn layers_around_a_failure_are_taken_away() {
        let plain = |message: &str| {
            let error = Error::Plugin {
                code: ErrorCode::Internal,
                message: message.into(),
                context: "computing".into(),
            };
            error.without_layers()
        };
        let nested = "Buffer Definition Event: Error dispatching computation: Error dispatching \
                      computation: no such file";
        assert_eq!(plain(nested).message(), "no such file");
        assert_eq!(plain("no: such file").message(), "no: such file");
        let error = plain("Error preparing computation: Out of memory allocating 5 bytes.");
        assert_eq!(error.code(), ErrorCode::ResourceExhausted);
        let text = error.to_string();
        assert!(
            text.starts_with("computing: Out of memory allocating 5 bytes. While"),
            "{text}"
        );
    }
}
