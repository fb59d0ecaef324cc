//! Compiled programs.

use super::buffer::{Buffer, buffer, element_type};
use super::module;
use super::placement::Placement;
use super::serve::{Failure, destroy, hand_out, list, object, serve};
use crate::sys::{
    RawBuffer, RawClient, RawDevice, RawExecutable, RawLoadedExecutable, RawSerializedExecutable,
};
use ramie_cpu::{Buffer as Array, Options, Program, TensorType};
use smallvec::{SmallVec, smallvec};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

/// The first bytes of MLIR bytecode, the form in which JAX exports programs.
const BYTECODE: &[u8] = b"ML\xefR";

/// A program on its devices.
struct Loaded {
    executable: Arc<Executable>,
    devices: Vec<*mut RawDevice>,
}

/// A compiled program, with what the API reports about it in its form.
struct Executable {
    /// The text, which is the serialized form: compiling takes little longer than reading.
    text: String,
    program: Program,
    /// The program in XLA's binary form, after the first query.
    module: OnceLock<Result<Vec<u8>, ramie_cpu::Error>>,
    types: Vec<u32>,
    ranks: Vec<usize>,
    dims: Vec<i64>,
    sizes: Sizes,
    fingerprint: String,
}

/// Bytes of memory on each device.
struct Sizes {
    arguments: i64,
    results: i64,
    /// Results that take the memory of arguments.
    aliases: i64,
    /// Peak of a run, without its arguments.
    peak: i64,
}

impl Sizes {
    fn of(program: &Program) -> Sizes {
        let bytes = |ty: &TensorType| ty.byte_size().unwrap_or(0) as i64;
        let aliases = program.aliases().iter().flatten();
        Sizes {
            arguments: program.parameters().iter().map(bytes).sum(),
            results: program.results().iter().map(bytes).sum(),
            aliases: aliases.map(|r| bytes(&program.results()[*r])).sum(),
            peak: program.peak() as i64,
        }
    }
}

/// Returns a hash of a program and the number of its devices.
fn fingerprint(text: &str, program: &Program) -> String {
    let mut hasher = DefaultHasher::new();
    (text, program.devices()).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

impl Executable {
    fn compile(text: &[u8], options: &Options) -> Result<Executable, Failure> {
        if text.starts_with(BYTECODE) {
            return Err(Failure::unimplemented(
                "the program is MLIR bytecode, but the linked CPU backend reads only StableHLO text\n  \
                 help: run `ramie plugin install cpu` and set RAMIE_PJRT_PLUGIN=xla-cpu: XLA's plugin reads both",
            ));
        }
        let text = std::str::from_utf8(text)
            .map_err(|_| Failure::argument("the program is not StableHLO text"))?;
        let program = Program::compile_for(text, options)?;
        let results = program.results();
        Ok(Executable {
            types: results.iter().map(|ty| element_type(ty) as u32).collect(),
            ranks: results.iter().map(|ty| ty.shape.len()).collect(),
            dims: results
                .iter()
                .flat_map(|ty| ty.shape.iter().map(|d| *d as i64))
                .collect(),
            sizes: Sizes::of(&program),
            fingerprint: fingerprint(text, &program),
            text: text.to_owned(),
            program,
            module: OnceLock::new(),
        })
    }

    fn module(&self) -> Result<&[u8], Failure> {
        let encode = || module::encode(&self.text, &self.program);
        let module = self.module.get_or_init(encode);
        module.as_deref().map_err(|e| e.clone().into())
    }

    /// Returns the arrays of one device's arguments.
    fn take(&self, arguments: &[*mut RawBuffer], kept: &[i64]) -> Result<Vec<Array>, Failure> {
        let aliases = self.program.aliases();
        // A collected list of results would grow step by step.
        let mut arrays = Vec::with_capacity(arguments.len());
        for (i, raw) in arguments.iter().enumerate() {
            // SAFETY: arguments are live buffers of this backend.
            let argument = unsafe { buffer(*raw) };
            let is_donated = aliases[i].is_some() && !kept.contains(&(i as i64));
            arrays.push(if is_donated {
                argument.take()?
            } else {
                argument.value()?
            });
        }
        Ok(arrays)
    }
}

impl Loaded {
    /// Runs the program and returns the results of each device.
    fn run(
        &self,
        arguments: &[&[*mut RawBuffer]],
        kept: &[i64],
    ) -> Result<SmallVec<[Vec<Array>; 1]>, Failure> {
        let it = &self.executable;
        let taken = arguments.iter().map(|list| it.take(list, kept));
        let mut taken = taken.collect::<Result<SmallVec<[Vec<Array>; 1]>, _>>()?;
        if let [only] = &mut taken[..] {
            return Ok(smallvec![it.program.run_owned(std::mem::take(only))?]);
        }
        Ok(it.program.run_on_devices(taken.into_vec())?.into())
    }
}

/// # Safety
/// `raw` must be a live executable of this backend.
unsafe fn executable<'a>(raw: *const RawExecutable) -> &'a Executable {
    // SAFETY: guaranteed by the caller; the handle is an `Arc` in a box.
    unsafe { object::<_, Arc<Executable>>(raw) }
}

/// # Safety
/// `raw` must be a live loaded executable of this backend.
unsafe fn loaded<'a>(raw: *mut RawLoadedExecutable) -> &'a Loaded {
    // SAFETY: guaranteed by the caller.
    unsafe { object(raw) }
}

fn load(
    text: &[u8],
    options: &[u8],
    raw: *mut RawClient,
) -> Result<*mut RawLoadedExecutable, Failure> {
    let placement = Placement::read(options, raw)?;
    Ok(hand_out(Loaded {
        executable: Arc::new(Executable::compile(text, &placement.options)?),
        devices: placement.devices,
    }))
}

/// Frees serialized bytes, which the executable owns.
///
/// # Safety
/// Sound for any pointer, which is ignored.
unsafe extern "C" fn keep(_: *mut RawSerializedExecutable) {}

serve! {
    ClientCompile |args| {
        // SAFETY: program and options are readable during the call.
        let (text, options) = unsafe {
            let program = &**args.program;
            (list(program.code, program.code_size), list(args.options, args.options_size))
        };
        args.executable = load(text, options, args.client)?;
    }
    ExecutableDeserializeAndLoad |args| {
        // SAFETY: bytes and options are readable during the call.
        let (text, options) = unsafe {
            (list(args.bytes, args.bytes_size), list(args.options, args.options_size))
        };
        args.executable = load(text, options, args.client)?;
    }
    LoadedExecutableGetExecutable |args| {
        // SAFETY: a live executable.
        args.executable = hand_out(unsafe { loaded(args.loaded) }.executable.clone());
    }
    LoadedExecutableDestroy |args| {
        // SAFETY: an executable that the caller gives up.
        unsafe { destroy::<_, Loaded>(args.executable) };
    }
    ExecutableDestroy |args| {
        // SAFETY: an executable that the caller gives up.
        unsafe { destroy::<_, Arc<Executable>>(args.executable) };
    }
    LoadedExecutableAddressableDevices |args| {
        // SAFETY: a live executable.
        let devices = &unsafe { loaded(args.executable) }.devices;
        (args.devices, args.num_devices) = (devices.as_ptr(), devices.len());
    }
    ExecutableName |args| {
        // SAFETY: a live executable.
        let name = unsafe { executable(args.executable) }.program.name();
        (args.name, args.name_size) = (name.as_ptr().cast(), name.len());
    }
    ExecutableNumOutputs |args| {
        // SAFETY: a live executable.
        args.num_outputs = unsafe { executable(args.executable) }.types.len();
    }
    ExecutableOutputElementTypes |args| {
        // SAFETY: a live executable.
        let types = &unsafe { executable(args.executable) }.types;
        (args.types, args.num_types) = (types.as_ptr(), types.len());
    }
    ExecutableOutputDimensions |args| {
        // SAFETY: a live executable.
        let it = unsafe { executable(args.executable) };
        (args.num_outputs, args.ranks) = (it.ranks.len(), it.ranks.as_ptr());
        args.dims = it.dims.as_ptr();
    }
    ExecutableFingerprint |args| {
        // SAFETY: a live executable, which owns the text.
        let it = &unsafe { executable(args.executable) }.fingerprint;
        (args.fingerprint, args.fingerprint_size) = (it.as_ptr().cast(), it.len());
    }
    ExecutableSerialize |args| {
        // SAFETY: a live executable, which owns the bytes.
        let text = &unsafe { executable(args.executable) }.text;
        (args.bytes, args.bytes_size) = (text.as_ptr(), text.len());
        args.serialized = std::ptr::null_mut();
        args.deleter = Some(keep);
    }
    ExecutableOptimizedProgram |args| {
        // SAFETY: a live executable and a program description that the caller owns.
        let (it, program) = unsafe { (executable(args.executable), &mut **args.program) };
        let module = it.module()?;
        (program.format, program.format_size) = (c"hlo".as_ptr(), 3);
        if !program.code.is_null() && program.code_size >= module.len() {
            // SAFETY: the space has `code_size` bytes, which nothing else accesses.
            unsafe { std::ptr::copy_nonoverlapping(module.as_ptr(), program.code, module.len()) };
        }
        program.code_size = module.len();
    }
    ExecutableGetCompiledMemoryStats |args| {
        // SAFETY: a live executable.
        let sizes = &unsafe { executable(args.executable) }.sizes;
        [args.argument, args.output, args.alias] = [sizes.arguments, sizes.results, sizes.aliases];
        args.temp = (sizes.peak - sizes.results).max(0);
        args.peak = sizes.arguments + sizes.peak;
    }
    LoadedExecutableExecute |args| {
        // SAFETY: a live executable with a list of arguments for each device, and options that are
        // readable during the call.
        let (it, arguments, kept) = unsafe {
            let options = &**args.options;
            let kept = (options.non_donatable_input_indices, options.num_non_donatable_input_indices);
            let lists = list(args.argument_lists, args.num_devices).iter();
            let lists: SmallVec<[_; 1]> = lists.map(|start| list(*start, args.num_args)).collect();
            (loaded(args.executable), lists, list(kept.0, kept.1))
        };
        for (device, results) in it.run(&arguments, kept)?.into_iter().enumerate() {
            for (i, result) in results.into_iter().enumerate() {
                let result = Buffer::handed_out(result, it.devices[device]);
                // SAFETY: there is a list for each device, which has room for all results.
                unsafe { (*args.output_lists.add(device)).add(i).write(result) };
            }
            if !args.device_complete_events.is_null() {
                // SAFETY: the list has room for an event of each device.
                unsafe { args.device_complete_events.add(device).write(std::ptr::null_mut()) };
            }
        }
    }
}
