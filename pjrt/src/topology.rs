//! Topologies: sets of devices to compile programs for, which need not be present.

use crate::client_options::ClientOptions;
use crate::compile_options::CompileOptions;
use crate::compiler_thread::on_living_thread;
use crate::device::describe;
use crate::error::{Error, Result, borrowed};
use crate::plugin::Plugin;
use crate::sys::{self, RawDeviceDescription, RawTopology};
use crate::unloaded::{UnloadedExecutable, compile_error, with_program};
use ramie_base::clock::Instant;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

/// Devices of one kind and their connections, described by a plugin without accessing them.
/// Cloning is cheap.
#[derive(Clone)]
pub struct Topology(Arc<Inner>);

struct Inner {
    raw: NonNull<RawTopology>,
    plugin: Plugin,
    /// Ids of the devices.
    devices: Box<[i32]>,
    kind: String,
}

// SAFETY: topologies are immutable after creation.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Topology {
    /// Creates a topology by name, with options of the plugin. For TPUs, the name is for example
    /// `v5e:2x4`. For GPUs, the name is arbitrary, and the options `target_config` and `topology`
    /// describe the devices. [`Target`](crate::Target) creates both.
    ///
    /// # Errors
    /// Returns [`Error::ClientOption`] for options that the plugin would ignore, or the plugin's
    /// error, for example if it does not know the topology.
    pub fn new(plugin: &Plugin, name: &str, options: &ClientOptions) -> Result<Topology> {
        options.check()?;
        let api = plugin.api();
        let raw_options = options.to_raw();
        let mut args = sys::zeroed::<sys::TopologyCreate>();
        args.name = name.as_ptr();
        args.name_size = name.len();
        args.options = raw_options.as_ptr();
        args.num_options = raw_options.len();
        // SAFETY: name and options outlive the call.
        unsafe { api.call(&mut args) }
            .map_err(|e| e.during(format_args!("describing the topology `{name}`")))?;
        let mut inner = Inner {
            raw: NonNull::new(args.topology).expect("a created topology is not null"),
            plugin: plugin.clone(),
            devices: Box::default(),
            kind: String::new(),
        };
        // From here on, `inner` destroys the handle if something fails.
        let mut list = sys::zeroed::<sys::TopologyDeviceDescriptions>();
        list.topology = inner.raw.as_ptr();
        // SAFETY: the topology is live, and the list lives as long.
        let descriptions: &[*mut RawDeviceDescription] = unsafe {
            api.call(&mut list)?;
            borrowed(list.descriptions, list.num_descriptions)
        };
        let mut devices = Vec::with_capacity(descriptions.len());
        for &description in descriptions {
            // SAFETY: descriptions of a live topology are live.
            let (id, kind) = unsafe { describe(api, description) }?;
            devices.push(id);
            inner.kind = kind;
        }
        inner.devices = devices.into();
        Ok(Topology(Arc::new(inner)))
    }

    /// Returns the ids of the devices, in the plugin's order.
    pub fn devices(&self) -> &[i32] {
        &self.0.devices
    }

    /// Returns the kind of the devices, such as `TPU v5 lite` or `NVIDIA H200`.
    pub fn kind(&self) -> &str {
        &self.0.kind
    }

    /// Compiles a StableHLO program, as text or in its portable binary form.
    ///
    /// # Errors
    /// Returns an error if the options contradict each other, or the compiler's error with the
    /// locations in the program.
    pub fn compile(&self, program: &[u8], options: &CompileOptions) -> Result<UnloadedExecutable> {
        options.check()?;
        let (needed, there) = (options.num_devices(), self.devices().len());
        if needed > there {
            return Err(Error::CompileOptions(format!(
                "{} replicas × {} partitions need {needed} devices, but the topology has {there}",
                options.num_replicas, options.num_partitions,
            )));
        }
        let start = Instant::now();
        let api = self.0.plugin.api();
        let encoded = options.encode();
        let mut args = sys::zeroed::<sys::Compile>();
        args.topology = self.0.raw.as_ptr();
        args.options = encoded.as_ptr();
        args.options_size = encoded.len();
        let compile = || {
            with_program(program, |code| {
                args.program = code;
                // SAFETY: the topology is live; program and options outlive the call and are not
                // written to. Any thread may compile.
                unsafe { api.call(&mut args) }
            })
        };
        // SAFETY: as above.
        unsafe { on_living_thread(compile) }.map_err(compile_error)?;
        // SAFETY: a new executable, which keeps its topology alive.
        let executable =
            unsafe { UnloadedExecutable::take(api, args.executable, Some(self.0.clone())) }?;
        tracing::debug!(name = executable.name(), topology = ?self, text = program.len(), elapsed = ?start.elapsed(), "compiled ahead of time");
        Ok(executable)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let mut args = sys::zeroed::<sys::TopologyDestroy>();
        args.topology = self.raw.as_ptr();
        // SAFETY: the handle is ours and not used again. An error here cannot be handled.
        let _ = unsafe { self.plugin.api().call(&mut args) };
    }
}

impl fmt::Debug for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Topology({} × {})", self.devices().len(), self.kind())
    }
}
