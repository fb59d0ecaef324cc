//! A plugin's own profiler, which records device activity as an `XSpace` message of XProf.

use crate::Plugin;
use crate::error::{Error, ErrorCode, Result, borrowed, owned_string};
use crate::sys::profiler::*;
use ramie_formats::proto::Writer;
use std::fmt;
use std::ptr::{NonNull, null, null_mut};

/// A running profile.
pub struct Profiler {
    api: Table,
    raw: NonNull<RawProfiler>,
    running: bool,
}

// SAFETY: a profiler may be used from any thread, but only from one at a time.
unsafe impl Send for Profiler {}

/// The plugin's functions, which live forever.
#[derive(Clone, Copy)]
struct Table(&'static ProfilerApi);

/// Returns the options: version 1, tracing of host and devices, and the programs that ran.
fn options() -> Vec<u8> {
    let mut options = Writer::default();
    for (field, value) in [(5, 1), (2, 2), (3, 1), (7, 1)] {
        options.int(field, value);
    }
    options.0
}

impl Plugin {
    /// Starts the plugin's profiler. Returns `None` if the plugin has no profiler.
    ///
    /// # Errors
    /// Returns the plugin's error, for example if a profiler is already running.
    pub fn start_profiler(&self) -> Result<Option<Profiler>> {
        let extension = self
            .api()
            .extension::<ProfilerExtension>(PROFILER_EXTENSION);
        let Some(extension) = extension else {
            return Ok(None);
        };
        // SAFETY: an extension of this type and size is a `ProfilerExtension`, and its table, if
        // any, is constant data of the plugin.
        let api = unsafe { extension.as_ref().api.as_ref() };
        api.map(|api| Profiler::start(Table(api))).transpose()
    }
}

impl Profiler {
    fn start(api: Table) -> Result<Profiler> {
        let options = options();
        let mut args = ProfilerCreate {
            struct_size: size_of::<ProfilerCreate>(),
            options: options.as_ptr(),
            options_size: options.len(),
            profiler: null_mut(),
        };
        // SAFETY: the options outlive the call.
        unsafe { api.call(api.0.create, &mut args, "creating a profiler") }?;
        let raw = NonNull::new(args.profiler).ok_or_else(|| Error::Plugin {
            code: ErrorCode::Internal,
            message: "the plugin created no profiler".into(),
            context: "creating a profiler".into(),
        })?;
        let mut profiler = Profiler {
            api,
            raw,
            running: false,
        };
        profiler.simple(api.0.start, "starting the profiler")?;
        profiler.running = true;
        Ok(profiler)
    }

    fn simple(
        &self,
        function: Option<unsafe extern "C" fn(*mut ProfilerCall) -> *mut ProfilerError>,
        step: &str,
    ) -> Result<()> {
        let mut args = ProfilerCall {
            struct_size: size_of::<ProfilerCall>(),
            profiler: self.raw.as_ptr(),
        };
        // SAFETY: the profiler is live.
        unsafe { self.api.call(function, &mut args, step) }
    }

    /// Stops the profiler and returns the serialized `XSpace`.
    ///
    /// # Errors
    /// Returns the plugin's error.
    pub fn stop(mut self) -> Result<Vec<u8>> {
        self.running = false;
        self.simple(self.api.0.stop, "stopping the profiler")?;
        let mut args = ProfilerCollect {
            struct_size: size_of::<ProfilerCollect>(),
            profiler: self.raw.as_ptr(),
            buffer: null_mut(),
            buffer_size: 0,
        };
        let step = "collecting the profile";
        // SAFETY: the profiler is live; without a buffer, the call returns the size.
        unsafe { self.api.call(self.api.0.collect_data, &mut args, step) }?;
        if !args.buffer.is_null() {
            // SAFETY: the plugin returned its own buffer, which lives as long as the profiler.
            return Ok(unsafe { borrowed(args.buffer, args.buffer_size) }.to_vec());
        }
        let mut bytes = vec![0; args.buffer_size];
        args.buffer = bytes.as_mut_ptr();
        // SAFETY: the buffer has the size that the plugin requested.
        unsafe { self.api.call(self.api.0.collect_data, &mut args, step) }?;
        Ok(bytes)
    }
}

impl fmt::Debug for Profiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Profiler(running: {})", self.running)
    }
}

impl Drop for Profiler {
    fn drop(&mut self) {
        // Errors here cannot be handled.
        if self.running {
            let _ = self.simple(self.api.0.stop, "stopping the profiler");
        }
        let _ = self.simple(self.api.0.destroy, "destroying the profiler");
    }
}

impl Table {
    /// Calls a function of the table.
    ///
    /// # Safety
    /// The fields of `args` must satisfy the function's contract.
    unsafe fn call<T>(
        self,
        function: Option<unsafe extern "C" fn(*mut T) -> *mut ProfilerError>,
        args: &mut T,
        step: &str,
    ) -> Result<()> {
        let fail = |message: String| Error::Plugin {
            code: ErrorCode::Unknown,
            message,
            context: step.to_string(),
        };
        let Some(function) = function else {
            return Err(fail("the plugin's profiler lacks the function".into()));
        };
        // SAFETY: guaranteed by the caller.
        let error = unsafe { function(args) };
        if error.is_null() {
            return Ok(());
        }
        let mut text = ErrorText {
            struct_size: size_of::<ErrorText>(),
            private: null(),
            error,
            message: null(),
            message_size: 0,
        };
        let mut message = String::new();
        if let Some(read) = self.0.error_message {
            // SAFETY: the error is live, and its message lives as long.
            message = unsafe {
                read(&mut text);
                owned_string(text.message.cast(), text.message_size)
            };
        }
        let mut destroy = ErrorCall {
            struct_size: size_of::<ErrorCall>(),
            private: null(),
            error,
        };
        if let Some(free) = self.0.error_destroy {
            // SAFETY: the error is ours and not used again.
            unsafe { free(&mut destroy) };
        }
        Err(fail(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    static CALLS: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    static SPACE: &[u8] = b"an XSpace";
    static REASON: &str = "another profiler is running";

    fn note(call: &'static str) -> *mut ProfilerError {
        CALLS.lock().unwrap().push(call);
        null_mut()
    }

    unsafe extern "C" fn create(args: *mut ProfilerCreate) -> *mut ProfilerError {
        // SAFETY: arguments created by this test.
        unsafe { (*args).profiler = NonNull::dangling().as_ptr() };
        note("create")
    }
    unsafe extern "C" fn start(_: *mut ProfilerCall) -> *mut ProfilerError {
        note("start")
    }
    unsafe extern "C" fn stop(_: *mut ProfilerCall) -> *mut ProfilerError {
        note("stop")
    }
    unsafe extern "C" fn destroy(_: *mut ProfilerCall) -> *mut ProfilerError {
        note("destroy")
    }
    unsafe extern "C" fn collect(args: *mut ProfilerCollect) -> *mut ProfilerError {
        // SAFETY: arguments created by this test, with space for the requested size.
        unsafe {
            (*args).buffer_size = SPACE.len();
            if !(*args).buffer.is_null() {
                std::ptr::copy_nonoverlapping(SPACE.as_ptr(), (*args).buffer, SPACE.len());
            }
        }
        note("collect")
    }
    unsafe extern "C" fn refuse(_: *mut ProfilerCall) -> *mut ProfilerError {
        note("refuse");
        NonNull::dangling().as_ptr()
    }
    unsafe extern "C" fn message(args: *mut ErrorText) {
        // SAFETY: arguments created by this test.
        unsafe {
            (*args).message = REASON.as_ptr().cast();
            (*args).message_size = REASON.len();
        }
    }
    unsafe extern "C" fn free(_: *mut ErrorCall) {
        note("free");
    }

    fn table() -> ProfilerApi {
        ProfilerApi {
            struct_size: size_of::<ProfilerApi>(),
            private: null(),
            error_destroy: Some(free),
            error_message: Some(message),
            error_get_code: null(),
            create: Some(create),
            destroy: Some(destroy),
            start: Some(start),
            stop: Some(stop),
            collect_data: Some(collect),
        }
    }

    #[test]
    fn a_profile_is_started_stopped_collected_and_destroyed() {
        let api: &'static ProfilerApi = Box::leak(Box::new(table()));
        let profiler = Profiler::start(Table(api)).unwrap();
        assert_eq!(profiler.stop().unwrap(), SPACE);
        let calls = std::mem::take(&mut *CALLS.lock().unwrap());
        assert_eq!(
            calls,
            ["create", "start", "stop", "collect", "collect", "destroy"]
        );

        let refusing: &'static ProfilerApi = Box::leak(Box::new(ProfilerApi {
            start: Some(refuse),
            ..table()
        }));
        let error = Profiler::start(Table(refusing)).unwrap_err();
        assert!(error.to_string().contains(REASON), "{error}");
        let calls = std::mem::take(&mut *CALLS.lock().unwrap());
        assert_eq!(calls, ["create", "refuse", "free", "destroy"]);
    }
}
