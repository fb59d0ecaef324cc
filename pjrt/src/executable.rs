//! Compiled programs: compilation, serialization and metadata.

use crate::analysis::MemoryAnalysis;
use crate::buffer_type::BufferType;
use crate::client::{Client, ClientInner};
use crate::compile_options::CompileOptions;
use crate::compiler_thread::on_living_thread;
use crate::device::Device;
use crate::error::{Bytes, Error, Result, borrowed};
use crate::features::without_preferences;
use crate::heap;
use crate::host_calls;
use crate::memory;
use crate::sys::{self, RawLoadedExecutable};
use crate::under_way::{AtomicTicket, destroy_loaded};
use crate::unloaded::{UnloadedExecutable, compile_error, with_program};
use crate::value::Value;
use ramie_base::clock::Instant;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

/// The inputs and outputs of an executable on each of its devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Types of the inputs.
    pub inputs: Box<[BufferType]>,
    /// Types of the outputs, read from the executable itself.
    pub outputs: Box<[BufferType]>,
    /// For each input, whether the program may reuse its memory.
    pub donated: Box<[bool]>,
}

/// A program compiled for certain devices and loaded on them. Cloning is cheap.
#[derive(Clone)]
pub struct Executable(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub loaded: NonNull<RawLoadedExecutable>,
    pub unloaded: UnloadedExecutable,
    pub client: &'static ClientInner,
    pub signature: Signature,
    /// Indices of the donated inputs.
    pub donated: Box<[usize]>,
    pub devices: Box<[Device]>,
    /// The host memory that a run needs, if it is large.
    pub host_memory: Option<HostMemory>,
    /// The last run that did not end at once, or zero.
    pub last_run: AtomicTicket,
}

/// Host memory that a run needs in addition to its arguments, in total on all devices.
#[derive(Clone, Copy)]
pub(crate) struct HostMemory {
    pub outputs: u64,
    pub temporaries: u64,
}

// SAFETY: PJRT executables may be run, queried and destroyed from any thread, and everything else
// here is immutable or atomic.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Client {
    /// Compiles a StableHLO program, given as text.
    ///
    /// `inputs` are the types of the arguments of `@main` on one device (after partitioning), and
    /// `donated` marks those whose memory the program may reuse, according to its argument
    /// attributes; an empty `donated` means none. The plugin does not report these, and they are
    /// needed to detect wrong arguments, so they must agree with the program.
    ///
    /// # Errors
    /// Returns an error if the options contradict each other, or the compiler's error with the
    /// locations in the program.
    pub fn compile(
        self,
        program: &str,
        options: &CompileOptions,
        inputs: &[BufferType],
        donated: &[bool],
    ) -> Result<Executable> {
        self.compile_module(program.as_bytes(), options, inputs, donated)
    }

    /// Compiles a module in any form that the plugin reads: text, or StableHLO's portable binary
    /// form. See [`compile`](Client::compile).
    ///
    /// # Errors
    /// Returns the same errors as [`compile`](Client::compile), and an error if the module
    /// requires a later version of StableHLO than the plugin's.
    pub fn compile_module(
        self,
        program: &[u8],
        options: &CompileOptions,
        inputs: &[BufferType],
        donated: &[bool],
    ) -> Result<Executable> {
        self.check_options(options, inputs, donated)?;
        let start = Instant::now();
        let encoded = options.encode();
        let mut args = sys::zeroed::<sys::ClientCompile>();
        args.client = self.0.raw.as_ptr();
        args.options = encoded.as_ptr();
        args.options_size = encoded.len();
        let compile = || {
            with_program(program, |code| {
                args.program = code;
                // SAFETY: the client is live; program and options outlive the call and are not
                // written to. Any thread may compile.
                unsafe { self.0.api.call(&mut args) }
            })
        };
        // SAFETY: as above.
        heap::trimmed(|| unsafe { on_living_thread(compile) }).map_err(compile_error)?;
        // SAFETY: a new executable of this client.
        let executable =
            unsafe { Executable::from_loaded(self.0, args.executable, options, inputs, donated) }?;
        tracing::debug!(name = executable.name(), text = program.len(), elapsed = ?start.elapsed(), "compiled");
        Ok(executable)
    }

    /// Loads an executable from the bytes of [`Executable::serialize`], created by the same
    /// plugin for the same kind of device.
    ///
    /// `options`, `inputs` and `donated` must be those it was compiled with.
    ///
    /// # Errors
    /// Returns an error if the options contradict each other, or the plugin's error, for example
    /// for truncated bytes.
    #[doc(alias = "deserialize_and_load")]
    pub fn load_executable(
        self,
        bytes: &[u8],
        options: &CompileOptions,
        inputs: &[BufferType],
        donated: &[bool],
    ) -> Result<Executable> {
        self.check_options(options, inputs, donated)?;
        let start = Instant::now();
        let encoded = options.encode();
        let bytes = &*if self.0.is_cpu {
            without_preferences(bytes)
        } else {
            bytes.into()
        };
        let mut args = sys::zeroed::<sys::ExecutableDeserializeAndLoad>();
        args.client = self.0.raw.as_ptr();
        args.bytes = bytes.as_ptr();
        args.bytes_size = bytes.len();
        args.options = encoded.as_ptr();
        args.options_size = encoded.len();
        // SAFETY: the client is live; bytes and options outlive the call. Any thread may load.
        unsafe { on_living_thread(|| self.0.api.call(&mut args)) }
            .map_err(|e| e.during("loading an executable"))?;
        // SAFETY: a new executable of this client.
        let executable =
            unsafe { Executable::from_loaded(self.0, args.executable, options, inputs, donated) }?;
        tracing::debug!(name = executable.name(), bytes = bytes.len(), elapsed = ?start.elapsed(), "loaded executable");
        Ok(executable)
    }

    fn check_options(
        self,
        options: &CompileOptions,
        inputs: &[BufferType],
        donated: &[bool],
    ) -> Result<()> {
        options.check()?;
        for &id in options.device_assignment.iter().flatten() {
            if self.device(id).is_none() {
                let ids: Vec<i32> = self.devices().iter().map(|d| d.id()).collect();
                return Err(Error::CompileOptions(format!(
                    "device_assignment lists device {id}, but this client has {ids:?}"
                )));
            }
        }
        if options.num_devices() > self.devices().len() {
            return Err(Error::CompileOptions(format!(
                "{} replicas × {} partitions need {} devices, but this client has {}",
                options.num_replicas,
                options.num_partitions,
                options.num_devices(),
                self.devices().len()
            )));
        }
        if !donated.is_empty() && donated.len() != inputs.len() {
            return Err(Error::CompileOptions(format!(
                "donated has {} entries for {} inputs",
                donated.len(),
                inputs.len()
            )));
        }
        Ok(())
    }
}

impl Executable {
    /// Reads the properties of a new executable and takes ownership of it.
    ///
    /// # Safety
    /// `loaded` must be a live executable of `client` that nothing else destroys.
    unsafe fn from_loaded(
        client: &'static ClientInner,
        loaded: *mut RawLoadedExecutable,
        options: &CompileOptions,
        inputs: &[BufferType],
        donated: &[bool],
    ) -> Result<Executable> {
        let api = client.api;
        let loaded = NonNull::new(loaded).expect("a compiled executable is not null");
        let mut get = sys::zeroed::<sys::LoadedExecutableGetExecutable>();
        get.loaded = loaded.as_ptr();
        // SAFETY: the executable is live, and so is the unloaded executable in it, which is then
        // ours.
        let unloaded = unsafe {
            let got = api.call(&mut get);
            got.and_then(|()| UnloadedExecutable::take(api, get.executable, None))
        };
        // SAFETY: ours, and not used again after an error.
        let unloaded = unloaded.inspect_err(|_| unsafe { destroy_loaded(api, loaded) })?;
        let mut inner = Inner {
            loaded,
            unloaded,
            client,
            signature: Signature {
                inputs: inputs.into(),
                outputs: Box::default(),
                donated: if donated.is_empty() {
                    vec![false; inputs.len()].into()
                } else {
                    donated.into()
                },
            },
            donated: donated
                .iter()
                .enumerate()
                .filter(|(_, d)| **d)
                .map(|(i, _)| i)
                .collect(),
            devices: Box::default(),
            host_memory: None,
            last_run: AtomicTicket::default(),
        };
        // From here on `inner` destroys both handles if something fails.
        inner.signature.outputs = inner.unloaded.read_outputs()?;
        inner.devices = inner.read_devices()?;
        inner.host_memory = inner.read_host_memory();
        let mut executable = Executable(Arc::new(inner));
        if options.propagate_to_inputs.contains(&true) {
            let inputs = executable.inputs_settled_on(&options.propagate_to_inputs)?;
            let inner = Arc::get_mut(&mut executable.0).expect("this is the only reference");
            inner.signature.inputs = inputs;
        }
        Ok(executable)
    }

    /// Returns the types of the inputs, with the dimensions that the compiler chose for those
    /// that it was free to shard.
    fn inputs_settled_on(&self, free: &[bool]) -> Result<Box<[BufferType]>> {
        let given = &self.0.signature.inputs;
        let dims = self.layouts()?.input_dims;
        if dims.len() != given.len() {
            return Err(Error::CompileOptions(format!(
                "{} takes {} inputs, but the types of {} were passed",
                self.name(),
                dims.len(),
                given.len()
            )));
        }
        let is_free = |i: usize| match free {
            [all] => *all,
            each => each.get(i).copied().unwrap_or(false),
        };
        let settled = given.iter().zip(&dims).enumerate().map(|(i, (ty, dims))| {
            if is_free(i) {
                BufferType::new(ty.element_type(), dims)
            } else {
                *ty
            }
        });
        Ok(settled.collect())
    }

    /// Returns the types of the inputs and outputs on each device.
    pub fn signature(&self) -> &Signature {
        &self.0.signature
    }

    /// Returns the devices of this process that it runs on, in the order of its arguments.
    pub fn devices(&self) -> &[Device] {
        &self.0.devices
    }

    /// Returns the client that it belongs to.
    pub fn client(&self) -> Client {
        Client(self.0.client)
    }

    /// Returns the unloaded executable, with the program's name, its size, and the compiler's
    /// information.
    pub fn unloaded(&self) -> &UnloadedExecutable {
        &self.0.unloaded
    }

    /// Returns the name of the program's module.
    pub fn name(&self) -> &str {
        self.unloaded().name()
    }

    /// Returns bytes from which [`Client::load_executable`] can load the executable again.
    ///
    /// # Errors
    /// Returns the plugin's error.
    pub fn serialize(&self) -> Result<Vec<u8>> {
        self.unloaded().serialize()
    }

    /// Returns a hash of the compiled program, if the plugin has one.
    ///
    /// # Errors
    /// Returns the plugin's error.
    pub fn fingerprint(&self) -> Result<Option<String>> {
        self.unloaded().fingerprint()
    }

    /// Returns the compiler's estimates; see [`UnloadedExecutable::cost_analysis`].
    ///
    /// # Errors
    /// Returns the plugin's error.
    pub fn cost_analysis(&self) -> Result<Vec<(String, Value)>> {
        self.unloaded().cost_analysis()
    }

    /// Returns the memory that a run needs; see [`UnloadedExecutable::memory_analysis`].
    ///
    /// # Errors
    /// Returns the plugin's error.
    pub fn memory_analysis(&self) -> Result<MemoryAnalysis> {
        self.unloaded().memory_analysis()
    }

    /// Returns the optimized program as text; see [`UnloadedExecutable::optimized_text`].
    ///
    /// # Errors
    /// Returns the plugin's error, or `Unimplemented` if the program's format is unknown.
    pub fn optimized_text(&self) -> Result<String> {
        self.unloaded().optimized_text()
    }
}

impl Inner {
    /// Returns the host memory that a run needs, if it is large enough to be checked.
    fn read_host_memory(&self) -> Option<HostMemory> {
        if !self.client.is_cpu {
            return None;
        }
        let analysis = self.unloaded.memory_analysis().ok()?;
        let on_all = |bytes: i64| bytes.max(0).cast_unsigned() * self.devices.len() as u64;
        let needs = HostMemory {
            outputs: on_all(analysis.output - analysis.alias),
            temporaries: on_all(analysis.temp),
        };
        (needs.outputs + needs.temporaries >= memory::LARGE).then_some(needs)
    }

    /// Checks that the host has the memory that a run needs. If it does not, waits for running
    /// programs, which free memory when they end, and checks again.
    ///
    /// # Errors
    /// Returns [`Error::HostMemory`] if there is not enough memory.
    #[cold]
    pub(crate) fn check_memory(&self, needs: HostMemory) -> Result<()> {
        let check = || {
            let operation = format_args!(
                "running `{}` ({} of results, {} of temporaries)",
                self.unloaded.name(),
                Bytes(needs.outputs),
                Bytes(needs.temporaries)
            );
            memory::check_host_memory(operation, (needs.outputs + needs.temporaries) as usize)
        };
        match check() {
            Err(_) if !host_calls::is_running() => {
                self.client.under_way.wait();
                check()
            }
            result => result,
        }
    }

    fn read_devices(&self) -> Result<Box<[Device]>> {
        let mut args = sys::zeroed::<sys::LoadedExecutableAddressableDevices>();
        args.executable = self.loaded.as_ptr();
        // SAFETY: the executable is live, and the list lives as long.
        let raws = unsafe {
            self.client.api.call(&mut args)?;
            borrowed(args.devices, args.num_devices)
        };
        let device = |raw: &_| {
            self.client
                .device_of(*raw)
                .expect("an executable's devices belong to its client")
        };
        Ok(raws.iter().map(device).collect())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let last_run = *self.last_run.get_mut();
        // SAFETY: the handle is ours and not used again; running executions keep the program
        // alive.
        unsafe { self.client.under_way.retire(self.loaded, last_run) };
    }
}

impl fmt::Debug for Executable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Executable({} on {:?})", self.name(), self.0.devices)
    }
}
