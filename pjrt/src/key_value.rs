//! A key-value store that the processes of one program share, as plugins reach it.
//!
//! A plugin that drives devices of several processes publishes through it what the
//! others need to know: the devices of each process, and how to open a channel
//! between them. Elements of arrays never go through it.

use crate::error::{ErrorCode, borrowed};
use crate::sys::key_value::*;
use crate::sys::{ClientCreate, Padded, RawError};
use std::ffi::{c_char, c_void};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::time::Duration;

/// Why a key-value store did not do what it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyValueError {
    /// The kind of failure, which the plugin passes on.
    pub code: ErrorCode,
    /// What happened, in words.
    pub message: String,
}

impl fmt::Display for KeyValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.message, self.code)
    }
}

impl std::error::Error for KeyValueError {}

/// Values that all processes see.
///
/// Plugins call it from any thread, also from several at once.
pub trait KeyValueStore: Send + Sync + 'static {
    /// Waits until some process has put this key, and returns its value.
    ///
    /// # Errors
    /// [`ErrorCode::DeadlineExceeded`] if none has when the time is over; other codes
    /// when the store cannot be reached.
    fn get(&self, key: &str, timeout: Duration) -> Result<Vec<u8>, KeyValueError>;

    /// The value of this key, if it is there.
    ///
    /// # Errors
    /// When the store cannot be reached.
    fn try_get(&self, key: &str) -> Result<Option<Vec<u8>>, KeyValueError>;

    /// Sets a key.
    ///
    /// # Errors
    /// [`ErrorCode::AlreadyExists`] for a key that has a value; other codes when the
    /// store cannot be reached.
    fn put(&self, key: &str, value: &[u8]) -> Result<(), KeyValueError>;
}

/// A store behind one word, which is what goes through the plugin.
pub(crate) struct Shared(Box<dyn KeyValueStore>);

/// A store for as long as the process lives.
pub(crate) fn leak(store: impl KeyValueStore) -> &'static Shared {
    Box::leak(Box::new(Shared(Box::new(store))))
}

impl Shared {
    /// Puts the callbacks into the arguments that create a client.
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

/// Answers a plugin that waits for a key.
///
/// # Safety
/// `args` is a call of the plugin to a store of [`Shared::hand_over`].
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

/// Answers a plugin that asks for a key.
///
/// # Safety
/// `args` is a call of the plugin to a store of [`Shared::hand_over`].
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

/// Answers a plugin that sets a key.
///
/// # Safety
/// `args` is a call of the plugin to a store of [`Shared::hand_over`].
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

/// Calls the store with a plugin's key; a panic becomes an error, since it must not
/// unwind into the plugin.
///
/// # Safety
/// `user` is what [`Shared::hand_over`] gave, and `key` is readable for `size` bytes.
unsafe fn with_key<R>(
    user: *mut c_void,
    key: *const c_char,
    size: usize,
    f: impl FnOnce(&dyn KeyValueStore, &str) -> Result<R, KeyValueError>,
) -> Result<R, KeyValueError> {
    // SAFETY: the caller's promise.
    let (store, key) = unsafe { (&*user.cast::<Shared>(), borrowed(key.cast::<u8>(), size)) };
    let key = std::str::from_utf8(key).map_err(|_| KeyValueError {
        code: ErrorCode::InvalidArgument,
        message: format!("the key {key:?} is not text"),
    })?;
    catch_unwind(AssertUnwindSafe(|| f(&*store.0, key))).unwrap_or_else(|_| {
        Err(KeyValueError {
            code: ErrorCode::Internal,
            message: format!("the key-value store panicked at the key `{key}`"),
        })
    })
}

/// Bytes in front of a value that tell its length to [`delete`].
const PREFIX: usize = size_of::<usize>();

/// A copy of a value that the plugin gives back to [`delete`].
fn give(value: &[u8]) -> (*mut c_char, usize) {
    let mut block = Vec::with_capacity(PREFIX + value.len());
    block.extend_from_slice(&value.len().to_ne_bytes());
    block.extend_from_slice(value);
    let block = Box::into_raw(block.into_boxed_slice());
    // SAFETY: the block is longer than the prefix, or as long.
    (
        unsafe { block.cast::<u8>().add(PREFIX) }.cast(),
        value.len(),
    )
}

/// Frees a value.
///
/// # Safety
/// `value` is from [`give`], and not used again.
unsafe extern "C" fn delete(value: *mut c_char) {
    if value.is_null() {
        return;
    }
    // SAFETY: in front of the value lies its length, and both are one boxed slice.
    unsafe {
        let block = value.cast::<u8>().sub(PREFIX);
        let len = block.cast::<usize>().read_unaligned();
        let slice = std::ptr::slice_from_raw_parts_mut(block, PREFIX + len);
        drop(Box::from_raw(slice));
    }
}

/// An error in the plugin's hands.
///
/// # Safety
/// `make` is null or points to the function of a live call.
unsafe fn fail(make: *const MakeError, error: &KeyValueError) -> *mut RawError {
    if make.is_null() {
        return null_mut();
    }
    // SAFETY: the caller's promise; the plugin copies the text.
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

    /// A store of this process alone; the key `panic` panics.
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

    /// What the plugin's function for errors was called with, as the test's error.
    unsafe extern "C" fn make(code: i32, text: *const c_char, size: usize) -> *mut RawError {
        // SAFETY: text goes with its length.
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
            // SAFETY: a call as a plugin makes it.
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
            // SAFETY: a call as a plugin makes it; the value is copied, then deleted.
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
        assert!(code == 3 && text.contains("not text"), "{text}");
    }

    #[test]
    fn a_panic_does_not_unwind_into_the_plugin() {
        let plugin = Plugin::new();
        let (code, text) = plugin.get("panic", 1).unwrap_err();
        assert!(code == 13 && text.contains("panicked"), "{text}");
        assert_eq!(plugin.try_get("panic").unwrap_err().0, 13);
    }
}
