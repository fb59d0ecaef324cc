//! XLA's CPU plugin, the file in the variable `REAL_PLUGIN`, with two differences: its client calls itself `ROCM`, and
//! it has no arrays of `f64`. A test compiles it to a shared library.

use std::ffi::{CStr, CString, c_char, c_int, c_void};

type Word = usize;
type Function = extern "C" fn(*mut c_void) -> *mut c_void;

/// Number of words of the table that are copied: more than any plugin has.
const WORDS: usize = 512;
const NAME: &CStr = c"ROCM";
const REFUSAL: &CStr = c"no support for F64";
const F64: i32 = 12;
/// Numbers of functions in the table.
const ERROR_DESTROY: usize = 0;
const ERROR_MESSAGE: usize = 1;
const ERROR_CODE: usize = 2;
const PLATFORM_NAME: usize = 12;
const BUFFER_FROM_HOST: usize = 22;

static mut REAL: [Word; WORDS] = [0; WORDS];
static mut TABLE: [Word; WORDS] = [0; WORDS];

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Position of a function in the table, after its size, its extensions and its version.
const fn position(function: usize) -> usize {
    5 + function
}

fn real(function: usize, args: *mut c_void) -> *mut c_void {
    let function: Function = unsafe { std::mem::transmute(REAL[position(function)]) };
    function(args)
}

fn word(args: *mut c_void, at: usize) -> *mut Word {
    unsafe { args.cast::<Word>().add(at) }
}

fn text(args: *mut c_void, at: usize, text: &'static CStr) {
    unsafe {
        *word(args, at) = text.as_ptr() as Word;
        *word(args, at + 1) = text.count_bytes();
    }
}

fn is_refusal(args: *mut c_void) -> bool {
    unsafe { *word(args, 2) == REFUSAL.as_ptr() as Word }
}

extern "C" fn destroy(args: *mut c_void) -> *mut c_void {
    match is_refusal(args) {
        true => std::ptr::null_mut(),
        false => real(ERROR_DESTROY, args),
    }
}

extern "C" fn message(args: *mut c_void) -> *mut c_void {
    if !is_refusal(args) {
        return real(ERROR_MESSAGE, args);
    }
    text(args, 3, REFUSAL);
    std::ptr::null_mut()
}

extern "C" fn code(args: *mut c_void) -> *mut c_void {
    if !is_refusal(args) {
        return real(ERROR_CODE, args);
    }
    // Internal.
    unsafe { *word(args, 3).cast::<i32>() = 13 };
    std::ptr::null_mut()
}

extern "C" fn platform_name(args: *mut c_void) -> *mut c_void {
    text(args, 3, NAME);
    std::ptr::null_mut()
}

extern "C" fn buffer_from_host(args: *mut c_void) -> *mut c_void {
    match unsafe { *word(args, 4).cast::<i32>() } {
        F64 => REFUSAL.as_ptr() as *mut c_void,
        _ => real(BUFFER_FROM_HOST, args),
    }
}

#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub extern "C" fn GetPjrtApi() -> *const Word {
    let path = CString::new(std::env::var("REAL_PLUGIN").unwrap()).unwrap();
    unsafe {
        let library = dlopen(path.as_ptr(), 2);
        assert!(!library.is_null());
        let get: extern "C" fn() -> *const Word = std::mem::transmute(dlsym(library, c"GetPjrtApi".as_ptr()));
        let table = get();
        for i in 0..*table / size_of::<Word>() {
            REAL[i] = *table.add(i);
            TABLE[i] = REAL[i];
        }
        let replaced: [(usize, Function); 5] = [
            (ERROR_DESTROY, destroy),
            (ERROR_MESSAGE, message),
            (ERROR_CODE, code),
            (PLATFORM_NAME, platform_name),
            (BUFFER_FROM_HOST, buffer_from_host),
        ];
        for (slot, function) in replaced {
            TABLE[position(slot)] = function as Word;
        }
        &raw const TABLE as *const Word
    }
}
