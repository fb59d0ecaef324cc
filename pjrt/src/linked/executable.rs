//! Compiled programs.

use super::buffer::{Buffer, buffer};
use super::client::client;
use super::serve::{Failure, destroy, hand_out, list, object, serve};
use crate::ElementType;
use crate::proto::{Field, fields};
use crate::sys::{
    RawBuffer, RawClient, RawDevice, RawExecutable, RawLoadedExecutable, RawSerializedExecutable,
};
use ramie_cpu::{Program, TensorType};
use std::sync::Arc;

/// A program on a device.
struct Loaded {
    executable: Arc<Executable>,
    device: *mut RawDevice,
}

/// A compiled program, with what the API reports about it in its form.
struct Executable {
    /// The text, which is the serialized form: compiling takes little longer than reading.
    text: String,
    program: Program,
    types: Vec<u32>,
    ranks: Vec<usize>,
    dims: Vec<i64>,
    sizes: [i64; 2],
}

impl Executable {
    fn compile(text: &[u8]) -> Result<Executable, Failure> {
        let text = std::str::from_utf8(text)
            .map_err(|_| Failure::argument("the program is not StableHLO text"))?;
        let program = Program::compile(text)?;
        let results = program.results();
        let code = |ty: &TensorType| {
            let mut all = ElementType::ALL.iter();
            let found = all.find(|e| e.name() == ty.element.name());
            found.map_or(0, |e| *e as u32)
        };
        let bytes = |types: &[TensorType]| {
            let sizes = types.iter().filter_map(TensorType::byte_size);
            sizes.sum::<usize>() as i64
        };
        Ok(Executable {
            types: results.iter().map(code).collect(),
            ranks: results.iter().map(|ty| ty.shape.len()).collect(),
            dims: results
                .iter()
                .flat_map(|ty| ty.shape.iter().map(|d| *d as i64))
                .collect(),
            sizes: [bytes(program.parameters()), bytes(results)],
            text: text.to_owned(),
            program,
        })
    }

    fn run(
        &self,
        arguments: &[*mut RawBuffer],
        kept: &[i64],
        device: *mut RawDevice,
    ) -> Result<Vec<*mut RawBuffer>, Failure> {
        let donated = self.program.donated();
        let value = |(i, raw): (usize, &*mut RawBuffer)| {
            // SAFETY: arguments are live buffers of this backend.
            let argument = unsafe { buffer(*raw) };
            match donated[i] && !kept.contains(&(i as i64)) {
                true => argument.take(),
                false => argument.value(),
            }
        };
        let arguments = arguments.iter().enumerate().map(value);
        let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
        let results = self.program.run_owned(arguments)?;
        let results = results.into_iter();
        Ok(results
            .map(|result| Buffer::handed_out(result, device))
            .collect())
    }
}

/// Returns the device on which the options place the program.
fn device_of(options: &[u8], raw: *mut RawClient) -> Result<*mut RawDevice, Failure> {
    // SAFETY: a live client.
    let devices = &unsafe { client(raw) }.devices;
    let broken = || Failure::argument("the compile options are damaged");
    let inner = |bytes: &[u8], number: u32| -> Result<Vec<u8>, Failure> {
        let all = fields(bytes).ok_or_else(broken)?;
        let found = all.into_iter().find(|(n, _)| *n == number);
        Ok(found.map_or_else(Vec::new, |(_, field)| field.bytes().to_vec()))
    };
    let build = inner(options, 3)?;
    for (number, field) in fields(&build).ok_or_else(broken)? {
        if let (4 | 5, Field::Int(count)) = (number, field)
            && count > 1
        {
            return Err(Failure::unimplemented(
                "the CPU backend runs programs on one device\n  help: for programs on several devices, \
                 use XLA's CPU plugin: unset RAMIE_PJRT_PLUGIN",
            ));
        }
    }
    let computation = inner(&inner(&build, 9)?, 3)?;
    let mut ids = Vec::new();
    for (number, field) in fields(&computation).ok_or_else(broken)? {
        if number == 1 {
            field.ints_into(&mut ids);
        }
    }
    let placed = ids.first().copied().unwrap_or(0);
    let device = usize::try_from(placed).ok().and_then(|id| devices.get(id));
    device
        .copied()
        .ok_or_else(|| Failure::argument(format!("there is no device {placed}")))
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
    Ok(hand_out(Loaded {
        device: device_of(options, raw)?,
        executable: Arc::new(Executable::compile(text)?),
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
        let device = &unsafe { loaded(args.executable) }.device;
        (args.devices, args.num_devices) = (std::ptr::from_ref(device), 1);
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
    ExecutableSerialize |args| {
        // SAFETY: a live executable, which owns the bytes.
        let text = &unsafe { executable(args.executable) }.text;
        (args.bytes, args.bytes_size) = (text.as_ptr(), text.len());
        args.serialized = std::ptr::null_mut();
        args.deleter = Some(keep);
    }
    ExecutableGetCompiledMemoryStats |args| {
        // SAFETY: a live executable.
        [args.argument, args.output] = unsafe { executable(args.executable) }.sizes;
    }
    LoadedExecutableExecute |args| {
        // SAFETY: a live executable with one list each of arguments and of space for the results, and
        // options that are readable during the call.
        let (it, arguments, kept) = unsafe {
            let options = &**args.options;
            let kept = (options.non_donatable_input_indices, options.num_non_donatable_input_indices);
            (
                loaded(args.executable),
                list(*args.argument_lists, args.num_args),
                list(kept.0, kept.1),
            )
        };
        let results = it.executable.run(arguments, kept, it.device)?;
        for (i, result) in results.into_iter().enumerate() {
            // SAFETY: the list has room for all results.
            unsafe { (*args.output_lists).add(i).write(result) };
        }
        if !args.device_complete_events.is_null() {
            // SAFETY: the list has room for an event of the one device.
            unsafe { args.device_complete_events.write(std::ptr::null_mut()) };
        }
    }
}
