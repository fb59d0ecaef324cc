//! Functions of this process that compiled programs can call.
//!
//! XLA calls a plain C function. Ramie has a single one, named [`TARGET`], which is registered with a
//! plugin on first use. An attribute of each call identifies the callback. A call in StableHLO is
//!
//! ```text
//! stablehlo.custom_call @ramie_callback(%x) {api_version = 4 : i32,
//!   has_side_effect = true, backend_config = {id = 7 : i64}} : (tensor<4xf32>) -> ()
//! ```

use crate::client::Client;
use crate::element_type::ElementType;
use crate::error::{Error, ErrorCode, Result, borrowed};
use crate::host_calls::{self, enter, recorded};
use crate::registry::{self, BufferMut, BufferView, TARGET};
use crate::sys::ffi::*;
use std::ffi::CString;
use std::ptr::null_mut;
use std::sync::Arc;

/// A function that programs call by its [`id`](Callback::id).
///
/// The function can be called as long as this handle lives, and by executions that were launched
/// before the handle was dropped. It is called on any thread, possibly on several at the same
/// time. It must not wait for other executions, because it may be occupying the thread that they
/// need.
pub struct Callback {
    id: i64,
    client: Client,
}

impl Callback {
    /// The name of the custom call.
    pub const TARGET: &'static str = TARGET;

    /// Registers a function that programs of this client can call.
    ///
    /// The function receives the operands and fills in the results. If it returns an error or
    /// panics, the execution that calls it fails.
    ///
    /// # Errors
    /// Returns an error if programs of this client cannot call functions of the process: its
    /// devices do not compute in host memory, or the plugin has no FFI extension.
    ///
    /// ```no_run
    /// # use ramie_pjrt::{Callback, Client};
    /// # fn example(client: Client) -> ramie_pjrt::Result<()> {
    /// let negate = Callback::new(client, |args, results| {
    ///     for (y, x) in results[0].bytes.chunks_exact_mut(4).zip(args[0].bytes.chunks_exact(4)) {
    ///         let x = f32::from_ne_bytes([x[0], x[1], x[2], x[3]]);
    ///         y.copy_from_slice(&(-x).to_ne_bytes());
    ///     }
    ///     Ok(())
    /// })?;
    /// let id = negate.id();
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(
        client: Client,
        function: impl Fn(&[BufferView<'_>], &mut [BufferMut<'_>]) -> std::result::Result<(), String>
        + Send
        + Sync
        + 'static,
    ) -> Result<Callback> {
        client.enable_callbacks()?;
        let id = registry::add(Arc::new(function), &client.0.under_way);
        Ok(Callback { id, client })
    }

    /// Checks that programs of this client can call functions of the process.
    ///
    /// # Errors
    /// Returns an error with the reason if they cannot.
    pub fn check(client: Client) -> Result<()> {
        client.enable_callbacks()
    }

    /// Returns the value of the attribute `id` for calls. It is unique within the process.
    pub fn id(&self) -> i64 {
        self.id
    }

    /// Returns `true` if this thread is running a callback.
    #[inline]
    pub fn is_running() -> bool {
        host_calls::is_running()
    }

    /// Runs `f` as if a program called it: [`is_running`](Callback::is_running) returns `true`
    /// meanwhile.
    pub fn enter<R>(f: impl FnOnce() -> R) -> R {
        enter(f)
    }

    /// Takes the messages of the callbacks that have failed since the last call, except those
    /// already reported by an error of the execution.
    pub fn take_failures() -> Vec<String> {
        host_calls::take_failures()
    }
}

impl Drop for Callback {
    fn drop(&mut self) {
        registry::retire(self.id, &self.client.0.under_way);
    }
}

impl std::fmt::Debug for Callback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Callback({})", self.id)
    }
}

impl Client {
    /// Registers the C function with the plugin, once.
    fn enable_callbacks(self) -> Result<()> {
        self.0
            .callbacks
            .get_or_init(|| self.register_callbacks())
            .clone()
    }

    fn register_callbacks(self) -> Result<()> {
        if self.plugin().is_linked() {
            // It finds the functions by itself.
            return Ok(());
        }
        let refuse = |why: &str| {
            Err(Error::Callbacks {
                platform: self.platform_name().to_string(),
                reason: why.to_string(),
            })
        };
        if !self.0.is_cpu {
            return refuse("its arrays are not in host memory");
        }
        let Some(extension) = self.0.api.extension::<FfiExtension>(FFI_EXTENSION) else {
            return refuse("the plugin has no FFI extension");
        };
        // SAFETY: an extension of this type and size is an `FfiExtension`.
        let register = unsafe { extension.as_ref() }.register_handler;
        let Some(register) = register else {
            return refuse("the plugin's FFI extension registers no handlers");
        };
        let platform = "Host";
        let mut args = RegisterHandler {
            struct_size: size_of::<RegisterHandler>(),
            target_name: TARGET.as_ptr().cast(),
            target_name_size: TARGET.len(),
            handler,
            platform_name: platform.as_ptr().cast(),
            platform_name_size: platform.len(),
            traits: 0,
        };
        // SAFETY: the strings are passed with their lengths, and the handler is a function.
        let error = unsafe { register(&mut args) };
        if error.is_null() {
            return Ok(());
        }
        // SAFETY: a non-null result is an error that is now ours.
        let error = unsafe { self.0.api.take_error(error, "registering callbacks") };
        // Another client of the same plugin has registered the function.
        if error.code() == ErrorCode::AlreadyExists {
            return Ok(());
        }
        Err(error)
    }
}

/// The function that XLA calls.
///
/// # Safety
/// `frame` must be a call of the plugin, live until this function returns.
unsafe extern "C" fn handler(frame: *mut CallFrame) -> *mut FfiError {
    // SAFETY: guaranteed by the caller.
    let frame = unsafe { &*frame };
    // SAFETY: as above; XLA queries the version with an extension of the frame.
    if unsafe { answer_probe(frame) } || frame.stage != EXECUTE {
        return null_mut();
    }
    // SAFETY: as above. A panic must not unwind into the plugin.
    match recorded(|| unsafe { dispatch(frame) }) {
        Ok(()) => null_mut(),
        // SAFETY: the frame's function table is the plugin's.
        Err(message) => unsafe { fail(frame, &message) },
    }
}

/// Answers XLA's query for the API version of this handler with the plugin's own version.
///
/// # Safety
/// `frame` must be a call of the plugin.
unsafe fn answer_probe(frame: &CallFrame) -> bool {
    let extension = frame.header.extension_start;
    // SAFETY: a non-null extension is live.
    if extension.is_null() || unsafe { (*extension).kind } != METADATA {
        return false;
    }
    // SAFETY: an extension of this type is a `MetadataExtension`. Its target and the function
    // table are live, and the fields written exist in every version of the struct.
    unsafe {
        let metadata = (*extension.cast::<MetadataExtension>()).metadata;
        let version = &(*frame.api).version;
        (*metadata).api_version.major = version.major;
        (*metadata).api_version.minor = version.minor;
        (*metadata).traits = 0;
    }
    true
}

/// Finds the callback and runs it.
///
/// # Safety
/// `frame` must be a call of the plugin in the execution stage.
unsafe fn dispatch(frame: &CallFrame) -> std::result::Result<(), String> {
    // SAFETY: guaranteed by the caller.
    let id = unsafe { attribute(&frame.attributes, "id") }
        .ok_or("a call of `ramie_callback` lacks the attribute `id`")?;
    let function = registry::find(id)?;
    // SAFETY: until we return, operands are readable, and results are writable by us alone.
    let (args, mut results) = unsafe {
        let args: Vec<BufferView<'_>> = buffers(&frame.args)?
            .map(|b| {
                let (element_type, dims, len) = b.layout()?;
                let bytes = borrowed(b.data.cast_const().cast(), len);
                Ok(BufferView {
                    element_type,
                    dims,
                    bytes,
                })
            })
            .collect::<std::result::Result<_, String>>()?;
        let results: Vec<BufferMut<'_>> = buffers(&frame.results)?
            .map(|b| {
                let (element_type, dims, len) = b.layout()?;
                let bytes = if len == 0 {
                    &mut []
                } else {
                    std::slice::from_raw_parts_mut(b.data.cast(), len)
                };
                Ok(BufferMut {
                    element_type,
                    dims,
                    bytes,
                })
            })
            .collect::<std::result::Result<_, String>>()?;
        (args, results)
    };
    enter(|| function(&args, &mut results))
}

/// Returns the integer attribute of this name.
///
/// # Safety
/// `attributes` must be part of a live call.
pub(crate) unsafe fn attribute(attributes: &Attributes, name: &str) -> Option<i64> {
    let size = usize::try_from(attributes.size).ok()?;
    // SAFETY: there are three lists of `size` entries, and strings have a length. An attribute of
    // the kind `SCALAR` is an `FfiScalar`, whose value has the size given by its type.
    unsafe {
        let names = borrowed(attributes.names, size);
        let at = names.iter().position(|span| {
            let span = &**span;
            borrowed(span.start, span.len) == name.as_bytes()
        })?;
        if borrowed(attributes.types, size)[at] != kind::SCALAR {
            return None;
        }
        let scalar = &*borrowed(attributes.values, size)[at].cast::<FfiScalar>();
        (element_type(scalar.dtype)? == ElementType::S64)
            .then(|| scalar.value.cast::<i64>().read_unaligned())
    }
}

/// Returns the operands or results.
///
/// # Safety
/// `values` must be part of a live call.
pub(crate) unsafe fn buffers(
    values: &Values,
) -> std::result::Result<impl Iterator<Item = &FfiBuffer>, String> {
    let size = usize::try_from(values.size).unwrap_or(0);
    // SAFETY: there are two lists of `size` entries.
    let (types, list) = unsafe { (borrowed(values.types, size), borrowed(values.values, size)) };
    if types.iter().any(|&t| t != kind::BUFFER) {
        return Err("operands and results of a callback must be arrays".into());
    }
    // SAFETY: a value of the kind `BUFFER` is a live `FfiBuffer`.
    Ok(list.iter().map(|&buffer| unsafe { &*buffer }))
}

impl FfiBuffer {
    /// Returns the element type, the dimensions and the number of bytes.
    pub(crate) fn layout(&self) -> std::result::Result<(ElementType, &[i64], usize), String> {
        let ty = element_type(self.dtype)
            .filter(|ty| ty.is_whole_bytes())
            .ok_or_else(|| {
                format!(
                    "callbacks do not support the element type with the number {}",
                    self.dtype
                )
            })?;
        let rank = usize::try_from(self.rank).unwrap_or(0);
        // SAFETY: a live buffer has `rank` dimensions.
        let dims: &[i64] = unsafe { borrowed(self.dims, rank) };
        let elements: i64 = dims.iter().product();
        Ok((ty, dims, elements as usize * ty.byte_size()))
    }
}

/// Returns the element type with this number in the FFI. The numbers are those of XLA's own
/// formats, which differ from those of PJRT.
fn element_type(code: u32) -> Option<ElementType> {
    use ElementType::*;
    Some(match code {
        1 => Pred,
        2 => S8,
        3 => S16,
        4 => S32,
        5 => S64,
        6 => U8,
        7 => U16,
        8 => U32,
        9 => U64,
        10 => F16,
        11 => F32,
        12 => F64,
        15 => C64,
        16 => Bf16,
        18 => C128,
        19 => F8E5M2,
        20 => F8E4M3Fn,
        21 => S4,
        22 => U4,
        23 => F8E4M3B11Fnuz,
        24 => F8E5M2Fnuz,
        25 => F8E4M3Fnuz,
        26 => S2,
        27 => U2,
        28 => F8E4M3,
        29 => F8E3M4,
        32 => F4E2M1Fn,
        33 => F8E8M0Fnu,
        _ => return None,
    })
}

/// Creates an error that the plugin owns.
///
/// # Safety
/// `frame` must be a call of the plugin.
unsafe fn fail(frame: &CallFrame, message: &str) -> *mut FfiError {
    let text: Vec<u8> = message.bytes().filter(|&b| b != 0).collect();
    let text = CString::new(text).unwrap_or_default();
    let mut args = ErrorCreate {
        header: FfiHeader {
            struct_size: size_of::<ErrorCreate>(),
            extension_start: null_mut(),
        },
        message: text.as_ptr(),
        code: INTERNAL,
    };
    // SAFETY: the function table lives as long as the plugin; the call copies the message.
    unsafe {
        match (*frame.api).error_create {
            Some(create) => create(&mut args),
            None => null_mut(),
        }
    }
}
