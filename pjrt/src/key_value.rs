//! The key-value store that plugins use to connect the processes of a program.
//!
//! A plugin with devices in several processes publishes there what the others need: the devices
//! of each process, and how to open a connection. Array elements are never stored in it.

use crate::error::{ErrorCode, borrowed};
use crate::sys::key_value::*;
use crate::sys::{ClientCreate, Padded, RawError};
use std::ffi::{c_char, c_void};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::time::Duration;

/// An error of a key-value store.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyValueError {
    /// The kind of failure, which is passed to the plugin.
    pub code: ErrorCode,
    /// A description of the failure.
    pub message: String,
}

ramie_base::debug_is_message!(KeyValueError);

impl fmt::Display for KeyValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.message, self.code)
    }
}

impl std::error::Error for KeyValueError {}

/// A key-value store shared by all processes.
///
/// Plugins call it from any thread, possibly from several at the same time.
pub trait KeyValueStore: Send + Sync + 'static {
    /// Waits until some process has set this key, and returns its value.
    ///
    /// # Errors
    /// Returns [`ErrorCode::DeadlineExceeded`] if no process has set it before the timeout; other
    /// codes if the store cannot be reached.
    fn get(&self, key: &str, timeout: Duration) -> Result<Vec<u8>, KeyValueError>;

    /// Returns the value of this key, if it exists.
    ///
    /// # Errors
    /// Returns an error if the store cannot be reached.
    fn try_get(&self, key: &str) -> Result<Option<Vec<u8>>, KeyValueError>;

    /// Sets the value of a key.
    ///
    /// # Errors
    /// Returns [`ErrorCode::AlreadyExists`] if the key has a value; other codes if the store
    /// cannot be reached.
    fn put(&self, key: &str, value: &[u8]) -> Result<(), KeyValueError>;
}

/// A store behind a thin pointer, which is passed through the plugin.
pub(crate) struct Shared(Box<dyn KeyValueStore>);

/// Leaks a store, so that it lives as long as the process.
pub(crate) fn leak(store: impl KeyValueStore) -> &'static Shared {
    Box::leak(Box::new(Shared(Box::new(store))))
}

impl Shared {
    /// Stores the callbacks in the arguments that create a client.
    pub fn hand_over(&'static self, args: &mut Padded<ClientCreate>) {
        let user = std::ptr::from_ref(self).cast_mut().cast::<c_void>();
        args.kv_get = Some(get);
        args.kv_get_user = user;
        args.kv_put = Some(put);
        args.kv_put_user = user;
        args.kv_try_get = Some(try_get);
        args.kv_try_get_user = user;
    }
}

/// Implements the plugin's blocking `get`.
///
/// # Safety
/// `args` must be a call of the plugin to a store of [`Shared::hand_over`].
unsafe extern "C" fn get(args: *mut KeyValueGet) -> *mut RawError {
    // SAFETY: the arguments are live and ours until we return.
    let args = unsafe { &mut *args };
    let timeout = Duration::from_millis(u64::try_from(args.timeout_in_ms).unwrap_or(0));
    // SAFETY: key and store are those of a live call.
    let found = unsafe { with_key(args.user, args.key, args.key_size, |s, k| s.get(k, timeout)) };
    match found {
        Ok(value) => {
            (args.value, args.value_size) = give(&value);
            args.delete_value = Some(delete);
            null_mut()
        }
        // SAFETY: the function is that of the call.
        Err(error) => unsafe { fail(args.make_error, &error) },
    }
}

/// Implements the plugin's non-blocking `try_get`.
///
/// # Safety
/// `args` must be a call of the plugin to a store of [`Shared::hand_over`].
unsafe extern "C" fn try_get(args: *mut KeyValueTryGet) -> *mut RawError {
    // SAFETY: the arguments are live and ours until we return.
    let args = unsafe { &mut *args };
    // SAFETY: key and store are those of a live call.
    let found = unsafe {
        with_key(args.user, args.key, args.key_size, |store, key| {
            store.try_get(key)?.ok_or_else(|| KeyValueError {
                code: ErrorCode::NotFound,
                message: format!("no process has put the key `{key}`"),
            })
        })
    };
    match found {
        Ok(value) => {
            (args.value, args.value_size) = give(&value);
            args.delete_value = Some(delete);
            null_mut()
        }
        // SAFETY: the function is that of the call.
        Err(error) => unsafe { fail(args.make_error, &error) },
    }
}

/// Implements the plugin's `put`.
///
/// # Safety
/// `args` must be a call of the plugin to a store of [`Shared::hand_over`].
unsafe extern "C" fn put(args: *mut KeyValuePut) -> *mut RawError {
    // SAFETY: the arguments are live until we return.
    let args = unsafe { &*args };
    // SAFETY: key, value and store are those of a live call.
    let done = unsafe {
        let value = borrowed(args.value.cast::<u8>(), args.value_size);
        with_key(args.user, args.key, args.key_size, |store, key| {
            store.put(key, value)
        })
    };
    match done {
        Ok(()) => null_mut(),
        // SAFETY: the function is that of the call.
        Err(error) => unsafe { fail(args.make_error, &error) },
    }
}

/// Calls the store with a plugin's key. A panic is converted to an error, because it must not
/// unwind into the plugin.
///
/// # Safety
/// `user` must be the pointer set by [`Shared::hand_over`], and `key` must be readable for `size`
/// bytes.
unsafe fn with_key<R>(
    user: *mut c_void,
    key: *const c_char,
    size: usize,
    f: impl FnOnce(&dyn KeyValueStore, &str) -> Result<R, KeyValueError>,
) -> Result<R, KeyValueError> {
    // SAFETY: guaranteed by the caller.
    let (store, key) = unsafe { (&*user.cast::<Shared>(), borrowed(key.cast::<u8>(), size)) };
    let key = std::str::from_utf8(key).map_err(|_| KeyValueError {
        code: ErrorCode::InvalidArgument,
        message: format!("the key {key:?} is not UTF-8"),
    })?;
    catch_unwind(AssertUnwindSafe(|| f(&*store.0, key))).unwrap_or_else(|_| {
        Err(KeyValueError {
            code: ErrorCode::Internal,
            message: format!("the key-value store panicked at the key `{key}`"),
        })
    })
}

/// Number of bytes before a value that store its length for [`delete`].
const PREFIX: usize = size_of::<usize>();

/// Copies a value to memory that the plugin frees with [`delete`].
fn give(value: &[u8]) -> (*mut c_char, usize) {
    let mut block = Vec::with_capacity(PREFIX + value.len());
    block.extend_from_slice(&value.len().to_ne_bytes());
    block.extend_from_slice(value);
    let block = Box::into_raw(block.into_boxed_slice());
    // SAFETY: the block is at least as long as the prefix.
    (
        unsafe { block.cast::<u8>().add(PREFIX) }.cast(),
        value.len(),
    )
}

/// Frees a value.
///
/// # Safety
/// `value` must come from [`give`], and must not be used again.
unsafe extern "C" fn delete(value: *mut c_char) {
    if value.is_null() {
        return;
    }
    // SAFETY: the length is stored before the value, and both are one boxed slice.
    unsafe {
        let block = value.cast::<u8>().sub(PREFIX);
        let len = block.cast::<usize>().read_unaligned();
        let slice = std::ptr::slice_from_raw_parts_mut(block, PREFIX + len);
        drop(Box::from_raw(slice));
    }
}

/// Creates an error that the plugin owns.
///
/// # Safety
/// `make` must be null or point to the function of a live call.
unsafe fn fail(make: *const MakeError, error: &KeyValueError) -> *mut RawError {
    if make.is_null() {
        return null_mut();
    }
    // SAFETY: guaranteed by the caller; the plugin copies the message.
    unsafe {
        (*make)(
            error.code as i32,
            error.message.as_ptr().cast(),
            error.message.len(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys;
    use std::collections::HashMap;
    use std::sync::Mutex;

    /// A store of this process alone, which panics at the key `panic`.
    #[derive(Default)]
    struct Local(Mutex<HashMap<String, Vec<u8>>>);

    fn error(code: ErrorCode, message: &str) -> KeyValueError {
        KeyValueError {
            code,
            message: message.into(),
        }
    }

    impl KeyValueStore for Local {
        fn get(&self, key: &str, timeout: Duration) -> Result<Vec<u8>, KeyValueError> {
            let late = || error(ErrorCode::DeadlineExceeded, &format!("late: {timeout:?}"));
            self.try_get(key)?.ok_or_else(late)
        }
        fn try_get(&self, key: &str) -> Result<Option<Vec<u8>>, KeyValueError> {
            assert_ne!(key, "panic");
            Ok(self.0.lock().unwrap().get(key).cloned())
        }
        fn put(&self, key: &str, value: &[u8]) -> Result<(), KeyValueError> {
            let mut values = self.0.lock().unwrap();
            match values.insert(key.into(), value.into()) {
                None => Ok(()),
                Some(_) => Err(error(ErrorCode::AlreadyExists, "there")),
            }
        }
    }

    /// Stands in for the plugin's error function: stores its arguments as the test's error.
    unsafe extern "C" fn make(code: i32, text: *const c_char, size: usize) -> *mut RawError {
        // SAFETY: the string is passed with its length.
        let text = unsafe { crate::error::owned_string(text.cast(), size) };
        Box::into_raw(Box::new((code, text))).cast()
    }

    const MAKE: MakeError = make;

    fn outcome(error: *mut RawError) -> Result<(), (i32, String)> {
        if error.is_null() {
            return Ok(());
        }
        // SAFETY: made by `make`.
        Err(*unsafe { Box::from_raw(error.cast::<(i32, String)>()) })
    }

    struct Plugin(Padded<ClientCreate>);

    impl Plugin {
        fn new() -> Plugin {
            let mut args = sys::zeroed::<ClientCreate>();
            leak(Local::default()).hand_over(&mut args);
            Plugin(args)
        }

        fn put(&self, key: &[u8], value: &[u8]) -> Result<(), (i32, String)> {
            let mut args = KeyValuePut {
                struct_size: size_of::<KeyValuePut>(),
                extension_start: null_mut(),
                key: key.as_ptr().cast(),
                key_size: key.len(),
                value: value.as_ptr().cast(),
                value_size: value.len(),
                make_error: &MAKE,
                user: self.0.kv_put_user,
            };
            // SAFETY: a call like one of a plugin.
            outcome(unsafe { self.0.kv_put.unwrap()(&mut args) })
        }

        fn get(&self, key: &str, timeout_in_ms: i32) -> Result<Vec<u8>, (i32, String)> {
            let mut args = KeyValueGet {
                struct_size: size_of::<KeyValueGet>(),
                extension_start: null_mut(),
                key: key.as_ptr().cast(),
                key_size: key.len(),
                timeout_in_ms,
                make_error: &MAKE,
                user: self.0.kv_get_user,
                value: null_mut(),
                value_size: 0,
                delete_value: None,
            };
            // SAFETY: a call like one of a plugin; the value is copied, then deleted.
            unsafe {
                outcome(self.0.kv_get.unwrap()(&mut args))?;
                let value = borrowed(args.value.cast::<u8>(), args.value_size).to_vec();
                args.delete_value.unwrap()(args.value);
                Ok(value)
            }
        }

        fn try_get(&self, key: &str) -> Result<Vec<u8>, (i32, String)> {
            let mut args = KeyValueTryGet {
                struct_size: size_of::<KeyValueTryGet>(),
                extension_start: null_mut(),
                key: key.as_ptr().cast(),
                key_size: key.len(),
                make_error: &MAKE,
                user: self.0.kv_try_get_user,
                value: null_mut(),
                value_size: 0,
                delete_value: None,
            };
            // SAFETY: as above.
            unsafe {
                outcome(self.0.kv_try_get.unwrap()(&mut args))?;
                let value = borrowed(args.value.cast::<u8>(), args.value_size).to_vec();
                args.delete_value.unwrap()(args.value);
                Ok(value)
            }
        }
    }

    #[test]
    fn a_plugin_puts_and_gets_values_of_any_length() {
        let plugin = Plugin::new();
        for len in [0, 1, 7, 8, 9, 100_000] {
            let value: Vec<u8> = (0..len).map(|i| i as u8).collect();
            let key = format!("topology:{len}");
            plugin.put(key.as_bytes(), &value).unwrap();
            assert_eq!(plugin.get(&key, 10).unwrap(), value);
            assert_eq!(plugin.try_get(&key).unwrap(), value);
        }
    }

    #[test]
    fn errors_reach_the_plugin_with_code_and_text() {
        let plugin = Plugin::new();
        plugin.put(b"k", b"v").unwrap();
        assert_eq!(plugin.put(b"k", b"w"), Err((6, "there".into())));
        assert_eq!(plugin.get("x", 250), Err((4, "late: 250ms".into())));
        assert_eq!(plugin.get("x", -1), Err((4, "late: 0ns".into())));
        let absent = plugin.try_get("x").unwrap_err();
        assert!(absent.0 == 5 && absent.1.contains("`x`"), "{absent:?}");
        let (code, text) = plugin.put(&[0xff], b"").unwrap_err();
        assert!(code == 3 && text.contains("not UTF-8"), "{text}");
    }

    #[test]
    fn a_panic_does_not_unwind_into_the_plugin() {
        let plugin = Plugin::new();
        let (code, text) = plugin.get("panic", 1).unwrap_err();
        assert!(code == 13 && text.contains("panicked"), "{text}");
        assert_eq!(plugin.try_get("panic").unwrap_err().0, 13);
    }
}
