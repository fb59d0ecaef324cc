//! A plugin without devices whose only act is what plugins of several processes do
//! when a client is created: each process publishes a value under its own key and
//! waits for those of the others. It then fails with what it has read as the message.
//!
//! Structs are written down here as the C header has them, so that this is a second
//! opinion on them. A test compiles it to a shared library.

use std::ffi::c_void;

type Word = usize;

#[repr(C)]
pub struct Table {
    struct_size: Word,
    extensions: Word,
    version_size: Word,
    version_extensions: Word,
    major: i32,
    minor: i32,
    slots: [Option<extern "C" fn(*mut c_void) -> *mut Failure>; 11],
}

pub struct Failure {
    code: i32,
    text: String,
}

#[repr(C)]
struct ErrorDestroy {
    start: [Word; 2],
    error: *mut Failure,
}

#[repr(C)]
struct ErrorMessage {
    start: [Word; 2],
    error: *const Failure,
    text: *const u8,
    size: Word,
}

#[repr(C)]
struct ErrorGetCode {
    start: [Word; 2],
    error: *const Failure,
    code: i32,
}

#[repr(C)]
struct NamedValue {
    start: [Word; 2],
    name: *const u8,
    name_size: Word,
    kind: i32,
    value: i64,
    value_size: Word,
}

type CallbackError = extern "C" fn(i32, *const u8, Word) -> *mut Failure;

#[repr(C)]
struct Get {
    start: [Word; 2],
    key: *const u8,
    key_size: Word,
    timeout_in_ms: i32,
    callback_error: *const CallbackError,
    user: *mut c_void,
    value: *mut u8,
    value_size: Word,
    deleter: Option<extern "C" fn(*mut u8)>,
}

#[repr(C)]
struct TryGet {
    start: [Word; 2],
    key: *const u8,
    key_size: Word,
    callback_error: *const CallbackError,
    user: *mut c_void,
    value: *mut u8,
    value_size: Word,
    deleter: Option<extern "C" fn(*mut u8)>,
}

#[repr(C)]
struct Put {
    start: [Word; 2],
    key: *const u8,
    key_size: Word,
    value: *const u8,
    value_size: Word,
    callback_error: *const CallbackError,
    user: *mut c_void,
}

#[repr(C)]
struct ClientCreate {
    start: [Word; 2],
    options: *const NamedValue,
    num_options: Word,
    get: Option<extern "C" fn(*mut Get) -> *mut Failure>,
    get_user: *mut c_void,
    put: Option<extern "C" fn(*mut Put) -> *mut Failure>,
    put_user: *mut c_void,
    client: *mut c_void,
    try_get: Option<extern "C" fn(*mut TryGet) -> *mut Failure>,
    try_get_user: *mut c_void,
}

extern "C" fn make_error(code: i32, text: *const u8, size: Word) -> *mut Failure {
    let text = unsafe { std::slice::from_raw_parts(text, size) };
    let text = String::from_utf8_lossy(text).into_owned();
    Box::into_raw(Box::new(Failure { code, text }))
}

static MAKE_ERROR: CallbackError = make_error;

extern "C" fn destroy(args: *mut c_void) -> *mut Failure {
    drop(unsafe { Box::from_raw((*args.cast::<ErrorDestroy>()).error) });
    std::ptr::null_mut()
}

extern "C" fn message(args: *mut c_void) -> *mut Failure {
    let args = unsafe { &mut *args.cast::<ErrorMessage>() };
    let text = unsafe { &(*args.error).text };
    (args.text, args.size) = (text.as_ptr(), text.len());
    std::ptr::null_mut()
}

extern "C" fn code(args: *mut c_void) -> *mut Failure {
    let args = unsafe { &mut *args.cast::<ErrorGetCode>() };
    args.code = unsafe { (*args.error).code };
    std::ptr::null_mut()
}

extern "C" fn initialize(_: *mut c_void) -> *mut Failure {
    std::ptr::null_mut()
}

fn owned(text: *const u8, size: Word) -> String {
    let text = unsafe { std::slice::from_raw_parts(text, size) };
    String::from_utf8_lossy(text).into_owned()
}

extern "C" fn create(args: *mut c_void) -> *mut Failure {
    let args = unsafe { &*args.cast::<ClientCreate>() };
    match exchange(args) {
        Ok(text) => make_error(9, text.as_ptr(), text.len()),
        Err(error) => error,
    }
}

fn exchange(args: &ClientCreate) -> Result<String, *mut Failure> {
    let (Some(get), Some(put), Some(try_get)) = (args.get, args.put, args.try_get) else {
        return Ok("one process, no store".into());
    };
    let option = |wanted: &str| {
        (0..args.num_options).find_map(|i| {
            let option = unsafe { &*args.options.add(i) };
            (owned(option.name, option.name_size) == wanted).then_some(option.value)
        })
    };
    let node = option("node_id").expect("the option node_id");
    let nodes = option("num_nodes").expect("the option num_nodes");
    let start = |bytes| [bytes, 0];
    let outcome = |error: *mut Failure| if error.is_null() { Ok(()) } else { Err(error) };

    let (key, value) = (format!("topology:{node}"), format!("devices of {node}"));
    outcome(put(&mut Put {
        start: start(64),
        key: key.as_ptr(),
        key_size: key.len(),
        value: value.as_ptr(),
        value_size: value.len(),
        callback_error: &MAKE_ERROR,
        user: args.put_user,
    }))?;
    let mut read = Vec::new();
    for other in 0..nodes {
        let key = format!("topology:{other}");
        let mut call = Get {
            start: start(80),
            key: key.as_ptr(),
            key_size: key.len(),
            timeout_in_ms: 5_000,
            callback_error: &MAKE_ERROR,
            user: args.get_user,
            value: std::ptr::null_mut(),
            value_size: 0,
            deleter: None,
        };
        outcome(get(&mut call))?;
        read.push(owned(call.value, call.value_size));
        call.deleter.expect("a deleter")(call.value);
    }
    let absent = try_get(&mut TryGet {
        start: start(72),
        key: "nothing".as_ptr(),
        key_size: 7,
        callback_error: &MAKE_ERROR,
        user: args.try_get_user,
        value: std::ptr::null_mut(),
        value_size: 0,
        deleter: None,
    });
    let absent = unsafe { Box::from_raw(absent) };
    Ok(format!(
        "node {node} of {nodes} has read: {}; nothing: {}",
        read.join(", "),
        absent.code
    ))
}

static TABLE: Table = Table {
    struct_size: size_of::<Table>(),
    extensions: 0,
    version_size: 24,
    version_extensions: 0,
    major: 0,
    minor: 81,
    slots: [
        Some(destroy),
        Some(message),
        Some(code),
        Some(initialize),
        None,
        None,
        None,
        None,
        None,
        None,
        Some(create),
    ],
};

#[unsafe(no_mangle)]
pub extern "C" fn GetPjrtApi() -> &'static Table {
    &TABLE
}
