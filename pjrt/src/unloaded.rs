//! Compiled programs that are not loaded on devices.

use crate::buffer_type::BufferType;
use crate::element_type::ElementType;
use crate::error::{Error, ErrorCode, Result, borrowed, owned_string};
use crate::sys::{self, Api, Padded, RawExecutable};
use std::any::Any;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

/// The owner of handles that an executable refers to.
pub(crate) type Owner = dyn Any + Send + Sync;

/// A compiled program that is not loaded on any device. [`Topology::compile`](crate::Topology::compile) creates it for
/// devices that need not be present, and every [`Executable`](crate::Executable) contains one.
pub struct UnloadedExecutable {
    raw: NonNull<RawExecutable>,
    api: Api,
    name: String,
    /// The owner that must outlive the executable: the topology it was compiled for, unless it was compiled
    /// for a client's devices.
    _kept: Option<Arc<Owner>>,
}

// SAFETY: PJRT executables may be queried and destroyed from any thread, and everything else here
// is immutable.
unsafe impl Send for UnloadedExecutable {}
// SAFETY: as above.
unsafe impl Sync for UnloadedExecutable {}

impl UnloadedExecutable {
    /// Takes ownership of a new executable.
    ///
    /// # Safety
    /// `raw` must be a live executable of `api`'s plugin that nothing else destroys.
    pub(crate) unsafe fn take(
        api: Api,
        raw: *mut RawExecutable,
        kept: Option<Arc<Owner>>,
    ) -> Result<UnloadedExecutable> {
        let mut executable = UnloadedExecutable {
            raw: NonNull::new(raw).expect("the inside of an executable is not null"),
            api,
            name: String::new(),
            _kept: kept,
        };
        let mut args = sys::zeroed::<sys::ExecutableName>();
        args.executable = raw;
        // SAFETY: the executable is live, and the string lives as long.
        executable.name = unsafe {
            api.call(&mut args)?;
            owned_string(args.name.cast(), args.name_size)
        };
        Ok(executable)
    }

    pub(crate) fn api(&self) -> Api {
        self.api
    }

    pub(crate) fn raw(&self) -> *mut RawExecutable {
        self.raw.as_ptr()
    }

    /// Returns the name of the program's module.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns bytes from which [`Client::load_executable`](crate::Client::load_executable) loads
    /// an executable, on devices like those that it was compiled for.
    ///
    /// # Errors
    /// Returns the plugin's error.
    pub fn serialize(&self) -> Result<Vec<u8>> {
        let mut args = sys::zeroed::<sys::ExecutableSerialize>();
        args.executable = self.raw();
        // SAFETY: the executable is live.
        unsafe { self.api.call(&mut args) }?;
        // SAFETY: the bytes live until the deleter has run.
        let bytes = unsafe { borrowed(args.bytes, args.bytes_size) }.to_vec();
        if let Some(deleter) = args.deleter {
            // SAFETY: called once, after the last use of the bytes.
            unsafe { deleter(args.serialized) };
        }
        Ok(bytes)
    }

    /// Returns a hash of the compiled program, if the plugin has one.
    ///
    /// # Errors
    /// Returns the plugin's error.
    pub fn fingerprint(&self) -> Result<Option<String>> {
        let mut args = sys::zeroed::<sys::ExecutableFingerprint>();
        args.executable = self.raw();
        // SAFETY: the executable is live.
        match unsafe { self.api.call(&mut args) } {
            Err(error) if error.code() == ErrorCode::Unimplemented => Ok(None),
            // SAFETY: the string lives as long as the executable.
            result => result.map(|()| unsafe {
                Some(owned_string(args.fingerprint.cast(), args.fingerprint_size))
            }),
        }
    }

    /// Returns the types of the outputs on each device.
    pub(crate) fn read_outputs(&self) -> Result<Box<[BufferType]>> {
        let mut types = sys::zeroed::<sys::ExecutableOutputElementTypes>();
        types.executable = self.raw();
        let mut shapes = sys::zeroed::<sys::ExecutableOutputDimensions>();
        shapes.executable = self.raw();
        // SAFETY: the executable is live, and the lists live as long.
        let (types, ranks, mut dims) = unsafe {
            self.api.call(&mut types)?;
            self.api.call(&mut shapes)?;
            let ranks: &[usize] = borrowed(shapes.ranks, shapes.num_outputs);
            let dims: &[i64] = borrowed(shapes.dims, ranks.iter().sum());
            (borrowed(types.types, types.num_types), ranks, dims)
        };
        let mut outputs = Vec::with_capacity(types.len());
        for (&code, &rank) in types.iter().zip(ranks) {
            let element_type = ElementType::from_raw(code).ok_or_else(|| Error::Plugin {
                code: ErrorCode::Unimplemented,
                message: format!(
                    "output {} has the unknown element type {code}",
                    outputs.len()
                ),
                context: "reading the outputs of an executable".into(),
            })?;
            let (shape, rest) = dims.split_at(rank);
            dims = rest;
            outputs.push(BufferType::new(element_type, shape));
        }
        Ok(outputs.into())
    }
}

impl Drop for UnloadedExecutable {
    fn drop(&mut self) {
        let mut args = sys::zeroed::<sys::ExecutableDestroy>();
        args.executable = self.raw();
        // SAFETY: the handle is ours and not used again. An error here cannot be handled.
        let _ = unsafe { self.api.call(&mut args) };
    }
}

impl fmt::Debug for UnloadedExecutable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UnloadedExecutable({})", self.name)
    }
}

/// Passes a StableHLO program, in any form that plugins read, to a call that compiles it. The
/// call runs on a stack that is large enough for the program.
pub(crate) fn with_program<R>(
    program: &[u8],
    call: impl FnOnce(*const Padded<sys::Program>) -> R,
) -> R {
    // The plugin's parser requires a zero byte after the text.
    let text = [program, &[0]].concat();
    let mut code = sys::zeroed::<sys::Program>();
    code.code = text.as_ptr().cast_mut();
    code.code_size = program.len();
    code.format = c"mlir".as_ptr();
    code.format_size = "mlir".len();
    let needed = stack_to_compile(program);
    stacker::maybe_grow(needed, needed, || call(&code))
}

/// Returns the number of bytes of stack that the compiler may need for a program. Its passes
/// recurse into called functions and nested regions.
fn stack_to_compile(program: &[u8]) -> usize {
    const BASE: usize = 1 << 20;
    const PER_LEVEL: usize = 32 << 10;
    let Ok(text) = std::str::from_utf8(program) else {
        // The binary form does not show its nesting depth.
        return BASE + 1000 * PER_LEVEL;
    };
    let (mut depth, mut deepest) = (0usize, 0);
    for byte in text.bytes() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        deepest = deepest.max(depth);
    }
    BASE + (deepest + text.matches("func.func").count()) * PER_LEVEL
}

/// Removes the line that the plugin adds to the compiler's message if the text cannot be parsed.
pub(crate) fn compile_error(error: Error) -> Error {
    match error {
        Error::Plugin { code, message, .. } => Error::Plugin {
            code,
            message: without_parser_noise(&message),
            context: "compiling".into(),
        },
        other => other,
    }
}

fn without_parser_noise(message: &str) -> String {
    let keep = |line: &&str| !line.contains("Failed to parse using StableHLO");
    let kept: Vec<&str> = message.lines().filter(keep).collect();
    if kept.iter().all(|line| line.trim().is_empty()) {
        message.to_string()
    } else {
        kept.join("\n").trim().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::without_parser_noise;

    #[test]
    fn parser_noise_is_taken_from_messages() {
        let noisy = "model.rs:42:7: error: bad type\n<unknown>:0: error: Failed to parse using \
                     StableHLO v1.13.3, this could indicate forward incompatibility.";
        assert_eq!(
            without_parser_noise(noisy),
            "model.rs:42:7: error: bad type"
        );
        let only = "Failed to parse using StableHLO v1.13.3";
        assert_eq!(without_parser_noise(only), only, "never empty");
    }
}
